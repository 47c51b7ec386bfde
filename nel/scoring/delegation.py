"""Verdicts that a scorer delegates to the run's judges.

A scorer either returns a case and is done (`needs_judge`), or waits for the judgement
(`ask_judge`). Without a judge's verdict there is no score: a run without judges leaves the sample
unscored. Depends on `nel.judges.types` and on the scorer protocol; the engine calls the judges.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from nel.core.strict_json import dumps_unless_text
from nel.errors import ConfigError, JudgeError
from nel.judges.types import Aggregate, Case, Judgement
from nel.scoring.protocol import await_result, scored_now
from nel.types import ScorerInput

CASE_KEY: Final = "judge_case"
"""The key of a scorer's result that holds the `Case` to be judged."""


def needs_judge(
    sample: ScorerInput,
    *,
    template: str = "",
    criteria: str = "",
    question: str = "",
    reference: str | None = None,
    grade_pattern: str | None = None,
    score_mapping: Mapping[str, float] | None = None,
    judges: Sequence[str] = (),
    aggregate: Aggregate | None = None,
    yields_template: bool = False,
    **values: object,
) -> dict[str, Any]:
    """Delegate a sample's verdict to the run's judge; the sample and the run give the defaults.

    Args:
        template: Name of an installed judge (``nel list judges``), or the text of a template.
        criteria: What the judge should look at.
        question: Instead of the prompt.
        reference: Instead of the target.
        grade_pattern: Regular expression whose first group is the grade, instead of the template's
            own.
        score_mapping: Grade to score, instead of the template's own.
        judges: Members of the panel, or roles; the whole panel where none is named.
        aggregate: How a panel's opinions become one.
        yields_template: Whether a template of the run takes the place of this one.
        values: Further placeholders of the template, in addition to the row's fields.

    Returns:
        ``correct`` false and ``needs_judge`` true, as NeMo Evaluator expects; nel never counts the
        first. Where any argument is given, a `Case` as ``judge_case`` too. A scorer may add numbers
        of its own; they are kept.

    >>> needs_judge(ScorerInput(response="Paris", target="Paris"))
    {'correct': False, 'needs_judge': True}
    >>> needs_judge(ScorerInput(response="Paris", target="Paris"), template="likert_5")["judge_case"].template
    'likert_5'
    """
    delegated: dict[str, Any] = {"correct": False, "needs_judge": True}
    case = Case(
        response=sample.response,
        template=template,
        yields_template=yields_template,
        criteria=criteria,
        question=question,
        reference=reference,
        grade_pattern=grade_pattern,
        score_mapping=score_mapping,
        judges=(judges,) if isinstance(judges, str) else tuple(judges),
        aggregate=aggregate,
        values=values,
    )
    if case != Case(response=sample.response):
        delegated[CASE_KEY] = case
    return delegated


def case_of(result: Mapping[str, object], sample: ScorerInput) -> Case:
    """Return the case of a result that delegates the verdict."""
    case = result.get(CASE_KEY)
    return case if isinstance(case, Case) else Case(response=sample.response)


def ask_judge(sample: ScorerInput | None, case: Case) -> Any:
    """Ask the run's judges about a case.

    Args:
        sample: What the engine called the scorer with; None for the sample that is being scored.

    Returns:
        The `Judgement`; in an async scorer an awaitable of it (hence Any).

    Raises:
        JudgeError: There is no verdict; ``no_judge`` where nothing is being scored. An awaitable
            raises it later.
    """
    ask = None if sample is None else sample.judge_fn
    if ask is None:
        now = scored_now()  # a scorer may have made a ScorerInput of its own
        ask = None if now is None else now.judge_fn
    if ask is None:
        raise JudgeError(
            "there is no judge to ask: the scorer was called outside of a run; run it with nel eval"
            " run and --judge-url and --judge-id",
            kind="no_judge",
        )
    return ask(case)


def judge_result(result: object, sample: ScorerInput) -> object:
    """Return a scorer's result, or the judge's numbers where the result delegates the verdict.

    Returns:
        In an async scorer, an awaitable of the judge's numbers.

    Raises:
        JudgeError: There is no verdict.
    """
    if not (isinstance(result, Mapping) and result.get("needs_judge")):
        return result
    judgement = ask_judge(sample, case_of(result, sample))
    return _numbers_later(judgement) if isinstance(judgement, Awaitable) else _numbers(judgement)


def _numbers(judgement: Judgement) -> dict[str, Any]:
    grade = judgement.grade
    return {"correct": grade.score, **grade.metrics, "judge_grade": grade.label}


async def await_verdict(score: Callable[[], object], sample: ScorerInput) -> Any:
    """Return what a scorer gives, awaited, or the judge's numbers where it delegates the verdict."""
    return await await_result(judge_result(await await_result(score()), sample))


async def _numbers_later(judgement: Awaitable[Judgement]) -> dict[str, Any]:
    return _numbers(await judgement)


def check_grade_pattern(pattern: str, *, name: str) -> None:
    """Raise ConfigError for a pattern that finds no grade: none, or one without a group."""
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ConfigError(f"{name} {pattern!r} is not a regular expression: {error}") from error
    if groups == 0:
        raise ConfigError(f"{name} {pattern!r} has no group; put parentheses around the grade")


def reference_of(target: object) -> str | None:
    """Return a gold answer as the text that a judge reads; several answers on a line each.

    >>> reference_of(["Paris", "Lutetia"]), reference_of(4), reference_of(None)
    ('Paris\\nLutetia', '4', None)
    """
    if target is None or isinstance(target, str):
        return target
    if isinstance(target, (list, tuple)):
        return "\n".join(str(item) for item in target)
    return dumps_unless_text(target)
