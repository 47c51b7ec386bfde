"""Finds verdicts in a judge's own words: in the form asked for, one of `forms.toml`, or alone.

docs/explanation/judging.md states the rule. Depends on `nel.judges.parsing.scale`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import chain
from operator import methodcaller
from typing import Final, NamedTuple

from nel.judges.parsing.own_words import QUOTED
from nel.judges.parsing.scale import LINE_MAX, OutOfRange, Scale
from nel.judges.types import Grade
from nel.reading.response import fold

_LINE_MAX: Final = 2_000
"""Characters after a keyword or a match that are its line."""
_SHORT_MAX: Final = 12
"""A value of up to so many characters that is not a grade is a verdict that cannot be read."""
_REASONS: Final = re.compile(
    r"\s*(?:$|[.,;:!。(\[{—–→-]|<[/|]|//?\s|(?:because|since|as|given|due\s+to)\b|"
    r"(?:is|as)\s+(?:\w+\s+){0,2}(?:better|best|winner|correct)\b)",
    re.IGNORECASE,
)
"""How reasons follow a grade on its line ("C, since it agrees", "A is better"); after other words it
is part of a sentence ("A response that ...").
"""
_REMARK: Final = re.compile(r"\s*\([^\n]*\)[\s.]*$")
"""A remark in parentheses up to the end of a line."""
_LIST: Final = re.compile(r"(?:[\s.,;:!/|()\[\]{}—–→>-]|\b(?:or|and)\b)+", re.IGNORECASE)
"""What stands between the grades where a line names several."""
_PUNCTUATION: Final = re.compile(r"\s*[.,;!—–-]")
_CLOSING_MARKS: Final = " \t)]}>*_`\"'”’»"
_BELOW: Final = re.compile(r"[ \t]*\n\s*")
"""The rest of a keyword's line where its value stands on the next one."""
_FILLER: Final = " \t*_`#>|$.\"'”“-•"
_start_of: Final = methodcaller("start")
_BULLET: Final = re.compile(r"[ \t]*(?:[-+•>#]+\s+|\(?\d{1,2}[.)]\s+)?")
"""What may stand before a grade that is alone on its line: ``- ``, ``## ``, ``2) ``."""


class VerdictCandidate(NamedTuple):
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

    find: Callable[[str], list[VerdictCandidate]]
    """Returns the candidates in the judge's own words."""
    asked_for: str
    """Names the format in error messages."""
    find_introduced: Callable[[str], list[VerdictCandidate]] | None = None
    """Returns those that something introduces, where `find` returns others too."""
    is_json: bool = False
    """Whether a verdict is a JSON object, which may stand in a fence and holds quotation marks."""

    def labels_in(self, text: str) -> set[str]:
        """Return the grades that a quoted text introduces, which a judge may repeat."""
        candidates = (self.find_introduced or self.find)(text)
        return {candidate.label for candidate in candidates if candidate.grade is not None}

    def is_verdict(self, text: str) -> bool:
        """Return whether a quoted text is nothing but a verdict."""
        candidates = self.find(text)
        is_single = len(candidates) == 1 and candidates[0].grade is not None and "\n" not in text
        return is_single and not text[: candidates[0].start].strip(_FILLER)


@cache
def _rows(form: str) -> tuple[re.Pattern[str], ...]:
    table = tomllib.loads((files("nel.judges.parsing") / "forms.toml").read_text(encoding="utf-8"))
    return tuple(
        re.compile(row["pattern"], re.IGNORECASE) for row in table["row"] if row["form"] == form
    )


def line_form(scale: Scale, keyword: str) -> VerdictFormat:
    """Return the format of replies to a prompt that asks for a keyword, a colon and a grade."""
    keyword_pattern = re.compile(rf"(?<!\w){re.escape(keyword)}\s*:", re.IGNORECASE)

    def candidates_in(text: str) -> list[VerdictCandidate]:
        candidates = list(_introduced_candidates(text, (keyword_pattern,), scale))
        return candidates or _with_grade(_introduced_candidates(text, _rows("declared"), scale))

    def find(words: str) -> list[VerdictCandidate]:
        # From the strongest form to the weakest: a form counts where no stronger one occurs.
        text = _plain(words)
        return (
            candidates_in(text)
            or _alone(text, scale)
            or _with_grade(_introduced_candidates(text, _rows("phrase"), scale))
        )

    return VerdictFormat(
        find=find,
        asked_for=f'line "{keyword}: " and a grade',
        find_introduced=lambda words: candidates_in(_plain(words)),
    )


