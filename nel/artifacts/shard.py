"""What the artifacts of a shard say of the samples that other shards of the run ask: they are
counted as not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from nel.artifacts.results import NOT_RUN, Result, result_line
from nel.engine.store.elsewhere import shard_of
from nel.metrics.accumulator import OTHER_SHARD, Accounting

_OUTCOME: Final = {
    "state": "not_asked",
    "kind": OTHER_SHARD,
    "cause": None,
    "detail": "another shard of the run asks this question",
}


def other_shard_line(result: Result) -> dict[str, object]:
    """Return the line of results.jsonl of a sample that another shard asks."""
    return {
        **result_line(replace(result, response=None, outcome=NOT_RUN)),
        "outcome": dict(_OUTCOME),
    }


def shard_json(plan: Mapping[str, Any], accounting: Accounting) -> dict[str, dict[str, int]]:
    """Return ``shard`` of the artifacts of a shard; nothing for a whole run."""
    shard = shard_of(plan.get("identity"))
    if shard is None:
        return {}
    repeats = plan["repeats"]
    return {
        "shard": {
            "number": shard.number,
            "of": shard.of,
            "n_questions": accounting.n_total // repeats,
            "n_questions_asked": accounting.n_asked // repeats,
        }
    }
