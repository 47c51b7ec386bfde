"""Verdicts in other formats than a line with a grade: found by a user's pattern, or as a JSON
object.

Both follow the rule of `nel.judges.parsing.verdict`, on which this module depends. A pattern such
as ``GRADE: (\\d)`` matches the first digit of 10 and of 8/10; a match therefore counts only if its
group ends a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from nel.core import timed_regex
from nel.errors import JudgeError, ScorerError
from nel.judges.parsing.forms import Candidate, VerdictFormat, ends_grade
from nel.judges.parsing.own_words import plain_lines
from nel.judges.parsing.scale import OutOfRange, Scale
from nel.judges.parsing.verdict import EXPLANATION_CHARACTERS_MAX, read_verdict
from nel.judges.quoting import Quoted
from nel.judges.types import Grade, Read

OBJECTS_MAX: Final = 1_000
"""A reply with more objects has no verdict: each costs an attempt to parse it."""
_GRADE_KEYS: Final = ("grade", "score", "rating", "verdict")
_WORDS_MAX: Final = 3
_REST_MAX: Final = 2_000
"""Characters on the line of a match that are read for reasons."""
_OUT_OF: Final = re.compile(r"\s*(?:/|out of)\s*(\d+)")
_GOES_ON: Final = re.compile(r"[^\W_]|_|[.,/][^\W_]")
_WORD: Final = re.compile(r"[\w./-]*")
_PLAIN_NUMBER: Final = re.compile(r"\s*([+-]?\d{1,15}(?:\.\d{1,15})?)\s*")
_ANY_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\.?")
_OBJECT: Final = re.compile(r"(?m)^[ \t]*\{")


def pattern_reader(
    quoted: Quoted, pattern: str, scale: Scale | None = None, *, prefix: str = ""
) -> Read:
    """Return a reader of the verdict that a pattern finds.

    Args:
        quoted: The question, whose quoted texts are no verdicts.
        pattern: Its first group, or else all of it, is the grade.
        scale: None: the grade must be a number and is its own score.
        prefix: The end of the prompt where the pattern starts with it: then a reply that is only
            the grade counts.

    Raises:
        DatasetError: When it reads: the pattern is not a regular expression.
        JudgeError: When it reads: ``empty``, ``no_verdict``, ``two_verdicts``, ``out_of_range``.
    """

    def find(own: str) -> list[Candidate]:
        spans = timed_regex.spans(pattern, own)
        return [candidate for span in spans if (candidate := _candidate(own, span, scale))]

    def is_verdict(text: str) -> bool:
        candidates = find(text)
        return len(candidates) == 1 and candidates[0].end - candidates[0].start >= len(
            text.strip(" \t*.`")
        )

    form = VerdictFormat(
        find=find,
        labels_in=lambda text: {candidate.label for candidate in find(text)},
        asked_for="match of the grade's pattern",
        is_verdict=is_verdict,
    )

    def read(reply: str) -> Grade:
        try:
            return read_verdict(_completed(reply, prefix, form), quoted, form)
        except JudgeError as error:
            raise JudgeError(str(error), kind=error.kind, reply=reply) from error
        except ScorerError as error:
            raise JudgeError(
                f"the judge's reply cannot be searched: {error}", reply=reply
            ) from error

    return read


def _completed(reply: str, prefix: str, form: VerdictFormat) -> str:
    bare = plain_lines(reply).strip(" \t\n*#_.`~")
    return (
        f"{prefix} {bare}"
        if prefix and bare and "\n" not in bare and not form.labels_in(bare)
        else reply
    )


def _candidate(own: str, span: tuple[int, int, int, int], scale: Scale | None) -> Candidate | None:
    start, end, group_start, group_end = span
    if group_start < 0 or group_start == group_end:
        return None
    if start and own[start - 1].isalnum() and own[start].isalnum():
        return None  # the match starts inside a word
    value = own[group_start:group_end]
    out_of = _OUT_OF.match(own, group_end)
    if out_of:  # "8/10" is one value: the pattern may have matched the 8 alone
        return _graded(own[group_start : out_of.end()], scale, (start, out_of.end()))
    if value[-1].isalnum() and _GOES_ON.match(own, group_end):
        word = _WORD.match(own, group_end)
        whole = value + (word[0] if word else "")
        is_number = _ANY_NUMBER.fullmatch(whole)
        return Candidate(
            start, end, whole[:80], fault="out_of_range" if is_number else "no_verdict"
        )
    is_marked = end > group_end and not own[end - 1].isalnum()
    line_end = own.find("\n", end, end + _REST_MAX)
    rest = own[group_end : line_end if line_end >= 0 else min(len(own), end + _REST_MAX)]
    if not is_marked and not ends_grade(rest, _label_of(value, scale)[0], scale):
        return Candidate(start, end, value, fault="no_verdict")
    return _graded(value, scale, (start, end))


def _label_of(value: str, scale: Scale | None) -> tuple[str, str]:
    """Return the grade that a value spells, and its fault."""
    if scale is None:
        plain = _PLAIN_NUMBER.fullmatch(value)
        return (
            (plain[1], "")
            if plain
            else (value.strip(), "out_of_range" if "/" in value else "no_verdict")
        )
    try:
        label = scale.label_of(value)
    except OutOfRange as error:
        return str(error), "out_of_range"
    return (label, "") if label is not None else (value, "no_verdict")


def _graded(value: str, scale: Scale | None, span: tuple[int, int]) -> Candidate:
    label, fault = _label_of(value, scale)
    if fault:
        return Candidate(*span, label, fault=fault)
    return Candidate(
        *span,
        label,
        Grade(label=label, score=float(label)) if scale is None else scale.grade(label),
    )


class _DuplicateKeyError(ValueError):
    """An object that has its verdict twice, with different values."""


def json_reader(quoted: Quoted, key: str, grade_of: Callable[[object], Grade | None]) -> Read:
    """Return a reader of JSON objects with a key, alone on their lines or in a code fence.

    Args:
        quoted: The question, whose quoted texts are no verdicts.
        key: The key of the verdict; the value of ``explanation`` becomes the grade's explanation.
        grade_of: Makes a grade of the key's value; returns None where it has the wrong type, and
            raises `OutOfRange` where only the value is wrong.

    Raises:
        JudgeError: When it reads: ``empty``, ``no_verdict``, ``two_verdicts``, ``out_of_range``.
    """

    def find(own: str) -> list[Candidate]:
        return [_of_object(content, key, grade_of, span) for span, content in _objects(own, key)]

    form = VerdictFormat(
        find=find,
        labels_in=lambda text: {candidate.label for candidate in find(text)},
        asked_for=f'JSON object with "{key}"',
        is_json=True,
    )
    return lambda reply: read_verdict(reply, quoted, form)


def _of_object(
    content: Mapping[str, object] | None,
    key: str,
    grade_of: Callable[[object], Grade | None],
    span: tuple[int, int],
) -> Candidate:
    """Return the verdict of an object; `content` is None where the object has the key twice."""
    if content is None:
        return Candidate(*span, f"two values of {key}", fault="two_verdicts")
    value = content[key]
    try:
        grade = grade_of(value)
    except OutOfRange:
        return Candidate(*span, repr(value)[:80], fault="out_of_range")
    if grade is None:
        return Candidate(*span, repr(value)[:80], fault="no_verdict")
    text = content.get("explanation")
    explanation = text[:EXPLANATION_CHARACTERS_MAX] if isinstance(text, str) else ""
    return Candidate(
        *span, grade.label, replace(grade, explanation=grade.explanation or explanation)
    )


def _objects(own: str, key: str) -> list[tuple[tuple[int, int], Mapping[str, object] | None]]:
    """Return the spans and contents of JSON objects with a key, alone on their lines; None: the key
    occurs twice.

    Where a reply starts more than `OBJECTS_MAX` objects, none counts.
    """
    objects: list[tuple[tuple[int, int], Mapping[str, object] | None]] = []
    position = 0
    for n_tried, match in enumerate(_OBJECT.finditer(own)):
        if n_tried >= OBJECTS_MAX:
            return []
        if match.start() < position:
            continue
        start = match.end() - 1
        try:
            content, end = _decoder([key]).raw_decode(own, start)
        except _DuplicateKeyError:
            objects.append(((start, start + 1), None))
            continue
        except (ValueError, RecursionError):
            continue
        position = end
        line_end = own.find("\n", end)
        if key in content and not own[end : line_end if line_end >= 0 else len(own)].strip():
            objects.append(((start, end), content))
    return objects


def _decoder(keys: Sequence[str]) -> json.JSONDecoder:
    """Return a decoder that refuses an object with two values under one of some keys, whatever its
    case.
    """

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        for key in keys:
            values = [value for name, value in pairs if name.casefold() == key.casefold()]
            if any(value != values[0] for value in values[1:]):
                raise _DuplicateKeyError(f'it has "{key}" twice, with different values')
        return dict(pairs)

    return json.JSONDecoder(strict=False, object_pairs_hook=unique)


def json_grade_of(reply: str) -> str:
    """Return the grade in a reply that is one JSON object, with or without a code fence.

    Raises:
        JudgeError: It is no such object, or has no ``grade``, ``score``, ``rating`` or ``verdict``.

    >>> json_grade_of('{"reason": "right", "grade": "C"}')
    'C'
    """
    text = reply.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0].strip()
    try:
        content = _decoder(_GRADE_KEYS).decode(text)
    except (ValueError, RecursionError) as error:
        raise JudgeError(f"the judge's reply is not JSON: {error}", reply=reply) from error
    grades = (
        [content[key] for key in _GRADE_KEYS if key in content] if isinstance(content, dict) else []
    )
    if len(grades) != 1 or isinstance(grades[0], (dict, list, bool)) or grades[0] is None:
        raise JudgeError(
            f"the judge's JSON has no single {', '.join(_GRADE_KEYS[:-1])} or verdict", reply=reply
        )
    return str(grades[0])


def may_hold_verdict(prompt: str, reply: str) -> bool:
    """Return whether a reply could hold a verdict of some form, apart from what it repeats of the
    prompt.

    >>> may_hold_verdict("Right or wrong?", "wrong"), may_hold_verdict("Right or wrong?", "I am not able to say that.")
    (True, False)
    """
    own = reply.replace(prompt.strip(), "").strip()
    # One to three words may be a grade; longer replies need a digit, or the punctuation of a key
    # with a value.
    is_short = len(own.split()) <= _WORDS_MAX
    may_hold_one = any(mark in own for mark in ":{}[]=") or any(map(str.isdigit, own))
    return bool(own) and (is_short or (may_hold_one and own not in prompt))
