"""What a scorer does to its own process, to its channel and to what it starts costs its own sample at most."""

from __future__ import annotations

import asyncio
import ctypes
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nel.engine.scorers.channel import ScoreRequest, encode_frame
from nel.engine.scorers.fork_server import WorkerForkServer
from nel.engine.scorers.worker_process import Worker
from nel.types import SampleKey, Scored, ScorerInput, Unscored
from tests.engine.scorers.test_dispatch import _items
from tests.support.scoring import score_all
from tests.support.tiers import first_rows, representatives

BAD = 2
N = 6


def _sockets() -> list[int]:
    found = []
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            if str(path.readlink()).startswith("socket:"):
                found.append(int(path.name))
    return found


def _write_to_sockets(data: bytes) -> None:
    for handle in _sockets():
        with suppress(OSError):
            os.write(handle, data)


def _fork(child: Callable[[], object]) -> None:
    if os.fork() == 0:
        try:
            child()
        finally:
            os._exit(0)


def _replace_channel() -> None:
    other = os.open("/dev/null", os.O_RDWR)
    for handle in _sockets():
        os.dup2(other, handle)


def _lower(kind: int, value: int) -> None:
    resource.setrlimit(kind, (value, value))


def _close_streams() -> None:
    sys.stdout.close()
    sys.stderr.close()


def _delayed(action: Callable[[], object]) -> None:
    threading.Timer(0.01, action).start()


class _Stays(str):
    __slots__ = ()

    def __reduce__(self) -> Any:
        return os._exit, (7,)


DEADLY: dict[str, Callable[[], object]] = {
    "closes-all": lambda: os.closerange(0, 100),
    "replaces-channel": _replace_channel,
    "exits": lambda: os._exit(3),
    "crashes": lambda: ctypes.string_at(0),
    "kills-itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "kills-its-group": lambda: os.killpg(0, signal.SIGKILL),
    "junk": lambda: _write_to_sockets(b"junk" * 9),
    "shuts-channel": lambda: [__import__("socket").socket(fileno=one).shutdown(2) for one in _sockets()],
    "session-and-dies": lambda: (_fork(lambda: (os.setsid(), time.sleep(1000))), os._exit(1)),
}
"""The sample's own result cannot come; it alone is unscored."""

HANGING: dict[str, Callable[[], object]] = {
    "closes-and-sleeps": lambda: (os.closerange(0, 100), time.sleep(1000)),
    "stops-parent-and-sleeps": lambda: (os.kill(os.getppid(), signal.SIGSTOP), time.sleep(1000)),
}
"""The sample's time is over; it alone is unscored."""

HARMLESS: dict[str, Callable[[], object]] = {
    "kills-its-parent": lambda: os.kill(os.getppid(), signal.SIGKILL),
    "stops-itself": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "forks-a-session": lambda: _fork(lambda: (os.setsid(), time.sleep(1000))),
    "forks-junk": lambda: _fork(lambda: _write_to_sockets(b"junk" * 9)),
    "closes-streams": _close_streams,
    "changes-directory": lambda: os.chdir("/"),
    "limits-files": lambda: _lower(resource.RLIMIT_NOFILE, 3),
    "limits-memory": lambda: _lower(resource.RLIMIT_AS, 1 << 20),
    "limits-recursion": lambda: sys.setrecursionlimit(60),
    "plain-thread": lambda: threading.Thread(target=time.sleep, args=(1000,)).start(),
    "exits-later": lambda: _delayed(lambda: os._exit(0)),
}
"""Every other sample has its result; the culprit has one where it gave one in time."""


def _scorer(action: Callable[[], object], *, pause: float = 0.0) -> Any:
    def scorer(sample: ScorerInput) -> dict[str, Any]:
        if sample.target == BAD:
            action()
        elif pause:
            time.sleep(pause)
        Path("scored").exists()
        print("scored", flush=True)  # noqa: T201 - it must work
        with tempfile.TemporaryFile() as file:
            file.write(b"x" * 10)
        return {"score": sample.target, "where": str(Path.cwd()), "deep": _depth(100)}

    return scorer


def _depth(n: int) -> int:
    return n and 1 + _depth(n - 1)


def _scores(scorer: Any, *, timeout_seconds: float) -> list[Any]:
    return asyncio.run(score_all(_items(scorer, N), timeout_seconds=timeout_seconds))


@pytest.mark.parametrize("action", representatives(DEADLY, "session-and-dies"))
def test_a_scorer_that_ruins_its_process(action: Callable[[], object]) -> None:
    """Its sample is unscored with a cause, every other one is scored, and nothing hangs."""
    outcomes = _scores(_scorer(action), timeout_seconds=60)
    assert [type(one).__name__ for one in outcomes] == ["Scored"] * 2 + ["Unscored"] + ["Scored"] * 3
    assert (outcomes[BAD].cause, outcomes[BAD].kind) == ("scorer", "died")
    assert [one.reward for one in outcomes if isinstance(one, Scored)] == [0, 1, 3, 4, 5]


@pytest.mark.parametrize("action", representatives(HANGING, "closes-and-sleeps"))
def test_a_scorer_that_hangs_however(action: Callable[[], object]) -> None:
    """Its time runs out, whatever it did before; the others are scored."""
    outcomes = _scores(_scorer(action), timeout_seconds=3)
    assert [type(one).__name__ for one in outcomes] == ["Scored"] * 2 + ["Unscored"] + ["Scored"] * 3
    assert (outcomes[BAD].cause, outcomes[BAD].kind) == ("scorer", "timeout")


