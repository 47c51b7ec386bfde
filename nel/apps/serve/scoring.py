"""Scores single answers as a run does: by the same scorers, processes and sandbox.

Depends on the engine's dispatch of scorers. An answer is unscored where its scorer asks the model,
which is not there, or a judge that is not configured or gives no grade.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from nel.apps.serve.judging import JOB, ServedJudges
from nel.apps.serve.samples import ServedSamples
from nel.engine.asking.response_outcomes import verdict_before_scoring
from nel.engine.scorers.call import Delegated, Result, ScoringTask
from nel.engine.scorers.dispatch import Scorers
from nel.errors import EndpointError, JudgeError
from nel.models.wire.base import read_text
from nel.sandbox import Sandbox
from nel.types import Outcome, Sample, SampleKey, Unscored

PENDING_MAX: Final = 16_384
"""Answers that may wait for their scores at the same time."""
_NO_JUDGE: Final = Unscored(
    cause="judge", kind="no_judge", detail="the scorer asks a judge, and nel serve has none"
)


class AnswerScorer:
    """Scores answers to the samples of a benchmark, inside `running`.

    Create it before any threads, since it forks the server of scorers' processes.
    """

    def __init__(self, served: ServedSamples, *, sandbox: Sandbox, timeout_seconds: float) -> None:
        """Start the processes of scorers, where they need any.

        Args:
            served: The benchmark and its samples.
            sandbox: Where its scorer runs programs.
            timeout_seconds: For one answer.
        """
        self._benchmark = served.plan.benchmark
        self._truncated = served.plan.config.truncated
        self._strict_verdicts = served.sandbox.strict_verdicts
        self._sandbox = sandbox
        self._timeout_seconds = timeout_seconds
        self._scorers = Scorers([self._benchmark])
        self._numbers = itertools.count()
        self._results: dict[int, asyncio.Future[Result]] = {}
        """Of the answers that wait, by the number of the task."""
        self.judges: ServedJudges | None = None
        """Set it before an answer is scored."""

    @property
    def is_full(self) -> bool:
        """Whether no further answer may wait."""
        return len(self._results) >= PENDING_MAX

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Score within the block; answers that wait at its end get no score."""
        work = self._scorers.run(
            timeout_seconds=self._timeout_seconds, deliver=self._deliver, answer=self._answer
        )
        task = asyncio.create_task(work)
        task.add_done_callback(self._on_end)
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def close(self) -> None:
        """End the processes of scorers."""
        self._scorers.close()

    async def score(self, sample: Sample, answer: str, finish_reason: str | None = None) -> Outcome:
        """Return the outcome of an answer to a sample, read as recorded ones, without reasoning."""
        response = read_text(answer, finish_reason=finish_reason)
        verdict = verdict_before_scoring(response, truncated=self._truncated, sample=sample)
        if verdict is not None:
            return verdict
        item = ScoringTask(
            SampleKey(JOB, next(self._numbers), 0), sample, response, self._benchmark
        )
        if self.judges is not None:
            return await self.judges.within_time(self._judge(item, self.judges))
        result = await self._score(item)
        return _NO_JUDGE if isinstance(result, Delegated) else result

    async def _judge(self, item: ScoringTask, judges: ServedJudges) -> Outcome:
        return await judges.outcome(item, await self._score(item))

    async def _score(self, item: ScoringTask) -> Result:
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._results[item.key.idx] = future
        try:
            self._scorers.put(item)
            return await future
        finally:
            self._results.pop(item.key.idx, None)

    def _deliver(self, results: list[tuple[ScoringTask, Result]]) -> None:
        for item, result in results:
            future = self._results.get(item.key.idx)
            if future is not None and not future.done():  # else its request was cancelled
                future.set_result(result)

    def _on_end(self, _: asyncio.Task[None]) -> None:
        # The scorers' task ends with the server, or by a fault of theirs: no answer waits for ever.
        outcome = Unscored(cause="cancelled", kind="not_run", detail="the scorers have stopped")
        for future in self._results.values():
            if not future.done():
                future.set_result(outcome)

    async def _answer(self, item: ScoringTask, what: str, payload: Any) -> object:
        if what == "sandbox":
            verdict = await asyncio.wrap_future(self._sandbox.submit(payload))
            return verdict.proven(is_required=self._strict_verdicts)
        if what == "judge":
            if self.judges is not None:
                return await self.judges.judge(item, *payload)
            raise JudgeError(_NO_JUDGE.detail, kind=_NO_JUDGE.kind)
        raise EndpointError("the scorer asks the model, and nel serve has none")
