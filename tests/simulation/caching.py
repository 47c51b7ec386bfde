"""A second run over the same cache: what must come from it and what must not, and what damage may befall it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from nel.core.strict_json import loads
from nel.engine.store.rows import JUDGE
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.models.cache import FILE_NAME as CACHE_NAME
from tests.simulation.endpoint import expected_before_judging
from tests.simulation.judge_endpoint import is_readable
from tests.simulation.judging import MUTE
from tests.simulation.script import Damage
from tests.simulation.world import Place, World

_NEVER_KEPT = ("length", "empty", "filtered", "context", "refused", "poison")
"""Samples whose answers are not answers to find again."""


def spoil(cache: Path, damage: Damage) -> None:
    """Do to a cache what a script says."""
    path = cache / CACHE_NAME
    if damage == "garbage":
        path.write_bytes(b"this is not a database, " * 500)
    elif damage == "texts":
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for key, response in connection.execute("SELECT key, response FROM responses").fetchall():
                other = re.sub(r'("text": ?")', r"\1~", response)
                connection.execute("UPDATE responses SET response = ? WHERE key = ?", (other, key))


def violations_of_cache(first: World, again: World) -> list[str]:
    """Return every way in which a run and a second one over its cache broke what must hold of a cache."""
    return [*_of_places(first), *_of_what_is_kept(first, again), *_of_what_is_never_kept(again)]


def _of_places(first: World) -> Iterator[str]:
    """Nothing that was asked for one repeat of a sample answers another one."""
    sent = {(one.sample, one.repeat) for one in first.endpoint.log}
    with Snapshot(first.run_dir / FILE_NAME) as snapshot:
        answered = set(
            snapshot._connection.execute("SELECT idx, repeat FROM steps WHERE role = 0 AND void = 0").fetchall()
        )
    if answered - sent:
        yield f"cache: {len(answered - sent)} repeats of samples have answers and were never asked"


def _of_what_is_kept(first: World, again: World) -> Iterator[str]:
    """A whole answer is not paid for twice, but for those that an aborted session had in flight."""
    if first.script.caching != "none":
        return
    kept = _whole(first)
    cut_short = [past for past in first.past if past.ending is None or past.ending.exit_code != 0]
    for endpoint in again.endpoints:
        spared = sum(past.traffic[endpoint.model].concurrency for past in cut_short)
        twice = {sent.place for sent in endpoint.log} & kept
        if len(twice) > spared:
            yield f"cache: {len(twice)} answers of {endpoint.model} were kept and asked for again"


def _whole(world: World) -> set[Place]:
    with Snapshot(world.run_dir / FILE_NAME) as snapshot:
        query = "SELECT idx, repeat, request, response, role FROM steps WHERE role <> 1 AND void = 0"
        rows = snapshot._connection.execute(query).fetchall()
    found = set()
    for idx, repeat, request, response, role in rows:
        said = loads(response)
        whole = "error" not in said and said["text"].strip() and said.get("finish_reason") == "stop"
        if whole and (role != JUDGE or is_readable(said)):
            found.add((idx, repeat, request))
    return found


def _of_what_is_never_kept(again: World) -> Iterator[str]:
    """What was an error, cut off, empty or without a verdict is asked for by every run."""
    script, judging = again.script, again.script.judging
    sent = {(one.sample, one.repeat) for one in again.endpoint.log}
    for idx, kind in enumerate(script.kinds):
        for repeat in range(script.repeats):
            if kind in _NEVER_KEPT and (idx, repeat) not in sent:
                yield f"cache: sample {idx} ({kind}) was not asked by the second run"
    for member, judge in enumerate(again.judges):
        asked = {one.sample for one in judge.log}
        for idx, kind in enumerate(script.kinds):
            assert judging is not None
            temper = judging.temper(idx, member)
            is_judged = expected_before_judging(kind)[0] == "scored" and judging.ways[idx] != "rule"
            if is_judged and (temper in MUTE or temper == "hesitant") and idx not in asked:
                yield f"cache: sample {idx} ({temper}) was not put to {judge.model} by the second run"
