"""What the artifacts of a shard say of the samples that other shards of the run ask: they are
counted as not asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nel.engine.store.elsewhere import shard_of
from nel.metrics.accumulator import Accounting


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
