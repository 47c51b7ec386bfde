"""Processes that a test starts: none outlives its block, whatever fails in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 120.0
"""Bounds a hang; what a test waits for comes much sooner on any machine."""
_LOOK_SECONDS = 0.005


@contextmanager
def started(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Run a program within the block; at its end the program is killed, if it still runs, and waited for."""
    with subprocess.Popen(command, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def started_nel(*arguments: str, cwd: Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """Run the command line within the block, with both its streams in pipes unless they are led elsewhere."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    with started([sys.executable, "-m", "nel", *arguments], cwd=cwd, **pipes) as process:
        yield process


def wait_until(happened: Callable[[], object], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for an event; fail at once when the process that was to bring it about has ended without it."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not happened():
        has_ended = process is not None and process.poll() is not None
        if has_ended and happened():
            return
        if has_ended or time.monotonic() > deadline:
            raise AssertionError(f"it never happened; {_told(process)}")
        time.sleep(_LOOK_SECONDS)


def at_work_in(folder: Path) -> list[int]:
    """Return the processes whose working directory is a folder, as it is for whatever was started there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            if (entry / "cwd").readlink() == folder.resolve():
                found.append(int(entry.name))
    return found


@contextmanager
def nothing_left_in(folder: Path) -> Iterator[None]:
    """End what is still at work in a folder after the block, in sessions of its own as well."""
    try:
        yield
    finally:
        for pid in at_work_in(folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _told(process: subprocess.Popen[str] | None) -> str:
    if process is None:
        return "nothing is left to make it"
    process.kill()
    said, complained = process.communicate()
    return f"the process ended with {process.returncode}: {said or ''}{complained or ''}"
