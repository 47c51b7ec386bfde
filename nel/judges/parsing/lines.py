"""Finds verdicts on lines such as ``GRADE: C``, in the form that was asked for or in one that is as clear.

The form that was asked for is the keyword, a colon and the grade, on a line of its own; a bullet, quotation marks,
brackets and reasons after the grade do no harm. Only where there is none, another keyword counts (``Verdict: C``,
``评分：C``), if it ends the reply. Depends on `nel.judges.parsing.scale` and `nel.judges.parsing.reasons`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from nel.judges.parsing.candidates import Found, VerdictFormat
from nel.judges.parsing.reasons import is_reason
from nel.judges.parsing.scale import LINE_MAX, OutOfRange, Scale

_REASONS_MAX: Final = 2_000
"""A longer line is ordinary text."""
_SHORT_MAX: Final = 12
"""A value of up to so many characters that is no grade is a verdict that cannot be read."""
_FULLWIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    0x2236: ":", 0xFE55: ":", 0x3000: " ", 0xA0: " ", 0x202F: " ", 0x3002: ".",
}  # fmt: skip
_TAGS: Final = re.compile(
    r"(?i)^(?:</?[a-z][\w-]{1,20}>\s*)+|(?:\s*</?[a-z][\w-]{1,20}>)+$|</?[bus]>|<\|[\w-]{1,40}\|>"
)
_KEYED_TAG: Final = re.compile(r"(?i)^<(grade|verdict|score|rating)>\s*(.*?)\s*</\1>$")
_LATEX: Final = re.compile(r"\\(?:boxed|text(?:bf|tt|it)?|math(?:rm|bf))\{")
_BULLET: Final = re.compile(r"^(?:[-+•·–—→►▪]\s+|\(?\d{1,2}[.)]\s+)")
_HEADING: Final = re.compile(r"^#{1,6}\s+")
_BRACKETS: Final = re.compile(r"^[\[({]{1,2}(?=\s*\w)(.*[^\s\])}])\s*[\])}]{1,2}$")
_OTHER_KEYS: Final = "|".join(
    [
        *("grade", "verdict", "rating", "score", r"judge?ment", "assessment", "evaluation"),
        *(
            "bewertung",
            "urteil",
            "wertung",
            r"note(?=\s+(?:finale\s+)?:)",
            "évaluation",
            "jugement",
            "calificación",
            "calificacion",
        ),
        *("puntuación", "veredicto", "evaluación", "valutazione", "giudizio", "voto", "avaliação", "nota", "veredito"),
        *("beoordeling", "oordeel", "ocena", "değerlendirme", "оценка", "вердикт", "评分", "等级", "评价", "评级"),
        *("判定", "評価", "評分", "等級", "등급", "평가", "판정", "التقييم"),
    ]
)
_LEAD: Final = r"""
    (?: (?:so|thus|therefore|hence|accordingly|consequently|overall|finally|in\s+conclusion) \b [,:]? \s* )?
    (?: i \s+ (?:therefore\s+)? conclude \b (?:\s+that)? [,:]? \s* )?
    (?: (?:the|my|our|your) \s+ )?
    (?: (?:final|overall|итоговая) \s+ | 最终 | 最終 | 总 )?
    (?: (?:answer|verdict|conclusion|result) \s* [:,]? \s* (?:is \s* :? \s*)? )?
