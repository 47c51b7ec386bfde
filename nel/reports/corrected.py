"""Formats a judge's label-corrected headline, and a measure with its interval, as one line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from nel.reports import numbers
from nel.reports.tables.columns import Figure

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


def measure_text(measure: Mapping[str, Any], unit: str = "rate") -> str:
    """Return ``81.00 % (74.00 – 87.00 %)``, or why there is no value or no interval."""
    figure, reason = Figure.of(measure, unit), measure.get("reason")
    if figure.value is None:
        return f"undefined: {reason or 'nothing was scored'}"
    why = "" if figure.lower is not None else f" (no interval: {reason or 'unknown'})"
    return f"{figure.with_span}{why}"


def unit_of_agreement(name: str) -> str:
    """Return the unit of a measure of agreement, by its name: kappa and alpha are not rates."""
    return "coefficient" if name.startswith(("kappa", "alpha", "AC1", "PABAK")) else "rate"


def calibration_measures(calibration: Mapping[str, Any]) -> dict[str, Mapping[str, object]]:
    """Return every measure of how a judge agrees with labels, by its name for people.

    Args:
        calibration: ``judging.calibration`` of metrics.json.
    """
    measures = {_MEASURES[name]: measure for name, measure in calibration["agreement"].items()}
    if calibration["is_binary"]:
        measures |= {name: calibration[name] for name in ("sensitivity", "specificity")}
    for recall in calibration.get("recall", ()):
        grade = (
            f"{recall['label']:g}"
            if recall["grade"] is None
            else f"{recall['grade']} ({recall['label']:g})"
        )
        measures[f"recall of {grade}, {recall['n_found']:,} of {recall['n'] or 0:,} found"] = recall
    return measures


def panel_lines(panel: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return how far each judge of a panel agrees with the labels, and the weights as YAML.

    Args:
        panel: ``judging.calibration.panel`` of metrics.json.
    """
    weighted_members = [member for member in panel if member["weight"] is not None]
    lines = [
        f"  {member['judge']} agrees with {numbers.percent(member['agreement'])}"
        f" of {member['n']:,} labels"
        for member in weighted_members
    ]
    weights = ", ".join(f"{member['judge']}: {member['weight']:g}" for member in weighted_members)
    return [*lines, f"  votes by these labels: judge.weights: {{{weights}}}"]


def annotator_lines(annotators: Mapping[str, Any]) -> list[str]:
    """Return how far annotators agree with each other, which bounds the judge's agreement.

    Args:
        annotators: ``judging.calibration.annotators`` of metrics.json.
    """
    agreement, n = annotators["agreement"], annotators["n_several"]
    lines = [
        (
            "annotators:"
            f" {', '.join(f'{name} {count:,}' for name, count in annotators['n_labels'].items())}"
            " labels"
        )
    ]
    lines.append(f"  labelled by several: {n:,}, of which {annotators['n_disputed']:,} differ")
    names = {"raw": "raw agreement", "kappa": "kappa", "alpha": "alpha"}
    return lines + [
        f"  {name} of the annotators, the judge's ceiling:"
        f" {measure_text(agreement[key], unit_of_agreement(key))}"
        for key, name in names.items()
    ]


def best_correction(metrics: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
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


def corrected_line(metrics: Mapping[str, Any]) -> str:
    """Return the corrected headline on one line, or why there is none; empty without labels.

    Args:
        metrics: The content of metrics.json.
    """
    corrected = (metrics.get("judging") or {}).get("corrected")
    if not corrected:
        return ""
    correction_pair = best_correction(metrics)
    labelled_run = corrected.get("labels_of")
    labels = f"{numbers.count(corrected['n_labelled'])} labels" + (
        "" if labelled_run is None else f" of run {labelled_run}"
    )
    if correction_pair is None:
        absent_correction = corrected["ppi" if labelled_run is None else "rogan_gladen"]
        return f"No corrected value from {labels}: {absent_correction.get('reason')}"
    name, correction = correction_pair
    unit = metrics["headline"]["unit"]
    figure, judged_figure = Figure.of(correction, unit), Figure.of(corrected["raw"], unit)
    return f"Corrected by labels: {figure.text}, {figure.span} ({name}, {labels}; as judged {judged_figure.text})"
