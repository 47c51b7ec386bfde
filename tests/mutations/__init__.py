"""Planted faults: each is one small edit of nel that a test must notice. Run them with `python -m tests.mutations`."""
