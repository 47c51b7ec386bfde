"""A store is read without a file being made or changed: folded, while it is written, and after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.engine.store.log import Log
from nel.engine.store.snapshot import Snapshot
from nel.errors import StoreError


def _content(folder: Path) -> dict[str, bytes]:
    """Return what files hold; of the log's index, which both share in one process, only that it is there."""
    paths = sorted(folder.iterdir())
    return {path.name: b"" if path.name.endswith("-shm") else path.read_bytes() for path in paths}


def test_a_folded_store_is_read_and_nothing_appears_beside_it(tmp_path: Path) -> None:
    """SQLite would make a log and its index for any other reader."""
    store = Log(tmp_path / "run.db")
    store.set_meta("run_id", "a")
    store.close()
    before = _content(tmp_path)
    with Snapshot(tmp_path / "run.db", untouched=True) as snapshot:
        assert snapshot.meta("run_id") == "a"
        assert _content(tmp_path) == before
    assert _content(tmp_path) == before


def test_a_finished_run_is_one_file_again_after_it_was_read(tmp_path: Path) -> None:
    """A reader that may not write makes a log and its index; the log of a run in progress stays."""
    store = Log(tmp_path / "run.db")
    store.set_meta("run_id", "a")
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert snapshot.meta("run_id") == "a"
    assert _content(tmp_path)["run.db-wal"]
    store.close()
    with Snapshot(tmp_path / "run.db") as snapshot:
        assert snapshot.meta("run_id") == "a"
    assert [*_content(tmp_path)] == ["run.db"]


def test_what_is_only_in_the_log_is_read_too(tmp_path: Path) -> None:
    """A live run, and one that was killed, have their latest answers in the log."""
    store = Log(tmp_path / "run.db")
    store.set_meta("run_id", "a")
    before = _content(tmp_path)
    assert before["run.db-wal"]
    with Snapshot(tmp_path / "run.db", untouched=True) as snapshot:
        assert snapshot.meta("run_id") == "a"
        assert _content(tmp_path) == before
        store.set_meta("run_id", "b")
        assert snapshot.meta("run_id") == "b"
    store.close()


def test_a_log_without_its_index_is_named(tmp_path: Path) -> None:
    """To read it, SQLite would have to make a file; the message says what does."""
    store = Log(tmp_path / "run.db")
    store.set_meta("run_id", "a")
    copied = tmp_path / "copied"
    copied.mkdir()
    for name in ("run.db", "run.db-wal"):
        (copied / name).write_bytes((tmp_path / name).read_bytes())
    store.close()
    with pytest.raises(StoreError, match=r"was copied without run\.db-shm; nel report .*copied folds it into run\.db$"):
        Snapshot(copied / "run.db", untouched=True)
    assert sorted(path.name for path in copied.iterdir()) == ["run.db", "run.db-wal"]
