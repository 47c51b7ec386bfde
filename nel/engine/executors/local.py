"""The executor of one machine: scorers in threads and processes, programs in its Docker engine."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from functools import cached_property
from typing import TYPE_CHECKING, Any

from nel.engine.executors.base import ProgramRunner, ScorerPool, ScoringWork
from nel.engine.scorers.dispatch import Scorers

if TYPE_CHECKING:
    from nel.sandbox import Program, ProgramVerdict, Sandbox, SandboxSettings
    from nel.sandbox.isolation.engine import EngineInfo


class LocalExecutor:
    """Computes everything on this machine; a base for executors that change a part of it."""

    name = "local"

    def open_scorers(self, work: ScoringWork) -> ScorerPool:
        """Return the scorers, whose worker processes are forked from this one."""
        return Scorers(work.benchmarks)

    def open_sandbox(self, settings: SandboxSettings) -> ProgramRunner:
        """Return the pool of containers."""
        return _LaterSandbox(settings)

    async def start(self) -> None:
        """Return; processes are started when there is work for them."""

    def facts(self) -> Mapping[str, Any]:
        """Return the name."""
        return {"name": self.name}

    def notes(self) -> Sequence[str]:
        """Return nothing."""
        return ()

    def close(self) -> None:
        """Return; scorers and sandboxes are closed by themselves."""


class _LaterSandbox:
    """The pool of containers, made when it is first needed, since most runs need none."""

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._making = threading.Lock()

    @cached_property
    def _sandbox(self) -> Sandbox:
        from nel.sandbox import Sandbox  # noqa: PLC0415 - the first request need not wait for it

        return Sandbox(self._settings)

    def _make(self) -> Sandbox:
        with self._making:
            return self._sandbox

    def check(self, wanted: Sequence[str]) -> EngineInfo:
        return self._make().check(wanted)

    def submit(self, program: Program) -> Future[ProgramVerdict]:
        return self._make().submit(program)

    def close(self) -> None:
        with self._making:
            if "_sandbox" in self.__dict__:
                self._sandbox.close()


def local() -> LocalExecutor:
    """Score answers in processes of this machine, and run programs in its Docker engine."""
    return LocalExecutor()
