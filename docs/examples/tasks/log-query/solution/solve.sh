#!/bin/bash
python3 - > /app/slowest.txt <<'PY'
import collections
import json

spent = collections.Counter()
with open("/app/requests.jsonl") as lines:
    for request in map(json.loads, lines):
        if request["status"] == 200:
            spent[request["client"]] += request["milliseconds"]
print(*spent.most_common(1)[0])
PY
