"""One line on what was not to be asked of a benchmark, from metrics.json. Does no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.reports.selection import shard_line
from nel.reports.tables.columns import Figure

_REASONS: Final = {
    "narrow": "the interval is narrow enough",
    "futile": "the value cannot be reached any more",
    "better": "it is better than the baseline",
    "worse": "it is worse than the baseline",
}


def stop_line(metrics: Mapping[str, Any]) -> str:
    """Return what was not asked and what the interval means, or what a shard is.

    Empty for a whole run without a stop rule.
    """
    rule = metrics.get("stop_rule")
    if not rule:
        return shard_line(metrics)
    reason = _REASONS.get(str(rule["reason"]))
    if reason is None:
        return f"no condition of the stop rule held: {', '.join(rule['when'])}"
    accounting = metrics["accounting"]
    repeats = accounting["n_total"] // max(int(rule["n_questions"]), 1)
    n_left = rule["n_questions"] - rule["n_questions_asked"]
    answers = f" ({accounting['n_not_asked']:,} answers)" if repeats > 1 else ""
    return (
        f"stopped early by {rule['condition']}: {reason} after {rule['n_questions_asked']:,} of"
        f" {rule['n_questions']:,} questions in random order; {n_left:,} were not asked{answers};"
        f" the interval is of the score over all {rule['n_questions']:,} and valid at any"
        f" time{_difference(rule)}"
    )


def _difference(rule: Mapping[str, Any]) -> str:
    interval = rule["difference"]
    if interval is None:
        return ""
    ends = Figure(None, interval["lower"], interval["upper"], is_difference=True)
    return f"; difference to {rule['baseline']}: {ends.span} points"
