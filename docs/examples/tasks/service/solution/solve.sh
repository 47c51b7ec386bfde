#!/bin/bash
python3 - > /app/ada.txt <<'PY'
import json
import urllib.request

page, cents = 1, 0
while page:
    with urllib.request.urlopen(f"http://127.0.0.1:8000/orders?page={page}") as answer:
        document = json.load(answer)
    cents += sum(order["cents"] for order in document["orders"] if order["customer"] == "ada")
    page = document["next"]
print(cents)
PY
