"""Stops the pipelines of one event loop on SIGINT, SIGTERM and SIGHUP, or when another thread asks
for it. Depends on the running event loop.

A terminal that closes sends SIGHUP twice, from its shell and from the kernel, and `timeout` sends
SIGTERM to its child and then to the child's group. So only SIGINT or SIGTERM at least half a second
after the first signal is a user who does not want to wait.
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from nel.engine.stopping.exit_status import ExitStatus, exit_status_of_signal

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_SECONDS: Final = 0.5
"""After the first signal: those that come sooner are of the same event."""


class StopSignals:
    """Stops every registered pipeline on the first signal and exits at once on a later SIGINT or
    SIGTERM; stores are consistent.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        leave: Callable[[int], object] = os._exit,
    ) -> None:
        """Install nothing yet."""
        self._clock, self._leave = clock, leave
        self._stops: list[Callable[[ExitStatus], None]] = []
        self._handled: list[signal.Signals] = []
        self._received: str | None = None
        self._received_at = -math.inf
        self._loop: asyncio.AbstractEventLoop | None = None
        self._guard = threading.Lock()

    @property
    def has_received(self) -> bool:
        """Return whether a signal or a request to stop has arrived."""
        return self._received is not None

    def stop(self, name: str) -> None:
        """Stop as a signal does, from any thread; pipelines that start later stop at once.

        Args:
            name: Of the signal, or why; the run ends with it as its reason.
        """
        with self._guard:
            self._received = self._received or name
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._stop_all)

    def _stop_all(self) -> None:
        for stop in list(self._stops):
            stop(exit_status_of_signal(self._received or ""))

    @contextmanager
    def stopping(self, stop: Callable[[ExitStatus], None]) -> Iterator[None]:
        """Call ``stop`` when a signal arrives while the block runs, and at once where one has
        arrived before.
        """
        loop = asyncio.get_running_loop()
        if not self._stops:
            is_nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            self._handled = [
                number for number in _SIGNALS if number is not signal.SIGHUP or not is_nohup
            ]
            for number in self._handled:
                # Outside the main thread no handler can be installed: signals are the caller's to
                # handle.
                with suppress(ValueError, RuntimeError, NotImplementedError):
                    loop.add_signal_handler(number, self._handle, number)
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
                for number in self._handled:
                    with suppress(ValueError, RuntimeError, NotImplementedError):
                        loop.remove_signal_handler(number)
                        if self._received == number.name == "SIGHUP":
                            # The second one may come while the session's end is being stored.
                            signal.signal(number, signal.SIG_IGN)

    def _handle(self, number: signal.Signals) -> None:
        now = self._clock()
        if self._received is None:
            self._received, self._received_at = number.name, now
            self._stop_all()
        elif number is not signal.SIGHUP and now - self._received_at >= _AGAIN_SECONDS:
            self._leave(128 + number)
