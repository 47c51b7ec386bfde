"""Reads a judge's verdict strictly: a clear one outside of all quotations, or a `JudgeError` that says what is wrong.

A single verdict counts wherever it is. Of several, the last counts if it is a change of mind: it ends the reply, other
text separates it from the one before, and no quoted text says the same. A verdict that a quoted text contains too
counts only as the last words of the reply. Nothing is guessed: asking once more costs little, and a guess would be a
wrong score that no check finds. Depends on `nel.judges.parsing.unquoted`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NoReturn

from nel.errors import JudgeError
from nel.judges.parsing.unquoted import plain_lines, unquoted_text
from nel.judges.quoting import Quoted
from nel.judges.types import Grade, Read

REPLY_CHARACTERS_MAX: Final = 1_000_000
"""Longer replies are refused unread."""
EXPLANATION_CHARACTERS_MAX: Final = 4_000
_LINE_MAX: Final = 200
_SHORT_MAX: Final = 12
_NUMBER: Final = re.compile(
    r"""
    (?P<value>
        [+-]? (?: \d+ \.? \d* | \.\d+ ) (?: e [+-]? \d+ )?
        | [+-]? (?: nan | inf(?:inity)? )
    )
    (?: \s* (?: / | out\s+of ) \s* (?P<maximum>\d+) )?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A number, and of "4/5" or "4 out of 5" the maximum too; nan and inf match, to be refused as out of range."""
_DECORATION: Final = " \t\n*#_.`~"
USUAL_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    "C": ("correct",),
    "P": ("partial", "partially correct"),
    "I": ("incorrect",),
}
"""Words that judges write for the letters of grades."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A candidate for the verdict, in a judge's own words."""

    start: int
    end: int
    label: str
    """The grade, or the text in its place."""
    grade: Grade | None = None
    fault: str = ""
    """The kind of fault where it is not a grade, else empty."""


@dataclass(frozen=True, slots=True)
class VerdictFormat:
    """How verdicts of one format are found: a line with a grade, a pattern or a JSON object."""

    find: Callable[[str], list[Found]]
    """Returns the candidates in the judge's own words."""
    says: Callable[[str], set[str]]
    """Returns the labels that occur as verdicts anywhere in a quoted text."""
    holds: Callable[[str], bool]
    """Returns whether a quoted text contains anything that could be read as a verdict."""
    asked_for: str
    """Names the format in error messages."""
    is_json: bool = False


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
    form = _line_form(Scale(scores, words), keyword)
    return lambda reply: read_verdict(reply, quoted, form, prefix=f"{keyword}:" if may_be_bare else "")


class Scale:
    """Grades, their scores and their spellings."""

    def __init__(self, scores: Mapping[str, float], words: Mapping[str, Sequence[str]] = USUAL_WORDS) -> None:
        """Take grades and their spellings.

        Raises:
            JudgeError: ``bad_template``: there is no grade, or a score is not a finite number.
        """
        self.scores = {str(label): score for label, score in scores.items()}
        good = (isinstance(score, int | float) and math.isfinite(score) for score in self.scores.values())
        if not self.scores or not all(good):
            raise JudgeError(f"grades need finite numbers as scores, not {dict(scores)!r:.200}", kind="bad_template")
        self._spellings = {_spelling(label): label for label in self.scores}
        for label in self.scores:
            for word in words.get(label, ()):
                self._spellings.setdefault(_spelling(word), label)
        numbers = {label: _number(label) for label in self.scores}
        self._numbers = {number: label for label, number in numbers.items() if number is not None}
        self.is_numeric = len(self._numbers) == len(self.scores)

    def label_of(self, text: str) -> str | None:
        """Return the grade that a text spells, None where it spells none.

        Raises:
            OutOfRange: It is a number and not a grade.
        """
        if len(text) > _LINE_MAX:
            return None
        number = _NUMBER.fullmatch(text.strip())
        if number is not None and (self.is_numeric or _spelling(text) not in self._spellings):
            return self._of_number(number)
        label = self._spellings.get(_spelling(text))
        explained = re.fullmatch(r"([^\s(]+)\s*\(([^()]*)\)", text.strip()) if label is None else None
        if explained and _spelling(explained[2]) != _spelling(explained[1]):
            label = self._spellings.get(_spelling(explained[1]))
            return label if label is not None and label == self._spellings.get(_spelling(explained[2])) else None
        return label

    def grade(self, label: str) -> Grade:
        """Return a grade with its score."""
        return Grade(label=label, score=float(self.scores[label]))

    def _of_number(self, number: re.Match[str]) -> str:
        value = float(number["value"])
        label = self._numbers.get(value)
        if label is None or (number["maximum"] is not None and float(number["maximum"]) != max(self._numbers)):
            raise OutOfRange(number[0])
        return label


