"""Artifacts do not depend on how many processes read the results, nor on how the results are divided into ranges."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from nel.artifacts import ranges, write
from nel.artifacts.ranges import Range, RangeReader
from nel.artifacts.write import write_artifacts
from nel.engine.store.schema import connect
from nel.engine.store.snapshot import Snapshot
from nel.errors import StoreError
from nel.judges.record import KEY
from nel.types import ModelFailure, Outcome, Scored, Unscored
from tests.support.judgements import opinion, record, write_store
from tests.support.viewed_run import build_viewed_run

HERE = os.getpid()


def _judged_run(run_dir: Path) -> Path:
    """Write a run in which a panel of two judged, with the same question in neighbouring samples."""
    outcomes: list[Outcome] = []
    for idx in range(40):
        grades = ("C", "I" if idx % 3 else "C")
        case = record("C", *(opinion(name, grade) for name, grade in zip(("a", "b"), grades, strict=True)))
        if idx % 8 == 7:
            outcomes.append(Unscored(cause="judge", kind=f"kind{idx % 5}", detail=f"no verdict {idx}"))
        elif idx % 8 == 6:
            outcomes.append(ModelFailure(kind="empty"))
        else:
            values = {"correct": float(idx % 2), "f1": idx / 7} if idx > 20 else {"correct": float(idx % 2)}
            outcomes.append(Scored(reward=float(idx % 2), metrics=values, details={KEY: [case]}))
    return write_store(run_dir, outcomes, panel=(("a", "m1"), ("b", "m2")))


def _repeated_run(run_dir: Path) -> Path:
    return build_viewed_run(run_dir, n=40, repeats=3)


def _small_run(run_dir: Path) -> Path:
    return build_viewed_run(run_dir, n=5, answered=3)


def _written(run_dir: Path) -> dict[str, bytes]:
    write_artifacts(run_dir)
    return {
        str(path.relative_to(run_dir)): path.read_bytes()
        for path in sorted(run_dir.rglob("*"))
        if path.is_file() and path.suffix in {".json", ".jsonl", ".yaml"}
    }


def _divided(monkeypatch: pytest.MonkeyPatch, *, processes: int, results: int) -> None:
    """Have results read by so many processes, so many at once."""
    monkeypatch.setattr(ranges, "RESULTS_ALONE", 0)
    monkeypatch.setattr(ranges, "usable_processes", lambda: processes)
    monkeypatch.setattr(ranges, "_RESULTS_AT_ONCE", results)
    monkeypatch.setattr(write, "_COUNTED_AT_ONCE", 2 * results)


@pytest.mark.parametrize("build", [_judged_run, _repeated_run, _small_run])
def test_artifacts_do_not_depend_on_processes_and_ranges(
    build: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes of every file are the same, in whatever parts the results are read."""
    run_dir = build(tmp_path / "run")
    expected = _written(run_dir)
    assert any(name.endswith("results.jsonl") for name in expected)
    for processes, results in ((1, 1), (1, 7), (2, 1), (3, 5), (2, 1_000)):
        _divided(monkeypatch, processes=processes, results=results)
        assert _written(run_dir) == expected, (processes, results)


def test_a_killed_process_costs_time_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its range is read here."""
    run_dir = _repeated_run(tmp_path / "run")
    expected = _written(run_dir)
    killed = []

    def read(self: RangeReader, snapshot: Snapshot, key: int, repeats: int, first: int, last: int) -> Range:
        if os.getpid() != HERE and first >= 10:
            os.kill(os.getpid(), signal.SIGKILL)
        killed.append(first)
        return whole(self, snapshot, key, repeats, first, last)

    whole = RangeReader.read
    monkeypatch.setattr(RangeReader, "read", read)
    _divided(monkeypatch, processes=2, results=15)
    assert _written(run_dir) == expected
    assert killed == [10, 15, 20, 25, 30, 35]


def test_a_damaged_record_is_named_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process cannot read it, and neither can this one, which says so."""
    run_dir = _repeated_run(tmp_path / "run")
    expected = _written(run_dir)
    connection = connect(run_dir / "run.db")
    connection.execute("UPDATE outcomes SET outcome = replace(outcome, 'scored', 'scared') WHERE idx = 30")
    connection.close()
    _divided(monkeypatch, processes=2, results=15)
    with pytest.raises(StoreError, match="a record of"):
        write_artifacts(run_dir)
    assert (run_dir / "quiz" / "results.jsonl").read_bytes() == expected["quiz/results.jsonl"]
    assert not list((run_dir / "quiz").glob(".*.tmp"))
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="utf-8").split()
    assert not [pid for pid in children if _is_a_copy(int(pid))]


def test_a_store_that_is_removed_meanwhile_is_named(tmp_path: Path) -> None:
    """The connection that was closed for the processes cannot be opened again."""
    run_dir = _small_run(tmp_path / "run")
    with Snapshot(run_dir / "run.db") as snapshot:
        processes = ExitStack()
        processes.enter_context(snapshot.detached())
        for path in run_dir.glob("run.db*"):
            path.unlink()
        with pytest.raises(StoreError, match="was the run's directory removed"):
            processes.close()


def _is_a_copy(pid: int) -> bool:
    """Return whether a process is a fork of this one, and no tool of the tests."""
    return Path(f"/proc/{pid}/cmdline").read_bytes() == Path("/proc/self/cmdline").read_bytes()
