"""Writes the reward, and the share of cases that pass beside it."""

import json
import sys

CASES = [
    ([(5, 9), (1, 3), (2, 6)], [(1, 9)]),
    ([(1, 2), (2, 3)], [(1, 3)]),
    ([(1, 10), (2, 3)], [(1, 10)]),
    ([(4, 5), (1, 2)], [(1, 2), (4, 5)]),
    ([], []),
]

sys.path.insert(0, "/app")
passed = 0
try:
    from intervals import merge

    for intervals, merged in CASES:
        before = list(intervals)
        passed += merge(intervals) == merged and intervals == before
except Exception as error:
    print(type(error).__name__, error)
with open("/logs/verifier/reward.json", "w") as file:
    json.dump({"reward": float(passed == len(CASES)), "share": passed / len(CASES)}, file)
