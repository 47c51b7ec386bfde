"""`judge_score`: a scorer asks the run's judge and goes on with its grade::

    result = judge_score(sample, template="binary_qa")         # in a def
    result = await judge_score(sample, template="binary_qa")   # in an async def

It sends nothing itself: the run asks, retries, keeps every reply and reads it. A judge that fails
raises `JudgeError`, which leaves the sample unscored; a scorer that catches it and returns 0
charges the judge's fault to the model.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from nel.errors import JudgeError, ScorerError
from nel.judges.custom_templates import KNOWN_GRADES
from nel.judges.types import TEMPLATE, Case, Judgement, only_reply
from nel.scoring.delegation import ask_judge, needs_judge, reference_of
from nel.types import ScorerInput

__all__ = ["judge_score", "needs_judge"]

DEFAULT_KEY: Final = "judge"
"""The key of the judge that a benchmark has without naming any."""
RESPONSE_FORMAT: Final = "_response_format"
"""Where a case's values say what form the reply is to have."""


def judge_score(
    sample: ScorerInput,
    template: str = "binary_qa",
    criteria: str = "",
    grade_pattern: str | None = None,
    score_mapping: Mapping[str, float] | None = None,
    judge_key: str = DEFAULT_KEY,
    response_format: Mapping[str, object] | None = None,
    judge_output_parser: Callable[[str], object] | None = None,
    **template_kwargs: object,
) -> object:
    """Ask the judge about a response; return ``{"judge_score": float, "judge_grade": str}``.

    In an async scorer the result is awaitable. The judge is the run's own (``--judge-url``,
    ``judge:``), else the one that the benchmark names with ``judge=``.

    Args:
        sample: What the scorer was given.
        template: ``binary_qa``, ``binary_qa_partial``, ``likert_5``, ``safety`` or another
            installed judge, or the text of a template with ``{question}``, ``{response}``,
            ``{reference}``, ``{criteria}`` and the row's fields.
        criteria: What the judge is to look at.
        grade_pattern: Regular expression whose first group is the grade, instead of the template's.
        score_mapping: Grade to score, instead of the template's own; C, P, I, yes, no and numbers
            need none.
        judge_key: ``judge_1`` asks the judge that the benchmark has under this key of ``extra``, or
            the run under this name in its panel or its ``model_roles``.
        response_format: Sent with the question, e.g. ``{"type": "json_object"}``; the reply must
            then be a JSON object with ``grade``, ``score``, ``rating`` or ``verdict``, unless there
            is a `grade_pattern`.
        judge_output_parser: From a reply to its grade, instead of all of the above; only with one
            judge. A reply that it cannot read is not asked for again: prefer ``grade_pattern``, or
            a judge of your own (a plugin in ``nel.judges``).
        template_kwargs: Further placeholders; ``question``, ``reference`` and ``response`` too.

    Raises:
        JudgeError: There is no verdict; the sample is unscored by ``judge``, never 0.
    """
    values = dict(template_kwargs)
    if response_format is not None:
        values[RESPONSE_FORMAT] = dict(response_format)
    finish = _as_result
    if judge_output_parser is not None:  # it reads the reply here, and grades by its own values
        finish = partial(_parse, judge_output_parser, score_mapping)
        values[TEMPLATE], template = template, "unread"
        grade_pattern = score_mapping = None
    elif response_format is not None and grade_pattern is None:
        values[TEMPLATE], template = template, "json_grade"
    case = replace(
        _case(sample, template, values),
        criteria=str(criteria),
        grade_pattern=grade_pattern,
        score_mapping=score_mapping,
        judges=() if judge_key == DEFAULT_KEY else (judge_key,),
    )
    judgement = ask_judge(sample, case)
    return _Pending(judgement, finish) if isinstance(judgement, Awaitable) else finish(judgement)


def _case(sample: ScorerInput, template: str, values: dict[str, object]) -> Case:
    """Return the response with what its judge is to be shown, which `values` may replace."""
    question = sample.metadata.get("question", sample.metadata.get("prompt", ""))
    return Case(
        response=str(values.pop("response", sample.response)),
        template=template,
        question=reference_of(values.pop("question", question)) or "",
        reference=reference_of(values.pop("reference", sample.target)),
        values=values,
    )


class _Pending:
    """A result that is on its way: an async scorer awaits it, or returns it."""

    __slots__ = ("_finish", "_judgement")

    def __init__(
        self, judgement: Awaitable[Judgement], finish: Callable[[Judgement], dict[str, object]]
    ) -> None:
        self._judgement = judgement
        self._finish = finish

    def __await__(self) -> Generator[object, None, dict[str, object]]:
        judgement = yield from self._judgement.__await__()
        return self._finish(judgement)

    def __getitem__(self, key: str) -> Any:
        raise ScorerError(
            f'judge_score is awaited in an async scorer; write (await judge_score(...))["{key}"]'
        )


def _as_result(judgement: Judgement) -> dict[str, object]:
    return {"judge_score": judgement.grade.score, "judge_grade": judgement.grade.label}


def _parse(
    parse: Callable[[str], Any], score_mapping: Mapping[str, float] | None, judgement: Judgement
) -> dict[str, object]:
    reply = only_reply(judgement)
    try:
        grade = parse(reply)
    except JudgeError:
        raise
    except Exception as error:
        message = f"judge_output_parser failed: {type(error).__name__}: {error}"
        raise JudgeError(message, kind="no_verdict", reply=reply) from error
    score = (KNOWN_GRADES if score_mapping is None else score_mapping).get(str(grade), grade)
    try:
        number = float(score)
    except (TypeError, ValueError):
        number = math.nan
    if grade is None or not math.isfinite(number):
        raise JudgeError(
            f"judge_output_parser gave {grade!r:.80}, which has no score",
            kind="no_verdict",
            reply=reply,
        )
    return {"judge_score": number, "judge_grade": str(grade)}
