"""What a scorer does to its own process, to its channel and to what it starts costs its own sample at most."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nel.types import Scored, ScorerInput, Unscored
from tests.engine.scorers.test_dispatch import _items
from tests.support.scoring import score_all
from tests.support.tiers import first_rows, representatives

BAD = 2
N = 6


def _fork(child: Callable[[], object]) -> None:
    if os.fork() == 0:
        try:
            child()
        finally:
            os._exit(0)


class _Stays(str):
    __slots__ = ()

    def __reduce__(self) -> Any:
        return os._exit, (7,)


DEADLY: dict[str, Callable[[], object]] = {
    "exits": lambda: os._exit(3),
    "crashes": lambda: ctypes.string_at(0),
    "kills-itself": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "closes-all": lambda: os.closerange(3, 100),
    "session-and-dies": lambda: (_fork(lambda: (os.setsid(), time.sleep(1000))), os._exit(1)),
}
"""The sample's own result cannot come; it alone is unscored."""

HARMLESS: dict[str, Callable[[], object]] = {
    "forks-a-session": lambda: _fork(lambda: (os.setsid(), time.sleep(1000))),
    "takes-the-streams": lambda: setattr(sys, "stdout", None),
    "changes-directory": lambda: os.chdir("/"),
    "limits-recursion": lambda: sys.setrecursionlimit(60),
    "plain-thread": lambda: threading.Thread(target=time.sleep, args=(1000,)).start(),
}
"""Every other sample has its result, and so has the culprit, unless it left itself no room."""


def _scorer(action: Callable[[], object]) -> Any:
    def scorer(sample: ScorerInput) -> dict[str, Any]:
        if sample.target == BAD:
            action()
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


def test_a_scorer_that_ruins_its_process() -> None:
    """Its sample is unscored with a cause, every other one is scored, and nothing hangs."""
    outcomes = _scores(_scorer(DEADLY["session-and-dies"]), timeout_seconds=60)
    assert [type(one).__name__ for one in outcomes] == ["Scored"] * 2 + ["Unscored"] + ["Scored"] * 3
    assert (outcomes[BAD].cause, outcomes[BAD].kind) == ("scorer", "died")
    assert [one.reward for one in outcomes if isinstance(one, Scored)] == [0, 1, 3, 4, 5]


@pytest.mark.parametrize("name", representatives(HARMLESS.keys(), "takes-the-streams", "changes-directory"))
def test_a_scorer_that_spoils_its_process_for_others(name: str) -> None:
    """Streams, directory, limits, children and threads that it leaves change no sample's result."""
    outcomes = _scores(_scorer(HARMLESS[name]), timeout_seconds=20)
    kept = [one for place, one in enumerate(outcomes) if place != BAD]
    assert [one.reward for one in kept if isinstance(one, Scored)] == [0, 1, 3, 4, 5]
    assert {one.details["where"] for one in kept} == {str(Path.cwd())}
    assert type(outcomes[BAD]) is (Unscored if name == "limits-recursion" else Scored)


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
