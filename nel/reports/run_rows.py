"""The rows of a run's table: the headline of each benchmark, and what is reported below it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from nel.config.numbers import percent
from nel.reports import numbers
from nel.reports.corrected import best_correction
from nel.reports.selection import n_text

COLUMNS: Final = (
    "benchmark",
    "metric",
    "score",
    "95 % interval",
    "bounds",
    "n",
    "model failures",
    "unscored",
    "not asked",
)
_FURTHER_MAX: Final = 12


def result_row(slot: str, metrics: Mapping[str, Any]) -> dict[str, str]:
    """Return the row of a benchmark's headline, by `COLUMNS`; an empty cell may be missing."""
    headline, accounting = metrics["headline"], metrics["accounting"]
    return {
        "benchmark": slot,
        "metric": headline["metric"],
        "score": _figure(headline["value"], headline["unit"], headline),
        "95 % interval": _span(headline, headline["unit"]),
        "bounds": _bounds(headline["bounds"], accounting["n_unscored"]),
        "n": n_text(metrics),
        "model failures": _parts(accounting["model_failures"].items()),
        "unscored": _parts(
            (cause, counts["n"]) for cause, counts in accounting["unscored"].items()
        ),
        "not asked": f"{accounting['n_not_asked']:,}" if accounting["n_not_asked"] else "",
    }


def further_rows(metrics: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the rows below the headline: for new questions, corrected by labels, other metrics."""
    return [*_new_questions_rows(metrics), *_corrected_rows(metrics), *_further(metrics)]


def _new_questions_rows(metrics: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the interval for new questions below that of the whole benchmark, which a sample
    has.
    """
    new = metrics["headline"].get("new_questions")
    if new is None:
        return []
    span = _span(new, metrics["headline"]["unit"])
    return [{"metric": "for new questions", "95 % interval": span}]


def _corrected_rows(metrics: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the headline as corrected by human labels, where there are any."""
    best = best_correction(metrics)
    if best is None:
        return []
    name, corrected = best
    unit, labels = metrics["headline"]["unit"], metrics["judging"]["corrected"]["n_labelled"]
    return [
        {
            "metric": f"judge-corrected ({name})",
            "score": _figure(corrected["value"], unit, corrected),
            "95 % interval": _span(corrected, unit),
            "n": f"{labels:,} labels",
        }
    ]


def _further(metrics: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return a row for each metric other than the headline, up to a limit."""
    further = [
        metric for metric in metrics["metrics"] if metric["name"] != metrics["headline"]["metric"]
    ]
    rows = [_further_row(metric) for metric in further[:_FURTHER_MAX]]
    if len(further) > _FURTHER_MAX:
        more = f"and {len(further) - _FURTHER_MAX} more in metrics.json"
        rows.append({"metric": more})
    return rows


def _further_row(metric: dict[str, Any]) -> dict[str, str]:
    return {
        "metric": metric["name"],
        "score": _figure(metric["value"], metric["unit"], metric),
        "95 % interval": "" if metric["ci_lower"] is None else _span(metric, metric["unit"]),
        "n": f"{metric['n']:,}",
    }


def _figure(value: float | None, unit: str, interval: Mapping[str, Any]) -> str:
    """Return a number with as many decimals as its interval has."""
    places = numbers.decimals(interval["ci_lower"], interval["ci_upper"])
    return "no score" if value is None else numbers.in_unit(value, unit, places=places)


def _span(interval: Mapping[str, Any], unit: str) -> str:
    lower, upper = interval["ci_lower"], interval["ci_upper"]
    if lower is None or upper is None:
        return "none"
    return f"{_figure(lower, unit, interval)} – {_figure(upper, unit, interval)}"


def _bounds(bounds: dict[str, float] | None, n_unscored: int) -> str:
    if not n_unscored:
        return ""
    return (
        "unknown" if bounds is None else f"{percent(bounds['lower'])} – {percent(bounds['upper'])}"
    )


def _parts(parts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in parts)