def _with_grade(candidates: Iterable[VerdictCandidate]) -> list[VerdictCandidate]:
    return [candidate for candidate in candidates if candidate.grade is not None]


def _plain(words: str) -> str:
    """Return a text of the same length without emphasis and with plain characters."""
    text = fold(words)
    # The length stays, so that the spans of matches are those of the reply itself.
    if "\\_" in text:
        text = text.replace("\\_", " _")
    for mark in ("**", "__", "*", "`"):
        if mark in text:
            text = text.replace(mark, " " * len(mark))
    return text


def _introduced_candidates(
    text: str, patterns: Iterable[re.Pattern[str]], scale: Scale
) -> Iterator[VerdictCandidate]:
    matches = chain.from_iterable(map(methodcaller("finditer", text), patterns))
    for match in sorted(matches, key=_start_of):
        start, stop = match.span("value") if match.re.groups else _value_span(text, match)
        value = text[start:stop].strip()
        label, fault = read_value(value, scale)
        end = max(match.end(), start + len(text[start:stop].rstrip()))
        if not fault:
            yield VerdictCandidate(match.start(), end, label, scale.grade(label))
        # "GRADE: X" is a verdict that cannot be read; a long text after the keyword is none.
        elif fault == "out_of_range" or len(value) <= _SHORT_MAX:
            yield VerdictCandidate(match.start(), end, label, fault=fault)


def _value_span(text: str, match: re.Match[str]) -> tuple[int, int]:
    """Return what follows a keyword on its line, or the next line, up to the next keyword."""
    line_break = _BELOW.match(text, match.end())
    start = line_break.end() if line_break else match.end()
    stop = line_end(text, start)
    next_keyword = match.re.search(text, start, stop)
    return start, next_keyword.start() if next_keyword else stop


def read_value(value: str, scale: Scale) -> tuple[str, str]:
    """Return the grade with which a value begins, and its fault where it is not a grade."""
    try:
        label = scale.label_of(value)
        stated = None if label is not None else scale.stated_grade(value)
    except OutOfRange as error:
        return str(error), "out_of_range"
    if label is not None:
        return label, ""
    if stated is not None and _ends_grade(stated.tail, stated.label, scale):
        return stated.label, ""
    return value, "no_verdict"


def _ends_grade(tail: str, label: str, scale: Scale) -> bool:
    """Return whether what follows a grade on its line gives reasons: not "or I", "in style"."""
    items = [item for item in _LIST.split(tail[:LINE_MAX]) if item]
    if items and len(tail) <= LINE_MAX:
        labels = {_label_of(item, scale) for item in items}
        if None not in labels:
            return labels == {label}
    return _REASONS.match(tail.lstrip(_CLOSING_MARKS)) is not None


def _label_of(text: str, scale: Scale) -> str | None:
    try:
        return scale.label_of(text)
    except OutOfRange:
        return None


def _alone(text: str, scale: Scale) -> list[VerdictCandidate]:
    """Return the verdicts of first and last line, a grade alone or beginning with its word."""
    first_line = len(text) - len(text.lstrip(" \t\n" + QUOTED))
    stop = len(text.rstrip(" \t\n" + QUOTED))
    last_line = text.rfind("\n", 0, stop) + 1
    candidates = []
    for start in sorted({first_line, max(first_line, last_line)}):
        bullet = _BULLET.match(text, start)
        begin = bullet.end() if bullet else start
        line = text[begin : min(line_end(text, begin), begin + LINE_MAX)]
        try:
            label = _grade_alone(line, scale, is_opening=start == first_line)
        except OutOfRange:
            continue
        if label is not None:
            candidates.append(VerdictCandidate(start, begin + len(line), label, scale.grade(label)))
    return candidates


def _grade_alone(line: str, scale: Scale, *, is_opening: bool) -> str | None:
    label = scale.label_of(line)
    if label is not None:
        return label
    stated = scale.stated_grade(line)
    if stated is None:
        return None
    # "C (it agrees)" on either line; "Correct. The answer is 4." opens a reply.
    is_before_remark = _REMARK.match(stated.tail)
    is_first_word = is_opening and stated.is_word and _PUNCTUATION.match(stated.tail)
    if not (is_before_remark or is_first_word):
        return None
    return stated.label if _ends_grade(stated.tail, stated.label, scale) else None


def line_end(text: str, start: int) -> int:
    """Return where the line of a position ends."""
    stop = min(start + _LINE_MAX, len(text))
    end = text.find("\n", start, stop)
    return end if end >= 0 else stop
