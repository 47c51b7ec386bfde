"""A run's headline by people's labels of judged answers: the labels alone, PPI++, Rogan and Gladen.
Does no I/O.

Depends on `nel.judges.stats.tally`, which counts, `nel.judges.stats.calibration`, which measures,
and `nel.judges.stats.corrected_mean`, which has the estimators.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from nel.errors import UndefinedMetric
from nel.judges.stats.calibration import undefined_measure
from nel.judges.stats.corrected_mean import (
    Estimate,
    Stratum,
    labels_mean,
    rogan_gladen,
    stratified_ppi_mean,
)
from nel.judges.stats.tally import LABELS_MIN, Tally, strata_of
from nel.metrics.intervals import LEVEL

PREFERENCE: Final = ("ppi", "labels", "rogan_gladen")
"""Keys of the estimates, the one to show first where it is defined first."""
_Z: Final = 1.959963984540054


def corrected_headline(
    tally: Tally, headline: Mapping[str, Any], calibration: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the headline as the judge gave it and as estimated from people's labels, each with its
    interval.

    Answers without a judge count as they are. The correction is added to the headline as a
    difference, so that both use the same mean even where repeats are missing.

    Args:
        tally: Of the same run.
        headline: With ``value``, ``ci_lower`` and ``ci_upper``.
        calibration: `calibration_json` of the tally.
    """
    copied = ("value", "ci_lower", "ci_upper", "ci_level", "ci_method")
    counts = {"n_judged": tally.n_judged, "n_labelled": tally.n_labelled}
    fields = {
        **counts,
        "raw": {**{name: headline.get(name) for name in copied}, "reason": None},
        "labels": _correct(tally, headline, lambda: _labels(tally)),
        "rogan_gladen": _correct(tally, headline, lambda: _rogan_gladen(tally, calibration)),
        "ppi": _correct(tally, headline, lambda: _ppi(tally)),
    }
    return {**fields, "best": best_method(fields)}


def best_method(corrected: Mapping[str, Any]) -> str | None:
    """Return the key of the estimate to show first, None where none is defined.

    PPI++ and the labels alone need no more than the way in which labels are drawn, so the narrower
    kind goes first: PPI++. Rogan and Gladen also need that the judge errs on all answers as on the
    labelled ones, and covers too much.

    >>> best_method({"ppi": {"value": None}, "labels": {"value": 0.5}, "rogan_gladen": {"value": 0.4}})
    'labels'
    """
    return next(
        (key for key in PREFERENCE if (corrected.get(key) or {}).get("value") is not None), None
    )


def borrowed_headline(
    tally: Tally,
    headline: Mapping[str, Any],
    rates: Mapping[str, Any],
    *,
    refused: str | None = None,
) -> dict[str, Any]:
    """Return the headline corrected by the sensitivity and specificity of another run, which only
    Rogan-Gladen can use.

    Args:
        tally: Of this run, which has no labels.
        headline: With ``value``, ``ci_lower`` and ``ci_upper``.
        rates: ``sensitivity`` and ``specificity`` of the same judge on the other run,
            ``n_labelled`` and ``run_id``.
        refused: Why that run's calibration does not apply to this one, None where it does.
    """
    fields = corrected_headline(tally, headline, rates)
    if refused is None and not set(tally.judged) <= {0.0, 1.0}:
        refused = "the judge's scores are not only 0 and 1"
    of_other = _undefined_headline("the labels are of another run's answers")
    fields |= {
        "n_labelled": rates["n_labelled"],
        "labels_of": rates["run_id"],
        "labels": of_other,
        "rogan_gladen": fields["rogan_gladen"] if refused is None else _undefined_headline(refused),
        "ppi": of_other,
    }
    return {**fields, "best": best_method(fields)}


def _correct(
    tally: Tally, headline: Mapping[str, Any], estimate: Callable[[], Estimate]
) -> dict[str, Any]:
    value = headline.get("value")
    try:
        if value is None or not tally.n_judged:
            raise UndefinedMetric("nothing was scored" if value is None else "no answer was judged")
        estimated = estimate()
    except UndefinedMetric as error:
        return _undefined_headline(str(error))
    raw = (_total(tally) + tally.known.total) / (tally.n_judged + tally.known.n)
    moved = value - raw  # nearly 0; see the docstring of corrected_headline
    bounded = headline.get("bounds") is not None
    value, lower, upper = (
        min(max(number + moved, 0.0), 1.0) if bounded else number + moved
        for number in (estimated.value, estimated.lower, estimated.upper)
    )
    return {
        "value": value,
        "ci_lower": lower,
        "ci_upper": upper,
        "ci_level": LEVEL,
        "ci_method": estimated.method,
        "reason": None,
    }


def _undefined_headline(reason: str) -> dict[str, Any]:
    return {**undefined_measure(reason), "ci_level": LEVEL, "ci_method": "none"}


def _total(tally: Tally) -> float:
    return math.fsum(moments.total for moments in tally.judged.values())


def _ppi(tally: Tally) -> Estimate:
    strata, bounds = _strata_and_bounds(tally)
    return stratified_ppi_mean(
        strata, bounds=bounds, known=tally.known, per_question=tally.per_question
    )


def _labels(tally: Tally) -> Estimate:
    strata, bounds = _strata_and_bounds(tally)
    return _with_known(tally, labels_mean(strata, bounds=bounds))


def _strata_and_bounds(tally: Tally) -> tuple[list[Stratum], tuple[float, float]]:
    """Return the strata of a tally, and the smallest and the largest label there is."""
    if tally.n_labelled < LABELS_MIN:
        raise UndefinedMetric("fewer than two labels")
    strata = strata_of(tally)
    ends = [value for stratum in strata for pair in stratum.pairs for value in pair]
    ends += [end for stratum in strata for end in (stratum.low, stratum.high)]
    bounds = (0.0, 1.0) if min(ends) >= 0 and max(ends) <= 1 else (min(ends), max(ends))
    return [stratum.as_stratum() for stratum in strata], bounds


def _rogan_gladen(tally: Tally, calibration: Mapping[str, Any]) -> Estimate:
    """Correct the judged part and combine it with the rest, adding variances on each side (Zou and
    Donner 2008).
    """
    rates = calibration["sensitivity"], calibration["specificity"]
    for rate in rates:
        if rate["value"] is None:
            raise UndefinedMetric(rate["reason"])
    n = tally.n_judged
    judged = rogan_gladen(
        min(_total(tally) / n, 1.0),
        n / tally.per_question,
        sensitivity=rates[0]["value"],
        n_positive=rates[0]["n_effective"],
        specificity=rates[1]["value"],
        n_negative=rates[1]["n_effective"],
    )
    return _with_known(tally, judged)


def _with_known(tally: Tally, judged: Estimate) -> Estimate:
    """Return an estimate of the judged answers combined with the others, whose scores are known."""
    n, total = tally.n_judged, tally.n_judged + tally.known.n
    if not tally.known.n:
        return judged
    share = n / total
    value = share * judged.value + (1 - share) * tally.known.mean
    between = share * (judged.value - value) ** 2 + (1 - share) * (tally.known.mean - value) ** 2
    rest = (between + (1 - share) * tally.known.variance) * tally.per_question / total
    lower, upper = (
        math.hypot(share * (judged.value - end), _Z * math.sqrt(rest))
        for end in (judged.lower, judged.upper)
    )
    stderr = math.hypot(share * judged.stderr, math.sqrt(rest))
    return replace(judged, value=value, stderr=stderr, lower=value - lower, upper=value + upper)
