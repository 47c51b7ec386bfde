"""What lies on the disk: torn, garbled, full, foreign, in the wrong place, or changed between two sessions."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.runs.rebuilding import rebuild
from tests.faults.invariants import Ran, read_run, same_artifacts
from tests.faults.runs import ROOT, config, environment, nel_cli, run, start, write_config
from tests.faults.server import Gate, answer, right, serving
from tests.support.runs import only_run
from tests.support.tiers import first_rows, representatives

N = 60


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """A directory with a run that was killed in the middle, and the same run in one go."""
    home = tmp_path_factory.mktemp("killed")
    killed = threading.Event()
    held = lambda call: [Gate(killed), *right(call)] if call.order >= 30 else right(call)  # noqa: E731 - a script
    with serving(held) as server, pytest.MonkeyPatch.context() as environment:
        environment.setenv("NEL_TEST_CANARY", "cnry5f/7+bQ==zz9917&k")
        path = write_config(home, server.url, n=N)
        process = start(["eval", "run", str(path)], home)
        try:
            server.wait_for(34)
        finally:
            process.kill()
            process.communicate()
            killed.set()
        whole = run(home, server, n=N, out="whole")
    return home, whole


def _resumed(home: Path, tmp_path: Path) -> tuple[Any, Ran]:
    with serving() as server:
        run_dir = only_run(home / "out")
        result = nel.evaluate(
            {**config(home, server.url, n=N), "output": {"dir": str(run_dir)}},
            resume=True, allowed_changes=frozenset({"endpoint.url"}),
        )  # fmt: skip
        return server, read_run(run_dir, result.exit_code)


def _copied(killed: tuple[Path, Ran], tmp_path: Path) -> Path:
    home = tmp_path / "home"
    shutil.copytree(killed[0], home)
    return home


CUTS = [33, -1, 0, 32, 4152, -4000, 1, 31, 56, 1000, 4151, 4153, -2, -100, -4096, -4120]


@pytest.mark.parametrize("cut", first_rows(2, CUTS, storm=6), ids=[f"f46-{cut}" for cut in CUTS])
def test_a_torn_log_loses_its_tail_only(tmp_path: Path, killed: tuple[Path, Ran], cut: int) -> None:
    """The log cut at any byte: what is whole is kept, the rest is asked again, and the end is the same."""
    home = _copied(killed, tmp_path)
    log = only_run(home / "out") / "run.db-wal"
    data = log.read_bytes()
    log.write_bytes(data[:cut])
    server, ran = _resumed(home, tmp_path)
    same_artifacts(killed[1], ran)
    assert server.resent() == 0
    if cut < 0:
        assert len(server.calls) <= N - 30 + 4 + 40, "a torn tail costs the whole log"


DAMAGES = {
    "f47-middle": lambda data: data[: len(data) // 2] + b"\xff\xfe garbage \x00" + data[len(data) // 2 + 12 :],
    "f47-zero-tail": lambda data: data + bytes(8192),
    "f47-zeroed-tail": lambda data: data[:-5000] + bytes(5000),
    "f47-all-zero": lambda data: bytes(len(data)),
    "f47-repeated-frame": lambda data: data + data[-4120:],
}


@pytest.mark.parametrize("damage", representatives(DAMAGES, "f47-middle"))
def test_a_garbled_log_costs_no_more_than_itself(tmp_path: Path, killed: tuple[Path, Ran], damage: Any) -> None:
    """Garbage in the log is not read as records: the samples are redone and the end is the same."""
    home = _copied(killed, tmp_path)
    log = only_run(home / "out") / "run.db-wal"
    log.write_bytes(damage(log.read_bytes()))
    _, ran = _resumed(home, tmp_path)
    assert ran.states == ["scored"] * N
    same_artifacts(killed[1], ran)


GARBLED = [
    ("verdict.response", "[1, 2]"),
    ("verdict.response", "not json"),
    ("verdict.response", ""),
    ("verdict.response", "{}"),
    ("answer.response", "null"),
    ("answer.response", '{"text": 7}'),
    ("verdict.again", 7),
]


def test_f47_a_garbled_record_costs_its_own_sample(tmp_path: Path, record_property: Any) -> None:
    """Records that cannot be read: those samples are redone, the others are kept and nothing crashes."""
    record_property("cases", len(GARBLED))
    with serving() as server:
        first = run(tmp_path, server, n=len(GARBLED) + 3)
        with closing(sqlite3.connect(first.run_dir / "run.db")) as store, store:
            for index, (column, value) in enumerate(GARBLED):
                what, field = column.split(".")
                role = {"answer": 0, "verdict": 1}[what]
                store.execute(f"UPDATE steps SET {field} = ? WHERE idx = ? AND role = ?", (value, index, role))  # noqa: S608
        again = run(tmp_path, server, n=len(GARBLED) + 3, resume=True)
        assert {call.number for call in server.calls[len(GARBLED) + 3 :]} <= set(range(len(GARBLED)))
    same_artifacts(first, again)


SIZES = {"f48-empty": 0, "f48-header-cut": 100, "f48-one-page": 4096}


@pytest.mark.parametrize("size", representatives(SIZES, "f48-empty"))
def test_a_store_without_its_beginning_is_refused(tmp_path: Path, killed: tuple[Path, Ran], size: int) -> None:
    """A run.db that is cut to nothing is refused with what to do, and never taken for an empty run."""
    home = _copied(killed, tmp_path)
    store = only_run(home / "out") / "run.db"
    data = store.read_bytes()
    store.write_bytes(data[:size])
    (store.parent / "run.db-shm").unlink(missing_ok=True)
    refusal = f"nel eval salvage {store.parent} keeps what can be read" if size else "was not written by nel"
    with pytest.raises(nel.NelError, match=refusal):
        _resumed(home, tmp_path)


HALF_MADE = """
import os, sqlite3, sys
from pathlib import Path
from nel.engine.store.schema import create
path = Path(sys.argv[1])
create(path)
half = sqlite3.connect(path, isolation_level=None)
if half.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
    os._exit(0)
