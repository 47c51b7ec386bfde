"""Scores a batch of answers with the run's own dispatch, where there is no run."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nel.engine.scorers.call import Delegated, ScoringTask, unscored_by
from nel.engine.scorers.dispatch import Scorers
from nel.errors import EndpointError
from nel.scoring.result import JudgeWanted
from nel.types import Outcome


async def score_all(
    batch: Sequence[ScoringTask], *, timeout_seconds: float, scorers: Scorers | None = None
) -> list[Outcome]:
    """Return the outcome of each item, in order; never raises for a fault of a scorer, and asks no judge.

    Args:
        batch: What is put to the scorers at once.
        timeout_seconds: Of one answer.
        scorers: Of the batch's benchmarks, and closed at the end; made here without them.
    """
    found: dict[tuple[int, ...], Outcome] = {}
    finished = asyncio.Event()

    def deliver(outcomes: list[tuple[ScoringTask, Outcome | Delegated]]) -> None:
        for item, outcome in outcomes:
            found[_key(item)] = _without_judge(outcome) if isinstance(outcome, Delegated) else outcome
        if len(found) == len(batch):
            finished.set()

    async def answer(item: ScoringTask, what: str, payload: object) -> object:
        raise EndpointError(f"there is no model to ask here ({what} of sample {item.sample.id}: {payload})")

    scorers = scorers or Scorers(list({id(item.benchmark): item.benchmark for item in batch}.values()))
    running = asyncio.create_task(scorers.run(timeout_seconds=timeout_seconds, deliver=deliver, answer=answer))
    try:
        for item in batch:
            scorers.put(item)
        done = asyncio.create_task(finished.wait())
        await asyncio.wait({running, done}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        scorers.close()
    return [found[_key(item)] for item in batch]


def _without_judge(delegated: Delegated) -> Outcome:
    return unscored_by(next(turn for turn in delegated.turns if isinstance(turn, JudgeWanted)))


def _key(item: ScoringTask) -> tuple[int, ...]:
    return id(item.benchmark), *item.key
