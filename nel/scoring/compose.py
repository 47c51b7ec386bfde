"""Scorers made of scorers: `any_of` and `all_of`.

Depends on the scorer protocol, and on `nel.scoring.delegation` to wait for members that delegate to
a judge. A member that raises makes the sample unscored, unless the other members have settled the
verdict already; a judge that fails always does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from nel.errors import ConfigError, JudgeError, SampleError
from nel.scoring.declarations import is_async
from nel.scoring.delegation import await_verdict, judge_result
from nel.scoring.result import outcome_of
from nel.types import Scored, Scorer, ScorerInput

T = TypeVar("T")


def any_of(*scorers: Scorer) -> Scorer:
    """Return a scorer that is right when at least one of its members is.

    Each number of a member is kept with the member's name before it (``contains_correct``). A
    member is right when its reward is 1 or more. The result is async when a member is.

    Raises:
        ConfigError: There are no members.

    >>> from nel.byob.scorers import contains, exact_match
    >>> any_of(contains, exact_match)(ScorerInput(response="It is Paris.", target="Paris"))
    {'correct': True, 'contains_correct': True, 'exact_match_correct': False}
    """
    return _compose("any_of", scorers, any)


def all_of(*scorers: Scorer) -> Scorer:
    """Return a scorer that is right only when all of its members are; see `any_of`.

    >>> from nel.byob.scorers import contains, exact_match
    >>> all_of(contains, exact_match)(ScorerInput(response="It is Paris.", target="Paris"))["correct"]
    False
    """
    return _compose("all_of", scorers, all)


def _compose(
    name: str, scorers: Sequence[Scorer], settle: Callable[[Sequence[bool]], bool]
) -> Scorer:
    """Return the scorer; `settle` is `any` or `all`."""
    if not scorers:
        raise ConfigError(
            f"{name}() has no members; give it scorers, e.g. {name}(contains, exact_match)"
        )
    names = _distinct_names(scorers)

    def score(sample: ScorerInput) -> dict[str, object]:
        results = [_try(scorer, sample) for scorer in scorers]
        return _combine(names, results, settle, sample)

    async def score_async(sample: ScorerInput) -> dict[str, object]:
        members = (await_verdict(partial(scorer, sample), sample) for scorer in scorers)
        results = await asyncio.gather(*members, return_exceptions=True)
        return _combine(names, results, settle, sample)

    composed: Scorer = score_async if any(map(is_async, scorers)) else score
    composed.__name__ = composed.__qualname__ = f"{name}({', '.join(names)})"
    composed.members = tuple(scorers)  # type: ignore[attr-defined]
    composed._is_scorer = True  # type: ignore[attr-defined]  # noqa: SLF001 - the mark that NeMo Evaluator looks for
    return composed


def _combine(
    names: Sequence[str],
    results: Sequence[object],
    settle: Callable[[Sequence[bool]], bool],
    sample: ScorerInput,
) -> dict[str, object]:
    """Return the verdict of members, by name, with the numbers of each."""
    verdicts: list[bool] = []
    numbers: dict[str, object] = {}
    faults: list[SampleError] = []
    for member, result in zip(names, results, strict=True):
        try:
            outcome = outcome_of(_raise(result), sample.response)
        except JudgeError:
            raise
        except SampleError as error:
            faults.append(error)
            continue
        verdicts.append(isinstance(outcome, Scored) and outcome.reward >= 1.0)
        metrics = result if isinstance(result, dict) else outcome.metrics
        numbers |= {f"{member}_{key}": value for key, value in metrics.items()}
    settled = settle(verdicts)
    # One right member settles any_of, and one wrong member all_of. Otherwise (any_of false,
    # all_of true) the members that failed could have turned the verdict, and there is none.
    if faults and settled is (settle is all):
        raise faults[0]
    return {"correct": settled, **numbers}


def _try(scorer: Scorer, sample: ScorerInput) -> object:
    """Return a member's result, or the error that its sample raised."""
    try:
        return judge_result(scorer(sample), sample)
    except SampleError as error:
        return error


def _raise(result: T) -> T:
    if isinstance(result, BaseException):
        raise result
    return result


def _distinct_names(scorers: Sequence[Scorer]) -> list[str]:
    """Return scorers' names, with a number after repeated ones: ``contains``, ``contains_2``."""
    names: list[str] = []
    for scorer in scorers:
        bare = getattr(scorer, "func", scorer)
        name = str(getattr(bare, "name", None) or getattr(bare, "__name__", type(bare).__name__))
        number = 1
        distinct = name
        while distinct in names:
            number += 1
            distinct = f"{name}_{number}"
        names.append(distinct)
    return names
