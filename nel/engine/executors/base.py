"""The contract of an executor: where the scorers and the programs of a run are computed.

The run itself asks the endpoint, and keeps the store, limits, budgets and stop rules, whatever the
executor is. So an executor changes no answer and no score, and is not part of a run's identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import Answer, Deliver, ScoringTask

if TYPE_CHECKING:
    from nel.sandbox import Program, ProgramVerdict, SandboxSettings
    from nel.sandbox.isolation.engine import EngineInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringWork:
    """What the scorers of a run are made of."""

    benchmarks: Sequence[Benchmark]
    digests: Sequence[str]
    """By benchmark, of everything that can change its scorer's verdict."""
    config: Mapping[str, Any]
    """The run's configuration as JSON, with absolute paths; it names secrets and holds none."""


class ScorerPool(Protocol):
    """The scorers of a run."""

    async def run(self, *, timeout_seconds: float, deliver: Deliver, answer: Answer) -> None:
        """Score what `put` brings, until cancelled.

        Args:
            timeout_seconds: For one sample; a scorer that computes for longer leaves it unscored.
            deliver: Gets outcomes in batches, in any order; called on the event loop.
            answer: Answers what a scorer asks of the run.

        Raises:
            StoppedEarly: What computes the scores is gone for good; what is in flight is scored by
                a resume.
        """

    def put(self, item: ScoringTask) -> None:
        """Take an item; its outcome is delivered later. Called on the event loop."""

    def close(self) -> None:
        """End the scorers and every process of theirs."""


class ProgramRunner(Protocol):
    """The sandboxes of a run; its methods may be called from any thread."""

    def check(self, wanted: Sequence[str]) -> EngineInfo:
        """Make sure that programs in these languages can be run, and return where.

        Raises:
            SandboxError: They cannot; the message has the next step.
        """

    def submit(self, program: Program) -> Future[ProgramVerdict]:
        """Queue a program; its future raises `nel.errors.SandboxError` for a machinery fault."""

    def close(self) -> None:
        """End all containers; programs that wait are given up."""


class Executor(Protocol):
    """Computes the scores of one or several runs in one session."""

    def open_scorers(self, work: ScoringWork) -> ScorerPool:
        """Prepare the scorers of a run; called before the run has threads, so that it may fork."""

    def open_sandbox(self, settings: SandboxSettings) -> ProgramRunner:
        """Prepare sandboxes; nothing is started before it is needed."""

    async def start(self) -> None:
        """Make sure that scores can be computed; called on the event loop before anything is sent.

        Raises:
            NelError: They cannot be.
        """

    def facts(self) -> Mapping[str, Any]:
        """Return ``name`` and other facts of the executor as JSON for runtime_stats.json."""

    def notes(self) -> Sequence[str]:
        """Return what the user should know once the session is over."""

    def close(self) -> None:
        """End everything that was started."""