"""
_SIGN: Final = r"\s* (?: [:=] | -> | [→⇒–—-] | (?:is|ist|est|es|è|é) \b \s* :? ) \s*"


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str
    """Without decoration."""


def line_form(scale: Scale, keyword: str) -> VerdictFormat:
    """Return the format of lines with a keyword, a colon and a grade."""
    key = re.escape(keyword)
    asked = re.compile(rf"(?:final\s+)?{key}\s*:(.*)", re.IGNORECASE)
    keys = rf"(?:{key}|{_OTHER_KEYS})(?:\s*(?:final|finale|globale?|结果|結果))?"
    # In lower case, and without a flag, the search for one of many words is several times faster.
    low_keys = keys.replace(key, re.escape(keyword.lower()), 1)
    other = re.compile(
        rf"(?: .{{1,1000}} [.!?。] \s+ (?={key}|final) )? {_LEAD} {keys} (?: {_SIGN} (?P<value>.*) | (?P<alone>) )",
        re.IGNORECASE | re.VERBOSE,
    )
    before_marks = re.compile(rf"{_LEAD} {keys} {_SIGN}", re.IGNORECASE | re.VERBOSE)
    between = re.compile(rf"{key}\s*:", re.IGNORECASE)
    holds = re.compile(rf"{low_keys}\s*[:：]")
    # Looks ahead, since the word after one keyword may be the next keyword.
    anywhere = re.compile(rf"{low_keys}(?=\W{{0,8}}(?:is\W{{1,4}})?(\w+(?:[ _-]\w+)?))")

    def find(own: str) -> list[Found]:
        found = []
        lines = _lines(own, keyword.lower())
        for place, line in enumerate(lines):
            match = asked.fullmatch(line.text)
            if match is None:
                continue
            value = match[1].strip()
            below = None if value else _grade_below(lines, place, scale)
            if below is not None:
                found.append(Found(start=line.start, end=below[1], label=below[0], grade=scale.grade(below[0])))
            else:
                found += _found_on(line, value, scale, between)
        return found

    def find_loosely(own: str) -> list[Found]:
        found = []
        lines = _lines(own, keyword.lower())
        for place, line in enumerate(lines):
            match = other.fullmatch(line.text)
            if match is None:
                continue
            value = (match["value"] or "").strip()
            below = None if value else _grade_below(lines, place, scale)
            if below is not None:
                found.append(Found(start=line.start, end=below[1], label=below[0], grade=scale.grade(below[0])))
            elif value:
                found += [one for one in _found_on(line, value, scale, between) if one.grade is not None]
        return found

    def says(text: str) -> set[str]:
        values = {match[1] for match in anywhere.finditer(unicodedata.normalize("NFKC", text).lower())}
        return {
            label
            for value in values
            for one in (value, re.split(r"[ _-]", value)[0])
            if (label := scale.known_label(one))
        }

    def is_grade_in_marks(before: str, inner: str) -> bool:
        return scale.known_label(inner.strip(" *.")) is not None and bool(before_marks.fullmatch(_undecorated(before)))

    return VerdictFormat(
        find=find,
        says=says,
        holds=lambda text: holds.search(text.lower()) is not None,
        asked_for=f'line "{keyword}: " and a grade',
        find_loosely=find_loosely,
        is_grade_in_marks=is_grade_in_marks,
    )


def _lines(own: str, keyword: str) -> list[_Line]:
    return list(_each_line(own, keyword))


def _each_line(own: str, keyword: str) -> Iterator[_Line]:
    """Yield the lines with text; one that cannot be a verdict, since it is long and lacks the keyword, has none."""
    start = 0
    for text in own.split("\n"):
        end = start + len(text)
        if text and not text.isspace():
            may_be_one = len(text) <= LINE_MAX or (len(text) <= _REASONS_MAX and keyword in text.lower())
            yield _Line(start, end, _undecorated(text) if may_be_one else "")
        start = end + 1


def _undecorated(line: str) -> str:
    """Return a line without marks of Markdown and HTML, bullets, brackets around it and its final period."""
    text = line.translate(_FULLWIDTH).replace("*", "").replace("\\_", "_")
    text = (_LATEX.sub("{", text) if "\\" in text else text).strip(" \t|`$")
    text = text.removeprefix("\\[").removesuffix("\\]").strip()
    if "<" in text:
        keyed = _KEYED_TAG.match(text)
        text = f"{keyed[1]}: {keyed[2]}" if keyed else _TAGS.sub("", text).strip()
    text = _BULLET.sub("", _HEADING.sub("", text))
    text = _HEADING.sub("", text)
    if text.startswith("__") and text.endswith("__"):
        text = text[2:-2].strip()
    text = text.removesuffix(".")
    while inside := _BRACKETS.match(text):
        text = inside[1].strip()
    return text


def _grade_below(lines: list[_Line], place: int, scale: Scale) -> tuple[str, int] | None:
    """Return the grade that is alone on the line below a keyword, and where that line ends."""
    if place + 1 >= len(lines):
        return None
    below = lines[place + 1]
    label = scale.known_label(below.text) if below.text else None
    return None if label is None else (label, below.end)


def _found_on(line: _Line, value: str, scale: Scale, between: re.Pattern[str]) -> list[Found]:
    """Return the candidate after a keyword; none where the line is ordinary text."""
    label, fault, is_bare = _grade_on_line(value, scale, between)
    if fault == "none":
        return []
    grade = None if fault else scale.grade(label)
    return [Found(start=line.start, end=line.end, label=label, grade=grade, fault=fault, is_bare=is_bare)]


def _grade_on_line(value: str, scale: Scale, between: re.Pattern[str]) -> tuple[str, str, bool]:
    """Return the label that follows the keyword, its fault (``none``: ordinary text), and whether it stands alone."""
    try:
        label = scale.label_of(value)
        if label is not None:
            return label, "", True
        head = None if between.search(value) else scale.head_of(value)
    except OutOfRange as error:
        return str(error), "out_of_range", True
    if head is not None and is_reason(head[1], head[0], scale):
        return head[0], "", not head[1].strip(" .")
    parts = [re.sub(r"^[\s,;/|]+|[\s,;/|]+$|\s+(?:or|and)$", "", part) for part in between.split(value[:LINE_MAX])]
    if len(parts) > 1 and all(scale.known_label(part) for part in parts):
        return value, "two_verdicts", True
    return (value, "no_verdict", True) if len(value) <= _SHORT_MAX else ("", "none", True)
