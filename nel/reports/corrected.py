"""Formats a judge's label-corrected headline, and a measure with its interval, as one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from nel.reports import numbers
from nel.reports.tables.columns import Figure
from nel.types import JsonObject

_MEASURES: Final = {
    "raw": "raw agreement",
    "kappa": "kappa",
    "kappa_linear": "kappa, linear weights",
    "kappa_quadratic": "kappa, quadratic weights",
    "ac1": "AC1",
    "pabak": "PABAK",
}
METHODS: Final = {"ppi": "PPI++", "labels": "labels alone", "rogan_gladen": "Rogan-Gladen"}
"""Key in metrics.json to name, the one that is shown first."""
ASSUMPTIONS: Final = {
    "ppi": "as the labels alone; the judge's scores narrow it",
    "labels": "the labels are of answers drawn by nel",
    "rogan_gladen": "the judge errs on every right and every wrong answer as on the labelled ones",
}
"""What each estimate needs to be right."""


def measure_text(measure: JsonObject, unit: str = "rate") -> str:
    """Return ``81.00 % (74.00 – 87.00 %)``, or why there is no value or no interval."""
    figure = Figure.of(measure, unit)
    reason = measure.get("reason")
    if figure.value is None:
        return f"undefined: {reason or 'nothing was scored'}"
    if figure.lower is None:
        return f"{figure.text} (no interval: {reason or 'unknown'})"
    return figure.with_span


def unit_of_agreement(name: str) -> str:
    """Return the unit of a measure of agreement, by its name: kappa and alpha are not rates."""
    return "coefficient" if name.startswith(("kappa", "alpha", "AC1", "PABAK")) else "rate"


def calibration_measures(calibration: JsonObject) -> dict[str, Mapping[str, object]]:
    """Return every measure of how a judge agrees with labels, by its name for people.

    Args:
        calibration: ``judging.calibration`` of metrics.json.
    """
    measures = {_MEASURES[name]: measure for name, measure in calibration["agreement"].items()}
    if calibration["is_binary"]:
        measures |= {name: calibration[name] for name in ("sensitivity", "specificity")}
    for recall in calibration.get("recall", ()):
        grade = f"{recall['label']:g}"
        if recall["grade"] is not None:
            grade = f"{recall['grade']} ({grade})"
        found = f"{recall['n_found']:,} of {recall['n'] or 0:,} found"
        measures[f"recall of {grade}, {found}"] = recall
    return measures


def panel_lines(panel: Sequence[JsonObject]) -> list[str]:
    """Return how far each judge of a panel agrees with the labels, and the weights as YAML.

    Args:
        panel: ``judging.calibration.panel`` of metrics.json.
    """
    lines, weights = [], []
    for member in panel:
        if member["weight"] is not None:
            agreement = numbers.percent(member["agreement"])
            lines.append(f"  {member['judge']} agrees with {agreement} of {member['n']:,} labels")
            weights.append(f"{member['judge']}: {member['weight']:g}")
    return [*lines, f"  votes by these labels: judge.weights: {{{', '.join(weights)}}}"]


def annotator_lines(annotators: JsonObject) -> list[str]:
    """Return how far annotators agree with each other, which bounds the judge's agreement.

    Args:
        annotators: ``judging.calibration.annotators`` of metrics.json.
    """
    counts = [f"{name} {count:,}" for name, count in annotators["n_labels"].items()]
    n_several, n_disputed = annotators["n_several"], annotators["n_disputed"]
    lines = [
        f"annotators: {', '.join(counts)} labels",
        f"  labelled by several: {n_several:,}, of which {n_disputed:,} differ",
    ]
    for key, name in (("raw", "raw agreement"), ("kappa", "kappa"), ("alpha", "alpha")):
        text = measure_text(annotators["agreement"][key], unit_of_agreement(key))
        lines.append(f"  {name} of the annotators, the judge's ceiling: {text}")
    return lines


def best_correction(metrics: JsonObject) -> tuple[str, JsonObject] | None:
    """Return the correction to show, by name and numbers; None without labels or if undefined.

    Args:
        metrics: The content of metrics.json.
    """
    corrected = (metrics.get("judging") or {}).get("corrected") or {}
    for key, name in METHODS.items():
        correction = corrected.get(key) or {}
        if correction.get("value") is not None:
            return name, correction
    return None


def corrected_line(metrics: JsonObject) -> str:
    """Return the corrected headline on one line, or why there is none; empty without labels.

    Args:
        metrics: The content of metrics.json.
    """
    corrected = (metrics.get("judging") or {}).get("corrected")
    if not corrected:
        return ""
    labels = f"{numbers.count(corrected['n_labelled'])} labels"
    # Why there is none: by the estimate that these labels were meant for.
    expected = corrected["ppi"]
    labelled_run = corrected.get("labels_of")
    if labelled_run is not None:
        labels += f" of run {labelled_run}"
        expected = corrected["rogan_gladen"]
    best = best_correction(metrics)
    if best is None:
        return f"No corrected value from {labels}: {expected.get('reason')}"
    name, correction = best
    unit = metrics["headline"]["unit"]
    figure = Figure.of(correction, unit)
    as_judged = Figure.of(corrected["raw"], unit).text
    return (
        f"Corrected by labels: {figure.text}, {figure.span} ({name}, {labels}; as judged"
        f" {as_judged})"
    )
