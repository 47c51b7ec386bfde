"""The store commits before it counts, survives what it can, and refuses what it cannot read."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nel.engine.store.database import Store
from nel.engine.store.pending import Pending
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.errors import DatasetError, StoppedEarly, StoreError


def _samples(*ids: str) -> list[StoredSample]:
    return [StoredSample(idx, name, idx + 1, "{}", None) for idx, name in enumerate(ids)]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "run.db")
    store.put_benchmark("b", "b", {"repeats": 2})
    store.begin_session()
    return store


async def test_a_response_is_on_disk_when_put_returns(store: Store, tmp_path: Path) -> None:
    """Another connection sees the row the moment the future is done."""
    store.add_samples(1, iter(_samples("a", "b")))
    store.start_writer()
    await store.put_response(1, 0, 1, "{}", "answer")
    with sqlite3.connect(tmp_path / "run.db") as other:
        assert other.execute("SELECT idx, repeat, response FROM responses").fetchall() == [(0, 1, "answer")]
    with Snapshot(tmp_path / "run.db") as snapshot:
        pending = [(sample.sample_id, repeat) for sample, repeat in Pending(snapshot).samples(1, 2)]
        assert pending == [("a", 0), ("b", 0), ("b", 1)]
    await store.stop_writer()
    store.close()


async def test_many_rows_share_few_commits(store: Store, tmp_path: Path) -> None:
    """Rows handed in together are all there after one wait, in any number."""
    store.start_writer()
    await asyncio.gather(*(store.put_response(1, idx, 0, None, "x") for idx in range(3000)))
    await store.stop_writer()
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert Pending(snapshot).last_response() == 3000
    store.close()


async def test_a_full_disk_stops_resumably(store: Store) -> None:
    """A write that fails raises StoppedEarly at the one who waits; nothing is half written."""
    store._connection.execute("PRAGMA max_page_count = 24")
    store.start_writer()
    puts = [store.put_response(1, idx, 0, None, "x" * 4000) for idx in range(200)]
    with pytest.raises(StoppedEarly, match="free some space, then resume"):
        await asyncio.gather(*puts)
    await asyncio.gather(*puts, return_exceptions=True)
    await store.stop_writer()
    assert store._connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    store.close()


def test_a_taken_id_names_both_rows_and_adds_nothing(store: Store, tmp_path: Path) -> None:
    """A duplicate id rolls the whole snapshot back and tells which row took it."""

    def add() -> None:
        with store.transaction():
            clash = store.add_samples(1, iter(_samples("a", "b", "a")))
            assert clash is not None
            raise KeyError(clash[0].row_number, clash[1])

    with pytest.raises(KeyError, match=r"\(3, 1\)"):
        add()
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert snapshot.count_samples(1) == 0
    store.close()


@pytest.mark.parametrize("is_new", [True, False])
def test_an_id_is_known_as_soon_as_its_sample_was_added(store: Store, is_new: bool) -> None:
    """Samples are inserted hundreds at a time, and a look-up of an id sees those that wait, and stored ones."""
    if is_new:
        store.clear_samples(1)
    else:
        store.add_samples(1, iter(_samples("stored")))
    asked: list[int | None] = []

    def samples() -> Iterator[StoredSample]:
        for idx, name in enumerate(("a", "b"), start=1):
            asked.append(store.row_number_of(1, name))
            yield StoredSample(idx, name, idx + 10, "{}", None)
            asked.append(store.row_number_of(1, name))
        asked.append(store.row_number_of(1, "stored"))

    assert store.add_samples(1, samples()) is None
    assert asked == [None, 11, None, 12, None if is_new else 1]
    assert store.row_number_of(1, "a") == 11


def test_a_taken_id_comes_before_what_is_wrong_with_a_later_row(store: Store) -> None:
    """So that one dataset always gives one message, however many samples are inserted together."""

    def samples(*ids: str) -> Iterator[StoredSample]:
        yield from _samples(*ids)
        raise DatasetError("line 9 is not JSON")

    with store.transaction():
        clash = store.add_samples(1, samples("a", "b", "a", "c"))
        assert clash is not None
        assert (clash[0].row_number, clash[1]) == (3, 1)
    with pytest.raises(DatasetError, match="line 9"):
        store.add_samples(2, samples("a", "b"))


async def test_only_what_a_resume_may_redo_is_dropped(store: Store, tmp_path: Path) -> None:
    """A verdict stays, a scorer's fault loses its outcome, an endpoint's fault its response too."""
    store.add_samples(1, iter(_samples("a", "b", "c")))
    store.start_writer()
    for idx, retry in enumerate((0, 1, 2)):
        await store.put_response(1, idx, 0, None, "answer")
        await store.put_outcomes([(1, idx, 0, retry, "outcome")])
    await store.stop_writer()
    store.drop_outcomes(1, only_retryable=True)
    with Snapshot(tmp_path / "run.db") as snapshot:
        kept = {(r.sample.sample_id, r.response, r.outcome) for r in snapshot.results(1, 1)}
    assert kept == {("a", "answer", "outcome"), ("b", "answer", None), ("c", None, None)}
    store.close()


def test_files_that_are_no_store_are_refused(tmp_path: Path) -> None:
    """Missing, foreign and newer files are named as what they are."""
    with pytest.raises(StoreError, match=r"there is no run\.db"):
        Snapshot(tmp_path / "run.db")
    with sqlite3.connect(tmp_path / "foreign.db") as foreign:
        foreign.execute("CREATE TABLE t(x)")
    foreign.close()
    with pytest.raises(StoreError, match="was not written by nel"):
        Snapshot(tmp_path / "foreign.db")
    Store(tmp_path / "newer.db").close()
    with sqlite3.connect(tmp_path / "newer.db") as newer:
        newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(StoreError, match="has format 99"):
        Snapshot(tmp_path / "newer.db")


async def test_a_row_that_cannot_be_written_is_an_error_and_not_a_wait_for_ever(store: Store) -> None:
    """A value that SQLite has no form for raises at the one who waits, and the writer goes on."""
    store.start_writer()
    with pytest.raises(UnicodeEncodeError):
        await store.put_response(1, 0, 0, None, "\ud800")
    await store.put_response(1, 1, 0, None, "fine")
    await store.stop_writer()
    store.close()


def test_blocks_that_are_answered_are_passed_over(store: Store, tmp_path: Path) -> None:
    """What is pending is what looking at every sample would find: a gap, no bad row, and all that was never reached."""
    n, answered = 13_000, 12_500
    samples = [
        StoredSample(idx, f"s{idx}", idx + 1, None if idx == 7 else "{}", "bad" if idx == 7 else None)
        for idx in range(n)
    ]
    gaps = (3, 7, 4_096)
    rows = [(1, idx, 0, 1, "{}", "{}") for idx in range(answered) if idx not in gaps]
    with store.transaction():
        assert store.add_samples(1, iter(samples)) is None
        store._connection.executemany("INSERT INTO responses VALUES(?, ?, ?, ?, ?, ?)", rows)
        store._connection.executemany(
            "INSERT INTO outcomes VALUES(?, ?, ?, 0, ?)", [(*row[:3], "{}") for row in rows[:6_000]]
        )
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert sorted(sample.idx for sample, _ in Pending(snapshot).samples(1, 1)) == [3, 4_096, *range(answered, n)]
        assert sum(1 for _ in Pending(snapshot).samples(1, 2)) == 2 * (n - 1) - len(rows)
        assert Pending(snapshot).count_pending(1, 1) == n - 1 - 6_000
        assert snapshot.count_bad_rows(1) == 1
    store.close()


@pytest.mark.parametrize("n", [100, 13_000])
def test_what_is_pending_comes_in_a_drawn_order(store: Store, tmp_path: Path, n: int) -> None:
    """The first tenth is spread over a file of any size, in one order for every session; each sample comes once."""
    with store.transaction():
        assert store.add_samples(1, iter(StoredSample(idx, f"s{idx}", idx + 1, "{}", None) for idx in range(n))) is None
    with Snapshot(tmp_path / "run.db") as snapshot:
        order = [sample.idx for sample, _ in Pending(snapshot).samples(1, 1)]
        assert order == [sample.idx for sample, _ in Pending(snapshot).samples(1, 1)]
    assert sorted(order) == list(range(n))
    in_each_quarter = Counter(4 * idx // n for idx in order[: n // 10])
    assert min(in_each_quarter[quarter] for quarter in range(4)) >= n // 10 / 10
    store.close()


async def test_what_a_killed_session_spent_is_noted_on_the_way(store: Store, tmp_path: Path) -> None:
    """The sums are those of all its answers, of which a resume reads only the ones after the last note."""
    n = 20_500
    store.start_writer()
    response = '{"text":"a","attempts":2,"prompt_tokens":10,"completion_tokens":3}'
    for first in range(0, n, 1_000):
        numbers = range(first, min(first + 1_000, n))
        await asyncio.gather(*(store.put_response(1, idx, 0, None, response) for idx in numbers))
    await store.put_call(1, 0, 0, "turn-0", "{}", response)
    for number in (1, 2):
        await store.put_call(1, 0, 0, f"judge-big:abc-{number}", "{}", response)
    await store.stop_writer()
    store.close()
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert snapshot.meta("usage")["responses"]["upto"] >= 20_000
        assert snapshot.usage_of_killed_sessions() == {
            "responses": (2 * n, 10 * n, 3 * n, 0),
            "calls": (2, 10, 3, 0),
            "judges": (4, 20, 6, 0),
        }
