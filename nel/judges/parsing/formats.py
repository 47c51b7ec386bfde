"""Verdicts in other formats than a line with a grade: found by a user's pattern, or as a JSON object.

Both follow the rules of `nel.judges.parsing.verdict`, on which this module depends. A pattern such as ``GRADE: (\\d)``
matches the first digit of 10 and of 8/10; a match therefore counts only if its group ends a word and the match ends its
line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from nel.core import timed_regex
from nel.errors import JudgeError, ScorerError
from nel.judges.parsing.candidates import Found, VerdictFormat
from nel.judges.parsing.reasons import is_conditional, is_negated, is_reason, quotes_inline
from nel.judges.parsing.scale import OutOfRange, Scale
from nel.judges.parsing.verdict import EXPLANATION_CHARACTERS_MAX, read_verdict
from nel.judges.quoting import Quoted
from nel.judges.types import Grade, Read

OBJECTS_MAX: Final = 1_000
"""A reply with more objects has no verdict: each costs an attempt to parse it."""
_MARKS_AFTER: Final = re.compile(r"^[ \t*_`~\])}>\"'”’»]+")
_MARKDOWN: Final = " \t*_`#"
_BEFORE_MAX: Final = 300
_REST_MAX: Final = 2_000
"""Characters on the line of a match that are read for reasons."""
_OUT_OF: Final = re.compile(r"\s*(?:/|out of)\s*(\d+)")


def pattern_reader(quoted: Quoted, pattern: str, scale: Scale | None = None, *, prefix: str = "") -> Read:
    """Return a reader of the verdict that a pattern finds.

    Args:
        quoted: The question, whose quoted texts are no verdicts.
        pattern: Its first group, or else all of it, is the grade.
        scale: None: the grade must be a number and is its own score.
        prefix: The end of the prompt where the pattern starts with it: then a reply that is only the grade counts.

    Raises:
        DatasetError: When it reads: the pattern is not a regular expression.
        JudgeError: When it reads: ``empty``, ``no_verdict``, ``two_verdicts``, ``out_of_range``.
    """

    def find(own: str) -> list[Found]:
        return [found for span in timed_regex.spans(pattern, own) if (found := _found(own, span, scale))]

    def says(text: str) -> set[str]:
        values = {text[span[2] : span[3]] for span in timed_regex.spans(pattern, text)}
        return {label for value in values if (label := _label_of(value, scale)[0])}

    form = VerdictFormat(
        find=find,
        says=says,
        holds=lambda text: bool(timed_regex.spans(pattern, text)),
        asked_for="match of the grade's pattern",
        is_grade_in_marks=lambda before, inner: _is_match(inner, pattern, scale),
    )

    def read(reply: str) -> Grade:
        try:
            return read_verdict(reply, quoted, form, prefix=prefix)
        except ScorerError as error:
            raise JudgeError(f"the judge's reply cannot be searched: {error}", reply=reply) from error

    return read


def _found(own: str, span: tuple[int, int, int, int], scale: Scale | None) -> Found | None:
    start, end, group_start, group_end = span
    if group_start < 0 or group_start == group_end:
        return None
    if start and own[start - 1].isalnum() and own[start].isalnum():
        return None  # the match starts inside a word
    value = own[group_start:group_end]
    out_of = _OUT_OF.match(own, group_end)
    if out_of:  # "8/10" is one value: the pattern may have matched the 8 alone
        return _graded(own[group_start : out_of.end()], scale, (start, out_of.end()))
    if _continues(own, group_end):
        word = re.compile(r"[\w./-]*").match(own, group_end)
        whole = value + (word[0] if word else "")
        number = re.fullmatch(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\.?", whole)
        return Found(start=start, end=end, label=whole[:80], fault="out_of_range" if number else "no_verdict")
    return _found_on_line(own, span, scale)


def _found_on_line(own: str, span: tuple[int, int, int, int], scale: Scale | None) -> Found:
    """Return the candidate of a match, by the rest of its line: it may hold reasons, and no doubt."""
    start, end, group_start, group_end = span
    value = own[group_start:group_end]
    line_end = own.find("\n", end, end + _REST_MAX + 1)
    if line_end < 0:
        line_end = len(own)
    first = max(start - _BEFORE_MAX, 0)
    before = own[max(own.rfind("\n", first, start) + 1, first) : start]
    is_first = not before.strip(_MARKDOWN)
    is_doubted = not is_first and (is_negated(before) or is_conditional(before) or quotes_inline(before))
    if is_doubted or line_end - end > _REST_MAX or end - group_end > _REST_MAX:
        return Found(start=start, end=end, label=value, fault="no_verdict")
    is_marked = end > group_end and not own[end - 1].isalnum()
    label = _label_of(value, scale)[0]
    known = scale if scale is not None and label in scale.scores else None
    for rest in (own[group_end:end], own[end:line_end]):
        reasons = _MARKS_AFTER.sub("", rest)
        if reasons and not is_reason(reasons, label, known, is_marked=is_marked):
            return Found(start=start, end=end, label=value, fault="no_verdict")
    is_bare = is_first and not own[end:line_end].strip(_MARKDOWN + "\"'.")
    return replace(_graded(value, scale, (start, line_end)), is_bare=is_bare)


def _is_match(text: str, pattern: str, scale: Scale | None) -> bool:
    """Return whether a text is one match of a pattern, with a grade in it, and nothing else."""
    spans = timed_regex.spans(pattern, text)
    if len(spans) != 1 or spans[0][2] < 0:
        return False
    start, end, group_start, group_end = spans[0]
    around = (text[:start] + text[end:]).strip(" \t*.`")
    return not around and not _label_of(text[group_start:group_end], scale)[1]


def _continues(text: str, end: int) -> bool:
    """Return whether the word or number before this position continues after it."""
    if end >= len(text) or not text[end - 1].isalnum():
        return False
    following = text[end + 1 : end + 2]
    return text[end].isalnum() or text[end] == "_" or (text[end] in ".,/" and following.isalnum())


def _label_of(value: str, scale: Scale | None) -> tuple[str, str]:
    """Return the grade that a value spells, and its fault."""
    if scale is None:
        plain = re.fullmatch(r"\s*([+-]?\d{1,15}(?:\.\d{1,15})?)\s*", value)
        return (plain[1], "") if plain else (value.strip(), "out_of_range" if "/" in value else "no_verdict")
    try:
        label = scale.label_of(value)
    except OutOfRange as error:
        return str(error), "out_of_range"
    return (label, "") if label is not None else (value, "no_verdict")


def _graded(value: str, scale: Scale | None, span: tuple[int, int]) -> Found:
    label, fault = _label_of(value, scale)
    if fault:
        return Found(start=span[0], end=span[1], label=label, fault=fault)
    grade = Grade(label=label, score=float(label)) if scale is None else scale.grade(label)
    return Found(start=span[0], end=span[1], label=label, grade=grade)


class _DuplicateKeyError(ValueError):
    """An object that has its verdict twice, with different values."""


def json_reader(quoted: Quoted, key: str, grade_of: Callable[[object], Grade | None]) -> Read:
    """Return a reader of JSON objects with a key, alone on their lines or in a code fence.

    Args:
        quoted: The question, whose quoted texts are no verdicts.
        key: The key of the verdict; the value of ``explanation`` becomes the grade's explanation.
        grade_of: Makes a grade of the key's value; returns None where it has the wrong type, and raises `OutOfRange`
            where only the value is wrong.

    Raises:
        JudgeError: When it reads: ``empty``, ``no_verdict``, ``two_verdicts``, ``out_of_range``.
    """
    said = re.compile(rf"{re.escape(key)}\W{{1,8}}([\w.+-]+)")

    def says(text: str) -> set[str]:
        values = {match[1] for match in said.finditer(text)}
        return {_found_in({key: _json_word(value)}, key, grade_of, (0, 0)).label for value in values}

    form = VerdictFormat(
        find=lambda own: [_found_in(content, key, grade_of, span) for span, content in _objects(own, key)],
        says=says,
        holds=lambda text: key in text,
        asked_for=f'JSON object with "{key}"',
        is_json=True,
    )
    return lambda reply: read_verdict(reply, quoted, form)


def _found_in(
    content: Mapping[str, object] | None, key: str, grade_of: Callable[[object], Grade | None], span: tuple[int, int]
) -> Found:
    """Return the verdict of an object; `content` is None where the object has the key twice."""
    start, end = span
    if content is None:
        return Found(start=start, end=end, label=f"two values of {key}", fault="two_verdicts")
    value = content[key]
    try:
        grade = grade_of(value)
    except OutOfRange:
        return Found(start=start, end=end, label=repr(value)[:80], fault="out_of_range")
    if grade is None:
        return Found(start=start, end=end, label=repr(value)[:80], fault="no_verdict")
    text = content.get("explanation")
    explanation = text[:EXPLANATION_CHARACTERS_MAX] if isinstance(text, str) else ""
    grade = replace(grade, explanation=grade.explanation or explanation)
    return Found(start=start, end=end, label=grade.label, grade=grade)


def _objects(own: str, key: str) -> list[tuple[tuple[int, int], Mapping[str, object] | None]]:
    """Return the spans and contents of JSON objects with a key, alone on their lines; None: the key occurs twice.

    Where a reply starts more than `OBJECTS_MAX` objects, none counts.
    """
    found: list[tuple[tuple[int, int], Mapping[str, object] | None]] = []
    position = 0
    for n_tried, match in enumerate(re.finditer(r"(?m)^[ \t]*\{", own)):
        if n_tried >= OBJECTS_MAX:
            return []
        if match.start() < position:
            continue
        start = match.end() - 1
        try:
            content, end = _decoder(key).raw_decode(own, start)
        except _DuplicateKeyError:
            found.append(((start, start + 1), None))
            continue
        except (ValueError, RecursionError):
            continue
        position = end
        line_end = own.find("\n", end)
        if key in content and not own[end : line_end if line_end >= 0 else len(own)].strip():
            found.append(((start, end), content))
    return found


def _decoder(key: str) -> json.JSONDecoder:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        content = dict(pairs)
        values = [value for name, value in pairs if name == key]
        if len(values) > 1 and any(value != values[0] for value in values):
            raise _DuplicateKeyError
        return content

    return json.JSONDecoder(strict=False, object_pairs_hook=unique)


def _json_word(word: str) -> object:
    try:
        value: object = json.loads(word)
    except ValueError:
        return word
    return value
