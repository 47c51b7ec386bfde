"""Finds verdicts by a user's pattern, or in JSON objects, for `nel.judges.parsing.verdict`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from nel.core import timed_regex
from nel.core.json_values import is_number
from nel.errors import JudgeError, ScorerError
from nel.judges.parsing.forms import VerdictCandidate, VerdictFormat, line_end, read_value
from nel.judges.parsing.own_words import plain_lines
from nel.judges.parsing.scale import OutOfRange, Scale
from nel.judges.parsing.verdict import EXPLANATION_CHARACTERS_MAX, read_verdict
from nel.judges.quoting import Quoted
from nel.judges.types import Grade, Read

OBJECTS_MAX: Final = 1_000
"""A reply with more objects has no verdict: each costs an attempt to parse it."""
GRADE_KEYS: Final = ("grade", "score", "rating", "verdict")
_WORDS_MAX: Final = 3
_OBJECT: Final = re.compile(r"(?m)^[ \t]*\{")
"""A brace that begins a line, where a JSON object may start."""
Span: TypeAlias = tuple[int, int, int, int]
"""Where a match and its first group start and end; the group is the whole match without one."""


def pattern_reader(
    quoted: Quoted, pattern: str, scale: Scale | None = None, *, prefix: str = ""
) -> Read:
    """Return a reader of the verdict that a pattern finds.

    Args:
        quoted: The question, whose quoted texts are not verdicts.
        pattern: The grade begins at its first group; without groups, at the match.
        scale: None: the grade must be a number and is its own score.
        prefix: The end of the prompt, if the pattern starts with it: a judge that continues the
            prompt replies with the grade alone.

    Raises:
        DatasetError: When it reads: the pattern is not a regular expression.
        JudgeError: When it reads: ``empty``, ``no_verdict``, ``two_verdicts``, ``out_of_range``.
    """
    grades = Scale(None) if scale is None else scale
    form = pattern_form(pattern, lambda words, span: _candidate(words, span, grades))

    def read(reply: str) -> Grade:
        # Of "**C**" to a prompt that ends with "GRADE:", "GRADE: C" is read.
        line = plain_lines(reply).strip(" \t\n*#_.`~")
        is_bare = prefix and line and "\n" not in line and not form.find(line)
        try:
            return read_matches(f"{prefix} {line}" if is_bare else reply, quoted, form)
        except JudgeError as error:
            raise JudgeError(str(error), kind=error.kind, reply=reply) from error

    return read


def pattern_form(
    pattern: str, candidate_of: Callable[[str, Span], VerdictCandidate | None]
) -> VerdictFormat:
    """Return the format of a verdict that a pattern finds.

    Args:
        pattern: A regular expression.
        candidate_of: Makes a candidate of the reply and a match in it; None where it is not one.
    """

    def find(words: str) -> list[VerdictCandidate]:
        candidates = (candidate_of(words, span) for span in timed_regex.spans(pattern, words))
        return [candidate for candidate in candidates if candidate is not None]

    return VerdictFormat(find=find, asked_for="match of the grade's pattern")


def read_matches(reply: str, quoted: Quoted, form: VerdictFormat) -> Grade:
    """Return the verdict of a reply as `read_verdict` does, for a form with a user's pattern.

    Raises:
        JudgeError: There is none, or the pattern takes too long.
    """
    try:
        return read_verdict(reply, quoted, form)
    except ScorerError as error:
        raise JudgeError(f"the judge's reply cannot be searched: {error}", reply=reply) from error


def _candidate(words: str, span: Span, scale: Scale) -> VerdictCandidate | None:
    start, end, group_start, group_end = span
    # "core: 4" in "Score: 4" is not a match; a group that took no part in one starts at -1.
    is_inside_word = start and words[start - 1].isalnum() and words[start].isalnum()
    if group_start < 0 or group_start == group_end or is_inside_word:
        return None
    # A pattern that does not close the group may cut the grade short, as ``GRADE: (\d)`` does in
    # "GRADE: 10": then the grade is read to the end of the line.
    is_closed = end > group_end and not words[end - 1].isalnum()
    stop = group_end if is_closed else line_end(words, group_end)
    label, fault = read_value(words[group_start:stop], scale)
    return VerdictCandidate(start, end, label, None if fault else scale.grade(label), fault)


def json_reader(
    quoted: Quoted, key: str | Sequence[str], grade_of: Callable[[object], Grade | None]
) -> Read:
    """Return a reader of JSON objects with a key, alone on their lines or in a code fence.

    Args:
        quoted: The question, whose quoted texts are not verdicts.
        key: Of the verdict, or several of which an object has one; ``explanation`` is kept too.
        grade_of: Makes a grade of the value; None where it has the wrong type; raises `OutOfRange`.

    Raises:
        JudgeError: When it reads: ``empty``, ``no_verdict``, ``two_verdicts``, ``out_of_range``.
    """
    keys = (key,) if isinstance(key, str) else key

    def find(words: str) -> list[VerdictCandidate]:
        candidates = [
            _of_object(pairs, keys, grade_of, span) for span, pairs in json_objects(words)
        ]
        return [candidate for candidate in candidates if candidate is not None]

    asked_for = " or ".join(f'"{key}"' for key in keys)
    form = VerdictFormat(find=find, asked_for=f"JSON object with {asked_for}", is_json=True)
    return lambda reply: read_verdict(reply, quoted, form)


def grade_in_json(quoted: Quoted, reply: str) -> str:
    """Return the grade in a reply's JSON object, as text.

    Raises:
        JudgeError: It has no object with a ``grade``, ``score``, ``rating`` or ``verdict``.

    >>> grade_in_json(Quoted(prompt="", code="-", foreign=()), '{"reason": "right", "grade": "C"}')
    'C'
    """

    def as_text(value: object) -> Grade | None:
        is_grade = isinstance(value, str) or is_number(value)
        return Grade(label=str(value), score=0.0) if is_grade else None

    return json_reader(quoted, GRADE_KEYS, as_text)(reply).label


def _of_object(
    pairs: Sequence[tuple[str, object]],
    keys: Sequence[str],
    grade_of: Callable[[object], Grade | None],
    span: tuple[int, int],
) -> VerdictCandidate | None:
    """Return the verdict of an object, None where it has none of the keys.

    Two values under one key, or under keys that differ by case alone, are two verdicts.
    """
    if not any(name in keys for name, _ in pairs):
        return None
    folded = {key.casefold() for key in keys}
    values = [value for name, value in pairs if name.casefold() in folded]
    if any(value != values[0] for value in values[1:]):
        return VerdictCandidate(*span, f"two values of {keys[0]}", fault="two_verdicts")
    try:
        grade = grade_of(values[0])
    except OutOfRange:
        return VerdictCandidate(*span, repr(values[0])[:80], fault="out_of_range")
    if grade is None:
        return VerdictCandidate(*span, repr(values[0])[:80], fault="no_verdict")
    text = dict(pairs).get("explanation")
    explanation = text[:EXPLANATION_CHARACTERS_MAX] if isinstance(text, str) else ""
    return VerdictCandidate(
        *span, grade.label, replace(grade, explanation=grade.explanation or explanation)
    )


def json_objects(text: str) -> list[tuple[tuple[int, int], list[tuple[str, object]]]]:
    """Return the spans and the keys with values of JSON objects that are alone on their lines.

    Where a reply starts more than `OBJECTS_MAX` objects, none counts.
    """
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=list)
    objects: list[tuple[tuple[int, int], list[tuple[str, object]]]] = []
    position = 0
    for n_tried, match in enumerate(_OBJECT.finditer(text)):
        if n_tried >= OBJECTS_MAX:
            return []
        start = match.end() - 1
        if start < position:  # within the object before
            continue
        try:
            pairs, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue  # `position` stays, so that an object on a later line of this text is tried
        if not text[position : line_end(text, position)].strip():
            objects.append(((start, position), pairs))
    return objects


def may_hold_verdict(prompt: str, reply: str) -> bool:
    """Return whether a reply could hold a verdict, the prompt apart: three words, a digit, a key.

    >>> may_hold_verdict("Right or wrong?", "wrong"), may_hold_verdict("Right or wrong?", "I am not able to say that.")
    (True, False)
    """
    text = reply.replace(prompt.strip(), "").strip()
    is_short = len(text.split()) <= _WORDS_MAX
    has_marks = any(mark in text for mark in ":{}[]=") or any(map(str.isdigit, text))
    return bool(text) and (is_short or (has_marks and text not in prompt))
