"""Formats ``repeat_check`` of metrics.json in a line: how often an endpoint differs from itself."""

from __future__ import annotations

from nel.reports import numbers
from nel.types import JsonObject


def repeat_check_text(metrics: JsonObject) -> str:
    """Return how often the endpoint differs from itself, and the effect on the score.

    Empty without a check.

    Args:
        metrics: The content of metrics.json.
    """
    check = metrics.get("repeat_check")
    if not check:
        return ""
    temperature = "the endpoint's own temperature"
    if check["temperature"] is not None:
        temperature = f"temperature {numbers.plain(check['temperature'])}"
    rates = (
        f"{numbers.count(check['n_asked'])} of {numbers.count(check['n_drawn'])} drawn problems"
        f" asked twice at {temperature}: {_rate(check['text'])} of texts differ,"
        f" {_rate(check['verdict'])} of verdicts differ"
    )
    return "; ".join([rates, *_moves(check["score"], metrics["headline"])])


def _rate(rate: JsonObject) -> str:
    if not rate["n"]:
        return "an unknown share"
    return (
        f"{numbers.percent(rate['rate'])}"
        f" ({numbers.interval(rate['ci_lower'], rate['ci_upper'], 'rate')})"
    )


def _moves(score: JsonObject | None, headline: JsonObject) -> list[str]:
    """Return what the differences do to the score, in points where it is a share."""
    if score is None:
        return []
    is_share = headline["bounds"] is not None
    at_most = score["rerun_half_width_upper"]
    moved = f"asking all again moves the score by ± {_width(score['rerun_half_width'], is_share)}"
    if at_most is not None:
        moved += f" (at most {_width(at_most, is_share)})"
    if score["added_half_width"] is None:
        return [moved]
    added_width = _width(score["added_half_width"], is_share)
    half_width = _width(score["interval_half_width"], is_share)
    return [moved, f"{added_width} of the ± {half_width} of its interval come from that"]


def _width(width: float, is_share: bool) -> str:
    return f"{numbers.points(width)} points" if is_share else numbers.plain(width)
