"""Stops the pipelines of one event loop on SIGINT, SIGTERM and SIGHUP. Depends on the running event
loop.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from nel.engine.exit_status import ExitStatus, exit_status_of_signal

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
        if self._received is not None:
            stop(exit_status_of_signal(self._received))
        try:
            yield
        finally:
            self._stops.remove(stop)
            if not self._stops:
                for number in self._handled:
                    with suppress(ValueError, RuntimeError, NotImplementedError):
                        loop.remove_signal_handler(number)

    def _handle(self, number: signal.Signals) -> None:
        if self._received is not None:
            os._exit(128 + number)
        self._received = number.name
        for stop in list(self._stops):
            stop(exit_status_of_signal(number.name))
