"""Runs the tests against a copy of nel that holds one planted fault, and finds the test that notices it.

The working tree is never touched. Children of the tests import the copy too, since `PYTHONPATH` names it.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tests.mutations.planting import planted
from tests.mutations.reporting import VARIABLE
from tests.mutations.table import Mutation

TIERS: Final = {"fast": "not slow and not docker", "all": "not docker", "docker": "docker or not docker"}
"""Tier to the pytest marker expression that selects it."""
_OWN_TESTS: Final = "tests/mutations"
"""Notice every fault, since each takes away what its own mutation changes."""
_MARK: Final = "NEL_MUTATION_RUN"
_TEST_SECONDS_MAX: Final = 240
_COVERING_SECONDS_MAX: Final = 1_800.0
_REST_SECONDS_MAX: Final = 7_200.0
_PASSED, _FAILED, _INTERRUPTED, _NONE_SELECTED = 0, 1, 2, 5


class CannotRun(Exception):
    """The tests could not be run at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one planted fault."""

    mutation: Mutation
    caught_by: str | None
    """The id of the first test that failed; None for a survivor."""
    seconds: float
    note: str = ""
    """Where the test was found, or why the verdict is what it is."""
    is_hung: bool = False
    """Whether the tests did not come to an end."""


@dataclass(frozen=True, slots=True)
class _Ran:
    failed: Sequence[str]
    is_hung: bool = False
    is_empty: bool = False


class Runner:
    """Plants faults in one copy of the repository, one after the other."""

    def __init__(self, tree: Path, tier: str, *, covering_only: bool = False) -> None:
        """Prepare.

        Args:
            tree: The copy, made by `copy_tree`; this runner alone changes it.
            tier: One of `TIERS`.
            covering_only: Leave a fault that the covering tests miss at that, and do not run all others.

        Raises:
            CannotRun: Something else than the copy is imported.
        """
        self._tree = tree
        self._tier = tier
        self._covering_only = covering_only
        self._planted = 0
        self._token = secrets.token_hex(16)
        self._check_import()

    def run(self, mutation: Mutation) -> Verdict:
        """Plant a fault, run its tests, and say which one noticed it.

        Raises:
            CannotRun: pytest ended in another way than by passing or failing.
            NotOnce: The place of the fault cannot be told.
        """
        started = time.monotonic()
        self._planted += 1
        with planted(mutation, self._tree, self._planted):
            ran = self._pytest(["-x", *mutation.arguments], _COVERING_SECONDS_MAX)
            note = "covering" if ran.failed else "no covering test in this tier" if ran.is_empty else ""
            if not ran.failed and not self._covering_only:
                ran = self._pytest(["-x", "tests", f"--ignore={_OWN_TESTS}"], _REST_SECONDS_MAX)
                note = "not covering" if ran.failed else note
        return Verdict(
            mutation=mutation,
            caught_by=ran.failed[0] if ran.failed else None,
            seconds=time.monotonic() - started,
            note=f"{note}, hung" if ran.is_hung else note,
            is_hung=ran.is_hung,
        )

    def proven(self, verdicts: Sequence[Verdict]) -> list[Verdict]:
        """Return the verdicts, but a survivor in the place of each whose test fails without the fault too."""
        tests = sorted({verdict.caught_by for verdict in verdicts if verdict.caught_by and not verdict.is_hung})
        every = ["--continue-on-collection-errors", *tests]
        failing = set(self._pytest(every, _REST_SECONDS_MAX).failed) if tests else set()
        return [
            replace(verdict, caught_by=None, note=f"{verdict.caught_by} fails without the fault too")
            if verdict.caught_by in failing
            else verdict
            for verdict in verdicts
        ]

    def _pytest(self, arguments: Sequence[str], seconds_max: float) -> _Ran:
        report = self._tree.parent / "failed-tests"
        report.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.mutations.reporting"]
        command += ["-m", TIERS[self._tier], "--timeout", str(_TEST_SECONDS_MAX), *arguments]
        environment = self._environment() | {VARIABLE: str(report)}
        with subprocess.Popen(
            command, cwd=self._tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as process:
            try:
                output, _ = process.communicate(timeout=seconds_max)
            except subprocess.TimeoutExpired:
                return _Ran([f"no test within {seconds_max:g} s"], is_hung=True)
            finally:
                process.kill()
                self._end_children()
        failed = report.read_text(encoding="utf-8").splitlines() if report.exists() else []
        if process.returncode not in ((_FAILED, _INTERRUPTED) if failed else (_PASSED, _NONE_SELECTED)):
            raise CannotRun(f"pytest ended with {process.returncode}: {output[-2000:]}")
        return _Ran(failed, is_empty=process.returncode == _NONE_SELECTED)

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return {**kept, "PYTHONPATH": str(self._tree), _MARK: self._token}

    def _check_import(self) -> None:
        """Refuse to go on where a process in another folder would import another nel."""
        command = [sys.executable, "-c", "import nel; print(nel.__file__)"]
        found = subprocess.run(
            command, cwd=self._tree.parent, env=self._environment(), capture_output=True, text=True, check=True
        ).stdout.strip()
        if not Path(found).is_relative_to(self._tree):
            raise CannotRun(f"{found} is imported instead of the copy in {self._tree}")

    def _end_children(self) -> None:
        """End what a test that was killed has left running: all that inherited the mark of this runner."""
        marked = f"{_MARK}={self._token}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it has ended meanwhile, or belongs to somebody else
                if marked in (entry / "environ").read_bytes().split(b"\0"):
                    os.kill(int(entry.name), signal.SIGKILL)
