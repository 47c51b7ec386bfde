"""Between scorers and judges: takes over what scorers hand over, and sees to it that no fault of a judge is hidden.

Trap: a scorer may catch what its judge raises and return a number all the same; a sample whose judge failed has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nel.engine.exit_status import ExitStatus, exit_status_of
from nel.engine.judging.endpoints import PARKED
from nel.engine.judging.judges import Asked, Judges
from nel.engine.plan import Plan
from nel.engine.scorers.call import Delegated, ScoringTask, blame, inputs_of
from nel.errors import JudgeError, JudgePreflightError, ScorerError
from nel.judges.record import KEY
from nel.judges.types import Case, Judgement
from nel.models.budget import BudgetSpent
from nel.scoring.result import JudgeWanted, mean_of_turns
from nel.types import Outcome, Scored, ScorerInput, Unscored


class JudgeDelegation:
    """The judgements of all samples that are being scored; use it on one event loop."""

    def __init__(self, judges: Judges, plans: dict[int, Plan], *, stop: Callable[[ExitStatus], None]) -> None:
        """Prepare it.

        Args:
            judges: Of the run.
            plans: By the benchmark's number in the store.
            stop: Called when the budget is spent, or a judge turns out to be none.
        """
        self.judges = judges
        self._stop = stop
        self._plans = plans
        self._tasks: set[asyncio.Task[None]] = set()

    async def answer(self, item: ScoringTask, turn: int, case: Case) -> Judgement:
        """Return what the panel makes of a case that a scorer asks about.

        Raises:
            JudgeError: There is no grade.
        """
        return await self._judge(item, inputs_of(item)[turn], case)

    def take(
        self,
        item: ScoringTask,
        handed: Delegated,
        deliver: Callable[[Outcome], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """Judge what a scorer handed over; ``deliver`` gets the outcome, ``failed`` what is no judge's fault."""

        async def work() -> None:
            try:
                deliver(await self._judged(item, handed))
            except Exception as error:  # noqa: BLE001 - whoever runs the session decides what it means
                failed(error)

        task = asyncio.create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def settled(self, item: ScoringTask, outcome: Outcome) -> Outcome | None:
        """Return the outcome with its judgements beside it; None where it waits for a judge that is down."""
        fault = item.talk.fault
        if fault is not None:
            if fault.kind == PARKED:
                return None
            if not isinstance(outcome, Unscored):
                outcome = blame(fault)
        records = [record for record in item.talk.records if record is not None]
        return replace(outcome, details={**outcome.details, KEY: records}) if records else outcome

    async def stop(self) -> None:
        """End what is under way; a resume judges it."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _judge(self, item: ScoringTask, given: ScorerInput, case: Case) -> Judgement:
        talk = item.talk
        asked = Asked(
            plan=self._plans[item.job],
            place=(item.job, item.idx, item.repeat),
            sample_id=item.sample.id,
            given=given,
            talk=talk,
        )
        try:
            return await self.judges.judge(asked, case, talk.records)
        except JudgeError as error:
            if talk.fault is None or error.kind == PARKED:
                talk.fault = error
            raise
        except (BudgetSpent, JudgePreflightError) as end:
            self._stop(exit_status_of(end))
            talk.fault = JudgeError(str(end), kind=PARKED)
            raise talk.fault from end

    async def _judged(self, item: ScoringTask, handed: Delegated) -> Outcome:
        inputs = inputs_of(item)
        return mean_of_turns(
            await asyncio.gather(
                *(self._of_turn(item, given, turn) for given, turn in zip(inputs, handed.turns, strict=True))
            )
        )

    async def _of_turn(self, item: ScoringTask, given: ScorerInput, turn: Outcome | JudgeWanted) -> Outcome:
        if not isinstance(turn, JudgeWanted):
            return turn
        try:
            metrics, details, answer = turn.own_values()
            judgement = await self._judge(item, given, turn.case())
        except (JudgeError, ScorerError) as error:
            return blame(error)
        return _scored(judgement, metrics, details, answer)


def _scored(judgement: Judgement, metrics: dict[str, float], details: dict[str, Any], answer: str | None) -> Scored:
    grade = judgement.grade
    return Scored(
        reward=grade.score,
        metrics={"correct": grade.score, **grade.metrics, **metrics},
        answer=answer,
        details={**details, "judge_grade": grade.label},
    )