half.execute("PRAGMA cache_size = 1")
half.execute("BEGIN")
for number in range(500):
    half.execute("INSERT INTO meta VALUES(?, ?)", (str(number), "x" * 1000))
os._exit(0)
"""


def test_f48_a_kill_while_the_store_is_made(tmp_path: Path) -> None:
    """A kill between the making of a store and its first record leaves a journal, and the run can begin."""
    run_dir = tmp_path / "out" / "run"
    run_dir.mkdir(parents=True)
    subprocess.run([sys.executable, "-c", HALF_MADE, str(run_dir / "run.db")], cwd=ROOT, env=environment(), check=True)
    with serving() as server:
        ran = run(tmp_path, server, resume=True)
    assert ran.states == ["scored"] * 3


def test_f49_one_record_for_one_key(tmp_path: Path) -> None:
    """The store itself refuses a second record of a (sample, repeat)."""
    with serving() as server:
        ran = run(tmp_path, server)
    store = sqlite3.connect(ran.run_dir / "run.db")
    for table in ("steps", "samples"):
        with pytest.raises(sqlite3.IntegrityError):
            store.execute(f"INSERT INTO {table} SELECT * FROM {table}")  # noqa: S608 - our own names
    store.close()


@contextmanager
def _small_disk(where: Path, kilobytes: int) -> Iterator[Path]:
    where.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(where)], check=True)
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")


@needs_root
@pytest.mark.parametrize("kilobytes", representatives([250, 600, 900], 600), ids=["f50-250k", "f50-600k", "f50-900k"])
def test_a_full_disk_stops_the_run_resumably(tmp_path: Path, kilobytes: int) -> None:
    """No space at some write: exit 75, no half file, and with space again a resume completes."""
    text = "x" * 4000
    with (
        _small_disk(tmp_path / "disk", kilobytes) as disk,
        serving(lambda call: [0.001, *answer(f"{text} Answer: {2 * call.number}")]) as server,
    ):
        path = write_config(tmp_path, server.url, n=200, out="disk/out")
        done = nel_cli(["eval", "run", str(path)], tmp_path)
        assert done.returncode == 75, done.stderr
        assert "Traceback" not in done.stderr
        assert any(word in done.stderr for word in ("space", "full")), done.stderr
        assert list(disk.rglob("*.tmp")) == []
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        runs = list(disk.glob("out/*/run.db"))
        again = nel_cli(["eval", "resume", str(runs[0].parent)], tmp_path)
        assert again.returncode == 0, again.stderr
        ran = read_run(runs[0].parent, 0)
        assert server.resent() <= 8
    assert ran.states == ["scored"] * 200


@needs_root
def test_f50_a_full_disk_while_artifacts_are_written(tmp_path: Path) -> None:
    """Artifacts that do not fit: exit 75, old ones intact, none half, and nel report writes them later."""
    with _small_disk(tmp_path / "disk", 4096) as disk, serving() as server:
        first = run(tmp_path, server, n=100, out="disk/out")
        before = {path.name: path.read_bytes() for path in (first.run_dir / "gsm8k").iterdir()}
        filler = disk / "filler"
        handle = os.open(filler, os.O_WRONLY | os.O_CREAT)
        with suppress(OSError):
            while os.write(handle, bytes(4096)):
                pass
        os.close(handle)
        done = nel_cli(["report", str(first.run_dir)], tmp_path)
        assert done.returncode == 75
        assert {path.name: path.read_bytes() for path in (first.run_dir / "gsm8k").iterdir()} == before
        filler.unlink()
        assert nel_cli(["report", str(first.run_dir)], tmp_path).returncode == 0
        same_artifacts(first, read_run(first.run_dir, 0))


def test_f53_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As some network file systems are: named as that, and no other process is said to hold the directory."""

    def refused(handle: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refused)
    with serving() as server:
        with pytest.raises(nel.NelError, match=r"cannot lock .*No locks available; choose an output.dir on a local"):
            run(tmp_path, server)
        assert server.calls == []


