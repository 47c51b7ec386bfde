"""Prints when imported."""

print("{noise on stdout")


def scorer(sample):
    """Works, but is noisy."""
    return {"correct": bool(sample.response) and sample.response == sample.target}
