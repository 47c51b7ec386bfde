"""Calls scorers: many at a time, off the event loop, each one's faults kept to its own sample.

Sync scorers run in a thread so that requests keep flowing; a scorer that hangs is left behind with its thread after the
time limit. Async scorers run on the event loop. Trap: a thread cannot be killed, and a regular expression holds the
interpreter while it runs; what must be stopped for certain belongs in a process of its own.
"""

from __future__ import annotations

import asyncio
import inspect
import queue
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar

from nel.benchmarks.base import Benchmark
from nel.errors import JudgeError, SandboxError, ScorerError
from nel.scoring.result import outcome_of
from nel.types import Outcome, Response, Sample, ScorerInput, Unscored

_DETAIL_CHARACTERS_MAX = 2_000


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
    outcomes: dict[int, Outcome] = {}
    waiting = [index for index, item in enumerate(batch) if _is_async(item.benchmark)]
    plain = [index for index in range(len(batch)) if index not in set(waiting)] if waiting else list(range(len(batch)))
    results = await asyncio.gather(*(_score_async(batch[index], timeout_seconds) for index in waiting))
    outcomes.update(zip(waiting, results, strict=True))
    outcomes.update(zip(plain, await _score_in_thread([batch[index] for index in plain], timeout_seconds), strict=True))
    return [outcomes[index] for index in range(len(batch))]


def score_one(item: ToScore) -> Outcome:
    """Return the outcome of one item, with a sync scorer."""
    try:
        result = item.benchmark.scorer(_scorer_input(item))
        if inspect.isawaitable(result):
            raise ScorerError("the scorer returned an awaitable but is not declared with async def")
        return outcome_of(result, item.response.text)
    except BaseException as error:  # noqa: BLE001 - the one boundary: whatever escapes plugin code is the plugin's fault
        return _blame(error)


async def _score_async(item: ToScore, timeout_seconds: float) -> Outcome:
    try:
        result: Any = item.benchmark.scorer(_scorer_input(item))
        return outcome_of(await asyncio.wait_for(result, timeout_seconds), item.response.text)
    except TimeoutError:
        return _timed_out(timeout_seconds)
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - as in score_one
        return _blame(error)


async def _score_in_thread(items: Sequence[ToScore], timeout_seconds: float) -> list[Outcome]:
    outcomes: list[Outcome] = []
    while len(outcomes) < len(items):
        outcomes.extend(await _score_until_stuck(items[len(outcomes) :], timeout_seconds))
    return outcomes


async def _score_until_stuck(items: Sequence[ToScore], timeout_seconds: float) -> list[Outcome]:
    finished = asyncio.Event()
    outcomes: list[Outcome] = []
    thread = _ScorerThread.current()
    thread.work.put((items, outcomes, asyncio.get_running_loop(), finished))
    while True:
        before = len(outcomes)
        try:
            await asyncio.wait_for(finished.wait(), timeout_seconds)
        except TimeoutError:
            if len(outcomes) == before:
                _ScorerThread.abandon(thread)
                return [*outcomes[:before], _timed_out(timeout_seconds)]
        else:
            return outcomes


_Work = tuple[Sequence["ToScore"], list[Outcome], asyncio.AbstractEventLoop, asyncio.Event]


class _ScorerThread(threading.Thread):
    """One thread that scores; replaced when a scorer hangs in it."""

    _current: ClassVar[_ScorerThread | None] = None

    def __init__(self) -> None:
        super().__init__(name="nel-scorer", daemon=True)
        self.work: queue.SimpleQueue[_Work] = queue.SimpleQueue()

    @classmethod
    def current(cls) -> _ScorerThread:
        """Return the thread in use, started if there is none."""
        if cls._current is None:
            cls._current = cls()
            cls._current.start()
        return cls._current

    @classmethod
    def abandon(cls, stuck: _ScorerThread) -> None:
        """Leave a thread behind; the next batch gets a new one."""
        if cls._current is stuck:
            cls._current = None

    def run(self) -> None:
        while True:
            items, outcomes, loop, finished = self.work.get()
            for item in items:
                outcomes.append(score_one(item))
            with suppress(RuntimeError):  # the loop is gone: nobody waits any more
                loop.call_soon_threadsafe(finished.set)


def _scorer_input(item: ToScore) -> ScorerInput:
    return ScorerInput(
        response=item.response.text,
        target=item.sample.target,
        metadata=dict(item.sample.metadata),
        config=dict(item.benchmark.extra),
    )


def _is_async(benchmark: Benchmark) -> bool:
    return inspect.iscoroutinefunction(benchmark.scorer)


def _blame(error: BaseException) -> Outcome:
    if isinstance(error, JudgeError):
        return Unscored(cause="judge", kind="no_verdict", detail=str(error))
    if isinstance(error, SandboxError):
        return Unscored(cause="sandbox", kind="unavailable", detail=str(error))
    if isinstance(error, ScorerError):
        return Unscored(cause="scorer", kind="invalid_result", detail=str(error))
    frames = "".join(traceback.format_exception(error)[-3:])
    return Unscored(cause="scorer", kind="raised", detail=frames[-_DETAIL_CHARACTERS_MAX:])


def _timed_out(seconds: float) -> Outcome:
    return Unscored(cause="scorer", kind="timeout", detail=f"the scorer took longer than {seconds:g} s")
