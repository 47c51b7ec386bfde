"""Flipped bytes, cut files, lost logs: an error that says what to do, or the same numbers; no others, no traceback."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

import nel
from nel.apps.view.index.database import Index
from nel.engine.asking.resume_checks import check_records
from nel.engine.store.codec import decode_response, encode_response
from nel.engine.store.lock import own_directory
from nel.engine.store.salvage import salvage
from nel.engine.store.snapshot import Snapshot
from nel.errors import StoreError
from nel.models.cache import ResponseCache
from nel.runs.evaluation import stored_config
from nel.runs.rebuilding import rebuild
from tests.faults.invariants import Ran, read_run
from tests.faults.runs import nel_cli, run
from tests.faults.server import serving
from tests.support.runs import without_volatile
from tests.support.tiers import first_rows, representatives

N = 40
STEPS = ("salvage", "start a new", "give the directory", "use the nel")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    home = tmp_path_factory.mktemp("finished")
    with serving() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("NEL_TEST_CANARY", "cnry5f/7+bQ==zz9917&k")
        return run(home, server, n=N)


def same_numbers(first: Ran, second: Ran) -> bool:
    """Return whether rows and metrics of two runs are equal; the endpoint's address is another one after a resume."""
    names = ("headline", "accounting", "metrics", "complete")
    same_metrics = all(first.metrics[name] == second.metrics[name] for name in names)
    return same_metrics and without_volatile(first.rows) == without_volatile(second.rows)


def _damaged(finished: Ran, tmp_path: Path, change: Callable[[bytearray], bytes | bytearray]) -> Path:
    run_dir = tmp_path / "run"
    shutil.copytree(finished.run_dir, run_dir)
    data = bytearray((run_dir / "run.db").read_bytes())
    (run_dir / "run.db").write_bytes(change(data))
    return run_dir


def _resumed(run_dir: Path) -> Ran:
    with serving() as server:
        overrides = [f"endpoint.url={server.url}", "engine.preflight=false"]
        config = stored_config(run_dir, overrides=overrides)
        result = nel.evaluate(config, resume=True, allowed_changes=frozenset({"endpoint.url"}))
    return read_run(run_dir, result.exit_code)


@dataclass(frozen=True)
class Told:
    """What the commands made of a damaged run."""

    refused: list[str]
    """Their errors."""
    wrong: list[str]
    """Other numbers than before the damage, errors without a next step, and exit codes other than 2."""


def _told(run_dir: Path, finished: Ran) -> Told:
    """Report, resume and salvage a damaged run."""
    told = Told([], [])

    def attempt(name: str, command: Callable[[], Ran], steps: tuple[str, ...]) -> bool:
        try:
            told.wrong.extend(() if same_numbers(finished, command()) else (f"{name}: other numbers",))
        except nel.NelError as error:
            told.refused.append(f"{name}: {error}")
            is_helpful = error.exit_code == 2 and any(step in str(error) for step in steps)
            told.wrong.extend(() if is_helpful else (f"{name}: exit {error.exit_code}: {error}",))
            return False
        return True

    attempt("report", lambda: _reported(run_dir), ("",))
    if not attempt("resume", lambda: _resumed(run_dir), STEPS):
        # A changed path of the dataset is named as a file that is not there.
        attempt("salvage", lambda: _salvaged(run_dir), ("start a new run", "does not exist"))
    return told


def _reported(run_dir: Path) -> Ran:
    check_records(run_dir / "run.db")
    rebuild(run_dir)
    return read_run(run_dir, 0)


def _salvaged(run_dir: Path) -> Ran:
    with own_directory(run_dir):
        salvage(run_dir)
    return _resumed(run_dir)


@pytest.mark.parametrize("seed", first_rows(2, range(80), storm=20))
def test_flipped_bytes(tmp_path: Path, finished: Ran, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - places, not secrets

    def flip(data: bytearray) -> bytearray:
        for _ in range(chance.choice((1, 1, 1, 3, 40))):
            data[chance.randrange(len(data))] ^= chance.choice((1, 2, 16, 128, 255))
        return data

    assert _told(_damaged(finished, tmp_path, flip), finished).wrong == []


def test_a_salvage_counts_what_a_resume_does_again(tmp_path: Path, finished: Ran) -> None:
    """A verdict that lost its answer is made again with it."""
    run_dir = _damaged(finished, tmp_path, bytes)
    with closing(sqlite3.connect(run_dir / "run.db")) as store, store:
        store.execute("UPDATE steps SET response = '{}' WHERE role = 0 AND idx IN (3, 7)")
    with own_directory(run_dir):
        salvaged = salvage(run_dir)
    assert salvaged.pending == 2 * (len(finished.rows) // len({row["problem_idx"] for row in finished.rows}))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE samples SET idx = -118 WHERE idx = 10",
        "UPDATE sessions SET spent = replace(spent, 'tokens', 'tokenr')",
    ],
    ids=["number-of-a-sample", "spending-of-a-session"],
)
def test_a_salvage_believes_no_changed_value(tmp_path: Path, finished: Ran, damage: str) -> None:
    """What a value is not any more is asked again or added up again: no sample is lost in silence."""
    run_dir = _damaged(finished, tmp_path, bytes)
    with closing(sqlite3.connect(run_dir / "run.db")) as store, store:
        assert store.execute(damage).rowcount == 1
    assert same_numbers(finished, _salvaged(run_dir))


