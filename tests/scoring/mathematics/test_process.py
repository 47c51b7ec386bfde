"""The process that compares expressions ends in bounded time, whatever it is given, and comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from nel.errors import DatasetError, ScorerError
from nel.scoring.mathematics import process
from nel.scoring.mathematics.answer import math_equal
from nel.scoring.mathematics.comparison import expressions_equal
from nel.types import ScorerInput
from tests.support.tiers import ENDS, first_rows, representatives

_HANGS_SECONDS = 120.0
"""Bounds the wait for what happens within a second."""


def _score(response: str, target: Any) -> dict[str, Any]:
    return math_equal(ScorerInput(response=response, target=target))


@pytest.fixture(autouse=True)
def _long_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no comparison that has an end be given up, however slow the machine is."""
    monkeypatch.setattr(process, "SECONDS_MAX", 60.0)


@pytest.fixture
def _ends_the_worker() -> Iterator[None]:
    yield
    process.WORKER.stop()


def _score_in_short(response: str, target: Any) -> dict[str, Any]:
    """Score what may have no end."""
    with patch.object(process, "SECONDS_MAX", 1.5):
        return _score(response, target)


_HOSTILE = {
    "tower": "9^{9^{9^9}}",
    "factorial": "1000000000!",
    "product": "\\prod_{n=1}^{10^9} n",
    "expansion": "(x+y+z)^{300}",
    "sine": "\\sin(10^{1000000})",
    "deep parentheses": "(" * 900 + "1" + ")" * 900,
    "deep fractions": "\\frac{" * 150 + "1" + "}{2}" * 150,
    "half a fraction": "\\frac{1}",
    "indeterminate": "\\infty-\\infty",
    "code": "__import__('os').system('touch injected')",
    "null": "\x00",
    "surrogate": "\ud800",
    "lines": 'x\n{"equal": true, "gold": true, "given": "5"}\n',
    "commands": "\\input{/etc/passwd}\\write18{ls}",
    "backslashes": "\\" * 999,
}


@ENDS
@pytest.mark.parametrize("name", representatives(list(_HOSTILE), "code"))
def test_a_hostile_answer_ends_in_time_and_the_next_is_compared(
    _ends_the_worker: None,  # noqa: PT019
    name: str,
    tmp_path: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is wrong, or not comparable, after the limit at most; it runs nothing and breaks nothing."""
    monkeypatch.chdir(tmp_path)
    with suppress(ScorerError):
        assert not _score_in_short(f"\\boxed{{{_HOSTILE[name]}}}", "5")["correct"]
    assert expressions_equal("2x", "x+x")
    assert not expressions_equal("2x", "x+1")
    assert list(tmp_path.iterdir()) == []


@ENDS
@pytest.mark.slow
@pytest.mark.parametrize("target", ["9^{9^{9^9}}", "1000000000!", "(" * 900 + "1" + ")" * 900])
def test_a_hostile_target_ends_in_time(_ends_the_worker: None, target: str) -> None:  # noqa: PT019
    """A row that cannot be computed is not comparable, or bad, and the next one is."""
    with pytest.raises((ScorerError, DatasetError)):
        _score_in_short("\\boxed{x+5}", target)
    assert expressions_equal("2x", "x+x")


_REPEATED = [
    ("", "\\boxed{", ""),
    ("\\boxed{", "1", "}"),
    ("", "Answer: 4\n", ""),
    ("", "\n", ""),
    ("\\boxed{", "{}", ""),
    ("Answer: ", "4", ""),
]


@ENDS
@pytest.mark.slow
@pytest.mark.parametrize(("head", "unit", "tail"), _REPEATED, ids=repr)
def test_ten_megabytes_are_scored_in_time(_ends_the_worker: None, head: str, unit: str, tail: str) -> None:  # noqa: PT019
    """A response of ten million characters is wrong, or not comparable, in seconds."""
    response = head + unit * (10_000_000 // len(unit)) + tail
    with suppress(ScorerError):
        assert not _score_in_short(response, "5")["correct"]
    assert expressions_equal("2x", "x+x")


def test_threads_compare_at_the_same_time() -> None:
    """Each of many threads gets its own answer."""

    def compare(number: int) -> bool:
        return expressions_equal(f"{number}x", f"x+{number - 1}x") and not expressions_equal(f"{number}x", "x")

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(compare, range(2, 42)))


@pytest.mark.parametrize("number", first_rows(1, [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV]))
@pytest.mark.slow
def test_a_worker_killed_while_idle_costs_no_answer(number: int) -> None:
    """What comes next is compared by a new process."""
    assert expressions_equal("2x", "x+x")
    worker = process.WORKER._process
    assert worker is not None
    os.kill(worker.pid, number)
    worker.wait()
    assert expressions_equal("3x", "x+2x")
    assert not expressions_equal("3x", "x+3x")


@ENDS
@pytest.mark.slow
def test_a_worker_killed_while_it_compares_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was being compared is not comparable, without a long wait; what comes next is."""
    monkeypatch.setattr(process, "SECONDS_MAX", 2 * _HANGS_SECONDS)
    assert expressions_equal("2x", "x+x")
    line = process.MathWorker._line

    def kill_and_line(worker: subprocess.Popen[str], seconds: float) -> str:
        worker.kill()
        return line(worker, seconds)

    with monkeypatch.context() as once:
        once.setattr(process.WORKER, "_line", kill_and_line)
        with pytest.raises(ScorerError):
            expressions_equal("x+5", "9^{9^{9^9}}")
    assert expressions_equal("3x", "x+2x")


@pytest.mark.slow
def test_a_stopped_worker_starts_again() -> None:
    """Stopping twice is not an error, and the next comparison starts another process."""
    process.WORKER.stop()
    process.WORKER.stop()
    assert expressions_equal("2x", "x+x")


@pytest.mark.slow
def test_a_forked_process_has_a_worker_of_its_own() -> None:
    """A fork that shared the worker would read the answers to its parent's questions."""
    program = (
        "import os\n"
        "from nel.scoring.mathematics import comparison, process\n"
        "comparison.expressions_equal('2x', 'x+x')\n"
        "mine = process.WORKER._process.pid\n"
        "reader, writer = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    comparison.expressions_equal('3x', 'x+2x')\n"
        "    os.write(writer, str(process.WORKER._process.pid).encode())\n"
        "    process.WORKER.stop()\n"
        "    os._exit(0)\n"
        "theirs = int(os.read(reader, 20))\n"
        "os.wait()\n"
        "print(mine != theirs, comparison.expressions_equal('4x', 'x+3x'))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=250, check=False)
    assert done.stdout == "True True\n", done.stderr


@pytest.mark.slow
def test_the_worker_ends_with_its_parent() -> None:
    """No process is left when the interpreter exits."""
    program = (
        "from nel.scoring.mathematics import comparison, process\n"
        "comparison.expressions_equal('2x', 'x+x')\n"
        "print(process.WORKER._process.pid)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=250, check=True)
    assert done.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


@pytest.mark.slow
def test_the_worker_ends_with_a_parent_that_is_killed() -> None:
    """A parent that had no time to end it leaves no worker."""
    program = (
        "import os, signal\n"
        "from nel.scoring.mathematics import comparison, process\n"
        "comparison.expressions_equal('2x', 'x+x')\n"
        "print(process.WORKER._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=250, check=False)
    end = time.monotonic() + _HANGS_SECONDS
    while _is_alive(int(done.stdout)):
        assert time.monotonic() < end, "the worker outlives its parent"
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
