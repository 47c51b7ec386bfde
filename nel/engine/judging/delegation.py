"""Judges what scorers delegate, and makes every fault of a judge an unscored sample.

Note: a scorer may catch the error that its judge raises and return a number all the same; a sample
whose judge failed still gets no score.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from nel.engine.judging.endpoints import PARKED
from nel.engine.judging.judges import JudgedSample, Judges
from nel.engine.planning.plan import Plan
from nel.engine.scorers.call import Delegated, ScoringTask, scorer_inputs, unscored_by
from nel.engine.stopping.exit_status import ExitStatus, exit_status_of
from nel.errors import DatasetError, JudgeError, JudgePreflightError, ScorerError
from nel.judges.record import KEY
from nel.judges.types import Case, Judgement
from nel.models.budget import BudgetSpent
from nel.scoring.result import JudgeWanted, mean_of_turns
from nel.types import Outcome, Scored, ScorerInput, Unscored


class JudgeDelegation:
    """The judgements of all samples that are being scored; use it on one event loop."""

    def __init__(
        self, judges: Judges, plans: dict[int, Plan], *, stop: Callable[[ExitStatus], None]
    ) -> None:
        """Start nothing yet.

        Args:
            judges: Of the run.
            plans: By the benchmark's number in the store.
            stop: Called when the budget is spent, or a judge refuses every question.
        """
        self.judges = judges
        self._stop = stop
        self._plans = plans

    async def judge(self, item: ScoringTask, turn: int, case: Case) -> Judgement:
        """Return the panel's judgement of a case that a scorer asks about.

        Raises:
            JudgeError: There is no grade.
        """
        return await self._judge(item, scorer_inputs(item)[turn], case)

    def finalize(self, item: ScoringTask, outcome: Outcome) -> Outcome | None:
        """Return the outcome with its judgements; None where it waits for a judge that is down."""
        fault = item.context.fault
        if fault is not None:
            if fault.kind == PARKED:
                return None
            if not isinstance(outcome, Unscored):
                outcome = unscored_by(fault)
        records = [record for record in item.context.records if record is not None]
        return replace(outcome, details={**outcome.details, KEY: records}) if records else outcome

    async def _judge(self, item: ScoringTask, judged: ScorerInput, case: Case) -> Judgement:
        context = item.context
        sample = JudgedSample(
            plan=self._plans[item.key.benchmark],
            sample_key=item.key,
            sample_id=item.sample.id,
            scorer_input=judged,
            context=context,
        )
        try:
            return await self.judges.judge(sample, case, context.records)
        except JudgeError as error:
            if context.fault is None or error.kind == PARKED:
                context.fault = error
            raise
        except (BudgetSpent, JudgePreflightError) as end:
            self._stop(exit_status_of(end))
            context.fault = JudgeError(str(end), kind=PARKED)
            raise context.fault from end

    async def judge_turns(self, item: ScoringTask, delegated: Delegated) -> Outcome:
        """Return the outcome of an answer whose scorer leaves the verdict to the judges."""
        inputs = scorer_inputs(item)
        return mean_of_turns(
            await asyncio.gather(
                *(
                    self._judge_turn(item, judged, turn)
                    for judged, turn in zip(inputs, delegated.turns, strict=True)
                )
            )
        )

    async def _judge_turn(
        self, item: ScoringTask, judged: ScorerInput, turn: Outcome | JudgeWanted
    ) -> Outcome:
        if not isinstance(turn, JudgeWanted):
            return turn
        try:
            metrics, details, answer = turn.own_values()
            judgement = await self._judge(item, judged, turn.case())
        except (DatasetError, JudgeError, ScorerError) as error:
            return unscored_by(error)
        grade = judgement.grade
        return Scored(
            reward=grade.score,
            metrics={"correct": grade.score, **grade.metrics, **metrics},
            answer=answer,
            details={**details, "judge_grade": grade.label},
        )
