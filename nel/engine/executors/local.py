"""The executor of one machine: scorers in threads and worker processes of the run, programs in its Docker engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nel.engine.executors.base import ProgramRunner, ScorerPool, ScoringWork
from nel.engine.scorers.dispatch import Scorers
from nel.sandbox import Sandbox, SandboxSettings


class LocalExecutor:
    """Computes everything on this machine; a base for executors that change a part of it."""

    name = "local"

    def open_scorers(self, work: ScoringWork) -> ScorerPool:
        """Return the scorers, whose worker processes are forked from this one."""
        return Scorers(work.benchmarks)

    def open_sandbox(self, settings: SandboxSettings) -> ProgramRunner:
        """Return the pool of containers."""
        return Sandbox(settings)

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


def local() -> LocalExecutor:
    """Score answers in processes of this machine, and run programs in its Docker engine."""
    return LocalExecutor()
