"""Finds verdicts in a judge's own words: in the form that was asked for, in those of `forms.toml`,
or alone on a line.

docs/explanation/judging.md states the rule. Depends on `nel.judges.parsing.scale` and
`nel.reading.response`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from nel.judges.parsing.own_words import QUOTED
from nel.judges.parsing.scale import LINE_MAX, OutOfRange, Scale
from nel.judges.types import Grade
from nel.reading.response import folded

_VALUE_MAX: Final = 2_000
"""Characters after a keyword that are its line."""
_SHORT_MAX: Final = 12
"""A value of up to so many characters that is not a grade is a verdict that cannot be read."""
_REASONS: Final = re.compile(
    r"\s*(?:$|[.,;:!。(\[{—–→-]|<[/|]|//?\s|(?:because|since|as|given|due\s+to)\b|"
    r"(?:is|as)\s+(?:\w+\s+){0,2}(?:better|best|winner|correct)\b)",
    re.IGNORECASE,
)
"""How reasons follow a grade on its line; after other words it is part of a sentence."""
_REMARK: Final = re.compile(r"\s*\([^\n]*\)[\s.]*$")
"""A remark in parentheses up to the end of a line."""
_LIST: Final = re.compile(r"(?:[\s.,;:!/|()\[\]{}—–→>-]|\b(?:or|and)\b)+", re.IGNORECASE)
"""What stands between the grades where a line names several."""
_PUNCTUATION: Final = re.compile(r"\s*[.,;!—–-]")
_CLOSING_MARKS: Final = " \t)]}>*_`\"'”’»"
_BELOW: Final = re.compile(r"[ \t]*\n\s*")
_FILLER: Final = " \t*_`#>|$.\"'”“-•"
_BULLET: Final = re.compile(r"[ \t]*(?:[-+•>#]+\s+|\(?\d{1,2}[.)]\s+)?")


class Candidate(NamedTuple):
    """A verdict in a reply, or what stands in its place."""

    start: int
    end: int
    label: str
    """The grade, or the text in its place."""
    grade: Grade | None = None
    fault: str = ""
    """The kind of fault where it is not a grade, else empty."""


@dataclass(frozen=True, slots=True)
class VerdictFormat:
    """How the verdicts of a question are found."""

    find: Callable[[str], list[Candidate]]
    """Returns the candidates in the judge's own words."""
    labels_in: Callable[[str], set[str]]
    """Returns the labels of verdicts that a quoted text introduces itself, so that a judge may
    repeat them.
    """
    asked_for: str
    """Names the format in error messages."""
    is_verdict: Callable[[str], bool] = lambda text: False
    """Returns whether a quoted text is nothing but a verdict."""
    is_json: bool = False
    """Whether a verdict is a JSON object, which may stand in a fence and holds quotation marks."""


class Row(NamedTuple):
    """One row of the table."""

    needs: tuple[str, ...]
    pattern: re.Pattern[str]


@cache
def _rows(form: str) -> tuple[Row, ...]:
    """Return the rows of a form of the table."""
    table = tomllib.loads((files("nel.judges.parsing") / "forms.toml").read_text(encoding="utf-8"))
    return tuple(
        Row(tuple(row["needs"]), re.compile(row["pattern"], re.IGNORECASE))
        for row in table["row"]
        if row["form"] == form
    )


def line_form(scale: Scale, keyword: str) -> VerdictFormat:
    """Return the format of replies to a prompt that asks for a keyword, a colon and a grade."""
    asked = [
        Row((keyword.lower(),), re.compile(rf"(?<!\w){re.escape(keyword)}\s*:", re.IGNORECASE))
    ]

    def declared(plain: str) -> list[Candidate]:
        return list(_introduced(plain, asked, scale)) or _graded(
            _introduced(plain, _rows("declared"), scale)
        )

    def find(own: str) -> list[Candidate]:
        plain = _plain(own)
        return (
            declared(plain)
            or _alone(plain, scale)
            or _graded(_introduced(plain, _rows("phrase"), scale))
        )

    def is_verdict(text: str) -> bool:
        plain = _plain(text)
        candidates = declared(plain) or _alone(plain, scale)
        is_single = len(candidates) == 1 and candidates[0].grade is not None and "\n" not in text
        return is_single and not plain[: candidates[0].start].strip(_FILLER)

    return VerdictFormat(
        find=find,
        labels_in=lambda text: {candidate.label for candidate in _graded(declared(_plain(text)))},
        asked_for=f'line "{keyword}: " and a grade',
        is_verdict=is_verdict,
    )


