"""Reads a judge's verdict strictly: a clear one outside of all quotations, or a `JudgeError` that says what is wrong.

A single verdict counts wherever it is. Of several, the last counts if it is a change of mind: it ends the reply, other
text separates it from the one before, and no quoted text says the same. A verdict that a quoted text contains too
counts only as the last words of the reply, and not where the words before it may announce a quotation. Nothing is
guessed: asking once more costs little, and a guess would be a wrong score that no check finds. Depends on
`nel.judges.parsing.unquoted` and on the modules that find candidates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NoReturn

from nel.errors import JudgeError
from nel.judges.parsing.candidates import Found, VerdictFormat
from nel.judges.parsing.lines import line_form
from nel.judges.parsing.reasons import announces_quotation, gives_reasons, goes_on, is_conditional
from nel.judges.parsing.scale import USUAL_WORDS, OutOfRange, Scale
from nel.judges.parsing.unquoted import QUOTED, only_repeats, plain_lines, unquoted_text
from nel.judges.quoting import Quoted
from nel.judges.types import Grade, Read

__all__ = ["Found", "OutOfRange", "Scale", "VerdictFormat", "grade_reader", "read_verdict"]

REPLY_CHARACTERS_MAX: Final = 1_000_000
"""Longer replies are refused unread."""
EXPLANATION_CHARACTERS_MAX: Final = 4_000
_DECORATION: Final = " \t\n*#_.`~"
_MARKS: Final = " \t*#_`~>-•"
_CLOSING_TAGS: Final = re.compile(r"</[a-z][\w-]{0,20}>|<\|[\w-]{1,40}\|>", re.IGNORECASE)
"""Tags that a model may write after its last word."""
_ANNOUNCED_MAX: Final = 200


def grade_reader(
    quoted: Quoted,
    scores: Mapping[str, float],
    *,
    words: Mapping[str, Sequence[str]] = USUAL_WORDS,
    keyword: str = "GRADE",
    may_be_bare: bool = False,
) -> Read:
    """Return a reader of replies with a line such as ``GRADE: C``.

    Args:
        quoted: The question, whose quoted texts are no verdicts.
        scores: Grade to score. If all grades are numbers, ``4.0`` and, of five, ``4/5`` are 4, and any other number is
            out of range.
        words: Further spellings of grades.
        keyword: Stands before the colon; upper and lower case are the same.
        may_be_bare: The prompt ends with the keyword and its colon, so a reply may be the grade alone.

    Raises:
        JudgeError: When it reads: ``empty``, ``no_verdict``, ``two_verdicts`` or ``out_of_range``.
    """
    form = line_form(Scale(scores, words), keyword)
    return lambda reply: read_verdict(reply, quoted, form, prefix=f"{keyword}:" if may_be_bare else "")


def read_verdict(reply: str, quoted: Quoted, form: VerdictFormat, *, prefix: str = "") -> Grade:
    """Return the verdict of a reply to a question.

    Args:
        prefix: The end of the prompt; a reply that is only a grade is read as if it began with this prefix.

    Raises:
        JudgeError: ``empty``, ``no_verdict``, ``two_verdicts``, ``out_of_range``; with the reply.
    """
    if not plain_lines(reply).strip():
        raise JudgeError("the judge's reply is empty", kind="empty", reply=reply)
    if len(reply) > REPLY_CHARACTERS_MAX:
        _refuse(f"the judge's reply is longer than {REPLY_CHARACTERS_MAX} characters", "no_verdict", reply)
    if only_repeats(reply, quoted.foreign):
        _refuse("the judge's reply only repeats a quoted text", "no_verdict", reply)
    text = _completed(reply, prefix, form) if prefix else reply
    own = unquoted_text(
        text,
        quoted,
        holds_verdict=form.holds,
        is_verdict=lambda text: _is_verdict(text, form),
        is_grade_in_marks=form.is_grade_in_marks,
        is_json=form.is_json,
    )
    found = form.find(own) or _found_loosely(own, form, reply)
    if not found:
        _refuse(f"the judge's reply has no {form.asked_for} outside of quotations", "no_verdict", reply)
    last = found[-1]
    if last.grade is None:
        _refuse(f"the judge's verdict {last.label[:80]!r} is not a grade", last.fault, reply)
    _check(last, found, own, form, quoted, reply)
    explanation = last.grade.explanation or own[: last.start].strip()[-EXPLANATION_CHARACTERS_MAX:]
    return replace(last.grade, explanation=explanation)


def _completed(reply: str, prefix: str, form: VerdictFormat) -> str:
    bare = plain_lines(reply).strip(_DECORATION)
    return f"{prefix} {bare}" if bare and "\n" not in bare and not form.holds(bare) else reply


def _found_loosely(own: str, form: VerdictFormat, reply: str) -> list[Found]:
    """Return a verdict in other words than those asked for: it must end the reply, and no other may differ."""
    found = form.find_loosely(own) if form.find_loosely is not None else []
    if len({one.label for one in found}) > 1:
        said = f"{found[-2].label[:80]!r} and {found[-1].label[:80]!r}"
        _refuse(f"the judge's reply has two verdicts, {said}", "two_verdicts", reply)
    return found if found and _ends(own, found[-1]) else []


def _ends(own: str, last: Found) -> bool:
    return not _CLOSING_TAGS.sub("", own[last.end :]).strip(_DECORATION)


def _check(last: Found, found: list[Found], own: str, form: VerdictFormat, quoted: Quoted, reply: str) -> None:
    """Refuse a last verdict that is not clearly the judge's final word."""
    ends_reply = _ends(own, last)
    others = [one for one in found if one.label != last.label and _contradicts(one, last, own)]
    # A quoted text that contains this verdict may be its source, unless the reply simply ends with it: a model that
    # repeats a text continues afterwards, announces it, or has already given another verdict.
    doubtful = (bool(others) or not ends_reply or _may_be_repeated(own, last, form, quoted)) and any(
        last.label in form.says(plain_lines(text)) for text in quoted.foreign
    )
    if others:
        said = f"{others[-1].label[:80]!r} and {last.label[:80]!r}"
        between = own[others[-1].end : last.start]
        if not ends_reply or "\n" not in between or not between.strip(_DECORATION):
            _refuse(f"the judge's reply has two verdicts, {said}", "two_verdicts", reply)
        if doubtful:
            _refuse(f"the judge says {said}, and a quoted text says the latter too", "two_verdicts", reply)
    if doubtful:
        _refuse(f"the judge's {last.label[:80]!r} may be repeated from a quoted text", "no_verdict", reply)
    if not form.is_json:
        _check_sentence(last, own, form, reply)