def test_f51_a_failing_fsync_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    """EIO from fsync of an artifact: reported, the old file untouched, and a later report writes all."""
    record_property("cases", 4)
    with serving() as server:
        first = run(tmp_path, server, n=4)
    before = {path: path.read_bytes() for path in first.run_dir.rglob("*.json*")}
    for nth in (1, 3, 5, 8):
        with monkeypatch.context() as failing:
            failing.setattr(os, "fsync", _failing_fsync(nth))
            with pytest.raises(nel.NelError, match="cannot write") as caught:
                rebuild(first.run_dir)
        assert caught.value.exit_code == 75
        assert {path: path.read_bytes() for path in first.run_dir.rglob("*.json*")} == before
        assert list(first.run_dir.rglob("*.tmp")) == []
    rebuild(first.run_dir)


def _failing_fsync(nth: int) -> Callable[[int], None]:
    real, count = os.fsync, iter(range(1, 10_000))

    def fsync(handle: int) -> None:
        if next(count) == nth:
            raise OSError(errno.EIO, "Input/output error")
        real(handle)

    return fsync


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nel", "/dev/null", "dangling"])
def test_an_output_that_cannot_be_written_is_found_first(tmp_path: Path, place: str) -> None:
    """An output directory that cannot be one is refused before anything is sent, by name."""
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    with serving() as server:
        with pytest.raises(nel.NelError) as caught:
            run(tmp_path, server, out=place)
        assert server.calls == server.others == []
    assert caught.value.exit_code == 2
    assert place.rpartition("/")[2] in str(caught.value)


