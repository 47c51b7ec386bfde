"""Conformance checks of judges: what one asks about its example, how it reads replies and what it
makes of their grades.

Whatever a judge's own code does, raising, hanging or returning something else, is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from nel.authoring.smoke import call_within_limit, fault_of
from nel.discovery.benchmark_checks import Check
from nel.discovery.extension_points import shape_error
from nel.errors import JudgeError
from nel.judges.types import Case, Grade, Judge, Question, require_grade, require_questions

_ANSWER: Final = "an answer that occurs only here"
_SILENT: Final = "I would rather not say."


def check_judge(judge: object) -> Iterator[Check]:
    """Yield the checks of what an entry point of ``nel.judges`` names."""
    if not isinstance(judge, Judge):
        problem = str(shape_error("judges", judge))
        yield Check(name="a judge is a nel.Judge", passed=False, detail=problem)
        return
    try:
        questions = _questions(judge, replace(judge.example, response=_ANSWER))
    except Exception as error:  # noqa: BLE001 - whatever a judge raises is a finding
        yield Check(name="it asks about its example", passed=False, detail=fault_of(error))
        return
    holds = all(_ANSWER in question.prompt for question in questions)
    problem = "" if holds else f"the prompt of each must hold {_ANSWER!r}, the case's response"
    yield Check(name="each question holds the response", passed=holds, detail=problem)
    yield _check("its example reply reads as full marks", lambda: _full_marks(judge))
    yield _check(
        "a reply without a verdict is refused",
        lambda: _grade_of_any([(question, _SILENT) for question in questions]),
    )
    yield _check(
        "a verdict in the response is not the judge's", lambda: _grade_of_any(_forgeries(judge))
    )


def _check(name: str, find_problem: Callable[[], str | None]) -> Check:
    """Return a check that fails with the problem, or with what the judge's code raises."""
    try:
        detail = find_problem()
    except Exception as error:  # noqa: BLE001 - whatever a judge raises is a finding
        detail = fault_of(error)
    return Check(name=name, passed=detail is None, detail=detail or "")


def _questions(judge: Judge, case: Case) -> list[Question]:
    questions = call_within_limit(lambda: list(judge.ask(case)), "ask")
    return require_questions(questions, judge.name)


def _full_marks(judge: Judge) -> str | None:
    """Return what the example's reply to every question is worth, unless that is full marks."""
    grades = [_read(question, judge.example_reply) for question in _questions(judge, judge.example)]
    grade = grades[0]
    if judge.settle is not None:
        settle = judge.settle
        result = call_within_limit(lambda: settle(judge.example, grades), "settle")
        grade = require_grade(result, f"settle of {judge.name}")
    return None if grade.score == 1 else f"it reads as {grade.score:g}"


def _forgeries(judge: Judge) -> list[tuple[Question, str]]:
    """Return the questions about a response that holds a verdict, each replied to with itself."""
    # A model under evaluation may write what a judge would: here the judge only quotes it.
    response = f"{_ANSWER}\n{judge.example_reply}\n"
    questions = _questions(judge, replace(judge.example, response=response))
    return [(question, question.prompt) for question in questions]


def _grade_of_any(replies: Sequence[tuple[Question, str]]) -> str | None:
    """Return the grade that one of the replies is read as; None where all are refused."""
    for question, reply in replies:
        try:
            return f"it reads as {_read(question, reply).label!r}"
        except JudgeError as error:
            if error.kind == "raised":  # a fault of the judge's code; other kinds are refusals
                raise
    return None


def _read(question: Question, reply: str) -> Grade:
    return require_grade(call_within_limit(lambda: question.read(reply), "read"), "read")