class OutOfRange(ValueError):
    """A number that is not a grade."""


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
    text = _completed(reply, prefix, form) if prefix else reply
    own = unquoted_text(
        text, quoted, holds_verdict=form.holds, is_verdict=lambda text: _is_verdict(text, form), is_json=form.is_json
    )
    found = form.find(own)
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


def _check(last: Found, found: list[Found], own: str, form: VerdictFormat, quoted: Quoted, reply: str) -> None:
    """Refuse a last verdict that is not clearly the judge's final word."""
    ends_reply = not own[last.end :].strip(_DECORATION)
    others = [one for one in found if one.label != last.label and _contradicts(one, last, own)]
    # A quoted text that contains this verdict may be its source, unless the reply simply ends with it: a model that
    # repeats a text continues afterwards, announces it, or has already given another verdict.
    doubtful = (bool(others) or not ends_reply or _is_announced(own, last.start)) and any(
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


def _contradicts(one: Found, last: Found, own: str) -> bool:
    """Return whether an earlier candidate is a verdict too: an unreadable one only on the same line."""
    return one.fault in {"", "out_of_range"} or "\n" not in own[one.end : last.start]


def _is_announced(own: str, start: int) -> bool:
    """Return whether the text before a verdict announces a quotation."""
    return own[max(start - 200, 0) : start].rstrip(" \t\n*_#`").endswith(":")


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


def _spelling(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text.strip()).casefold()


def _number(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[+-]?\d{1,15}(?:\.\d{1,15})?", text) else None


def _line_form(scale: Scale, keyword: str) -> VerdictFormat:
    key = re.escape(keyword)
    line = re.compile(rf"(?:final\s+)?{key}\s*:(.*)", re.IGNORECASE)
    between = re.compile(rf"{key}\s*:", re.IGNORECASE)
    anywhere = re.compile(rf"{key}\W{{0,8}}(\w+(?:[ _-]\w+)?)", re.IGNORECASE)

    def find(own: str) -> list[Found]:
        found = []
        start = 0
        for text in own.split("\n"):
            match = line.fullmatch(_undecorated(text)) if len(text) <= _LINE_MAX else None
            label, fault = _grade_on_line(match[1].strip(), scale, between) if match else ("", "none")
            if fault != "none":
                grade = None if fault else scale.grade(label)
                found.append(Found(start=start, end=start + len(text), label=label, grade=grade, fault=fault))
            start += len(text) + 1
        return found

    def says(text: str) -> set[str]:
        values = {match[1] for match in anywhere.finditer(unicodedata.normalize("NFKC", text))}
        return {
            label for value in values for one in (value, re.split(r"[ _-]", value)[0]) if (label := _label(one, scale))
        }

    def holds(text: str) -> bool:
        return between.search(text) is not None

    return VerdictFormat(find=find, says=says, holds=holds, asked_for=f'line "{keyword}: " and a grade')


def _undecorated(line: str) -> str:
    text = re.sub(r"^#{1,6}\s+", "", line.replace("*", "").strip())
    if text.startswith("__") and text.endswith("__"):
        text = text[2:-2].strip()
    return text.removesuffix(".")


def _grade_on_line(value: str, scale: Scale, between: re.Pattern[str]) -> tuple[str, str]:
    """Return the label that follows the keyword and its fault; ``none`` where the line is ordinary text."""
    try:
        label = scale.label_of(value)
    except OutOfRange as error:
        return str(error), "out_of_range"
    if label is not None:
        return label, ""
    parts = [re.sub(r"^[\s,;/|]+|[\s,;/|]+$|\s+(?:or|and)$", "", part) for part in between.split(value)]
    if len(parts) > 1 and all(_label(part, scale) for part in parts):
        return value, "two_verdicts"
    return (value, "no_verdict") if len(value) <= _SHORT_MAX else ("", "none")


def _label(text: str, scale: Scale) -> str | None:
    try:
        return scale.label_of(text)
    except OutOfRange:
        return None