def _graded(candidates: Iterable[Candidate]) -> list[Candidate]:
    return [candidate for candidate in candidates if candidate.grade is not None]


def _plain(own: str) -> str:
    """Return a text of the same length without emphasis and with plain characters."""
    text = folded(own)
    if "\\_" in text:
        text = text.replace("\\_", " _")
    for mark in ("**", "__", "*", "`"):
        if mark in text:
            text = text.replace(mark, " " * len(mark))
    return text


def _introduced(plain: str, rows: Iterable[Row], scale: Scale) -> Iterator[Candidate]:
    """Yield the candidates that rows introduce, in their order."""
    low = plain.lower()
    matches = [
        match
        for row in rows
        if any(text in low for text in row.needs)
        for match in row.pattern.finditer(plain)
    ]
    matches.sort(key=lambda match: match.start())
    for match in matches:
        start, stop = match.span("value") if match.re.groups else _rest_of_line(plain, match)
        value = plain[start : min(stop, start + _VALUE_MAX)].strip()
        label, fault = _value(value, scale)
        end = max(match.end(), start + len(plain[start:stop].rstrip()))
        if not fault:
            yield Candidate(match.start(), end, label, scale.grade(label))
        elif fault == "out_of_range" or len(value) <= _SHORT_MAX:
            yield Candidate(match.start(), end, label, fault=fault)


def _rest_of_line(plain: str, match: re.Match[str]) -> tuple[int, int]:
    """Return the stretch between a keyword and the next one or the end of its line; the next line
    where it is empty.
    """
    below = _BELOW.match(plain, match.end())
    start = below.end() if below else match.end()
    stop = _line_end(plain, start)
    following = match.re.search(plain, start, stop)
    return start, following.start() if following else stop


def _value(value: str, scale: Scale) -> tuple[str, str]:
    """Return the grade with which a value begins, and its fault where it is not a grade."""
    try:
        label = scale.label_of(value)
        stated = None if label is not None else scale.stated(value)
    except OutOfRange as error:
        return str(error), "out_of_range"
    if label is not None:
        return label, ""
    is_clear = stated is not None and ends_grade(stated.rest, stated.label, scale)
    return (stated.label, "") if stated is not None and is_clear else (value, "no_verdict")


def ends_grade(rest: str, label: str, scale: Scale | None) -> bool:
    """Return whether the rest of a grade's line only gives reasons: it is not "or I",
    "(incorrect)", "in style".
    """
    others = [item for item in _LIST.split(rest[:LINE_MAX]) if item]
    if scale is not None and others and len(rest) <= LINE_MAX:
        labels = {_label_of(item, scale) for item in others}
        if None not in labels:
            return labels == {label}
    return _REASONS.match(rest.lstrip(_CLOSING_MARKS)) is not None


def _label_of(text: str, scale: Scale) -> str | None:
    try:
        return scale.label_of(text)
    except OutOfRange:
        return None


def _alone(plain: str, scale: Scale) -> list[Candidate]:
    """Return the verdicts of the first and the last line: each is a grade alone, or begins with the
    word of one.
    """
    first = len(plain) - len(plain.lstrip(" \t\n" + QUOTED))
    stop = len(plain.rstrip(" \t\n" + QUOTED))
    last = plain.rfind("\n", 0, stop) + 1
    candidates = []
    for start in sorted({first, max(first, last)}):
        bullet = _BULLET.match(plain, start)
        begin = bullet.end() if bullet else start
        line = plain[begin : min(_line_end(plain, begin), begin + LINE_MAX)]
        try:
            label = _grade_alone(line, scale, is_opening=start == first)
        except OutOfRange:
            continue
        if label is not None:
            candidates.append(Candidate(start, begin + len(line), label, scale.grade(label)))
    return candidates


def _grade_alone(line: str, scale: Scale, *, is_opening: bool) -> str | None:
    label = scale.label_of(line)
    if label is not None:
        return label
    stated = scale.stated(line)
    if stated is None:
        return None
    is_alone = _REMARK.match(stated.rest) or (
        is_opening and stated.is_word and _PUNCTUATION.match(stated.rest)
    )
    return stated.label if is_alone and ends_grade(stated.rest, stated.label, scale) else None


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return end if end >= 0 else len(text)
