"""Says which questions a score is of, and which were not asked: from metrics.json, for every
output. Does no I/O.
"""

from __future__ import annotations

from typing import Final

from nel.reports.tables.columns import Counted, Figure
from nel.types import JsonObject

_REASONS: Final = {
    "narrow": "the interval is narrow enough",
    "futile": "the value cannot be reached any more",
    "better": "it is better than the baseline",
    "worse": "it is worse than the baseline",
}


def sample_line(metrics: JsonObject) -> str:
    """Return how a sample was drawn, with the interval for new questions; empty where the questions
    are not a sample.
    """
    selection = metrics.get("selection") or {}
    if selection.get("kind") != "sample":
        return ""
    headline = metrics["headline"]
    new_questions = headline.get("new_questions") or {}
    span = Figure.of(new_questions, headline["unit"]).span
    return (
        f"{selection['text']}: the interval is of all {selection['of']:,}; for new questions it is"
        f" {span}"
    )


def n_counted(metrics: JsonObject, n: int) -> Counted:
    """Return the number of answers and, where only a part was asked, of how many questions."""
    selection = metrics.get("selection") or {}
    if selection.get("kind") not in ("first", "sample"):
        return Counted(n)
    asked, total = f"{selection['n']:,}", f"{selection['of']:,}"
    if selection["kind"] == "first":
        asked = f"first {asked}"
    if not selection["is_exact"]:
        total = f"more than {total}"
    return Counted(n, f"({asked} of {total})")


MERGE: Final = "nel eval merge DIR... -o OUT"


def shard_title(metrics: JsonObject) -> str:
    """Return ``shard I of N``; empty for a whole run."""
    shard = metrics.get("shard")
    return f"shard {shard['number']:,} of {shard['of']:,}" if shard else ""


def shard_line(metrics: JsonObject) -> str:
    """Return what a shard left to others and what its numbers are for; empty for a whole run."""
    shard = metrics.get("shard")
    if not shard:
        return ""
    n, n_asked = shard["n_questions"], shard["n_questions_asked"]
    return (
        f"this is {shard_title(metrics)}: {n - n_asked:,} of {n:,} questions belong to other shards"
        f" and were not asked here; the numbers are of {n_asked:,} alone and decide nothing; put all"
        f" {shard['of']:,} shards together with {MERGE}"
    )


def stop_line(metrics: JsonObject) -> str:
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
    n, n_asked = rule["n_questions"], rule["n_questions_asked"]
    not_asked = f"{n - n_asked:,} were not asked"
    if accounting["n_total"] >= 2 * n:  # of several repeats, answers are counted apart
        not_asked += f" ({accounting['n_not_asked']:,} answers)"
    return (
        f"stopped early by {rule['condition']}: {reason} after {n_asked:,} of {n:,} questions in"
        f" random order; {not_asked}; the interval is of the score over all {n:,} and valid at any"
        f" time{_difference(rule)}"
    )


def _difference(rule: JsonObject) -> str:
    interval = rule["difference"]
    if interval is None:
        return ""
    ends = Figure(None, interval["lower"], interval["upper"], is_difference=True)
    return f"; difference to {rule['baseline']}: {ends.span} points"
