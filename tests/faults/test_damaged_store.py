"""Flipped bytes, cut files, lost logs: an error that says what to do, or the same numbers; no others, no traceback."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import nel
from nel.engine.resume_checks import check_records
from nel.engine.store.lock import owned
from nel.engine.store.salvage import salvage
from nel.evaluation import rebuild, stored_config
from tests.faults.invariants import Ran, read_run
from tests.faults.runs import nel_cli, run
from tests.faults.server import serving
from tests.support.runs import without_volatile
from tests.support.tiers import first_rows, representatives

N = 40
STEPS = ("salvage", "start a new", "give the directory", "use the nel")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A finished run."""
    home = tmp_path_factory.mktemp("finished")
    with serving() as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("NEL_TEST_CANARY", "cnry5f/7+bQ==zz9917&k")
        return run(home, server, n=N)


def same_numbers(first: Ran, second: Ran) -> None:
    """Fail where a row or a metric of two runs differs; the endpoint's address is another one after a resume."""
    assert without_volatile(first.rows) == without_volatile(second.rows)
    for name in ("headline", "accounting", "metrics", "complete"):
        assert first.metrics[name] == second.metrics[name]


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


def _tells_the_truth(run_dir: Path, finished: Ran) -> str:
    """Report, resume and salvage a damaged run; each is refused with a next step, or ends in the same numbers."""
    said: list[str] = []
    codes: list[int] = []
    steps: list[bool] = []
    try:
        check_records(run_dir / "run.db")
        rebuild(run_dir)
        same_numbers(finished, read_run(run_dir, 0))
    except nel.NelError as error:
        said.append(f"report: {error}")
        codes.append(error.exit_code)
    try:
        same_numbers(finished, _resumed(run_dir))
    except nel.NelError as error:
        said.append(f"resume: {error}")
        codes.append(error.exit_code)
        steps.append(any(step in str(error) for step in STEPS))
        try:
            with owned(run_dir):
                salvage(run_dir)
            same_numbers(finished, _resumed(run_dir))
        except nel.NelError as lost:
            said.append(f"salvage: {lost}")
            steps.append("start a new run" in str(lost))
    assert all(steps), said
    assert set(codes) <= {2}, said
    return "\n".join(said)


@pytest.mark.parametrize("seed", first_rows(5, range(200)))
def test_flipped_bytes(tmp_path: Path, finished: Ran, seed: int) -> None:
    """One to forty flipped bytes anywhere in the file."""
    chance = random.Random(seed)  # noqa: S311 - places, not secrets

    def flip(data: bytearray) -> bytearray:
        for _ in range(chance.choice((1, 1, 1, 3, 40))):
            data[chance.randrange(len(data))] ^= chance.choice((1, 2, 16, 128, 255))
        return data

    _tells_the_truth(_damaged(finished, tmp_path, flip), finished)


@pytest.mark.parametrize("page", representatives(range(24), 1))
def test_a_page_of_nothing(tmp_path: Path, finished: Ran, page: int) -> None:
    """Each page of the file zeroed, and the file cut before it."""

    def zero(data: bytearray) -> bytearray:
        first = 4096 * page % len(data)
        data[first : first + 4096] = bytes(4096)
        return data

    _tells_the_truth(_damaged(finished, tmp_path, zero), finished)
    shutil.rmtree(tmp_path / "run")
    _tells_the_truth(_damaged(finished, tmp_path, lambda data: data[: 4096 * page % len(data)]), finished)


@pytest.mark.parametrize(
    ("old", "new"), [(b"Answer: 8", b"Answer: 9"), (b'"reward":1.0', b'"reward":0.0'), (b"is 4 plus 4", b"is 4 plus 5")]
)
def test_a_flip_that_is_still_json(tmp_path: Path, finished: Ran, old: bytes, new: bytes) -> None:
    """A changed answer, reward or question is found by its checksum and not believed."""
    run_dir = _damaged(finished, tmp_path, lambda data: bytes(data).replace(old, new))
    assert _tells_the_truth(run_dir, finished) or read_run(run_dir, 0).states == ["scored"] * N


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
    assert f"{N} samples, {N} responses, {N} outcomes" in done.stdout
    assert "again: 0" in done.stdout
    assert (run_dir / "run.db.damaged").exists()
    same_numbers(finished, _resumed(run_dir))
