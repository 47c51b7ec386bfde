"""A suite: two benchmarks, the second of which counts twice, and one that cannot be run here."""

BOTH = {
    "suite": "example-both",
    "description": "Capitals, and arithmetic twice.",
    "members": [
        {"name": "example-capitals", "weight": 1},
        {"name": "gsm8k", "weight": 2},
        {"name": "example-oral", "weight": 1, "missing": "it needs a person"},
    ],
}
