"""Makes the document that `nel power` prints: plans by repeats, marginal gains, curves, labels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from nel.apps.power.pilots import PilotSource
from nel.core.json_values import present
from nel.decide.labels import label_plan
from nel.decide.plans import Pilot, Resources, curve_questions, gain_at, plan, power_curve
from nel.decide.power import Test
from nel.errors import UsageError

REPEATS: Final = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRequest:
    """The effect that a comparison should detect, and how surely."""

    effect: float
    alpha: float
    power: float
    two_sided: bool
    repeats: Sequence[int] = ()
    """Empty tries `REPEATS` where the spread of repeats is known, else one."""
    judge_correlation: float | None = None
    """Between human labels and the judge; None plans no labels."""


def power_json(source: PilotSource, request: PowerRequest) -> dict[str, Any]:
    """Return the whole plan.

    Raises:
        UsageError: No plan is possible, as for an effect larger than scores can differ.
    """
    try:
        test = Test(alpha=request.alpha, power=request.power, two_sided=request.two_sided)
        return _power_json(source, request, test)
    except ValueError as error:
        raise UsageError(f"no plan can be made: {error}") from error


def _power_json(source: PilotSource, request: PowerRequest, test: Test) -> dict[str, Any]:
    pilot = source.pilot
    repeat_counts = request.repeats
    if not repeat_counts:
        repeat_counts = REPEATS if _is_varying(pilot) else (1,)
    plans = [
        plan(request.effect, pilot, repeats, source.resources, test) for repeats in repeat_counts
    ]
    first_plan = plans[0]
    questions = min(first_plan.questions, pilot.questions or first_plan.questions)
    gain = gain_at(pilot, questions, first_plan.repeats)
    marks = [item.questions for item in plans]
    if pilot.questions:
        marks.append(pilot.questions)
    # Marks far beyond the least would squeeze the others together.
    points = curve_questions(*(mark for mark in marks if mark <= 100 * min(marks)))
    return {
        "effect": request.effect,
        "alpha": test.alpha,
        "power": test.power,
        "two_sided": test.two_sided,
        "source": {
            "kind": source.kind,
            "runs": list(source.runs),
            "benchmark": source.benchmark,
            "score": source.score,
            "questions": pilot.questions,
        },
        "variances": {**asdict(pilot.variances), "discordant": pilot.discordant},
        "per_answer": asdict(source.resources),
        "plans": [asdict(item) for item in plans],
        "marginal": {
            "questions": questions,
            "repeats": first_plan.repeats,
            **asdict(gain),
            "buys_more": _buys_more(pilot, questions, gain.buys_more),
        },
        "labels": _labels(source, request, test, questions),
        "curves": [_curve_json(request, pilot, repeats, points, test) for repeats in repeat_counts],
        "notes": [*source.notes, *_notes(pilot, request)],
    }


def _curve_json(
    request: PowerRequest, pilot: Pilot, repeats: int, points: Sequence[int], test: Test
) -> dict[str, Any]:
    curve = power_curve(request.effect, pilot, repeats, points, test)
    return {"repeats": repeats, "points": [asdict(point) for point in curve]}


def _notes(pilot: Pilot, request: PowerRequest) -> list[str]:
    effect = request.effect
    if pilot.discordant is None or effect <= pilot.discordant or not request.two_sided:
        return []
    note = (
        f"no difference comes with fewer discordant questions than itself, so {100 * effect:g} %"
        " are planned with"
    )
    return [note]


def _buys_more(pilot: Pilot, questions: int, cheaper: str) -> str | None:
    """Return whether questions or repeats buy more; None where only repeats of unknown gain can."""
    if pilot.questions is None or questions < pilot.questions:
        return cheaper
    if not pilot.is_within_known:
        return None
    return "repeats" if _is_varying(pilot) else "nothing"


def _is_varying(pilot: Pilot) -> bool:
    return pilot.variances.within_baseline + pilot.variances.within_candidate > 0


def _labels(
    source: PilotSource, request: PowerRequest, test: Test, questions: int
) -> dict[str, Any] | None:
    """Return how many pairs people must label, so that a judged comparison detects the effect."""
    if request.judge_correlation is None:
        return None
    # The standard error at which a test of this power just detects the effect.
    error = request.effect / (test.z_alpha + test.z_power)
    variance = source.pilot.variances.per_question(1)
    # Where the number of questions is open: at least as many as suffice if people label all.
    available = source.pilot.questions or max(questions, math.ceil(variance / error**2))
    labels, judged = label_plan(
        error, label_variance=variance, correlation=request.judge_correlation, answers=available
    )
    return {"correlation": request.judge_correlation, "labels": labels, "judged": judged}


def with_prices(resources: Resources, prices: Mapping[str, float | None]) -> Resources:
    """Return resources with the cost at given prices, where both are given.

    Raises:
        UsageError: Only one of the two prices is given, or tokens are not known.
    """
    given_prices = present(prices)
    if not given_prices:
        return resources
    if len(given_prices) < len(prices):
        raise UsageError("give both --price-input and --price-output, for a million tokens each")
    priced = resources.with_prices(given_prices["input"], given_prices["output"])
    if priced.cost is None:
        raise UsageError("prices need tokens; give a run whose server reported them")
    return priced
