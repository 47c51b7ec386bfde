"""Watches an event loop from a thread beside it: receives the signals of the process, whatever the
loop does, and says what blocks it.

A solver runs on the loop of its run. One that blocks it, by ``time.sleep``, a request without a
timeout or ``while True``, stops everything there, the loop's handlers of signals too. Depends on
threads. Note: C code that neither releases the interpreter nor looks for signals, such as
``sum(itertools.count())``, stops this thread as well.
"""

from __future__ import annotations

import asyncio
import select
import signal
import socket
import sys
import sysconfig
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Final

_LOOK_SECONDS: Final = 1.0
_LOOKS_BLOCKED: Final = 5
"""So many looks in a row at which the loop has not answered the first of them."""
_OWN: Final = str(Path(__file__).parents[2])
_STANDARD: Final = sysconfig.get_path("stdlib")


class LoopWatch:
    """The thread; make it on the loop that it watches."""

    def __init__(
        self,
        on_signal: Callable[[signal.Signals], None],
        say: Callable[[str], None],
        signals: Sequence[signal.Signals],
    ) -> None:
        """Start it.

        Args:
            on_signal: Called with each signal, in the thread or between two instructions of the
                loop's.
            say: Called in the thread, once for each place in the code that blocks the loop.
            signals: What is received, where the loop runs in the main thread.
        """
        self._loop = asyncio.get_running_loop()
        self._on_signal = on_signal
        self._say = say
        self._loop_thread = threading.get_ident()
        self._n_unanswered = 0
        self._places: set[str] = set()
        self._counts: Counter[str] = Counter()
        self._n_signals = 0
        self._counting = threading.RLock()
        self._ours, self._theirs = socket.socketpair()
        self._theirs.setblocking(False)
        self._undo: list[Callable[[], object]] = []
        with suppress(ValueError):  # not in the main thread
            before = signal.set_wakeup_fd(self._theirs.fileno(), warn_on_full_buffer=False)
            self._undo.append(partial(signal.set_wakeup_fd, before))
            for number in signals:
                handler = signal.signal(number, self._interrupt)
                self._undo.append(partial(signal.signal, number, handler))
        self._thread = threading.Thread(target=self._watch, name="nel-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread; signals go where they went before."""
        for undo in self._undo:
            undo()
        self._theirs.close()
        self._thread.join()
        self._ours.close()

    def _watch(self) -> None:
        while True:
            began, computed = time.monotonic(), time.process_time()
            if select.select([self._ours], [], [], _LOOK_SECONDS)[0]:
                received = self._ours.recv(64)
                if not received:
                    return
                for number in received:
                    self._receive(number, "thread")
            else:
                # Both clocks: a process that was stopped computes nothing, and libraries compute on
                # several cores.
                self._look(min(time.monotonic() - began, time.process_time() - computed))

    def _interrupt(self, number: int, _: object) -> None:
        """Receive a signal in the main thread: a regular expression that never ends holds the
        interpreter, and looks for signals.
        """
        self._receive(number, "main")

    def _receive(self, number: int, where: str) -> None:
        """Pass on a signal the first time that one of the two threads sees it."""
        # Both see the signals, and either may be late. So the n-th one is passed on by the thread
        # that is the first to have seen n; a handler may interrupt this block in its own thread,
        # hence the RLock.
        with self._counting:
            self._counts[where] += 1
            if self._counts[where] <= self._n_signals:
                return
            self._n_signals += 1
        self._on_signal(signal.Signals(number))

    def _look(self, held_seconds: float) -> None:
        """Say what blocks the loop, or what held the interpreter so that this look comes late."""
        if held_seconds >= _LOOKS_BLOCKED * _LOOK_SECONDS:
            self._say_once(
                f"the interpreter was held for {held_seconds:.0f} s by {{place}} or a thread beside"
                " it, as regular expressions hold it: no request went on meanwhile; bound what it"
                " reads, or run it in a process of its own"
            )
        if not self._n_unanswered:
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._answer)
        self._n_unanswered += 1
        if self._n_unanswered <= _LOOKS_BLOCKED:
            return
        self._say_once(
            f"the event loop has been blocked for {_LOOKS_BLOCKED * _LOOK_SECONDS:g} s by"
            " {place}: no request goes on meanwhile; await there (asyncio.sleep,"
            " asyncio.to_thread); a second Ctrl-C ends the run at once, and it can be resumed"
        )

    def _say_once(self, text: str) -> None:
        """Say it of the place where the loop's thread stands, unless that was named before."""
        frame = sys._current_frames().get(self._loop_thread)  # noqa: SLF001 - documented
        location = "" if frame is None else blocking_place(frame)
        if location not in self._places:
            self._places.add(location)
            self._say(text.format(place=location))

    def _answer(self) -> None:
        self._n_unanswered = 0


def blocking_place(frame: FrameType) -> str:
    """Return the function that nel's code called, or that runs as a task of its own, in which the
    stack below stands; code of the standard library is not named where there is other code.

    Args:
        frame: The innermost one.
    """
    place = caller = frame
    while caller is not None and not caller.f_code.co_filename.startswith(_OWN):
        if not _is_standard(caller.f_code.co_filename):
            place = caller
        if caller.f_back is None:
            break
        caller = caller.f_back
    code = place.f_code
    return f"{code.co_qualname} ({code.co_filename}, line {place.f_lineno})"


def _is_standard(file: str) -> bool:
    return file.startswith((_STANDARD, "<")) and "-packages" not in file