def test_a_closed_channel_ends_no_worker_that_reads_it(tmp_path: Path) -> None:
    """The scoring's time decides, whether or not the worker was about to read its next message."""
    said = tmp_path / "said"

    def closes_and_sleeps(_: ScorerInput) -> dict[str, Any]:
        os.closerange(0, 100)
        said.touch()
        time.sleep(1000)
        return {}

    benchmark = _items(closes_and_sleeps, 1)[0].benchmark
    asked = [ScorerInput(response="", target="")]
    server = WorkerForkServer(lambda connection, jobs: Worker(connection, jobs, [benchmark]).run())
    try:
        with server.start_worker() as connection:
            connection.sendall(encode_frame(ScoreRequest(1, 0, asked)))
            while not said.exists():
                time.sleep(0.01)
            with suppress(BrokenPipeError, ConnectionResetError):  # where nothing was reading when it was closed
                connection.sendall(encode_frame(ScoreRequest(2, 0, asked)))  # else read; the next one cannot be
                assert connection.recv(1) == b""
            assert server.running_jobs.is_worker_alive()
            assert [one.number for one in server.running_jobs.read()] == [1]
            server.kill()
            assert not server.running_jobs.is_worker_alive()
    finally:
        server.close()


@pytest.mark.parametrize("name", representatives(HARMLESS.keys(), "closes-streams", "limits-files"))
def test_a_scorer_that_spoils_its_process_for_others(name: str) -> None:
    """Streams, directory, limits, children and threads that it leaves change no sample's result."""
    pause = 0.02 if name == "exits-later" else 0.0
    outcomes = _scores(_scorer(HARMLESS[name], pause=pause), timeout_seconds=3 if name == "stops-itself" else 20)
    kept = [one for place, one in enumerate(outcomes) if place != BAD]
    assert [one.reward for one in kept if isinstance(one, Scored)] == [0, 1, 3, 4, 5]
    assert {one.details["where"] for one in kept} == {str(Path.cwd())}
    culprit = outcomes[BAD]
    assert isinstance(culprit, Scored) or (isinstance(culprit, Unscored) and culprit.cause == "scorer")


CLASSES = [_Stays("x"), lambda: 0, threading.Lock(), type("Local", (str,), {})("x"), type("I", (int,), {})(3)]


@pytest.mark.parametrize("value", CLASSES, ids=["reduces", "function", "lock", "local-text", "local-number"])
def test_a_result_that_cannot_cross(value: Any) -> None:
    """A detail of a class that cannot be sent is shown as text, and nothing that it brings runs in the run."""

    def scorer(sample: ScorerInput) -> dict[str, Any]:
        return {
            "correct": True,
            "extracted": value if sample.target == BAD else "1",
            "seen": [value],
            "by": {"v": value},
        }

    outcomes = _scores(scorer, timeout_seconds=60)
    assert [type(one).__name__ for one in outcomes] == ["Scored"] * N


def _started(action: str) -> str:
    """Return a program that a scorer starts, which writes its process id and stays."""
    return f"import os, sys, time\n{action}\nopen(sys.argv[1], 'a').write(f'{{os.getpid()}}\\n')\ntime.sleep(1000)"


CHILDREN = {
    "session": _started("os.setsid()"),
    "daemon": _started("os.fork() and os._exit(0)\nos.setsid()\nos.fork() and os._exit(0)"),
}


@pytest.mark.parametrize("program", representatives(CHILDREN, "daemon"))
@pytest.mark.parametrize("ends", first_rows(1, ["dies", "returns", "hangs"]))
def test_nothing_that_a_scorer_started_stays(tmp_path: Path, program: str, ends: str) -> None:
    """Children in sessions of their own are killed with the scorer, or at the end of the run at the latest."""
    pids = tmp_path / "pids"

    def scorer(sample: ScorerInput) -> bool:
        if sample.target == BAD:
            subprocess.Popen([sys.executable, "-c", program, str(pids)])
            while not pids.exists() or not pids.read_text().endswith("\n"):
                time.sleep(0.01)
            if ends != "returns":
                time.sleep(1000) if ends == "hangs" else os._exit(1)
        return True

    outcomes = _scores(scorer, timeout_seconds=15 if ends == "hangs" else 60)
    assert [type(one).__name__ for one in outcomes].count("Scored") == (N if ends == "returns" else N - 1)
    for pid in pids.read_text().split():
        assert not _lives(int(pid))


def _lives(pid: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def test_many_culprits(tmp_path: Path) -> None:
    """Every third sample ruins its process in another way: each costs itself."""
    ways = [*DEADLY.values()]

    def scorer(sample: ScorerInput) -> dict[str, Any]:
        if sample.target % 3 == 0:
            ways[sample.target // 3 % len(ways)]()
        return {"score": sample.target}

    n = 3 * len(ways)
    items = [replace(item, key=SampleKey(1, place, 0)) for place, item in enumerate(_items(scorer, n))]
    outcomes = asyncio.run(score_all(items, timeout_seconds=60))
    assert [one.reward for one in outcomes if isinstance(one, Scored)] == [at for at in range(n) if at % 3]
