"""Scorers made of scorers: any of several, all of several. Makes no verdict of its own.

A member that hands its sample over to a judge is waited for. Trap: a member that raises makes the whole unscored,
unless the others have settled the matter already; a judge that fails does so always.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from nel.errors import ConfigError, JudgeError, SampleError
from nel.scoring.delegation import judged
from nel.scoring.protocol import awaited, is_async
from nel.scoring.result import outcome_of
from nel.types import Scored, Scorer, ScorerInput


def any_of(*scorers: Scorer) -> Scorer:
    """Return a scorer that is right when at least one of its members is.

    Each number of a member is kept with the member's name before it (``contains_correct``). A member is right when its
    reward is 1 or more. The result is async when a member is.

    Raises:
        ConfigError: There are no members.

    >>> from nel.byob.scorers import contains, exact_match
    >>> any_of(contains, exact_match)(ScorerInput(response="It is Paris.", target="Paris"))
    {'correct': True, 'contains_correct': True, 'exact_match_correct': False}
    """
    return _composed("any_of", scorers, any)


def all_of(*scorers: Scorer) -> Scorer:
    """Return a scorer that is right only when all of its members are; see `any_of`.

    >>> from nel.byob.scorers import contains, exact_match
    >>> all_of(contains, exact_match)(ScorerInput(response="It is Paris.", target="Paris"))["correct"]
    False
    """
    return _composed("all_of", scorers, all)


def _composed(name: str, scorers: Sequence[Scorer], settle: Callable[[Sequence[bool]], bool]) -> Scorer:
    if not scorers:
        raise ConfigError(f"{name}() has no members; give it scorers, e.g. {name}(contains, exact_match)")
    names = _distinct_names(scorers)

    def combined(sample: ScorerInput, results: Sequence[Any]) -> dict[str, Any]:
        verdicts: list[bool] = []
        numbers: dict[str, Any] = {}
        faults: list[SampleError] = []
        for member, result in zip(names, results, strict=True):
            try:
                outcome = outcome_of(_raised(result), sample.response)
            except JudgeError:
                raise
            except SampleError as error:
                faults.append(error)
                continue
            verdicts.append(isinstance(outcome, Scored) and outcome.reward >= 1.0)
            given = result if isinstance(result, dict) else outcome.metrics
            numbers |= {f"{member}_{key}": value for key, value in given.items()}
        settled = settle(verdicts)
        if faults and settled is (settle is all):  # the members that failed could still have turned it
            raise faults[0]
        return {"correct": settled, **numbers}

    def score(sample: ScorerInput) -> dict[str, Any]:
        return combined(sample, [_tried(scorer, sample) for scorer in scorers])

    async def score_async(sample: ScorerInput) -> dict[str, Any]:
        async def of(scorer: Scorer) -> Any:
            return await awaited(judged(await awaited(scorer(sample)), sample))

        return combined(sample, await asyncio.gather(*map(of, scorers), return_exceptions=True))

    composed: Any = score_async if any(map(is_async, scorers)) else score
    composed.__name__ = composed.__qualname__ = f"{name}({', '.join(names)})"
    composed.members = tuple(scorers)
    composed._is_scorer = True  # noqa: SLF001 - the mark that other tools look for
    return composed  # type: ignore[no-any-return]


def _tried(scorer: Scorer, sample: ScorerInput) -> Any:
    """Return a member's result, or the fault that its sample has."""
    try:
        return judged(scorer(sample), sample)
    except SampleError as error:
        return error


def _raised(result: Any) -> Any:
    if isinstance(result, BaseException):
        raise result
    return result


def _distinct_names(scorers: Sequence[Any]) -> list[str]:
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
