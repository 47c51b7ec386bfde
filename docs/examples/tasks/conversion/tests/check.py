"""Writes the reward, and the share of rows that are right beside it."""

import json

PEOPLE = [
    {"name": 'Hopper, "Amazing" Grace', "born": 1906, "tags": ["compilers", "navy"]},
    {"name": "Hypatia", "born": None, "tags": []},
    {"name": "Lovelace, Ada", "born": 1815, "tags": ["mathematics", "poetry"]},
    {"name": "Turing Alan", "born": 1912, "tags": ["mathematics"]},
]

try:
    with open("/app/people.json") as file:
        people = json.load(file)
    right = sum(mine == theirs for mine, theirs in zip(PEOPLE, people, strict=False))
    is_whole = people == PEOPLE
except (OSError, ValueError, TypeError):
    right, is_whole = 0, False
with open("/logs/verifier/reward.json", "w") as file:
    json.dump({"reward": float(is_whole), "share": right / len(PEOPLE)}, file)
