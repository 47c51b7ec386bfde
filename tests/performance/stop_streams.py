"""How often a stop rule of a run errs: the rule as runs use it, fed with random orders of known benchmarks.

    python tests/performance/stop_streams.py [--streams 2000] [--processes 2]

Each stream is a random order of the same finite benchmark, with a look after each cluster. A rule errs when it decides
against the truth: calls a model better or worse that scores the same, futile that reaches the score asked for, or ends
on an interval without the true score. All of these may happen in 5 % of the streams at most.
"""

from __future__ import annotations

import argparse
import random
import time
from array import array
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from nel.config.schema.stop import read_condition
from nel.engine.stopping.drawn_order import DrawnOrder
from nel.engine.stopping.stop_rule import StopRule, StoredBaseline
from nel.types import Scored

ALPHA = 0.05
_CHUNK = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A finite benchmark and a rule on it."""

    name: str
    condition: str
    scores: tuple[float, ...]
    """Of the model on each question."""
    baseline: tuple[float, ...] | None
    cluster: int
    """Questions of a group."""
    errs: Callable[[StopRule, Case], bool]


def _decides(_rule: StopRule, _case: Case) -> bool:
    return True  # the truth is on the border: every decision is an error


def _misses(rule: StopRule, case: Case) -> bool:
    true = sum(case.scores) / len(case.scores)
    return not rule.mean.lower <= true <= rule.mean.upper


def _flipped(scores: tuple[float, ...], n: int) -> tuple[float, ...]:
    """Return the scores with n right answers wrong and n wrong ones right: the same mean."""
    right = [place for place, score in enumerate(scores) if score][:n]
    wrong = [place for place, score in enumerate(scores) if not score][:n]
    flipped = {*right, *wrong}
    return tuple(1 - score if place in flipped else score for place, score in enumerate(scores))


def _graded(n: int) -> tuple[float, ...]:
    return tuple((place * 37 % 101) / 100 for place in range(n))


_SCORES = tuple(float(place % 10 < 7) for place in range(300))
_GRADES = _graded(300)
CASES = (
    Case(
        name="equal model, 0/1, 60 of 300 differ",
        condition="better-or-worse base",
        scores=_flipped(_SCORES, 30),
        baseline=_SCORES,
        cluster=1,
        errs=_decides,
    ),
    Case(
        name="equal model, 0/1, 6 of 300 differ",
        condition="better-or-worse base",
        scores=_flipped(_SCORES, 3),
        baseline=_SCORES,
        cluster=1,
        errs=_decides,
    ),
    Case(
        name="equal model, graded, groups of 3",
        condition="better-or-worse base",
        scores=tuple(reversed(_GRADES)),
        baseline=_GRADES,
        cluster=3,
        errs=_decides,
    ),
    Case(
        name="exactly the score asked for",
        condition="futile accuracy>=0.7",
        scores=_SCORES,
        baseline=None,
        cluster=1,
        errs=_decides,
    ),
    Case(
        name="exactly the score asked for, groups of 5",
        condition="futile accuracy>=0.7",
        scores=_SCORES,
        baseline=None,
        cluster=5,
        errs=_decides,
    ),
    Case(name="interval at the stop", condition="width<0.2", scores=_SCORES, baseline=None, cluster=1, errs=_misses),
    Case(
        name="interval at the stop, graded, groups of 3",
        condition="width<0.25",
        scores=_GRADES,
        baseline=None,
        cluster=3,
        errs=_misses,
    ),
)


def stream(case: Case, seed: int) -> StopRule:
    """Return the rule after one random order of the case's benchmark."""
    clusters = [range(start, start + case.cluster) for start in range(0, len(case.scores), case.cluster)]
    random.Random(seed).shuffle(clusters)
    order = array("q", [idx for cluster in clusters for idx in cluster])
    ends = array("q", range(case.cluster, len(order) + 1, case.cluster))
    baseline: StoredBaseline | None = None
    if case.baseline is not None:
        values = list(case.baseline)
        baseline = {"run_id": "base", "low": values, "high": values, "is_binary": set(values) <= {0.0, 1.0}}
    drawn = DrawnOrder(order=order, ends=ends, unusable=frozenset())
    rule = StopRule(drawn, 1, [read_condition(case.condition)], baseline)
    rule.start()
    for idx in order:
        rule.add(idx, 0, Scored(reward=case.scores[idx], metrics={}))
        if rule.is_over:
            break
    return rule


def count(place: int, seeds: range) -> tuple[int, int, int]:
    """Return over these streams how many ended early, how many erred, and how many questions were asked."""
    case = CASES[place]
    ended = erred = asked = 0
    for seed in seeds:
        rule = stream(case, seed)
        ended += rule.has_ended
        erred += rule.has_ended and case.errs(rule, case)
        asked += rule.n_wanted
    return ended, erred, asked


def main() -> None:
    """Count the errors of each case and print them as a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=2_000)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    print("| truth | rule | streams | ended early | erred | questions asked |\n|---|---|---:|---:|---:|---:|")
    started, worst = time.monotonic(), 0.0
    with ProcessPoolExecutor(given.processes) as pool:
        for place, case in enumerate(CASES):
            chunks = [range(at, min(at + _CHUNK, given.streams)) for at in range(0, given.streams, _CHUNK)]
            found = list(pool.map(count, [place] * len(chunks), chunks))
            ended, erred, asked = (sum(one[part] for one in found) / given.streams for part in range(3))
            worst = max(worst, erred)
            share = asked / len(case.scores)
            rule = case.condition.replace(" base", "")
            print(
                f"| {case.name} | `{rule}` | {given.streams:,} | {ended:.2%} | {erred:.2%} | {share:.0%} |", flush=True
            )
    print(f"\n{time.monotonic() - started:.0f} s; the largest share that erred is {worst:.2%}, {ALPHA:.0%} is allowed")
    raise SystemExit(worst > ALPHA)


if __name__ == "__main__":
    main()
