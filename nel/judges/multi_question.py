"""The built-in judges of several questions: each criterion of a rubric, a pair in both orders.

A criterion with negative points describes a fault: the judge only says whether it is present, and
the points decide whether that is good. The prompts are part of stored runs and caches. Depends on
`nel.judges.quoting` and `nel.judges.templates`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from nel.core.json_values import finite
from nel.errors import JudgeError
from nel.judges.parsing.formats import json_reader
from nel.judges.quoting import quote
from nel.judges.templates import case_reader, reply_instructions, retry_instructions, scores_of
from nel.judges.types import Case, Grade, Judge, Question

CRITERIA_MAX: Final = 500
"""Criteria that one rubric may have."""
_RUBRIC: Final = """You check whether a response meets one criterion. Judge this criterion alone, and by the response \
alone: not by what its author may have meant. A criterion may describe something bad; it is met if what it describes \
is there. If it names examples ("such as", "for example"), not all of them are needed. If it asks for several things, \
all of them are.

The conversation or question:
{question}

The response to check:
{response}

The criterion:
{criterion}

{focus}Reply with one JSON object and nothing else. It has two keys: "explanation", a text with your reasons, and \
"criteria_met", which is true or false."""
_PAIRWISE: Final = """You compare two answers to the same question and say which one is better: more correct, more \
helpful, nearer to what was asked. The order in which they stand says nothing, and neither do length, style or \
confidence. If they are equally good, say so.

The question:
{question}

{parts}Answer A:
{answer_a}

Answer B:
{answer_b}

