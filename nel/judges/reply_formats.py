"""Judges that wrap another judge, whose replies are read as JSON, or by the scorer itself.

Depends on `nel.judges.registry`, which finds the wrapped judge. The grade of `unread` only says
that there was a reply: its label is always the same and the scorer computes the real grade, so a
reply is never asked for again because of what the scorer finds in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from nel.errors import JudgeError
from nel.judges.parsing.formats import grade_in_json, may_hold_verdict
from nel.judges.parsing.own_words import only_repeats
from nel.judges.quoting import NO_CODE, Quoted, displayed_text, unquote
from nel.judges.registry import judge_for
from nel.judges.types import PROMPT, TEMPLATE, Case, Grade, Judge, Question

READ_BY_SCORER: Final = Grade(label="read by the scorer", score=1.0)
"""The grade of every reply that the scorer reads itself."""
_EXAMPLE: Final = Case(
    response="Paris",
    question="The capital of France?",
    reference="Paris",
    values={TEMPLATE: "binary_qa"},
)


def _ask_for_json(case: Case) -> Sequence[Question]:
    texts = tuple(map(displayed_text, (case.response, case.question, case.reference or "")))

    def as_json(question: Question) -> Question:
        unquoted = unquote(question.prompt)
        code = NO_CODE if unquoted is None else unquoted.code
        quoted = Quoted(prompt=question.prompt, code=code, foreign=texts)

        def read(reply: str) -> Grade:
            return question.read(f"GRADE: {grade_in_json(quoted, reply)}")

        again = (
            "Your reply is not the JSON asked for. Reply once more with one JSON object that has a"
            ' "grade".'
        )
        return replace(question, read=read, again=again)

    return [as_json(question) for question in _inner_questions(case)]


def _ask_for_anything(case: Case) -> Sequence[Question]:
    prompt = case.values.get(PROMPT)
    if isinstance(prompt, str):
        prompts = [prompt]
    else:
        prompts = [question.prompt for question in _inner_questions(case)]
    return [Question(prompt=text, read=partial(_accept, case, text)) for text in prompts]


def _inner_questions(case: Case) -> Sequence[Question]:
    template = case.values.get(TEMPLATE)
    if not isinstance(template, str):
        raise JudgeError(
            "the case does not say what to ask the judge; use judge_score", kind="bad_case"
        )
    values = {name: value for name, value in case.values.items() if name not in (TEMPLATE, PROMPT)}
    inner_case = replace(case, template=template, values=values)
    return judge_for(inner_case).ask(inner_case)


def _accept(case: Case, prompt: str, reply: str) -> Grade:
    if only_repeats(reply, [case.response, case.question, case.reference or ""]):
        raise JudgeError("the judge's reply only repeats a text that it was shown", reply=reply)
    if not may_hold_verdict(prompt, reply):
        raise JudgeError("the judge's reply holds no verdict of any form", reply=reply)
    return READ_BY_SCORER


def _judge(
    name: str, description: str, ask: Callable[[Case], Sequence[Question]], example_reply: str
) -> Judge:
    return Judge(
        name=name, description=description, ask=ask, example=_EXAMPLE, example_reply=example_reply
    )


json_grade = _judge(
    "json_grade",
    "What another judge asks, with the grade in a JSON object",
    _ask_for_json,
    '{"grade": "C"}',
)
unread = _judge(
    "unread", "What another judge asks, read by the scorer itself", _ask_for_anything, "GRADE: C"
)
