"""What is said of a run.db that holds nothing: the run had not begun, or it had and its log is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.config.load import build_config
from nel.engine.run_directory import new_directory, note_begin
from nel.engine.store.log import Log
from nel.errors import StoreError
from nel.runs.evaluation import stored_config

STAGE = '{"time": "t", "level": "info", "event": "stage", "stage": "reading datasets"}\n'
STARTED = '{"time": "t", "level": "info", "event": "session_started", "run_id": "r"}\n'
ANSWERED = '{"time": "t", "level": "info", "event": "progress", "done": 9}\n'


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (None, "holds no run that has begun; start a new one"),
        (STAGE, "holds no run that has begun: it was stopped while its samples were read; start a new one"),
        (STAGE + STARTED, "its write-ahead log run.db-wal is missing or damaged"),
        (ANSWERED, "its write-ahead log run.db-wal is missing or damaged"),
        (STAGE + "{", "its write-ahead log run.db-wal is missing or damaged"),
    ],
    ids=["no log", "reading datasets", "started", "a log that was rotated", "a torn line"],
)
def test_an_empty_store_says_why(tmp_path: Path, log: str | None, said: str) -> None:
    """The log of the run tells which of the two it was; in doubt something may be lost."""
    Log(tmp_path / "run.db").close()
    if log is not None:
        (tmp_path / "run.log").write_text(log, encoding="utf-8")
    with pytest.raises(StoreError) as caught:
        stored_config(tmp_path)
    assert said in str(caught.value)


def test_a_directory_has_its_name_once_it_can_be_resumed(tmp_path: Path) -> None:
    """A run that is killed before its run.db holds anything goes on with the configuration that it was started with."""
    config = build_config({"benchmarks": [{"name": "b"}], "output": {"dir": str(tmp_path)}}, where="here")
    run_dir = new_directory(config, "b")
    assert [path.name for path in tmp_path.iterdir()] == [run_dir.name]
    assert stored_config(run_dir).benchmarks == config.benchmarks
    assert (run_dir / "run.db").exists()
    note_begin(run_dir)
    with pytest.raises(StoreError, match="holds no run that has begun"):
        stored_config(run_dir)
