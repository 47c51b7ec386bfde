"""The events of a run, for log files, metrics and traces.

The engine and the client call an `Observer`; its methods return nothing and do nothing by default,
so that a subclass overrides only the events that it uses. The calls are in the hot path of a run:
an observer should only count in them, and write or send from `tick`, which is called in a separate
thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from nel.types import Outcome, Request, Response, SampleKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionInfo:
    """Facts about a session that are known before its first request."""

    run_id: str
    session: int
    """Counts from 1; above 1 the run is resumed."""
    benchmarks: Mapping[int, str]
    """The name of each benchmark, by its number in a `SampleKey`."""
    identities: Mapping[str, str]
    """The digest of everything that can change an answer, by benchmark."""
    config_digest: str
    """Of the resolved configuration."""
    planned: int
    """(Sample, repeat) pairs that this session has to finish."""
    concurrency: int
    model: str | None = None
    url: str | None = None
    """Without user name, password and query."""


class Observer:
    """Receives the events of a run and ignores them; subclasses override what they use."""

    def session_started(self, info: SessionInfo) -> None:
        """The samples are loaded; nothing was sent yet."""

    def preflight_finished(self, problem: str | None, seconds: float) -> None:
        """The pre-flight ended; `problem` is None, or the reason why nothing can be sent."""

    def sample_started(self, key: SampleKey, sample_id: str) -> None:
        """A sample is about to be sent; called in the task that sends it."""

    def attempt_retried(self, kind: str, seconds: float, wait_seconds: float) -> None:
        """An attempt failed after ``seconds`` and is retried after ``wait_seconds``."""

    def request_finished(self, request: Request, response: Response, seconds: float) -> None:
        """A request was answered, or failed for good; ``seconds`` are of all attempts and waits."""

    def sample_finished(self, key: SampleKey, outcome: Outcome) -> None:
        """An outcome was committed to disk."""

    def limit_changed(self, limit: int) -> None:
        """The limit of requests in flight changed."""

    def outage_started(self, kind: str, detail: str) -> None:
        """The endpoint stopped answering; sending is paused."""

    def outage_ended(self, seconds: float) -> None:
        """The endpoint answers again."""

    def stopping(self, reason: str) -> None:
        """The session takes no further samples."""

    def session_failed(self, error: BaseException) -> None:
        """An exception ends the session."""

    def session_ended(self, reason: str, exit_code: int) -> None:
        """The session ended; only `tick` and `close` are called after this."""

    def tick(self) -> None:
        """Write or send what was collected; called about once a second in a separate thread."""

    def close(self) -> None:
        """Release all resources; called once."""


UNOBSERVED: Final = Observer()
"""The observer of a run that is not observed."""

_CALLS: Final = tuple(name for name in vars(Observer) if not name.startswith("_"))


class Observers(Observer):
    """Forwards events to several observers, and drops an observer that raises."""

    def __init__(
        self,
        observers: Sequence[Observer],
        *,
        report: Callable[[BaseException], object] | None = None,
    ) -> None:
        """Collect the observers that override each event: an event without any costs nothing.

        Args:
            observers: In the order in which they are called.
            report: Called with the exception of an observer that is dropped.
        """
        self._report = report
        self._listeners: dict[str, tuple[Callable[..., None], ...]] = {}
        """The bound methods that receive an event, by its name."""
        for call in _CALLS:
            # A method that a class inherits from `Observer` does nothing: it need not be called.
            self._listeners[call] = tuple(
                getattr(observer, call)
                for observer in observers
                if getattr(type(observer), call) is not getattr(Observer, call)
            )

    def _forward(self, call: str, *arguments: object) -> None:
        for listener in self._listeners[call]:
            try:
                listener(*arguments)
            except Exception as error:  # noqa: BLE001 - an observer must not end the run
                self._drop(getattr(listener, "__self__", None), error)

    def _drop(self, observer: object, error: Exception) -> None:
        for call, listeners in self._listeners.items():
            # It is closed all the same: it may hold a file or a connection.
            if call != "close":
                self._listeners[call] = tuple(
                    listener
                    for listener in listeners
                    if getattr(listener, "__self__", None) is not observer
                )
        if self._report is not None:
            with suppress(Exception):  # the run goes on either way
                self._report(error)


def _forwarding(call: str) -> Callable[..., None]:
    def forward(self: Observers, *arguments: object) -> None:
        if self._listeners[call]:
            self._forward(call, *arguments)

    return forward


# `Observers` gets a method for each event, so that one that nothing listens to costs one look-up.
for _call in _CALLS:
    setattr(Observers, _call, _forwarding(_call))
