"""Formats ``repeat_check`` of metrics.json in a line: how often an endpoint differs from itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nel.reports import numbers


def repeat_check_text(metrics: Mapping[str, Any]) -> str:
    """Return how often the endpoint differs from itself, and the effect on the score.

    Empty without a check.

    Args:
        metrics: The content of metrics.json.
    """
    check = metrics.get("repeat_check")
    if not check:
        return ""
    temperature = check["temperature"]
    at = (
        "the endpoint's own temperature"
        if temperature is None
        else f"temperature {numbers.plain(temperature)}"
    )
    title = (
        f"{numbers.count(check['n_asked'])} of {numbers.count(check['n_drawn'])} drawn problems"
        f" asked twice at {at}"
    )
    parts = [
        f"{_rate(check['text'])} of texts differ",
        f"{_rate(check['verdict'])} of verdicts differ",
    ]
    return "; ".join([f"{title}: {', '.join(parts)}", *_moves(check["score"], metrics["headline"])])


def _rate(rate: Mapping[str, Any]) -> str:
    if not rate["n"]:
        return "an unknown share"
    return (
        f"{numbers.percent(rate['rate'])}"
        f" ({numbers.interval(rate['ci_lower'], rate['ci_upper'], 'rate')})"
    )


def _moves(score: Mapping[str, Any] | None, headline: Mapping[str, Any]) -> list[str]:
    """Return what the differences do to the score, in points where it is a share."""
    if score is None:
        return []
    share = headline["bounds"] is not None
    at_most = score["rerun_half_width_upper"]
    moved = f"asking all again moves the score by ± {_width(score['rerun_half_width'], share)}"
    moved += "" if at_most is None else f" (at most {_width(at_most, share)})"
    if score["added_half_width"] is None:
        return [moved]
    added_width, half_width = (
        _width(score["added_half_width"], share),
        _width(score["interval_half_width"], share),
    )
    return [moved, f"{added_width} of the ± {half_width} of its interval come from that"]


def _width(width: float, share: bool) -> str:
    return f"{numbers.points(width)} points" if share else numbers.plain(width)
