#!/bin/bash
cat > /app/intervals.py <<'PY'
"""Intervals of numbers."""


def merge(intervals):
    """Return the intervals with those merged that overlap."""
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
PY
