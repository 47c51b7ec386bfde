"""What may be said of two sides when a stop rule ended one of them early. Does no I/O.

The intervals of a comparison are of a fixed number of samples, and a run that stopped at a look of
its own choice has none. Only a rule that compared with this very baseline left an interval of the
difference that holds at any time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from nel.comparison.lines import NOT_ASKED
from nel.comparison.measures import Measure, Settings
from nel.comparison.pairing import Pairing
from nel.comparison.sides import SideBenchmark
from nel.decide.early_stop import NO_INTERVAL, STOP_RULE
from nel.decide.paired import PairedDifference
from nel.decide.verdict import Verdict, verdict
from nel.metrics.intervals import ANYTIME, LEVEL
from nel.reports.tables.columns import Figure
from nel.types import JsonObject

_DIRECTIONS: Final = (Verdict.BETTER, Verdict.WORSE)
_ROUNDING: Final = 1e-9


def n_not_asked(pairing: Pairing) -> int:
    """Return how many pairs a stop rule of either side left out."""
    # A stop rule leaves out all repeats of a question, so its first line stands for it.
    sides = ((pairing.baseline, pairing.left), (pairing.candidate, pairing.right))
    gaps = [
        questions.columns.states[questions.first][positions] == NOT_ASKED
        for questions, positions in sides
    ]
    return int(np.logical_or(*gaps).sum())


def anytime_difference(
    baseline: SideBenchmark, candidate: SideBenchmark
) -> tuple[float, float] | None:
    """Return the interval of the headline's difference that holds at any time, at level `LEVEL`.

    None unless the candidate's rule compared with this baseline, which has all its questions.
    """
    rule: JsonObject = candidate.stop_rule or {}
    difference = rule.get("difference")
    if not difference or rule.get("baseline") is None or rule["baseline"] != baseline.run_id:
        return None
    if (baseline.stop_rule or {}).get("n_questions_asked") is not None:
        return None
    return float(difference["lower"]), float(difference["upper"])


def with_honest_verdict(
    measured: Measure, baseline: SideBenchmark, candidate: SideBenchmark, settings: Settings
) -> Measure:
    """Return the headline of a side that was stopped early, by what holds at any time.

    A rule that compared with this baseline has decided the direction, where it says so; the p-value
    is the error that it was allowed. It may have decided on the pairs that differ, sooner than the
    interval of the difference would.
    """
    ends = anytime_difference(baseline, candidate)
    if ends is None or settings.level > LEVEL + _ROUNDING:
        return without_interval(measured)
    reason = str((candidate.stop_rule or {}).get("reason"))
    is_decided = reason in _DIRECTIONS
    final = Verdict(reason) if is_decided else verdict(*ends, margin=settings.margin)
    span = Figure(None, *ends, is_difference=True).span
    note = (
        f"by the candidate's stop rule the difference over all questions is {span} points, which"
        " holds at any time"
    )
    if is_decided and ends[0] <= 0 <= ends[1]:
        note += f"; that it is {final} was decided on the pairs that differ, which is sooner"
    why = ""
    if final is Verdict.INCONCLUSIVE:
        why = "the interval that holds at any time has harm and gain"
    p_value = 1 - LEVEL if final in _DIRECTIONS else 1.0
    anytime = _with_ends(measured.tested, ends, ANYTIME, p_value, STOP_RULE)
    return replace(
        measured, tested=anytime, verdict=final, reason=why, notes=[*measured.notes, note]
    )


def without_interval(measured: Measure) -> Measure:
    """Return a measure of a side that was stopped early, where nothing holds at any time."""
    without_ends = _with_ends(measured.tested, (-1.0, 1.0), NO_INTERVAL, 1.0, NO_INTERVAL)
    if without_ends is None:
        return measured
    measured = replace(measured, tested=without_ends, bounds=None, notes=[])
    reason = f"{measured.verdict} had the number of samples been fixed; a stop rule chose it"
    return replace(measured, verdict=Verdict.INCONCLUSIVE, reason=reason)


def _with_ends(
    difference: PairedDifference | None,
    ends: tuple[float, float],
    method: str,
    p_value: float,
    test: str,
) -> PairedDifference | None:
    """Return a difference without the interval and the p-value of a fixed number of samples."""
    if difference is None:
        return None
    return replace(
        difference,
        lower=ends[0],
        upper=ends[1],
        interval_method=method,
        p_value=p_value,
        test_method=test,
        naive_lower=None,
        naive_upper=None,
        caution=None,
    )
