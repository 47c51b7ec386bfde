"""Attacks on nel's surroundings: packages, judges, ports, temporary files, pages and ids.

Each is a name and a function that raises where nel gives way. `test_attacks.py` runs those that are cheap, and
``python -m tests.attacks`` runs all and writes the table of docs/evidence/robustness.md.
"""
