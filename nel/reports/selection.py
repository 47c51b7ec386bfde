"""Says which questions a score is of, for every output: from ``selection`` of metrics.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.reports.tables.columns import Counted, Figure


def sample_line(metrics: Mapping[str, Any]) -> str:
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


def n_counted(metrics: Mapping[str, Any], n: int) -> Counted:
    """Return the number of answers and, where only a part was asked, of how many questions."""
    selection = metrics.get("selection") or {}
    if selection.get("kind") not in ("first", "sample"):
        return Counted(n)
    first_word = "first " if selection["kind"] == "first" else ""
    more_words = "" if selection["is_exact"] else "more than "
    return Counted(n, f"({first_word}{selection['n']:,} of {more_words}{selection['of']:,})")


MERGE: Final = "nel eval merge DIR... -o OUT"


def shard_title(metrics: Mapping[str, Any]) -> str:
    """Return ``shard I of N``; empty for a whole run."""
    shard = metrics.get("shard")
    return f"shard {shard['number']:,} of {shard['of']:,}" if shard else ""


def shard_line(metrics: Mapping[str, Any]) -> str:
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
