"""Intervals of numbers."""


def merge(intervals):
    """Return the intervals with those merged that overlap."""
    merged = []
    for start, end in intervals:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged
