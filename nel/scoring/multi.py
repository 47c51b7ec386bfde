"""`multi_scorer`: reduces the scores of several scorers to one, with Inspect's name and parameters.

Depends on the scorer protocol, on the reducers of `nel.metrics`, and on `nel.scoring.delegation` to
wait for members that delegate to a judge. Where a judge fails the sample is unscored, whatever the
other members say, since a missing verdict cannot be reduced. Note: the result has the metrics of
the first member that declares any.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from nel.errors import ConfigError
from nel.metrics import reducer_named
from nel.scoring.declarations import is_async, metrics_of
from nel.scoring.delegation import await_verdict, judge_result
from nel.scoring.protocol import BuiltScorer, ScorerFactory
from nel.scoring.result import outcome_of
from nel.scoring.states import Target, TaskState, sample_of
from nel.types import Score, Scored


def multi_scorer(
    scorers: Sequence[object], reducer: str | Callable[[list[Score]], Score]
) -> BuiltScorer:
    """Return a scorer that runs several and reduces their scores to one.

    Where any member is async, so is the whole: a sync member that asks a judge then gets an
    awaitable, which it may return. Where all are sync, they run one after the other, and other
    samples are scored while one waits for a judge.

    Args:
        scorers: Built scorers, sync or async; the async ones run at once.
        reducer: ``mode``, ``mean``, ``max``, ``at_least_2`` …, or a function of the list of scores.

    Raises:
        ConfigError: There are no scorers, or the reducer is unknown.

    >>> from nel.scoring.configurable import includes, match
    >>> from nel.types import ScorerInput
    >>> lenient = multi_scorer([match(), includes()], "max")
    >>> lenient(ScorerInput(response="Paris is it", target="Paris")).value
    'C'
    """
    if not scorers:
        raise ConfigError(
            "multi_scorer has no members; give it scorers, e.g. multi_scorer([match(), includes()],"
            ' "max")'
        )
    members = [_member(scorer) for scorer in scorers]
    reduce = _reducer(reducer)

    def reduce_results(state: TaskState, results: Sequence[object]) -> Score:
        scores = [_as_score(result, state) for result in results if result is not None]
        return reduce(scores) if scores else Score.unscored(explanation="no scorer gave a score")

    def score(state: TaskState, target: Target) -> Score:
        results = [_result(member, state, target) for member in members]
        return reduce_results(
            state, [judge_result(result, sample_of(state, target)) for result in results]
        )

    async def score_async(state: TaskState, target: Target) -> Score:
        return reduce_results(state, await _gather(members, state, target))

    reducing = getattr(reduce, "name", None) or getattr(
        reduce, "__qualname__", type(reduce).__name__
    )
    name = f"multi_scorer({', '.join(map(repr, members))}; {reducing})"
    is_sync = not any(is_async(member) for member in members)
    metrics = next((member.metrics for member in members if member.metrics), ())
    combined = BuiltScorer(
        score if is_sync else score_async,
        name=name,
        params={},
        metrics=metrics,
        source=getattr(scorers[0], "__wrapped__", None),
    )
    combined.members = (*scorers, *([] if isinstance(reducer, str) else [reducer]))
    return combined


async def _gather(
    members: Sequence[BuiltScorer], state: TaskState, target: Target
) -> Sequence[object]:
    """Return the results of members that run at once."""
    sample = sample_of(state, target)
    calls = (await_verdict(partial(member, state, target), sample) for member in members)
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def _reducer(reducer: str | Callable[[list[Score]], Score]) -> Callable[[list[Score]], Score]:
    """Return a reducer, by its name or as it is.

    Raises:
        ConfigError: It is unknown.
    """
    if not isinstance(reducer, str) and not callable(reducer):
        raise ConfigError(
            f"the reducer {reducer!r} is neither a name nor a function of a list of scores; use"
            ' e.g. "mean"'
        )
    try:
        return reducer_named(reducer) if isinstance(reducer, str) else reducer
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _member(scorer: object) -> BuiltScorer:
    """Return a member as a built scorer; a function of a sample becomes one.

    Raises:
        ConfigError: It is not a scorer, or a factory that was not called.
    """
    if isinstance(scorer, ScorerFactory):
        raise ConfigError(f"the scorer {scorer.name} is not built yet; write {scorer.name}()")
    if isinstance(scorer, BuiltScorer):
        return scorer
    if not callable(scorer):
        raise ConfigError(
            f"{scorer!r} is not a scorer; give a built scorer or a function of a ScorerInput"
        )
    name = getattr(scorer, "__name__", type(scorer).__name__)
    return BuiltScorer(scorer, name=name, params={}, metrics=metrics_of(scorer), source=scorer)


def _result(member: BuiltScorer, state: TaskState, target: Target) -> object:
    if member.takes_state:
        return member.inner(state, target)
    return member.inner(sample_of(state, target))


def _as_score(result: object, state: TaskState) -> Score:
    """Return a member's result, of any form that a scorer may return, as a score."""
    if isinstance(result, Score):
        return result
    outcome = outcome_of(result, state.output.completion)
    return Score(
        value=outcome.reward if isinstance(outcome, Scored) else 0.0, answer=outcome.answer
    )
