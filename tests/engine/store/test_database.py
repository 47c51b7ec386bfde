"""The store commits before it counts, survives what it can, and refuses what it cannot read."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nel.engine.store.log import Log
from nel.engine.store.projections.intact import count_unreadable
from nel.engine.store.projections.pending import Pending
from nel.engine.store.projections.replies import exchanges
from nel.engine.store.projections.results import results
from nel.engine.store.rows import (
    ANSWER,
    JUDGE,
    RESEND,
    TURN,
    VERDICT,
    Asked,
    Row,
    answer_row,
    exchange_row,
    response_in,
    verdict_row,
)  # fmt: skip
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.errors import StoppedEarly, StoreError
from nel.types import Response, Usage


def _answer(idx: int, text: str = "answer", *, repeat: int = 0) -> Row:
    return answer_row((1, idx, repeat), None, Response(text=text))


def _samples(*ids: str) -> list[StoredSample]:
    return [StoredSample(idx, name, idx + 1, "{}", None) for idx, name in enumerate(ids)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Log]:
    with closing(Log(tmp_path / "run.db")) as store:
        store.put_benchmark("b", "b", {"repeats": 2})
        store.begin_session()
        yield store


async def test_a_response_is_on_disk_when_put_returns(store: Log, tmp_path: Path) -> None:
    """Another connection sees the row the moment the future is done."""
    store.samples_of(1).add(iter(_samples("a", "b")))
    store.start_writer()
    await store.append([_answer(0, repeat=1)])
    with closing(sqlite3.connect(tmp_path / "run.db")) as other:
        assert other.execute("SELECT idx, repeat, response FROM steps").fetchall() == [(0, 1, '{"text":"answer"}')]
    with Snapshot(tmp_path / "run.db") as snapshot:
        pending = [(sample.sample_id, repeat) for sample, repeat in Pending(snapshot).samples(1, 2)]
        assert pending == [("a", 0), ("b", 0), ("b", 1)]
    await store.stop_writer()


async def test_many_rows_share_few_commits(store: Log, tmp_path: Path) -> None:
    """Rows handed in together are all there after one wait, in any number."""
    store.start_writer()
    await asyncio.gather(*(store.append([_answer(idx)]) for idx in range(3000)))
    await store.stop_writer()
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert Pending(snapshot).last_answer() == 3000


async def test_a_full_disk_stops_resumably(store: Log) -> None:
    """A write that fails raises StoppedEarly at the one who waits; nothing is half written."""
    store._connection.execute("PRAGMA max_page_count = 24")
    store.start_writer()
    puts = [store.append([_answer(idx, "x" * 4000)]) for idx in range(200)]
    with pytest.raises(StoppedEarly, match="free some space, then resume"):
        await asyncio.gather(*puts)
    await asyncio.gather(*puts, return_exceptions=True)
    await store.stop_writer()
    assert store._connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_a_taken_id_names_both_rows_and_adds_nothing(store: Log, tmp_path: Path) -> None:
    """A duplicate id rolls the whole snapshot back and tells which row took it."""

    def add() -> None:
        with store.transaction():
            clash = store.samples_of(1).add(iter(_samples("a", "b", "a")))
            assert clash is not None
            raise KeyError(clash[0].row_number, clash[1])

    with pytest.raises(KeyError, match=r"\(3, 1\)"):
        add()
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert snapshot.count_planned(1) == 0


@pytest.mark.parametrize("is_new", [True, False])
def test_an_id_is_known_as_soon_as_its_sample_was_added(store: Log, is_new: bool) -> None:
    """Samples are inserted hundreds at a time, and a look-up of an id sees those that wait, and stored ones."""
    if not is_new:
        store.samples_of(1).add(iter(_samples("stored")))
    table = store.samples_of(1)
    asked: list[int | None] = []

    def samples() -> Iterator[StoredSample]:
        for idx, name in enumerate(("a", "b"), start=1):
            asked.append(table.row_number_of(name))
            yield StoredSample(idx, name, idx + 10, "{}", None)
            asked.append(table.row_number_of(name))
        asked.append(table.row_number_of("stored"))

    assert table.add(samples()) is None
    assert asked == [None, 11, None, 12, None if is_new else 1]
    assert table.row_number_of("a") == 11


async def test_only_what_a_resume_may_redo_is_dropped(store: Log, tmp_path: Path) -> None:
    """A verdict stays, a scorer's fault loses its outcome, an endpoint's fault its response too."""
    store.samples_of(1).add(iter(_samples("a", "b", "c")))
    store.start_writer()
    for idx, retry in enumerate((0, 1, 2)):
        await store.append([_answer(idx), verdict_row((1, idx, 0), "{}", retry)])
    await store.stop_writer()
    store.void(1)
    assert _held(tmp_path) == {("a", True, True), ("b", True, False), ("c", False, False)}
    rows = store._connection.execute("SELECT idx, role, void FROM steps WHERE void > 0 ORDER BY seq")
    assert rows.fetchall() == [(1, VERDICT, 1), (2, ANSWER, 1), (2, VERDICT, 1)]


async def test_a_new_scorer_begins_a_round_and_takes_nothing_back(store: Log, tmp_path: Path) -> None:
    """Verdicts of the round before stay in the file; only what was never answered goes on to hold."""
    store.samples_of(1).add(iter(_samples("a", "b")))
    store.start_writer()
    await store.append([_answer(0), verdict_row((1, 0, 0), "{}"), verdict_row((1, 1, 0), "{}", RESEND)])
    await store.stop_writer()
    store.begin_round(1)
    assert _held(tmp_path) == {("a", True, False), ("b", False, True)}
    store.append_at_once([verdict_row((1, 0, 0), "{}")])
    assert _held(tmp_path) == {("a", True, True), ("b", False, True)}
    assert store._connection.execute("SELECT count(*) FROM steps WHERE void > 0").fetchone() == (0,)
    assert store.drop_damaged() == 0


def _held(directory: Path) -> set[tuple[str, bool, bool]]:
    """Return each sample, whether it has an answer and whether it has a verdict."""
    with Snapshot(directory / "run.db") as snapshot:
        return {
            (one.sample.sample_id, one.response is not None, one.outcome is not None) for one in results(snapshot, 1, 1)
        }


@pytest.mark.parametrize("column", ["idx", "number", "again", "requests", "prompt", "seconds", "response", "fault"])
def test_a_changed_value_of_a_row_is_found(store: Log, tmp_path: Path, column: str) -> None:
    """The checksum is over every value that says something, so that a changed count is no count."""
    asked = Asked(JUDGE, 1, "j", b"digest")
    store.append_at_once([exchange_row((1, 0, 0), asked, "{}", Response(text="a", attempts=1))])
    changed = {"response": "'{}'", "fault": "'x'", "seconds": "1.5"}.get(column, "7")
    store._connection.execute(f"UPDATE steps SET {column} = {changed}")  # noqa: S608
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert count_unreadable(snapshot) == 1
        with pytest.raises(StoreError, match="damaged"):
            response_in(next(exchanges(snapshot, 1)))
    assert store.drop_damaged() == 1


def test_blocks_that_are_answered_are_passed_over(store: Log, tmp_path: Path) -> None:
    """What is pending is what looking at every sample would find: a gap, no bad row, and all that was never reached."""
    n, answered = 13_000, 12_500
    samples = [
        StoredSample(idx, f"s{idx}", idx + 1, None if idx == 7 else "{}", "bad" if idx == 7 else None)
        for idx in range(n)
    ]
    gaps = (3, 7, 4_096)
    rows = [_answer(idx) for idx in range(answered) if idx not in gaps]
    with store.transaction():
        assert store.samples_of(1).add(iter(samples)) is None
        store.append_at_once([*rows, *(verdict_row(row.key, "{}") for row in rows[:6_000])])
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert sorted(sample.idx for sample, _ in Pending(snapshot).samples(1, 1)) == [3, 4_096, *range(answered, n)]
        assert sum(1 for _ in Pending(snapshot).samples(1, 2)) == 2 * (n - 1) - len(rows)
        assert Pending(snapshot).count_pending(1, 1) == n - 1 - 6_000
        assert snapshot.count_bad_rows(1) == 1


@pytest.mark.parametrize("n", [100, 13_000])
def test_what_is_pending_comes_in_a_drawn_order(store: Log, tmp_path: Path, n: int) -> None:
    """The first tenth is spread over a file of any size, in one order for every session; each sample comes once."""
    with store.transaction():
        assert (
            store.samples_of(1).add(iter(StoredSample(idx, f"s{idx}", idx + 1, "{}", None) for idx in range(n))) is None
        )
    with Snapshot(tmp_path / "run.db") as snapshot:
        order = [sample.idx for sample, _ in Pending(snapshot).samples(1, 1)]
        assert order == [sample.idx for sample, _ in Pending(snapshot).samples(1, 1)]
    assert sorted(order) == list(range(n))
    in_each_quarter = Counter(4 * idx // n for idx in order[: n // 10])
    assert min(in_each_quarter[quarter] for quarter in range(4)) >= n // 10 / 10


async def test_what_a_killed_session_spent_is_noted_on_the_way(store: Log, tmp_path: Path) -> None:
    """The sums are those of all its answers, of which a resume reads only the ones after the last note."""
    n = 20_500
    store.start_writer()
    response = Response(text="a", attempts=2, usage=Usage(prompt_tokens=10, completion_tokens=3))
    for first in range(0, n, 1_000):
        numbers = range(first, min(first + 1_000, n))
        await asyncio.gather(*(store.append([answer_row((1, idx, 0), None, response)]) for idx in numbers))
    further = [Asked(TURN, 0), Asked(JUDGE, 1, "big", b"abc"), Asked(JUDGE, 2, "big", b"abc")]
    await store.append([exchange_row((1, 0, 0), asked, "{}", response) for asked in further])
    await store.stop_writer()
    store.close()
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert snapshot.meta("spend")["upto"] >= 20_000
        n += 1  # the turn
        assert snapshot.spent_by_killed() == {"": [2 * n, 10 * n, 3 * n, 0], "big": [4, 20, 6, 0]}
