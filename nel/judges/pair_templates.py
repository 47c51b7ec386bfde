"""Judges of pairs, asked in both orders, by a template with ``{answer_a}`` and ``{answer_b}``.

The verdict may have more steps than win, tie and loss: Arena-Hard's ``[[A>>B]]`` to ``[[B>>A]]``. A
grade's score is that of the answer shown first; the score of a pair is the response's mean over
both orders. Depends on `nel.judges.multi_question` for the built-in pairs and on
`nel.judges.parsing`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from nel.errors import JudgeError
from nel.judges.multi_question import PAIR_EXAMPLE, RESPONSE_FIRST, order_metrics, orders_of
from nel.judges.parsing.formats import pattern_reader
from nel.judges.parsing.scale import Scale
from nel.judges.parsing.verdict import grade_reader
from nel.judges.quoting import Quoted, quote
from nel.judges.token_grades import PROBABILITY, grade_of_tokens, token_question
from nel.judges.types import Case, Grade, Judge, Question
from nel.prompts import Template

NAME: Final = "pairwise"
"""The records of these judges are read as those of the built-in one."""
FIELDS: Final = frozenset({"answer_a", "answer_b"})
"""A template that names both is one of pairs."""
PAIR_GRADES: Final[Mapping[str, float]] = {
    "A": 1.0,
    "B": 0.0,
    "C": 0.5,
    "TIE": 0.5,
    "A>>B": 1.0,
    "A>B": 0.75,
    "A=B": 0.5,
    "B>A": 0.25,
    "B>>A": 0.0,
}
"""Scores of answer A without a ``score_mapping``: grades of MT-bench, Arena-Hard and nel itself."""
_WORDS: Final = {"TIE": ("draw", "equal")}
_HALF: Final = 0.5
_Said = TypeVar("_Said")
"""A reply, or the log-probabilities of its first token."""


def pair_judge(
    template: Template,
    *,
    grade_pattern: str | None = None,
    score_mapping: Mapping[str, float] | None = None,
    by_logprobs: bool = False,
) -> Judge:
    """Return the judge of a template with the placeholders ``{answer_a}`` and ``{answer_b}``.

    Args:
        template: May name ``{question}``, ``{reference}``, ``{criteria}`` and the row's fields too.
        grade_pattern: Its first group is the grade; None: a line ``GRADE: A``, ``B`` or ``TIE``.
        score_mapping: Grade to score of answer A, from 0 to 1; None: `PAIR_GRADES`.
        by_logprobs: The preference is a probability, from the log-probabilities of the grades as
            the first token.

    Raises:
        JudgeError: ``bad_template``: a score is not from 0 to 1.
    """
    scores = {name: PAIR_GRADES[name] for name in ("A", "B", "TIE")}
    if score_mapping is not None:
        scores = {str(name): score for name, score in score_mapping.items()}
    elif grade_pattern is not None:
        scores = dict(PAIR_GRADES)
    if not all(0 <= score <= 1 for score in scores.values()):
        raise JudgeError(
            f"scores of pairs are from 0 to 1, not {dict(scores)!r:.200}", kind="bad_template"
        )
    scale = Scale(scores, _WORDS)

    def question(case: Case, answer_a: str, answer_b: str, label: str) -> Question:
        quoted = _quote(template, case, answer_a, answer_b)
        if by_logprobs:
            read_tokens = _of_response(partial(grade_of_tokens, scores), label)
            return token_question(quoted.prompt, scores, label=label, read_tokens=read_tokens)
        if grade_pattern is None:
            read_reply = grade_reader(quoted, scores, words=_WORDS)
        else:
            read_reply = pattern_reader(quoted, grade_pattern, scale)
        return Question(prompt=quoted.prompt, read=_of_response(read_reply, label), label=label)

    return Judge(
        name=NAME,
        description=(
            "Which of two answers is better, by a template of one's own, asked in both orders"
        ),
        ask=lambda case: [question(case, *order) for order in orders_of(case)],
        settle=_settle,
        example=PAIR_EXAMPLE,
        example_reply=f"GRADE: {max(scores, key=scores.__getitem__)}",
        level="ordinal",
    )


def _quote(template: Template, case: Case, answer_a: str, answer_b: str) -> Quoted:
    pieces = {**case.values, "question": case.question, "reference": case.reference or ""}
    pieces |= {"answer_a": answer_a, "answer_b": answer_b}
    return quote(template, pieces, trusted={"criteria": case.criteria})


def _of_response(read_reply: Callable[[_Said], Grade], label: str) -> Callable[[_Said], Grade]:
    """Return a reader whose grades are the position that won, with the response's score."""

    def read_position(reply: _Said) -> Grade:
        grade = read_reply(reply)
        score = grade.score if label == RESPONSE_FIRST else 1.0 - grade.score
        return replace(grade, label=_outcome(grade.score, "first", "second"), score=score)

    return read_position


def _settle(case: Case, grades: Sequence[Grade]) -> Grade:
    """Return the response's mean score over the orders, as ``win``, ``tie`` or ``loss``.

    Where the orders have different winners and no verdict is a step between, that is the tie of the
    built-in judge.
    """
    # A win and a tie make a tie, as `settle_pairwise` has it; A>B and A=B make 0.625.
    scores = [grade.score for grade in grades]
    are_outcomes = set(scores) <= {0.0, _HALF, 1.0} and not case.by_logprobs
    score = math.fsum(scores) / len(scores)
    if are_outcomes and len(set(scores)) > 1:
        score = _HALF
    metrics = order_metrics(grades)
    if case.by_logprobs:
        probabilities = [grade.metrics[PROBABILITY] for grade in grades]
        metrics[PROBABILITY] = math.fsum(probabilities) / len(grades)
    return Grade(
        label=_outcome(score, "win", "loss"),
        score=score,
        explanation=grades[0].explanation,
        metrics=metrics,
    )


def _outcome(score: float, above: str, below: str) -> str:
    if score == _HALF:
        return "tie"
    return above if score > _HALF else below
