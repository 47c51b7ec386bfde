"""Stops the pipelines of one event loop on SIGINT, SIGTERM and SIGHUP, or when another thread asks
for it. Depends on the running event loop.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from nel.engine.stopping.exit_status import ExitStatus, exit_status_of_signal

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignals:
    """Stops every registered pipeline on the first signal and exits at once on the second; stores
    are consistent.
    """

    def __init__(self) -> None:
        """Install nothing yet."""
        self._stops: list[Callable[[ExitStatus], None]] = []
        self._handled: list[signal.Signals] = []
        self._received: str | None = None
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

    def _handle(self, number: signal.Signals) -> None:
        if self._received is not None:
            os._exit(128 + number)
        self._received = number.name
        self._stop_all()
