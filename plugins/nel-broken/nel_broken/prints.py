"""Prints when imported."""

from nel import ScorerInput

print("{noise on stdout")


def scorer(sample: ScorerInput) -> dict[str, bool]:
    """Works, but is noisy."""
    return {"correct": bool(sample.response) and sample.response == sample.target}
