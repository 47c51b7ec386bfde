"""An event loop whose time is virtual: it never waits, it jumps to the next timer.

Note: whatever reads the machine's clock or hands work to a real thread is not simulated; `run_in_executor` is done at
once, on the spot, so that there is one thread only.
"""

from __future__ import annotations

import asyncio
import selectors
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

_DAY_SECONDS = 24 * 3600.0
_TURN_SECONDS = 1e-6
"""What one turn of the loop takes at least: a clock that stands still would let a rounding error spin for ever."""


class Deadlock(Exception):
    """Nothing is ready and no timer is set: what waits now waits forever."""


class TooLate(Exception):
    """Virtual time went past what the world allows."""


class Crash(SystemExit):
    """The process is killed. A SystemExit, since the loop lets that pass from any callback at once."""


@dataclass
class Clock:
    """Virtual time; it outlives the loops that run on it."""

    now: float = 1000.0
    deadline: float = float("inf")

    def jump(self, seconds: float) -> None:
        self.now += seconds
        if self.now > self.deadline:
            raise TooLate(f"still running at {self.now:.0f} s, {self.now - self.deadline:.0f} s too late")


class _NoSelector(selectors.BaseSelector):
    """Instead of waiting for files it moves the clock."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._real = selectors.SelectSelector()
        self.quiet: Callable[[], None] = lambda: None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            self.quiet()
            raise Deadlock("nothing is ready and no timer is set")
        if timeout > 0:
            self.quiet()
        self._clock.jump(min(max(timeout, _TURN_SECONDS), _DAY_SECONDS))
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs on a virtual clock, in one thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._without_files = _NoSelector(clock)
        self.handlers: dict[int, Callable[[], None]] = {}
        """Of signals; the world calls them."""
        super().__init__(self._without_files)

    def when_quiet(self, look: Callable[[], None]) -> None:
        """Call something each time that all callbacks are done and the clock is about to move."""
        self._without_files.quiet = look

    def time(self) -> float:
        return self._clock.now

    def deliver(self, sig: int) -> None:
        """Call the handler of a signal, if there is one by now."""
        if sig in self.handlers:
            self.handlers[sig]()

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Any, *args: Any
    ) -> asyncio.Future[Any]:
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - raised where the future is awaited
            future.set_exception(error)
        return future


def run_virtually(
    main: Coroutine[Any, Any, T],
    clock: Clock,
    *,
    started: Callable[[VirtualLoop], None],
    died: Callable[[], None],
) -> T:
    """Run a coroutine to its end, or until a crash; what is left of it then is taken apart without effect.

    Args:
        started: Called with the loop before anything runs on it.
        died: Called once the coroutine is over, before its leftovers are cancelled.

    Raises:
        Crash: The world killed the process.
        Deadlock: It would have waited for ever.
    """
    loop = VirtualLoop(clock)
    started(loop)
    try:
        return loop.run_until_complete(main)
    finally:
        died()
        loop.when_quiet(lambda: None)
        clock.deadline = float("inf")
        _cancel_all(loop)
        loop.close()


def _cancel_all(loop: VirtualLoop) -> None:
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.set_exception_handler(lambda *_: None)
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))


class LoopSignals:
    """Receives signals that the world delivers; `nel.engine.stopping.stop_signals.SignalWatch`."""

    def __init__(
        self, on_signal: Callable[[signal.Signals], None], _: object, signals: Sequence[signal.Signals]
    ) -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        self._handlers = loop.handlers
        self._handlers.update({number: partial(on_signal, number) for number in signals})

    def close(self) -> None:
        self._handlers.clear()
