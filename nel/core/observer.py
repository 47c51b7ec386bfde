"""The seam between a run and whoever watches it: what happens is told here, and nobody answers.

The engine and the client call an `Observer`; a log file, metrics and traces listen. Every method does nothing by
default, so that a listener names only what it wants. Trap: these calls stand in the hot path of a run; a listener
counts, and writes or sends from `tick`, which a thread of its own calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from nel.types import Outcome, Request, Response

Place: TypeAlias = tuple[int, int, int]
"""``(benchmark, idx, repeat)``, as the store numbers them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """What is known of a session before its first request."""

    run_id: str
    session: int
    """Counts from 1; above 1 the run is resumed."""
    benchmarks: Mapping[int, str]
    """The name of each benchmark, by its number in a `Place`."""
    identities: Mapping[str, str]
    """The digest of everything that can change an answer, by benchmark."""
    config_digest: str
    """Of the resolved configuration."""
    planned: int
    """(Sample, repeat) pairs that this session sets out to finish."""
    concurrency: int
    model: str | None = None
    url: str | None = None
    """Without user name, password and query."""


class Observer:
    """Is told what happens in a run; this one does not care."""

    def session_started(self, info: SessionInfo) -> None:
        """Note that samples are known and nothing was sent yet."""

    def preflight_finished(self, problem: str | None, seconds: float) -> None:
        """Note what the pre-flight found: None, or why nothing can be sent."""

    def sample_started(self, place: Place, sample_id: str) -> None:
        """Note that a sample is about to be asked; called in the task that asks it."""

    def retried(self, kind: str, seconds: float, wait_seconds: float) -> None:
        """Note that an attempt failed after ``seconds`` and is made again after ``wait_seconds``."""

    def request_finished(self, request: Request, response: Response, seconds: float) -> None:
        """Note an answer, or the last fault; ``seconds`` has all attempts and the waits between them."""

    def sample_finished(self, place: Place, outcome: Outcome) -> None:
        """Note an outcome that is on disk."""

    def throttled(self, limit: int) -> None:
        """Note how many requests may be in flight from now on."""

    def outage_started(self, kind: str, detail: str) -> None:
        """Note that the endpoint does not answer and that sending waits for it."""

    def outage_ended(self, seconds: float) -> None:
        """Note that the endpoint answers again."""

    def stopping(self, reason: str) -> None:
        """Note that no further samples are taken."""

    def failed(self, error: BaseException) -> None:
        """Note an exception that ends the session."""

    def session_ended(self, reason: str, exit_code: int) -> None:
        """Note how the session ended; the last call but `tick` and `close`."""

    def tick(self) -> None:
        """Do what takes time; called about once a second by a thread that nothing waits for."""

    def close(self) -> None:
        """Give back what is held; called once."""


NOBODY: Final = Observer()
"""Where nobody listens."""

_CALLS: Final = tuple(name for name in vars(Observer) if not name.startswith("_"))


class Observers(Observer):
    """Tells several; one that raises is told no more and harms nothing else."""

    def __init__(
        self, observers: Sequence[Observer], *, report: Callable[[BaseException], object] | None = None
    ) -> None:
        """Keep those that listen, call by call: what nobody overrides costs a loop over nothing.

        Args:
            observers: In the order they are told.
            report: Gets the exception of one that is dropped.
        """
        self._report = report
        self._listening: dict[str, tuple[Callable[..., None], ...]] = {}
        for call in _CALLS:
            listeners = [one for one in observers if getattr(type(one), call) is not getattr(Observer, call)]
            self._listening[call] = tuple(getattr(one, call) for one in listeners)

    def session_started(self, info: SessionInfo) -> None:
        """Tell everyone."""
        self._tell("session_started", info)

    def preflight_finished(self, problem: str | None, seconds: float) -> None:
        """Tell everyone."""
        self._tell("preflight_finished", problem, seconds)

    def sample_started(self, place: Place, sample_id: str) -> None:
        """Tell everyone."""
        self._tell("sample_started", place, sample_id)

    def retried(self, kind: str, seconds: float, wait_seconds: float) -> None:
        """Tell everyone."""
        self._tell("retried", kind, seconds, wait_seconds)

    def request_finished(self, request: Request, response: Response, seconds: float) -> None:
        """Tell everyone."""
        self._tell("request_finished", request, response, seconds)

    def sample_finished(self, place: Place, outcome: Outcome) -> None:
        """Tell everyone."""
        self._tell("sample_finished", place, outcome)

    def throttled(self, limit: int) -> None:
        """Tell everyone."""
        self._tell("throttled", limit)

    def outage_started(self, kind: str, detail: str) -> None:
        """Tell everyone."""
        self._tell("outage_started", kind, detail)

    def outage_ended(self, seconds: float) -> None:
        """Tell everyone."""
        self._tell("outage_ended", seconds)

    def stopping(self, reason: str) -> None:
        """Tell everyone."""
        self._tell("stopping", reason)

    def failed(self, error: BaseException) -> None:
        """Tell everyone."""
        self._tell("failed", error)

    def session_ended(self, reason: str, exit_code: int) -> None:
        """Tell everyone."""
        self._tell("session_ended", reason, exit_code)

    def tick(self) -> None:
        """Tell everyone."""
        self._tell("tick")

    def close(self) -> None:
        """Tell everyone."""
        self._tell("close")

    def _tell(self, call: str, *arguments: Any) -> None:
        for listener in self._listening[call]:
            try:
                listener(*arguments)
            except Exception as error:  # noqa: BLE001 - watching a run may not end it
                self._drop(getattr(listener, "__self__", None), error)

    def _drop(self, observer: object, error: Exception) -> None:
        for call, listeners in self._listening.items():
            if call != "close":
                self._listening[call] = tuple(
                    one for one in listeners if getattr(one, "__self__", None) is not observer
                )
        if self._report is not None:
            with suppress(Exception):  # the report is a courtesy
                self._report(error)
