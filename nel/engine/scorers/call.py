"""Calls one scorer with one answer, and makes an outcome of what it returns or raises.

Depends on the scorer protocol alone, neither on processes nor on queues. Note: a verdict that the
scorer delegates to a judge is not an outcome yet.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.tool_calls import answer_in
from nel.errors import DatasetError, EndpointError, JudgeError, SandboxError, ScorerError
from nel.judges.record import JudgementJson
from nel.scoring.protocol import scoring
from nel.scoring.result import JudgeWanted, mean_of_turns, outcome_of
from nel.types import (
    Outcome,
    Response,
    Sample,
    SampleKey,
    Scorer,
    ScorerInput,
    Unscored,
    value_class,
)

_DETAIL_CHARACTERS_MAX: Final = 2_000
SLOTS: Final = 4096
"""Scorings that can be in flight at once, those that wait for an answer included."""


@dataclass(slots=True)
class ScoringContext:
    """What one scoring has asked the run so far; a restart keeps only requests in flight."""

    request_counts: dict[str, int] = field(default_factory=dict)
    """How often each request body was sent."""
    records: list[JudgementJson | None] = field(default_factory=list)
    """Judgements in the order of requests; None until it comes to a panel's vote."""
    fault: JudgeError | None = None
    """The first fault of a judge, except that a fault of kind ``parked`` replaces any other."""
    has_missing_grades: bool = False
    """Whether a judge gave no grade in some repeat; other grades may still decide."""
    in_flight: dict[str, asyncio.Event] = field(default_factory=dict)
    """Requests in flight by key, including those of a cancelled scoring of the same answer; set
    once they are over.
    """

    def restart(self) -> ScoringContext:
        """Return a restarted scoring's context; it shares paid requests in flight."""
        return ScoringContext(in_flight=self.in_flight)

    @asynccontextmanager
    async def single_flight(self, key: str) -> AsyncIterator[None]:
        """Hold a key while its request is in flight; wait first until an earlier scoring's request
        is in the store.
        """
        while (earlier := self.in_flight.get(key)) is not None:
            await earlier.wait()
        over = self.in_flight[key] = asyncio.Event()
        try:
            yield
        finally:
            del self.in_flight[key]
            over.set()


@value_class()
class ScoringTask:
    """One answered sample that is to be scored."""

    key: SampleKey
    sample: Sample
    response: Response
    benchmark: Benchmark
    conversation: tuple[dict[str, object], ...] = ()
    """Where there were several turns: all messages, the last answer included."""
    _context: ScoringContext | None = field(default=None, compare=False, repr=False)
    """None until it is needed: most scorers ask nothing."""

    @property
    def context(self) -> ScoringContext:
        """Return what the scoring has asked the run so far."""
        if self._context is None:
            self._context = ScoringContext()  # type: ignore[misc]
        return self._context

    @property
    def has_missing_grades(self) -> bool:
        """Return whether a judge gave no grade in some repeat, as `ScoringContext` has it."""
        return self._context is not None and self._context.has_missing_grades

    def restart(self) -> ScoringTask:
        """Return the task of scoring the same answer from the start."""
        return replace(self, _context=self.context.restart())


@dataclass(frozen=True, slots=True)
class Delegated:
    """An answer whose score depends on a judge; per turn its outcome or what to judge."""

    turns: tuple[Outcome | JudgeWanted, ...]


Result: TypeAlias = "Outcome | Delegated"
Deliver: TypeAlias = "Callable[[list[tuple[ScoringTask, Result]]], None]"
Answer: TypeAlias = "Callable[[ScoringTask, str, object], Awaitable[object]]"
"""Answers what a scorer asks of the run: ``model`` with text or messages, ``sandbox`` with a
program, ``judge`` with a number of the turn and a case."""


def scorer_inputs(item: ScoringTask) -> list[ScorerInput]:
    """Return what the scorer gets: one input, or one for each turn of a conversation that is not
    scored as a whole.
    """
    if not item.conversation:
        return [_scorer_input(item, answer_in(item.response, item.sample), item.sample.target)]
    # The answer to the sample's first question: each further turn put two messages after it, and
    # examples that are shown as turns have their answers before it.
    first = len(item.conversation) - 2 * len(item.sample.turns) - 1
    answers = range(first, len(item.conversation), 2)
    if item.benchmark.scores_conversation or item.response.episode is not None:
        whole = _scorer_input(item, answer_in(item.response, item.sample), item.sample.target)
        whole.conversation = [dict(message) for message in item.conversation]
        whole.turn_index = len(answers) - 1
        return [whole]
    targets = item.sample.target
    if not (isinstance(targets, list) and len(targets) == len(answers)):
        targets = [targets] * len(answers)
    inputs = []
    for turn, (index, target) in enumerate(zip(answers, targets, strict=True)):
        scorer_input = _scorer_input(item, str(item.conversation[index]["content"]), target)
        scorer_input.conversation = [dict(message) for message in item.conversation[: index + 1]]
        scorer_input.turn_index = turn
        inputs.append(scorer_input)
    return inputs


