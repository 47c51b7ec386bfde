"""Reads a judge's verdict: the last one in its own words, in the strongest form that they have.

A reply with no clear verdict is a `JudgeError` that says what is wrong, never a low grade. Whether
a reply is refused does not depend on its grade. Depends on `nel.judges.parsing.forms`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NoReturn

from nel.errors import JudgeError
from nel.judges.parsing.forms import VerdictCandidate, VerdictFormat, line_form
from nel.judges.parsing.own_words import (
    QUOTED,
    only_repeats,
    own_words,
    plain_lines,
    without_quotations,
)
from nel.judges.parsing.scale import USUAL_WORDS, OutOfRange, Scale
from nel.judges.quoting import Quoted
from nel.judges.types import Grade, Read

__all__ = [
    "OutOfRange",
    "Scale",
    "VerdictCandidate",
    "VerdictFormat",
    "grade_reader",
    "read_verdict",
]

REPLY_CHARACTERS_MAX: Final = 1_000_000
"""Longer replies are refused unread."""
EXPLANATION_CHARACTERS_MAX: Final = 4_000
_DECORATION: Final = " \t\n*#_.`~-•\"'”“])>|}"
_CLOSING_TAGS: Final = ("</", "<|")
"""A reply may end with ``</answer>`` or ``<|im_end|>`` after its verdict."""
_CLOSING_TAG_MAX: Final = 40
_FORMS_MAX: Final = 64
_FORMS: Final[dict[str, VerdictFormat]] = {}
"""By grades, their words and the keyword: the samples of a run have the same."""


def grade_reader(
    quoted: Quoted,
    scores: Mapping[str, float],
    *,
    words: Mapping[str, Sequence[str]] = USUAL_WORDS,
    keyword: str = "GRADE",
) -> Read:
    """Return a reader of replies with a line such as ``GRADE: C``, or else another clear verdict.

    Args:
        quoted: The question, whose quoted texts are not verdicts.
        scores: Grade to score. If all are numbers, ``4.0`` and, of five, ``4/5`` are 4.
        words: Further spellings of grades.
        keyword: Stands before the colon; upper and lower case are the same.

    Raises:
        JudgeError: When it reads: ``empty``, ``no_verdict``, ``two_verdicts`` or ``out_of_range``.
    """
    scores, words = dict(scores), dict(words)
    key = repr((scores, words, keyword))
    form = _FORMS.get(key) or line_form(Scale(scores, words), keyword)
    if len(_FORMS) < _FORMS_MAX:
        _FORMS[key] = form
    return lambda reply: read_verdict(reply, quoted, form)


def read_verdict(reply: str, quoted: Quoted, form: VerdictFormat) -> Grade:
    """Return the verdict of a reply to a question.

    Raises:
        JudgeError: ``empty``, ``no_verdict``, ``two_verdicts``, ``out_of_range``; with the reply.
    """
    _check_readable(reply, quoted)
    words = own_words(reply, quoted, is_verdict=form.is_verdict)
    repeatable = {label for text in quoted.foreign for label in form.labels_in(plain_lines(text))}
    if repeatable and not form.is_json:
        words = without_quotations(words)
    candidates = form.find(words)
    if not candidates:
        _refuse(
            f"the judge's reply has no {form.asked_for} outside of quotations", "no_verdict", reply
        )
    final = candidates[-1]
    if final.grade is None:
        _refuse(f"the judge's verdict {final.label[:80]!r} is not a grade", final.fault, reply)
    rivals = [
        candidate
        for candidate in candidates
        if candidate.label != final.label and _is_verdict_too(candidate, final, words)
    ]
    if rivals and (final.label in repeatable or not _is_change_of_mind(rivals[-1], final, words)):
        labels = f"{rivals[-1].label[:80]!r} and {final.label[:80]!r}"
        _refuse(f"the judge's reply has two verdicts, {labels}", "two_verdicts", reply)
    # "The response says: GRADE: C" gives the verdict that a quoted text has asked for.
    if repeatable and words[: final.start].rstrip(_DECORATION).endswith(":"):
        _refuse(
            f"the judge's {final.label[:80]!r} may be repeated from a quoted text",
            "no_verdict",
            reply,
        )
    reasons = words[: final.start].strip()[-EXPLANATION_CHARACTERS_MAX:]
    if final.grade.explanation or not reasons:
        return final.grade
    return replace(final.grade, explanation=reasons)


def _check_readable(reply: str, quoted: Quoted) -> None:
    """Refuse a reply that is empty or too long, or nothing but a quoted text."""
    if not plain_lines(reply).strip():
        _refuse("the judge's reply is empty", "empty", reply)
    if len(reply) > REPLY_CHARACTERS_MAX:
        _refuse(
            f"the judge's reply is longer than {REPLY_CHARACTERS_MAX} characters",
            "no_verdict",
            reply,
        )
    if only_repeats(reply, quoted.foreign):
        _refuse("the judge's reply only repeats a quoted text", "no_verdict", reply)


def _is_verdict_too(candidate: VerdictCandidate, final: VerdictCandidate, words: str) -> bool:
    """Return whether an earlier candidate counts: an unreadable one only on the same line."""
    return candidate.fault in {"", "out_of_range"} or "\n" not in words[candidate.end : final.start]


def _is_change_of_mind(rival: VerdictCandidate, final: VerdictCandidate, words: str) -> bool:
    """Return whether the final verdict ends the reply, with words between it and its rival."""
    between = words[rival.end : final.start]
    tail = words[final.end :].strip(_DECORATION + QUOTED)
    ends = not tail or (tail.startswith(_CLOSING_TAGS) and len(tail) <= _CLOSING_TAG_MAX)
    return ends and "\n" in between and bool(between.strip(_DECORATION + QUOTED))


def _refuse(message: str, kind: str, reply: str) -> NoReturn:
    raise JudgeError(message, kind=kind, reply=reply)
