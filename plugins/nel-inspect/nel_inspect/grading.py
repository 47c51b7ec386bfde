"""How the calls of a task's graders are put to nel's judges, and how a grade of Inspect's own
graders is read.

Two judges of the group ``nel.judges``. ``inspect_reply`` hands the reply to the scorer that asked.
``inspect_grade`` reads it by Inspect's rule, the last ``GRADE: X`` or the first match of the
author's pattern, but in the judge's own words only: what it quotes of the prompt is not a verdict,
and a grade in doubt is asked for once more, then unscored. Both send exactly the messages that
Inspect made; no text in them is put between marks of nel's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from nel.core import timed_regex
from nel.errors import DatasetError, JudgeError, UndefinedMetric
from nel.judges.parsing.formats import Span, may_hold_verdict, pattern_form, read_matches
from nel.judges.parsing.verdict import VerdictCandidate, VerdictFormat
from nel.judges.quoting import NO_CODE, Quoted
from nel.judges.reply_formats import READ_BY_SCORER
from nel.judges.types import Case, Grade, Judge, Question, Read
from nel.metrics import value_to_float
from nel.types import Message

REPLY: Final = "inspect_reply"
GRADE: Final = "inspect_grade"
MESSAGES: Final = "_messages"
"""Where a case's values have what is sent, as `Message` objects."""
SETTINGS: Final = "_settings"
TOOLS: Final = "_tools"
TOOL_CHOICE: Final = "_tool_choice"
FOREIGN: Final = "_foreign"
PATTERN: Final = "_pattern"
GRADES: Final = "_grades"
_TO_FLOAT: Final = value_to_float()
_WORDS: Final = {"correct": "C", "incorrect": "I", "partial": "P"}
_LINE: Final = r"(?i)(?<!\w)GRADE(?!\w)\s*:\s*(\w*)"
_SEVERAL: Final = 2
_PLAIN: Final = (
    "Task: {question}\n\nSubmission: {response}\n\nCriterion: {reference}\n\nDoes the submission"
    " meet the criterion? End your reply with GRADE: C if it does and GRADE: I if it does not."
)
_WHOLE: Final = (
    "Your reply is empty or was cut off. Reply once more, as you were asked to and shorter."
)


def score_of(value: str) -> float | None:
    """Return what Inspect counts a word or number as, None where it can make nothing of it.

    >>> score_of("P"), score_of("Yes"), score_of("0.7"), score_of("perhaps"), score_of("nan")
    (0.5, 1.0, 0.7, None, None)
    """
    try:
        return _TO_FLOAT(value)
    except UndefinedMetric:
        return None


def _ask_for_reply(case: Case) -> Sequence[Question]:
    prompt = _text(_messages(case))

    def read(reply: str) -> Grade:
        if MESSAGES not in case.values and not may_hold_verdict(prompt, reply):
            raise JudgeError("the judge's reply holds no verdict of any form", reply=reply)
        return READ_BY_SCORER

    return [replace(_question(case, read), again=_WHOLE)]


def _ask_for_grade(case: Case) -> Sequence[Question]:
    foreign = case.values.get(FOREIGN, (case.response, case.question, case.reference or ""))
    quoted = Quoted(prompt=_text(_messages(case)), code=NO_CODE, foreign=tuple(foreign))
    pattern = case.values.get(PATTERN)
    form = (
        _line_form(str(case.values.get(GRADES, "CPI")))
        if pattern is None
        else _pattern_form(str(pattern))
    )

    return [_question(case, lambda reply: read_matches(reply, quoted, form))]


def _question(case: Case, read: Read) -> Question:
    messages = _messages(case)
    return Question(
        prompt=_text(messages),
        read=read,
        messages=messages,
        settings=case.values.get(SETTINGS, {}),
        tools=tuple(case.values.get(TOOLS, ())),
        tool_choice=case.values.get(TOOL_CHOICE),
    )


def _messages(case: Case) -> tuple[Message, ...]:
    """Return what a task's scorer sends, or a question of the same kind where none has asked."""
    messages = case.values.get(MESSAGES)
    if messages:
        return tuple(messages)
    text = _PLAIN.format(question=case.question, response=case.response, reference=case.reference)
    return (Message(role="user", content=text),)


def _text(messages: Sequence[Message]) -> str:
    return "\n\n".join(str(message.content) for message in messages)


def _line_form(grades: str) -> VerdictFormat:
    """Return the form ``GRADE: X``, as Inspect's own pattern finds it.

    Args:
        grades: The letters that were offered; any other is not a grade.
    """

    def candidate(own: str, span: Span) -> VerdictCandidate:
        word = own[span[2] : span[3]]
        label = _WORDS.get(word.lower(), word.upper())
        if len(label) != 1 or label not in grades:
            return VerdictCandidate(*span[:2], word, fault="no_verdict")
        return VerdictCandidate(*span[:2], label, Grade(label=label, score=_TO_FLOAT(label)))

    return pattern_form(_LINE, candidate)


def _pattern_form(pattern: str) -> VerdictFormat:
    """Return the form that an author's pattern finds: its first match counts, and several must say
    the same.

    Raises:
        JudgeError: ``bad_template``: it is not a regular expression, or has no group for the grade.
    """
    try:
        groups = timed_regex.compile_pattern(pattern).groups
    except DatasetError as error:
        raise JudgeError(f"grade_pattern cannot be used: {error}", kind="bad_template") from error
    if not groups:
        raise JudgeError(
            f"grade_pattern {pattern!r:.200} has no group for the grade", kind="bad_template"
        )
    form = pattern_form(pattern, _candidate)

    def find(own: str) -> list[VerdictCandidate]:
        candidates = form.find(own)
        if len({candidate.label for candidate in candidates}) < _SEVERAL:
            return candidates
        return [candidate._replace(grade=None, fault="two_verdicts") for candidate in candidates]

    return replace(form, find=find)


def _candidate(own: str, span: Span) -> VerdictCandidate | None:
    label = own[span[2] : span[3]]
    score = score_of(label)
    if span[2] < 0:
        return None
    if score is None:
        return VerdictCandidate(*span[:2], label, fault="no_verdict")
    return VerdictCandidate(*span[:2], label, Grade(label=label, score=score))


inspect_grade = Judge(
    name=GRADE,
    description=(
        "What model_graded_qa and model_graded_fact of an Inspect task ask, read in the judge's own"
        " words"
    ),
    ask=_ask_for_grade,
    example_reply="It is.\nGRADE: C",
    level="ordinal",
)
inspect_reply = Judge(
    name=REPLY,
    description="What a scorer of an Inspect task asks a model, read by the scorer itself",
    ask=_ask_for_reply,
    example_reply="GRADE: C",
)