def _check_sentence(last: Found, own: str, form: VerdictFormat, reply: str) -> None:
    """Refuse a verdict under a condition, one that the next line takes back, and one next to another in other words."""
    line_end = own.find("\n", last.end)
    if is_conditional(own[: last.start]) or (line_end >= 0 and goes_on(own[line_end:])):
        _refuse(f"the judge's {last.label[:80]!r} is part of a longer sentence", "no_verdict", reply)
    if form.find_loosely is not None:
        for one in form.find_loosely(_line_before(own, last)):
            if one.label != last.label:
                said = f"{one.label[:80]!r} and {last.label[:80]!r}"
                _refuse(f"the judge's reply has two verdicts, {said}", "two_verdicts", reply)


def _contradicts(one: Found, last: Found, own: str) -> bool:
    """Return whether an earlier candidate is a verdict too: an unreadable one only on the same line."""
    return one.fault in {"", "out_of_range"} or "\n" not in own[one.end : last.start]


def _may_be_repeated(own: str, last: Found, form: VerdictFormat, quoted: Quoted) -> bool:
    """Return whether a verdict at the end may be repeated from a quoted text, by the words around it."""
    before = own[: last.start]
    if before[-_ANNOUNCED_MAX:].rstrip(" \t\n*_#`").endswith(":"):
        return True
    if form.is_json:
        return False
    if announces_quotation(before):
        return True
    line_end = own.find("\n", last.end)
    line = own[own.rfind("\n", 0, last.start) + 1 : line_end if line_end >= 0 else len(own)].strip(_MARKS)
    texts = [plain_lines(text) for text in quoted.foreign]
    lines = {one.strip(_MARKS) for text in texts for one in text.split("\n")} - {""}
    if _line_before(own, last).strip(_MARKS) in lines or (not last.is_bare and line in lines):
        return True
    # Where a quoted text ends a line with this very verdict, and with no other, the judge must have judged something.
    is_repeated = any(one.endswith(line) for one in lines)
    is_forgery = is_repeated and set().union(*(form.says(text) for text in texts)) == {last.label}
    return is_forgery and bool(before.strip(_MARKS + QUOTED + "\n")) and not gives_reasons(before)


def _line_before(own: str, last: Found) -> str:
    """Return the line with text before that of a verdict, empty where there is none or a quotation."""
    before = own[: own.rfind("\n", 0, last.start) + 1].rstrip()
    line = before[before.rfind("\n") + 1 :]
    return "" if QUOTED in line else line


def _is_verdict(text: str, form: VerdictFormat) -> bool:
    if not form.is_json and "\n" in text:
        return False
    found = form.find(text)
    return (
        len(found) == 1
        and found[0].grade is not None
        and not (text[: found[0].start] + text[found[0].end :]).strip(_DECORATION)
    )


def _refuse(message: str, kind: str, reply: str) -> NoReturn:
    raise JudgeError(message, kind=kind, reply=reply)
