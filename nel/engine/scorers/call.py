"""Calls one scorer with one answer and says what came of it; whatever escapes a scorer is its sample's fault alone.

Knows no process and no queue. Trap: a verdict that is handed over to a judge is no outcome yet.
"""

from __future__ import annotations

import asyncio
import inspect
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from nel.benchmarks.api.benchmark import Benchmark
from nel.engine.loglikelihood import reserved_metadata
from nel.errors import DatasetError, EndpointError, JudgeError, SandboxError, ScorerError
from nel.judges.record import JudgementJson
from nel.scoring.protocol import asks_judge, is_async, scoring
from nel.scoring.result import JudgeWanted, mean_of_turns, outcome_of
from nel.types import Outcome, Response, Sample, ScorerInput, Unscored

_DETAIL_CHARACTERS_MAX: Final = 2_000


@dataclass(slots=True)
class ScoringContext:
    """What one scoring of an answer has asked the run so far; a scoring that begins anew begins with an empty one."""

    counts: Counter[str] = field(default_factory=Counter)
    """How often each body was sent."""
    records: list[JudgementJson | None] = field(default_factory=list)
    """Of the judgements, in the order in which they were asked for; None while there is nothing to be said of one."""
    fault: JudgeError | None = None
    """The first of a judge; one that only says to wait goes before it."""
    is_short: bool = False
    """Whether a question has no reply for a reason that may pass, such as an outage, though others may have decided."""
    under_way: dict[str, asyncio.Event] = field(default_factory=dict)
    """What is being asked, by key; also by a scoring of this answer that is over."""

    def anew(self) -> ScoringContext:
        """Return that of a scoring which begins again; what an earlier one has under way is paid for."""
        return ScoringContext(under_way=self.under_way)

    @asynccontextmanager
    async def asking(self, key: str) -> AsyncIterator[None]:
        """Ask under a key when nobody else does any more; what an earlier scoring was answered is in the store then."""
        while (earlier := self.under_way.get(key)) is not None:
            await earlier.wait()
        over = self.under_way[key] = asyncio.Event()
        try:
            yield
        finally:
            del self.under_way[key]
            over.set()


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """One answered sample on its way to the scorer."""

    job: int
    """The benchmark's number in the store."""
    idx: int
    repeat: int
    sample: Sample
    response: Response
    benchmark: Benchmark
    conversation: tuple[dict[str, Any], ...] = ()
    """Where there were several turns: all messages, the last answer included."""
    talk: ScoringContext = field(default_factory=ScoringContext, compare=False, repr=False)

    def anew(self) -> ScoringTask:
        """Return the same answer for a scorer that begins again."""
        return replace(self, talk=self.talk.anew())


@dataclass(frozen=True, slots=True)
class Delegated:
    """An answer whose score waits for a judge: what each of its turns came to so far."""

    turns: tuple[Outcome | JudgeWanted, ...]


def is_own_rule(scorer: Any) -> bool:
    """Return whether a scorer is one of nel's own rules, whose time is bounded and which calls nobody else's code."""
    members = getattr(scorer, "members", None)
    if members is not None:  # composed, it waits for the judge that a member hands its sample over to
        return all(is_own_rule(member) and not asks_judge(member) for member in members)
    options = getattr(scorer, "keywords", None) or getattr(scorer, "params", {})
    source = inspect.unwrap(getattr(scorer, "func", scorer))
    module = getattr(source, "__module__", None) or ""
    return (
        module.startswith(("nel.scoring.", "nel.benchmarks.", "nel.byob.scorers"))
        and not is_async(scorer)
        and not getattr(source, "needs_sandbox", False)
        and not any(callable(value) for value in options.values())
    )


def inputs_of(item: ScoringTask) -> list[ScorerInput]:
    """Return what the scorer gets: one input, or one for each turn of a conversation."""
    if not item.conversation:
        return [_scorer_input(item, item.response.text, item.sample.target)]
    answers = [index for index, message in enumerate(item.conversation) if message["role"] == "assistant"]
    targets = item.sample.target
    if not (isinstance(targets, list) and len(targets) == len(answers)):
        targets = [targets] * len(answers)
    inputs = []
    for turn, (index, target) in enumerate(zip(answers, targets, strict=True)):
        given = _scorer_input(item, str(item.conversation[index]["content"]), target)
        given.conversation = [dict(message) for message in item.conversation[: index + 1]]
        given.turn_index = turn
        inputs.append(given)
    return inputs


def score_turns(benchmark: Benchmark, inputs: Sequence[ScorerInput]) -> Outcome | Delegated:
    """Score every turn of one answer with a sync scorer; never raises for a fault of the scorer."""
    return _of_turns([_score(benchmark.scorer, given) for given in inputs])


async def score_turns_async(benchmark: Benchmark, inputs: Sequence[ScorerInput]) -> Outcome | Delegated:
    """Score every turn of one answer with an async scorer; never raises for a fault of the scorer."""
    if len(inputs) == 1:
        return _of_turns([await _score_async(benchmark.scorer, inputs[0])])
    return _of_turns(await asyncio.gather(*(_score_async(benchmark.scorer, given) for given in inputs)))


def _of_turns(turns: Sequence[Outcome | JudgeWanted]) -> Outcome | Delegated:
    outcomes = [turn for turn in turns if not isinstance(turn, JudgeWanted)]
    return mean_of_turns(outcomes) if len(outcomes) == len(turns) else Delegated(tuple(turns))


def _score(scorer: Any, given: ScorerInput) -> Outcome | JudgeWanted:
    try:
        with scoring(scorer, given):
            result = scorer(given)
        if inspect.isawaitable(result):
            raise ScorerError("the scorer returned an awaitable but is not declared with async def")
        return outcome_of(result, given.response)
    except BaseException as error:  # noqa: BLE001 - the one boundary: whatever escapes plugin code is the plugin's fault
        return _blame(error)


async def _score_async(scorer: Any, given: ScorerInput) -> Outcome | JudgeWanted:
    try:
        with scoring(scorer, given):
            result = await scorer(given)
            return outcome_of(await result if inspect.isawaitable(result) else result, given.response)
    except BaseException as error:  # noqa: BLE001 - as in _score; nobody here cancels, SystemExit would end the loop
        return _blame(error)


def _scorer_input(item: ScoringTask, response: str, target: Any) -> ScorerInput:
    return ScorerInput(
        response=response,
        target=target,
        metadata={**item.sample.metadata, **_log_likelihoods(item)},
        sample=item.sample,
        repeat=item.repeat,
    )


def _log_likelihoods(item: ScoringTask) -> dict[str, Any]:
    """Return the reserved metadata of a sample whose choices were ranked."""
    scores = item.response.choice_scores
    return reserved_metadata(item.sample.choices or (), scores) if scores else {}


def unjudged(handed: Delegated) -> Outcome:
    """Return what an answer is that is handed over where there is no judge."""
    wanted = next(turn for turn in handed.turns if isinstance(turn, JudgeWanted))
    return blame(wanted)


def _blame(error: BaseException) -> Outcome | JudgeWanted:
    return error if isinstance(error, JudgeWanted) else blame(error)


def blame(error: BaseException) -> Outcome:
    """Return the outcome of a sample whose scoring failed."""
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
