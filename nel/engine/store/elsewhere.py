"""Marks which samples of a run.db another shard of the run asks; unsharded runs mark none.

A shard stores every sample of its dataset, so that all shards have one identity, and asks the
samples without the mark. Whole clusters, and all repeats of a sample, are in one shard. Depends on
SQLite and a hash.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping
from typing import Final

from nel.config.schema.shard import Shard, read_shard

_MARK: Final = """
    UPDATE samples SET elsewhere = 1
    WHERE benchmark = ? AND nel_shard(CASE WHEN json_valid(content) THEN json_extract(content, '$.group') END,
        sample_id, ?) <> ?"""


def shard_number(group: str | None, sample_id: str, of: int) -> int:
    """Return the number, from 1, of the shard that asks a sample: by its cluster, or by its id
    where it has none.

    Args:
        group: The name of its cluster.
        sample_id: Of the sample.
        of: How many shards there are.
    """
    name = f"question {sample_id}" if group is None else f"group {group}"
    return int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()) % of + 1


def shard_of(identity: object) -> Shard | None:
    """Return the shard that a stored identity names, None for that of a whole run."""
    shard = identity.get("shard") if isinstance(identity, Mapping) else None
    return read_shard(shard) if isinstance(shard, str) else None


def mark(connection: sqlite3.Connection, benchmark: int, shard: Shard | None) -> None:
    """Mark the samples of a benchmark that are not those of a shard; all are those of a whole run."""
    connection.execute(
        "UPDATE samples SET elsewhere = 0 WHERE benchmark = ? AND elsewhere > 0", (benchmark,)
    )
    if shard is not None:
        connection.execute(_MARK, (benchmark, shard.of, shard.number))
