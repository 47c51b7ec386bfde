"""Simulates ten million samples over a thousand workers and fifty endpoints, and says how far that can be extrapolated.

    python -m tests.performance.scale [--samples 10000000]

Prints the tables of docs/explanation/scale.md: a grain of ten against the exact simulation, growing sizes with what the
two sizes before predict of each, and from there 10^9 samples. Takes about ten minutes of one CPU.
"""

from __future__ import annotations

import argparse
import logging
import time

from tests.performance.scale_world import Plan, Seen, simulate

_GRAIN = 10
_SEEDS = (0, 1, 2)
_FAR = 1_000_000_000


def _timed(plan: Plan) -> tuple[Seen, float]:
    began = time.process_time()
    return simulate(plan), time.process_time() - began


def _row(*cells: object) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def _validate() -> None:
    print("\n100,000 samples, 100 workers, 5 endpoints:\n")
    coarsely = f"with a grain of {_GRAIN}"
    _row("seed", "s to 90 %", coarsely, "off", "s in all", coarsely, "off", "worst 10 s", "sent twice", "CPU s of both")
    _row(*["---"] * 10)
    for seed in _SEEDS:
        plan = {"samples": 100_000, "workers": 100, "endpoints": 5, "seed": seed}
        exact, cpu = _timed(Plan(**plan))
        coarse, less = _timed(Plan(**plan, grain=_GRAIN))
        pairs = (exact.nine_tenths, coarse.nine_tenths), (exact.seconds, coarse.seconds)
        times = [cell for one, other in pairs for cell in (f"{one:.0f}", f"{other:.0f}", f"{other / one - 1:+.1%}")]
        _row(seed, *times, f"{exact.worst:.3f}", exact.sent_twice, f"{cpu:.0f}, {less:.0f}")


def _grow(largest: int) -> None:
    print(f"\n1,000 workers, 50 endpoints, a grain of {_GRAIN}:\n")
    _row(
        "samples", "s", "samples a second", "of what the endpoints take", "predicted s", "off", "sent twice", "refused"
    )
    _row(*["---"] * 8)
    known: list[Seen] = []
    for size in [size for size in (300_000, 1_000_000, 3_000_000, 10_000_000) if size <= largest]:
        seen, _ = _timed(Plan(samples=size, grain=_GRAIN))
        predicted = _predicted(known, size) if len(known) > 1 else None
        guess = ("", "") if predicted is None else (f"{predicted:,.0f}", f"{predicted / seen.seconds - 1:+.1%}")
        speed, use = f"{seen.answered / seen.seconds:,.0f}", f"{seen.use:.1%}"
        _row(f"{size:,}", f"{seen.seconds:,.0f}", speed, use, *guess, f"{seen.sent_twice:,}", f"{seen.refused:,}")
        known.append(seen)
    far = _predicted(known, _FAR)
    print(f"\nextrapolated, not simulated: {_FAR:,} samples in {far:,.0f} s, {far / 86_400:.2f} days")


def _predicted(known: list[Seen], samples: int) -> float:
    """Return the time that a line through the two largest sizes gives."""
    first, last = known[-2], known[-1]
    slope = (last.seconds - first.seconds) / (last.samples - first.samples)
    return last.seconds + slope * (samples - last.samples)


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000_000)
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    _validate()
    _grow(arguments.samples)


if __name__ == "__main__":
    main()
