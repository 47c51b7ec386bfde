"""The workers of a session: they bound the requests in flight, without those that back off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

from nel.engine.stopping.session_end import Stop
from nel.models.attempts import Admission

_PARKED_MAX: Final = 512
"""Samples that may wait for their retry while further workers ask others."""
_RAMP_FIRST: Final = 8
"""Workers to start while the first request is out; doubled every `_RAMP_SECONDS`."""
_RAMP_SECONDS: Final = 0.1


class Workers:
    """Tasks that ask samples, and checks beside them; use it on one event loop."""

    def __init__(
        self,
        concurrency: int,
        gate: Admission | None,
        stop: Stop,
        ask_samples: Callable[[int], Coroutine[object, object, None]],
    ) -> None:
        """Prepare; `ramp_up` starts workers.

        Args:
            concurrency: The most requests in flight.
            gate: Of the endpoint.
            stop: Ends the session.
            ask_samples: The work of one worker, by its number; returns once `surplus` is positive.
        """
        self._concurrency = concurrency
        self._gate = gate
        self._stop = stop
        self._ask_samples = ask_samples
        self._tasks: set[asyncio.Task[None]] = set()
        self._task_ended = asyncio.Event()
        self._n_started = 0
        self.n_running = 0

    async def ramp_up(
        self, first_answer: asyncio.Task[None], may_go_on: Callable[[], Awaitable[bool]]
    ) -> None:
        """Start workers: in doubling steps while the first request is in flight, then all.

        Args:
            first_answer: Done once the first request has its answer.
            may_go_on: Returns whether to start more.
        """
        if self._gate is not None:
            self._gate.on_back_off = self._replace_parked
        n_started, n_next = 0, _RAMP_FIRST
        while n_started < self._concurrency and self._stop.status is None:
            if not await may_go_on():
                return
            if first_answer.done():
                n_next = self._concurrency
            for _ in range(min(n_next, self._concurrency - n_started)):
                self._start_worker()
                n_started += 1
            n_next = n_started
            await asyncio.wait({first_answer}, timeout=_RAMP_SECONDS)

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run a coroutine, such as a check of the endpoint, beside the workers."""
        self.watch(asyncio.create_task(work))

    def watch(self, task: asyncio.Task[None]) -> None:
        """Let `supervise` wait for a task too."""
        task.add_done_callback(lambda _: self._task_ended.set())
        self._tasks.add(task)

    async def supervise(self, scoring: asyncio.Task[None]) -> None:
        """Wait until every worker has ended, or until the drain time after a stop is over.

        Workers may be added meanwhile. Raises the error of a worker or of the scoring.
        """
        stopping = asyncio.create_task(self._stop.event.wait())
        try:
            while self._tasks:
                timeout = self._stop.seconds_left() if stopping.done() else None
                ended = asyncio.create_task(self._task_ended.wait())
                watched: set[asyncio.Future[Any]] = {ended, scoring}
                if not stopping.done():  # once done it would end every wait at once
                    watched.add(stopping)
                await asyncio.wait(watched, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
                ended.cancel()
                if scoring.done():
                    scoring.result()
                if stopping.done() and not self._stop.seconds_left():
                    return
                self._task_ended.clear()
                for task in [task for task in self._tasks if task.done()]:
                    self._tasks.discard(task)
                    task.result()
        finally:
            stopping.cancel()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._tasks.clear()

    @property
    def surplus(self) -> int:
        """By how many the workers that do not back off exceed the concurrency."""
        parked = self._gate.n_backing_off if self._gate is not None else 0
        return self.n_running - parked - self._concurrency

    def _start_worker(self) -> None:
        self._n_started += 1
        self.n_running += 1
        self.start(self._run_worker(self._n_started))

    async def _run_worker(self, number: int) -> None:
        try:
            await self._ask_samples(number)
        finally:
            # Not in `supervise`, which sees the task later: of two workers that find themselves
            # surplus at the same time, each would count the other, and both would end.
            self.n_running -= 1

    def _replace_parked(self) -> None:
        """Start a worker in place of one that backs off, which holds no permit of the gate."""
        n_free = self._concurrency + _PARKED_MAX - self.n_running
        if self._stop.status is None and n_free > 0 and self.surplus < 0:
            self._start_worker()
