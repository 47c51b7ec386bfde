"""Every fault is provoked with a key in the environment that must be found nowhere afterwards; no process stays."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.faults.invariants import CANARY, CANARY_ENV
from tests.faults.runs import ROOT, end_started, environment
from tests.faults.server import HANGS_SECONDS


@pytest.fixture(autouse=True)
def _canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CANARY_ENV, CANARY)
    for name in ("REQUEST_METHOD", "NETRC"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_process_stays() -> Iterator[None]:
    yield
    end_started()


class Attempts:
    """Attempts of one run in children of one process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(
        self, settings: dict[str, Any], *, resume: bool, seconds: float | None = None, env: dict[str, str] | None = None
    ) -> int:
        """Return how the attempt ended; negative for a signal."""
        order = {"config": settings, "resume": resume, "seconds": seconds, "env": environment(env)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@pytest.fixture(scope="module")
def attempt() -> Iterator[Attempts]:
    """One process for all tests of a module, which takes two seconds to import what an attempt needs."""
    command = [sys.executable, "-m", "tests.faults.attempt"]
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Attempts(process)
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        try:
            process.wait(HANGS_SECONDS)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
