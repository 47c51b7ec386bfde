"""Corrects a run's headline by human labels of judged answers: labels alone, PPI++, Rogan-Gladen.

Depends on `nel.judges.stats.tally`, which counts, `nel.judges.stats.calibration`, which measures,
and `nel.judges.stats.corrected_mean`, which has the estimators.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from nel.core.scaling import mean_of
from nel.errors import UndefinedMetric
from nel.judges.stats.calibration import undefined_measure
from nel.judges.stats.corrected_mean import (
    NO_LABEL_NEEDED,
    Estimate,
    LabelledAnswers,
    labels_mean,
    ppi_mean,
    rogan_gladen_mean,
)
from nel.judges.stats.tally import LABELS_MIN, Tally, strata_of
from nel.metrics.intervals import LEVEL
from nel.types import JsonObject

PREFERENCE: Final = ("ppi", "labels", "rogan_gladen")
"""Keys of the estimates in order of preference."""


def corrected_headline(
    tally: Tally,
    headline: JsonObject,
    calibration: JsonObject,
    *,
    share_asked: float = 0.0,
) -> dict[str, Any]:
    """Return the headline by the judge and by human labels, each with its interval.

    Answers without a judge count as they are. The correction is added to the headline as a
    difference, so that both use the same mean even where repeats are missing.

    Args:
        tally: Of the same run.
        headline: With ``value``, ``ci_lower`` and ``ci_upper``.
        calibration: `calibration_json` of the tally.
        share_asked: The share of the benchmark that was asked, if the headline's interval covers
            the whole benchmark; else 0.
    """
    copied = ("value", "ci_lower", "ci_upper", "ci_level", "ci_method")
    raw = {name: headline.get(name) for name in copied}
    estimates: dict[str, Callable[[], Estimate]] = {
        "labels": lambda: labels_mean(_answers(tally, share_asked)),
        "rogan_gladen": lambda: _rogan_gladen(tally, calibration, share_asked),
        "ppi": lambda: ppi_mean(_answers(tally, share_asked)),
    }
    fields = {
        "n_judged": tally.n_judged,
        "n_labelled": tally.n_labelled,
        "raw": {**raw, "reason": None},
        **{name: _correct(tally, headline, estimate) for name, estimate in estimates.items()},
    }
    return {**fields, "best": best_method(fields)}


def best_method(corrected: JsonObject) -> str | None:
    """Return the key of the preferred estimate, None where none is defined.

    PPI++ and the labels alone assume only the random draw of the labels; PPI++ is first, since its
    interval is narrower. Rogan-Gladen also assumes that the judge errs on all answers as on the
    labelled ones, and its interval is too wide.

    >>> best_method({"ppi": {"value": None}, "labels": {"value": 0.5}, "rogan_gladen": {"value": 0.4}})
    'labels'
    """
    for key in PREFERENCE:
        estimate = corrected.get(key) or {}
        if estimate.get("value") is not None:
            return key
    return None


def borrowed_headline(
    tally: Tally,
    headline: JsonObject,
    rates: JsonObject,
    *,
    refused: str | None = None,
    share_asked: float = 0.0,
) -> dict[str, Any]:
    """Return the headline corrected by a judge's sensitivity and specificity in another run.

    Only the Rogan-Gladen estimate can use rates without labels.

    Args:
        tally: Of this run, which has no labels.
        headline: With ``value``, ``ci_lower`` and ``ci_upper``.
        rates: ``sensitivity`` and ``specificity`` of the same judge on the other run,
            ``n_labelled`` and ``run_id``.
        refused: Why that run's calibration does not apply to this one, None where it does.
        share_asked: As in `corrected_headline`.
    """
    fields = corrected_headline(tally, headline, rates, share_asked=share_asked)
    if refused is None and not set(tally.judged) <= {0.0, 1.0}:
        refused = "the judge's scores are not only 0 and 1"
    undefined = _undefined_headline("the labels are of another run's answers")
    fields |= {
        "n_labelled": rates["n_labelled"],
        "labels_of": rates["run_id"],
        "labels": undefined,
        "ppi": undefined,
    }
    if refused is not None:
        fields["rogan_gladen"] = _undefined_headline(refused)
    return {**fields, "best": best_method(fields)}


def _correct(
    tally: Tally, headline: JsonObject, estimate: Callable[[], Estimate]
) -> dict[str, Any]:
    value = headline.get("value")
    try:
        if value is None or not tally.n_judged:
            raise UndefinedMetric("nothing was scored" if value is None else "no answer was judged")
        estimated = estimate()
    except UndefinedMetric as error:
        return _undefined_headline(str(error))
    # Where repeats are missing, the headline weighs questions otherwise than the tally does. The
    # small difference is added to all three numbers.
    shift = value - mean_of(tally.scores)
    numbers = [number + shift for number in (estimated.value, estimated.lower, estimated.upper)]
    if headline.get("bounds") is not None:
        numbers = [min(max(number, 0.0), 1.0) for number in numbers]
    value, lower, upper = numbers
    if headline.get("ci_method") == "none":  # a correction does not make an interval valid
        lower = upper = None
    return {
        "value": value,
        "ci_lower": lower,
        "ci_upper": upper,
        "ci_level": LEVEL,
        "ci_method": "none" if lower is None else estimated.method,
        "reason": None,
    }


def _undefined_headline(reason: str) -> dict[str, Any]:
    return {**undefined_measure(reason), "ci_level": LEVEL, "ci_method": "none"}


def _answers(tally: Tally, share_asked: float, *, is_labelled: bool = True) -> LabelledAnswers:
    """Return the answers of a tally, each with its stratum; a single one where labels do not count.

    Raises:
        UndefinedMetric: There are too few labels.
    """
    if is_labelled and tally.n_labelled < LABELS_MIN:
        raise UndefinedMetric("fewer than two labels")
    clusters, keys, scores, labels = np.array(tally.answers).reshape(-1, 4).T
    lowest = [stratum.low for stratum in strata_of(tally)] if is_labelled else [-math.inf]
    # A stratum begins at its lowest score and ends below that of the next one.
    strata = np.searchsorted(lowest, keys, side="right") - 1
    # The scale is not stored: it is 0 to 1 unless a score or a label is outside.
    numbers = np.concatenate((scores, labels[~np.isnan(labels)]))
    lower, upper = float(numbers.min()), float(numbers.max())
    if lower == upper or (lower >= 0 and upper <= 1):
        lower = min(lower, 0.0)
        upper = max(upper, 1.0)
    return LabelledAnswers(
        scores=scores,
        labels=labels,
        strata=np.where(np.isnan(keys), NO_LABEL_NEEDED, strata),
        clusters=clusters,
        bounds=(lower, upper),
        share_asked=share_asked,
    )


def _rogan_gladen(tally: Tally, calibration: JsonObject, share_asked: float) -> Estimate:
    rates = {}
    for name in ("sensitivity", "specificity"):
        rate = calibration[name]
        if rate["value"] is None:
            raise UndefinedMetric(rate["reason"])
        rates[name] = rate["value"], rate["n_effective"]
    return rogan_gladen_mean(_answers(tally, share_asked, is_labelled=False), **rates)