@pytest.mark.parametrize("page", first_rows(1, [*range(1, 24, 2), *range(0, 24, 2)], storm=12))
def test_a_page_of_nothing(tmp_path: Path, finished: Ran, page: int) -> None:
    """Each page of the file zeroed, and the file cut before it."""

    def zero(data: bytearray) -> bytearray:
        first = 4096 * page % len(data)
        data[first : first + 4096] = bytes(4096)
        return data

    assert _told(_damaged(finished, tmp_path, zero), finished).wrong == []
    shutil.rmtree(tmp_path / "run")
    cut = _damaged(finished, tmp_path, lambda data: data[: 4096 * page % len(data)])
    told = _told(cut, finished)
    assert told.wrong == []
    assert told.refused, "a store that was cut off is not whole"


@pytest.mark.parametrize(
    ("old", "new"),
    first_rows(1, [(b"is 4 plus 4", b"is 4 plus 5"), (b"Answer: 8", b"Answer: 9"), (b'"reward":1.0', b'"reward":0.0')]),
)
def test_a_flip_that_is_still_json(tmp_path: Path, finished: Ran, old: bytes, new: bytes) -> None:
    """A changed answer, reward or question is found by its checksum and not believed."""
    run_dir = _damaged(finished, tmp_path, lambda data: bytes(data).replace(old, new))
    told = _told(run_dir, finished)
    assert told.wrong == []
    assert told.refused, "the change was believed"


@pytest.mark.parametrize("place", [0, 1])
def test_another_id(tmp_path: Path, finished: Ran, place: int) -> None:
    """A sample's id that was changed in the table, or in its index, is not a new sample after a salvage."""
    name = str(finished.rows[5]["sample_id"]).encode()

    def rename(data: bytearray) -> bytes:
        parts = bytes(data).split(name)
        assert len(parts) > 2
        return name.join(parts[: place + 1]) + name[::-1] + name.join(parts[place + 1 :])

    told = _told(_damaged(finished, tmp_path, rename), finished)
    assert told.wrong == []
    assert told.refused, "the change was believed"


FOREIGN: dict[str, bytes] = {"empty": b"", "text": b"hello\n" * 999, "magic": b"SQLite format 3\x00" + bytes(4080)}


@pytest.mark.parametrize("data", representatives(FOREIGN, "empty"))
def test_a_file_that_is_no_store(tmp_path: Path, finished: Ran, data: bytes) -> None:
    """Refused on the command line in one line, by every command, and left as it was."""
    run_dir = _damaged(finished, tmp_path, lambda _: data)
    for command in (["eval", "resume"], ["report"], ["eval", "score"], ["eval", "salvage"]):
        done = nel_cli([*command, str(run_dir)], tmp_path)
        assert done.returncode == 2, done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.startswith("nel: ")
    assert (run_dir / "run.db").read_bytes() == data


def test_salvage_on_the_command_line(tmp_path: Path, finished: Ran) -> None:
    """What was kept and lost is said, the damaged file stays, and a whole run loses nothing."""
    run_dir = _damaged(finished, tmp_path, lambda data: data)
    done = nel_cli(["eval", "salvage", str(run_dir)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{N} samples, {N} answers, {N} verdicts" in done.stdout
    assert "again: 0" in done.stdout
    assert (run_dir / "run.db.damaged").exists()
    assert same_numbers(finished, _resumed(run_dir))


def test_a_salvage_takes_a_lost_configuration_from_run_yaml(tmp_path: Path, finished: Ran) -> None:
    """The same configuration lies beside the store; without that there is nothing to resume, and no file is changed."""
    run_dir = _damaged(finished, tmp_path, lambda data: data)
    with closing(sqlite3.connect(run_dir / "run.db")) as store, store:
        store.execute("DELETE FROM meta WHERE key = 'config'")
    written = (run_dir / "run.yaml").rename(tmp_path / "run.yaml")
    refused = nel_cli(["eval", "salvage", str(run_dir)], tmp_path)
    assert (refused.returncode, "nor from a run.yaml" in refused.stderr) == (2, True)
    assert not (run_dir / "run.db.damaged").exists()
    written.rename(run_dir / "run.yaml")
    assert nel_cli(["eval", "salvage", str(run_dir)], tmp_path).returncode == 0
    assert same_numbers(finished, _resumed(run_dir))


def _foreign_store(path: Path) -> None:
    with closing(sqlite3.connect(path)) as foreign, foreign:
        foreign.execute("CREATE TABLE notes(text)")
    with pytest.raises(StoreError, match="not written by nel"):
        Snapshot(path)


def _damaged_cache(path: Path) -> None:
    path.write_bytes(b"not a database, " * 1000)
    ResponseCache(path.parent, encode=encode_response, decode=decode_response).close()


def _damaged_index(path: Path) -> None:
    path.write_bytes(b"not a database, " * 1000)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        Index(path, writes=True)


@pytest.mark.parametrize(
    ("name", "refuse"),
    [("run.db", _foreign_store), ("responses.db", _damaged_cache), ("index.db", _damaged_index)],
)
def test_a_file_that_is_refused_is_closed(tmp_path: Path, name: str, refuse: Callable[[Path], None]) -> None:
    """What cannot use its file leaves no connection to it open."""
    refuse(tmp_path / name)
    handles = [entry.readlink() for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink()]
    assert [handle for handle in handles if handle.is_relative_to(tmp_path)] == []