def score_turns(benchmark: Benchmark, inputs: Sequence[ScorerInput]) -> Outcome | Delegated:
    """Score every turn of one answer with a sync scorer; never raises for a fault of the scorer."""
    return _combine([_score(benchmark.scorer, scorer_input) for scorer_input in inputs])


async def score_turns_async(
    benchmark: Benchmark, inputs: Sequence[ScorerInput]
) -> Outcome | Delegated:
    """Score every turn of an answer with an async scorer; never raises for its faults."""
    if len(inputs) == 1:
        return _combine([await _score_async(benchmark.scorer, inputs[0])])
    return _combine(
        await asyncio.gather(
            *(_score_async(benchmark.scorer, scorer_input) for scorer_input in inputs)
        )
    )


def _combine(turns: Sequence[Outcome | JudgeWanted]) -> Outcome | Delegated:
    outcomes = [turn for turn in turns if not isinstance(turn, JudgeWanted)]
    return mean_of_turns(outcomes) if len(outcomes) == len(turns) else Delegated(tuple(turns))


def _score(scorer: Scorer, scorer_input: ScorerInput) -> Outcome | JudgeWanted:
    try:
        with scoring(scorer, scorer_input):
            result = scorer(scorer_input)
        return outcome_of(result, scorer_input.response)
    except BaseException as error:  # noqa: BLE001 - the one boundary: what escapes plugin code is the plugin's fault
        return error if isinstance(error, JudgeWanted) else unscored_by(error)


async def _score_async(scorer: Any, scorer_input: ScorerInput) -> Outcome | JudgeWanted:
    try:
        with scoring(scorer, scorer_input):
            result = await scorer(scorer_input)
            return outcome_of(
                await result if inspect.isawaitable(result) else result, scorer_input.response
            )
    except BaseException as error:  # noqa: BLE001 - as in _score; SystemExit would end the event loop
        return error if isinstance(error, JudgeWanted) else unscored_by(error)


def _scorer_input(item: ScoringTask, response: str, target: object) -> ScorerInput:
    return ScorerInput(
        response=response,
        target=target,
        metadata={**item.sample.metadata, **_log_likelihoods(item)},
        sample=item.sample,
        repeat=item.key.repeat,
        tool_calls=item.response.tool_calls,
        evidence=None if item.response.episode is None else item.response.episode["evidence"],
    )


def _log_likelihoods(item: ScoringTask) -> dict[str, object]:
    """Return what a scorer finds in the metadata of a sample whose choices were ranked: the
    choices, their log-probabilities, and whether each is greedy.
    """
    scores = item.response.choice_scores
    if not scores:
        return {}
    return {
        "_choices": list(item.sample.choices or ()),
        "_choices_logprobs": [score.logprob for score in scores],
        "_choices_is_greedy": [score.is_greedy for score in scores],
    }


def no_judge() -> JudgeError:
    """Return the error of a scorer that asks for a judge where the run has none."""
    return JudgeError(
        "the scorer asks for a judge and this run has none; give --judge-url and --judge-id, then"
        " resume",
        kind="no_judge",
    )


def unscored_by(error: BaseException) -> Unscored:
    """Return the outcome of a scoring that failed; its cause says whose fault it is."""
    if isinstance(error, JudgeError):
        return Unscored(cause="judge", kind=error.kind, detail=str(error))
    if isinstance(error, SandboxError):
        return Unscored(cause="sandbox", kind=error.kind, detail=str(error))
    if isinstance(error, EndpointError):
        return Unscored(cause="infra", kind="model_call", detail=str(error))
    if isinstance(error, DatasetError):
        return Unscored(cause="bad_row", kind="unusable", detail=str(error))
    if isinstance(error, ScorerError):
        return Unscored(cause="scorer", kind="invalid_result", detail=str(error))
    frames = "".join(traceback.format_exception(error)[-3:])
    return Unscored(cause="scorer", kind="raised", detail=frames[-_DETAIL_CHARACTERS_MAX:])