def test_f52_a_path_that_is_too_long_for_the_store(tmp_path: Path) -> None:
    """SQLite opens no path of more than 504 bytes: said before a directory is made or anything is sent."""
    out = "/".join(["d" * 120] * 5)
    with serving() as server:
        done = nel_cli(["eval", "run", str(write_config(tmp_path, server.url, out=out))], tmp_path)
        assert server.calls == server.others == []
    assert done.returncode == 2
    assert "choose a shorter --output-dir" in done.stderr
    assert not (tmp_path / ("d" * 120)).exists()


def test_f65_another_format_is_refused(tmp_path: Path, record_property: Any) -> None:
    """A store of another format is refused by number before anything is sent, and is not changed."""
    pragmas = {"user_version = 99": "99", "user_version = 0": "0", "application_id = 7": "nel"}
    record_property("cases", len(pragmas))
    with serving() as server:
        path = run(tmp_path, server).run_dir / "run.db"
        whole = path.read_bytes()
        for pragma, word in pragmas.items():
            path.write_bytes(whole)
            store = sqlite3.connect(path)
            store.execute(f"PRAGMA {pragma}")
            store.commit()
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            store.close()
            before = path.read_bytes()
            with pytest.raises(nel.NelError, match=word):
                run(tmp_path, server, resume=True)
            assert path.read_bytes() == before
        assert len(server.calls) == 3


def test_f67_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    """The page cannot be written: the results are whole, the exit code says so, and nel report repairs it."""
    with serving() as server:
        path = write_config(tmp_path, server.url, n=5)
        assert nel_cli(["eval", "run", str(path)], tmp_path).returncode == 0
        run_dir = only_run(tmp_path / "out")
        (run_dir / "report.html").unlink()
        (run_dir / "report.html").mkdir()
        done = nel_cli(["eval", "resume", str(run_dir)], tmp_path)
        assert done.returncode not in (0, 1)
        assert "report.html" in done.stderr
        assert len(server.calls) == 5
    (run_dir / "report.html").rmdir()
    assert nel_cli(["report", str(run_dir)], tmp_path).returncode == 0
    assert read_run(run_dir, 0).states == ["scored"] * 5


def test_f70_files_are_private(tmp_path: Path) -> None:
    """Everything in a run's directory is the user's alone, whatever the umask."""
    old = os.umask(0)
    try:
        with serving() as server:
            ran = run(tmp_path, server)
    finally:
        os.umask(old)
    for path in [ran.run_dir, *ran.run_dir.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


LINKS = {
    "f70-report": "report.html",
    "f70-yaml": "run.yaml",
    "f70-results": "gsm8k/results.jsonl",
    "f70-temp": f".report.html.{os.getpid()}-0.tmp",
    "f70-temp-below": f"gsm8k/.metrics.json.{os.getpid()}-0.tmp",
    "f70-lock": ".lock",
    "f70-directory": "gsm8k",
    "f70-store": "run.db",
}


@pytest.mark.parametrize(
    "name", representatives(LINKS, "f70-report", "f70-temp-below", "f70-lock", "f70-directory", "f70-store")
)
def test_a_planted_link_is_not_followed(tmp_path: Path, name: str) -> None:
    """A symbolic link where a file is to be written is replaced or refused; what it points at stays as it was."""
    victim = tmp_path / "victim"
    with serving() as server:
        first = run(tmp_path, server)
        planted = first.run_dir / name
        if name == "gsm8k":
            victim.mkdir()
            (victim / "metrics.json").write_text("precious")
            shutil.rmtree(planted)
        else:
            victim.write_text("precious")
            planted.unlink(missing_ok=True)
        planted.symlink_to(victim)
        with suppress(nel.NelError):
            run(tmp_path, server, resume=True)
    if name == "gsm8k":
        assert (victim / "metrics.json").read_text() == "precious"
        assert [path.name for path in victim.iterdir()] == ["metrics.json"]
    else:
        assert victim.read_text() == "precious"
