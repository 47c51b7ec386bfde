"""Our bootstrap interval beside scipy's, in one run: seconds, ratio and both intervals.

python tests/performance/stats.py [--rounds 5] [--scores 12032] [--resamples 10000]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy.stats import bootstrap

from nel.metrics import bootstrap_ci

BATCH = 100
"""Resamples that scipy draws at a time; the fastest of 10 to 10 000 for this many scores."""


def ours(scores: np.ndarray, resamples: int) -> tuple[float, float]:
    """Return our percentile interval."""
    interval = bootstrap_ci(scores, n_resamples=resamples, seed=1)
    return interval.ci_lower, interval.ci_upper


def theirs(scores: np.ndarray, resamples: int) -> tuple[float, float]:
    """Return scipy's percentile interval."""
    settings = {"n_resamples": resamples, "batch": BATCH, "method": "percentile", "vectorized": True}
    found = bootstrap((scores,), np.mean, rng=np.random.default_rng(1), **settings).confidence_interval
    return float(found.low), float(found.high)


def seconds(interval: Callable[[np.ndarray, int], tuple[float, float]], scores: np.ndarray, resamples: int) -> float:
    """Return the wall time of one interval."""
    started = time.perf_counter()
    interval(scores, resamples)
    return time.perf_counter() - started


def main() -> None:
    """Print both medians of alternating runs, their ratio and both intervals for two kinds of scores."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scores", type=int, default=12_032)
    parser.add_argument("--resamples", type=int, default=10_000)
    options = parser.parse_args()
    values = np.random.default_rng(7).random(options.scores)
    for name, scores in (("0/1", (values < 0.6).astype(float)), ("continuous", values)):
        size = options.resamples
        pairs = [(seconds(ours, scores, size), seconds(theirs, scores, size)) for _ in range(options.rounds)]
        mine, other = (statistics.median(side) for side in zip(*pairs, strict=True))
        print(f"{options.scores} {name} scores, {size} resamples (median of {options.rounds})")
        for label, time_taken, interval in (("nel", mine, ours), ("scipy", other, theirs)):
            lower, upper = interval(scores, size)
            print(f"  {label:<6}{time_taken:8.4f} s   [{lower:.6f}, {upper:.6f}]")
        print(f"  scipy takes {other / mine:.1f}x as long")


if __name__ == "__main__":
    main()
