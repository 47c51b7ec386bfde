"""One line on what a shard of a run is, from metrics.json. Does no I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MERGE: Final = "nel eval merge DIR... -o OUT"


def shard_title(metrics: Mapping[str, Any]) -> str:
    """Return ``shard I of N``; empty for a whole run."""
    shard = metrics.get("shard")
    return f"shard {shard['number']:,} of {shard['of']:,}" if shard else ""


def shard_line(metrics: Mapping[str, Any]) -> str:
    """Return what a shard left to others and what its numbers are good for; empty for a whole
    run.
    """
    shard = metrics.get("shard")
    if not shard:
        return ""
    n, asked = shard["n_questions"], shard["n_questions_asked"]
    return (
        f"this is {shard_title(metrics)}: {n - asked:,} of {n:,} questions belong to other shards"
        f" and were not asked here; the numbers are of {asked:,} alone and decide nothing; put all"
        f" {shard['of']:,} shards together with {MERGE}"
    )
