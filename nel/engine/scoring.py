"""Calls scorers: many at a time, off the event loop, each one's faults kept to its own sample.

Scorers run in a thread so that requests keep flowing; one that hangs is left behind with its thread after the time
limit. Async scorers share an event loop of that thread. Trap: a thread cannot be killed, and a regular expression
holds the interpreter while it runs; what must be stopped for certain belongs in a process of its own.
"""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from nel.benchmarks.base import Benchmark
from nel.errors import DatasetError, JudgeError, SandboxError, ScorerError
from nel.scoring.protocol import is_async
from nel.scoring.result import outcome_of
from nel.types import Outcome, Response, Sample, ScorerInput, Unscored

_DETAIL_CHARACTERS_MAX = 2_000
_GRACE_SECONDS = 1.0
"""After the time limit of async scorers, before one that swallows its cancellation is left behind."""


@dataclass(frozen=True, slots=True)
class ToScore:
    """One answered sample on its way to the scorer."""

    job: int
    """The benchmark's number in the store."""
    idx: int
    repeat: int
    sample: Sample
    response: Response
    benchmark: Benchmark


async def score_all(batch: Sequence[ToScore], *, timeout_seconds: float) -> list[Outcome]:
    """Return the outcome of each item, in order; never raises for a fault of a scorer."""
    outcomes: list[Outcome] = [_timed_out(timeout_seconds)] * len(batch)
    groups: dict[bool, list[int]] = {}
    for index, item in enumerate(batch):
        groups.setdefault(is_async(item.benchmark.scorer), []).append(index)
    for awaited, indices in groups.items():
        items = [batch[index] for index in indices]
        results = await (_score_together if awaited else _score_in_turn)(items, timeout_seconds)
        for index, outcome in zip(indices, results, strict=True):
            outcomes[index] = outcome
    return outcomes


def score_one(item: ToScore) -> Outcome:
    """Return the outcome of one item, with a sync scorer."""
    try:
        result = item.benchmark.scorer(_scorer_input(item))
        if inspect.isawaitable(result):
            raise ScorerError("the scorer returned an awaitable but is not declared with async def")
        return outcome_of(result, item.response.text)
    except BaseException as error:  # noqa: BLE001 - the one boundary: whatever escapes plugin code is the plugin's fault
        return _blame(error)


async def _score_in_turn(items: Sequence[ToScore], timeout_seconds: float) -> list[Outcome]:
    """Score with sync scorers, one after the other; a stuck one is left behind with its thread."""
    outcomes: list[Outcome] = []
    while len(outcomes) < len(items):
        done: list[Outcome] = []
        finished = await _in_thread(_InTurn(items[len(outcomes) :], done), done, timeout_seconds)
        outcomes.extend(done if finished and done else [*done, _timed_out(timeout_seconds)])
    return outcomes


async def _score_together(items: Sequence[ToScore], timeout_seconds: float) -> list[Outcome]:
    """Score with async scorers, all at once on a loop of the scoring thread, each with its own time limit."""
    done: list[Outcome] = []
    await _in_thread(_Together(items, done, timeout_seconds), done, timeout_seconds + _GRACE_SECONDS)
    return [*done, *(_timed_out(timeout_seconds) for _ in items[len(done) :])]


async def _in_thread(work: Callable[[_ScorerThread], None], done: list[Outcome], timeout_seconds: float) -> bool:
    """Let the scoring thread work; return False, and give the thread up, when it makes no progress in time."""
    finished = asyncio.Event()
    thread = _ScorerThread.current()
    thread.work.put((work, asyncio.get_running_loop(), finished))
    while True:
        before = len(done)
        try:
            await asyncio.wait_for(finished.wait(), timeout_seconds)
        except TimeoutError:
            if len(done) == before:
                thread.abandon()
                return False
        else:
            return True


@dataclass(frozen=True, slots=True)
class _InTurn:
    items: Sequence[ToScore]
    done: list[Outcome]

    def __call__(self, thread: _ScorerThread) -> None:
        for item in self.items:
            if thread.abandoned:
                return
            outcome = score_one(item)
            if not thread.abandoned:
                self.done.append(outcome)


@dataclass(frozen=True, slots=True)
class _Together:
    items: Sequence[ToScore]
    done: list[Outcome]
    timeout_seconds: float

    def __call__(self, thread: _ScorerThread) -> None:
        outcomes = asyncio.run(self._all())
        if not thread.abandoned:
            self.done.extend(outcomes)

    async def _all(self) -> list[Outcome]:
        return await asyncio.gather(*(self._one(item) for item in self.items))

    async def _one(self, item: ToScore) -> Outcome:
        try:
            return await asyncio.wait_for(_score_async(item), self.timeout_seconds)
        except TimeoutError:
            return _timed_out(self.timeout_seconds)
        except asyncio.CancelledError as error:  # nobody here cancels: it is the scorer's own
            return _blame(error)


async def _score_async(item: ToScore) -> Outcome:
    try:
        result: Any = item.benchmark.scorer(_scorer_input(item))
        return outcome_of(await result, item.response.text)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - as in score_one; SystemExit would end the event loop
        return _blame(error)


_Work = tuple[Callable[["_ScorerThread"], None], asyncio.AbstractEventLoop, asyncio.Event]


class _ScorerThread(threading.Thread):
    """One thread that scores; replaced when a scorer hangs in it."""

    _current: ClassVar[_ScorerThread | None] = None

    def __init__(self) -> None:
        super().__init__(name="nel-scorer", daemon=True)
        self.work: queue.SimpleQueue[_Work] = queue.SimpleQueue()
        self.abandoned = False

    @classmethod
    def current(cls) -> _ScorerThread:
        """Return the thread in use, started if there is none."""
        if cls._current is None:
            cls._current = cls()
            cls._current.start()
        return cls._current

    def abandon(self) -> None:
        """Leave this thread behind: it takes no further item, and the next batch gets a new thread."""
        self.abandoned = True
        if _ScorerThread._current is self:
            _ScorerThread._current = None

    def run(self) -> None:
        while not self.abandoned:
            work, loop, finished = self.work.get()
            try:
                work(self)
            finally:
                with suppress(RuntimeError):  # the loop is gone: nobody waits any more
                    loop.call_soon_threadsafe(finished.set)


def _scorer_input(item: ToScore) -> ScorerInput:
    return ScorerInput(
        response=item.response.text,
        target=item.sample.target,
        metadata=dict(item.sample.metadata),
        config=dict(item.benchmark.extra),
        sample=item.sample,
        repeat=item.repeat,
    )


def _blame(error: BaseException) -> Outcome:
    if isinstance(error, JudgeError):
        return Unscored(cause="judge", kind="no_verdict", detail=str(error))
    if isinstance(error, SandboxError):
        return Unscored(cause="sandbox", kind="unavailable", detail=str(error))
    if isinstance(error, DatasetError):
        return Unscored(cause="bad_row", kind="unusable", detail=str(error))
    if isinstance(error, ScorerError):
        return Unscored(cause="scorer", kind="invalid_result", detail=str(error))
    frames = "".join(traceback.format_exception(error)[-3:])
    return Unscored(cause="scorer", kind="raised", detail=frames[-_DETAIL_CHARACTERS_MAX:])


def _timed_out(seconds: float) -> Outcome:
    return Unscored(cause="scorer", kind="timeout", detail=f"the scorer took longer than {seconds:g} s")
