#!/bin/bash
python3 - <<'PY'
import csv
import json

with open("/app/people.csv", newline="") as table:
    rows = sorted(csv.DictReader(table), key=lambda row: row["name"])
people = [
    {
        "name": row["name"],
        "born": int(row["born"]) if row["born"] else None,
        "tags": [tag for tag in row["tags"].split(";") if tag],
    }
    for row in rows
]
with open("/app/people.json", "w") as file:
    json.dump(people, file)
PY