{focus}{ending}"""
_AGAIN: Final = (
    "Your reply holds no verdict that can be read. Reply once more with one JSON object and nothing"
    ' else; its key "criteria_met" is true or false.'
)
RESPONSE_FIRST: Final = "response_first"
BASELINE_FIRST: Final = "baseline_first"
_OUTCOMES: Final = {"win": 1.0, "tie": 0.5, "loss": 0.0}
_TIE: Final = 0.5
_WINNERS: Final = {"A": "first", "B": "second", "TIE": "tie"}
"""Grade of the prompt to the position that won."""


def ask_rubric(case: Case) -> list[Question]:
    """Return a question for each criterion of ``case.values["rubric"]``, labelled 1, 2 and so on.

    Raises:
        JudgeError: ``bad_case``: there is no rubric, or a criterion has no text or points.
    """
    questions = []
    for number, (criterion, _) in enumerate(_rubric(case), start=1):
        quoted = quote(
            _RUBRIC,
            {"question": case.question, "response": case.response, "criterion": criterion},
            trusted={"focus": _focus(case)},
        )
        questions.append(
            Question(
                prompt=quoted.prompt,
                read=json_reader(quoted, "criteria_met", _met),
                label=str(number),
                again=_AGAIN,
                is_quick=True,
            )
        )
    return questions


def settle_rubric(case: Case, grades: Sequence[Grade]) -> Grade:
    """Return the points earned over the sum of the positive ones: at most 1, with faults below 0.

    ``criteria_met`` is the share of criteria that are met, ``points`` repeats the score. Source:
    HealthBench, which clips the mean over all samples to 0 and 1, but no single score.
    """
    points = [points for _, points in _rubric(case)]
    earned = math.fsum(
        point for point, grade in zip(points, grades, strict=True) if grade.score == 1
    )
    score = earned / math.fsum(point for point in points if point > 0)
    misses = [str(number) for number, grade in enumerate(grades, start=1) if grade.score != 1]
    return Grade(
        label=f"{score:.4g}",
        score=score,
        explanation=f"not met: {', '.join(misses)}" if misses else "all criteria are met",
        metrics={
            "criteria_met": math.fsum(grade.score for grade in grades) / len(grades),
            "points": score,
        },
    )


def _rubric(case: Case) -> list[tuple[str, float]]:
    criteria = case.values.get("rubric")
    if not isinstance(criteria, Sequence) or isinstance(criteria, str) or not criteria:
        message = (
            'the rubric needs its criteria: values={"rubric": [{"criterion": "…", "points": 1}]}'
        )
        raise JudgeError(message, kind="bad_case")
    if len(criteria) > CRITERIA_MAX:
        raise JudgeError(
            f"the rubric has {len(criteria)} criteria, more than {CRITERIA_MAX}", kind="bad_case"
        )
    rubric = [_criterion(number, item) for number, item in enumerate(criteria, start=1)]
    if not any(points > 0 for _, points in rubric):
        raise JudgeError(
            "no criterion of the rubric has positive points, so there is no score", kind="bad_case"
        )
    return rubric


def _criterion(number: int, item: object) -> tuple[str, float]:
    fields = item if isinstance(item, Mapping) else {}
    text = fields.get("criterion")
    if not isinstance(text, str) or not text.strip():
        raise JudgeError(f"criterion {number} of the rubric has no text", kind="bad_case")
    # Other tools call the points weight; a criterion with neither counts 1.
    values = [fields[name] for name in ("points", "weight") if name in fields] or [1]
    if len(values) > 1 and values[0] != values[1]:
        raise JudgeError(
            f"criterion {number} of the rubric has points {values[0]!r:.40} and weight"
            f" {values[1]!r:.40}; give one of them",
            kind="bad_case",
        )
    points = finite(values[0])
    if points is None:
        raise JudgeError(
            f"the points of criterion {number} of the rubric are not a number: {values[0]!r:.80}",
            kind="bad_case",
        )
    return text, points


def _met(value: object) -> Grade | None:
    if not isinstance(value, bool):
        return None
    return Grade(label="met" if value else "not met", score=float(value))


def _focus(case: Case) -> str:
    return f"What to look at: {case.criteria}\n\n" if case.criteria.strip() else ""


def ask_pairwise(case: Case) -> list[Question]:
    """Return the question whether the response beats ``case.values["baseline"]``, in both orders.

    A grade's label is the position that won: ``first``, ``second`` or ``tie``; its score is the
    response's. ``case.values["swap"]`` False asks in the first order only.

    Raises:
        JudgeError: ``bad_case``: there is no baseline.
    """
    return [_pair(case, *order) for order in orders_of(case)]


def orders_of(case: Case) -> list[tuple[str, str, str]]:
    """Return first answer, second answer and label of each order in which a pair is shown.

    There is one order alone where ``case.values["swap"]`` is False.

    Raises:
        JudgeError: ``bad_case``: there is no baseline.
    """
    baseline = case.values.get("baseline")
    if not isinstance(baseline, str):
        raise JudgeError('a pair needs the other answer: values={"baseline": "…"}', kind="bad_case")
    orders = [
        (case.response, baseline, RESPONSE_FIRST),
        (baseline, case.response, BASELINE_FIRST),
    ]
    return orders[:1] if case.values.get("swap") is False else orders


def _pair(case: Case, answer_a: str, answer_b: str, label: str) -> Question:
    # Scores are the response's, which is A in one order and B in the other.
    lead = float(label == RESPONSE_FIRST)
    scores = {"A": lead, "B": 1.0 - lead, "TIE": _TIE}
    reference = "A reference answer:\n{reference}\n\n" if case.reference else ""
    quoted = quote(
        _PAIRWISE.replace("{parts}", reference),
        {
            "question": case.question,
            "reference": case.reference,
            "answer_a": answer_a,
            "answer_b": answer_b,
        },
        trusted={"focus": _focus(case), "ending": reply_instructions(list(scores))},
    )
    read_reply = case_reader(case, quoted, scores, {"TIE": ("draw", "equal")})

    def read_position(reply: str) -> Grade:
        grade = read_reply(reply)
        return replace(grade, label=_WINNERS[grade.label])

    return Question(
        prompt=quoted.prompt,
        read=read_position,
        label=label,
        again=retry_instructions(list(scores)),
        is_quick=case.grade_pattern is None,
    )


def settle_pairwise(case: Case, grades: Sequence[Grade]) -> Grade:
    """Return ``win`` (1), ``loss`` (0) or ``tie`` (0.5).

    With both orders: ``consistent`` is 1 where both had the same winner, or none; ``prefers_first``
    and ``prefers_second`` are 1 where the same position won in both.
    """
    scores = {grade.score for grade in grades}
    # A verdict that changes with the order says nothing about the answers: the pair is a tie.
    score = scores.pop() if len(scores) == 1 else _TIE
    label = {1.0: "win", 0.0: "loss"}.get(score, "tie")
    mapping = scores_of(replace(case, grade_pattern=None), _OUTCOMES, "pairwise")
    return Grade(
        label=label,
        score=float(mapping[label]),
        explanation=grades[0].explanation,
        metrics=order_metrics(grades),
    )


def order_metrics(grades: Sequence[Grade]) -> dict[str, float]:
    """Return the metrics of a pair that was shown in both orders; none of one that was not.

    Args:
        grades: Of each order: the position that won, and the response's score.
    """
    if len(grades) == 1:
        return {}
    # 1 where the response won, -1 where it lost, 0 of a tie.
    winners = {(grade.score > _TIE) - (grade.score < _TIE) for grade in grades}
    positions = {grade.label for grade in grades}
    return {
        "consistent": float(len(winners) == 1),
        "prefers_first": float(positions == {"first"}),
        "prefers_second": float(positions == {"second"}),
    }


rubric = Judge(
    name="rubric",
    description="Weighted criteria, one question each, as HealthBench scores them",
    ask=ask_rubric,
    settle=settle_rubric,
    example=Case(
        response="Paris",
        question="The capital of France?",
        values={"rubric": [{"criterion": "Names Paris", "points": 1}]},
    ),
    example_reply='{"explanation": "It names Paris.", "criteria_met": true}',
    level="interval",
)

PAIR_EXAMPLE: Final = Case(
    response="Paris",
    question="The capital of France?",
    values={"baseline": "Lyon", "swap": False},
)

pairwise = Judge(
    name="pairwise",
    description="Which of two answers is better (win, loss, tie), asked in both orders",
    ask=ask_pairwise,
    settle=settle_pairwise,
    example=PAIR_EXAMPLE,
    example_reply="A is right and B is not.\nGRADE: A",
    level="ordinal",
)
