"""Stops the pipelines of an event loop on SIGINT, SIGTERM and SIGHUP, or on request of a thread.

Depends on the running event loop, and on a thread for signals that the loop is too busy to handle.

A terminal that closes sends SIGHUP twice, from its shell and from the kernel, and `timeout` sends
SIGTERM to its child and then to the child's group. So a second signal means that the user does not
want to wait only if it is SIGINT or SIGTERM, and comes at least half a second after the first.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Protocol

from nel.engine.stopping.exit_status import ExitStatus, exit_status_of_signal
from nel.engine.stopping.loop_watch import LoopWatch

_AGAIN_SECONDS: Final = 0.5
"""Signals that follow the first one sooner than this are of the same event."""
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class SignalWatch(Protocol):
    """Receives signals during a run."""

    def close(self) -> None:
        """Stop receiving signals."""


class StopSignals:
    """Stops every registered pipeline on the first signal; exits at once on a later one.

    Stores are consistent at any time, so the exit loses only requests in flight.
    """

    def __init__(
        self,
        watch: Callable[..., SignalWatch] = LoopWatch,
        clock: Callable[[], float] = time.monotonic,
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        """Prepare; `stopping` installs the handlers.

        Args:
            watch: Makes a `SignalWatch`.
            clock: In seconds.
            leave: Ends the process with an exit status.
        """
        self._make_watch, self._clock, self._leave = watch, clock, leave
        self._watch: SignalWatch
        self._stops: list[Callable[[ExitStatus], None]] = []
        self._received: str | None = None
        self._received_at = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._guard = threading.RLock()

    @property
    def has_received(self) -> bool:
        """Whether a signal or a request to stop has arrived."""
        return self._received is not None

    def stop(self, name: str) -> None:
        """Stop as a signal does, from any thread; pipelines that start later stop at once.

        Args:
            name: Of the signal, or a reason; it becomes the reason for which the run ended.
        """
        with self._guard:
            if self._received is None:
                self._received, self._received_at = name, self._clock()
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop_all)

    def _stop_all(self) -> None:
        for stop in list(self._stops):
            stop(exit_status_of_signal(self._received or ""))

    @contextmanager
    def stopping(
        self, stop: Callable[[ExitStatus], None], say: Callable[[str], None]
    ) -> Iterator[None]:
        """Call ``stop`` for a signal during the block, at once if one has arrived before.

        Args:
            stop: Called on the event loop.
            say: Called in a thread with notes that the user should see at once.
        """
        loop = asyncio.get_running_loop()
        if not self._stops:
            handled = list(_SIGNALS)
            if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # started by nohup
                handled.remove(signal.SIGHUP)
            # Outside the main thread no handler can be installed: the caller handles signals.
            self._watch = self._make_watch(self._handle, say, handled)
        self._stops.append(stop)
        with self._guard:
            self._loop = loop
        if self._received is not None:
            stop(exit_status_of_signal(self._received))
        try:
            yield
        finally:
            self._stops.remove(stop)
            if not self._stops:
                with self._guard:
                    self._loop = None
                self._watch.close()
                if self._received == "SIGHUP":
                    # The second one may come while the session's end is being stored.
                    with suppress(ValueError):  # not in the main thread
                        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def _handle(self, number: signal.Signals) -> None:
        if self._received is None:
            self.stop(number.name)
        elif number is not signal.SIGHUP and self._clock() - self._received_at >= _AGAIN_SECONDS:
            self._leave(128 + number)
