"""Finds where a response declares its answer, and the stretch that each declaration opens.

Depends on `nel.reading.response` for the text, and on `nel.reading.table`: a new form is a row of
the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from nel.reading.clauses import after_denial
from nel.reading.response import Answer
from nel.reading.table import FormRow, rows
from nel.reading.types import Form

_STRENGTHS: Final = ("strong", "plain")
_LOOKED_AT_MAX: Final = 64
"""Declarations of one row that are looked at, from the end."""
_NEEDS_MAX: Final = 1_000
"""Sets of texts in responses whose rows are remembered."""
_BEFORE_MAX: Final = 40
"""Characters of a match before the text that its row needs; the search begins there."""
_CONTENT_MAX: Final = 20_000
"""Characters of a tag or a box."""
# The rest of a line without a word, such as "**", after which the answer stands on a line below.
_BLANK: Final = re.compile(r"[^\S\n]*(?:[:*_#>\"'.…-]{1,9}[^\S\n]*)?\n\s*")
_QUESTION: Final = re.compile(r"[^\n]{1,300}\?[^\S\n]*(?=\n)")
"""The question again, after a marker: "Final answer: How is Ann related to Bob?"."""
_MARKER_AS_TEXT: Final = re.compile(r"\\(?:text|math)[a-z]*\s?\{[^{}\n]{0,40}\Z")
"""A marker within a formula: ``\\text{Answer: } 7``."""
_CLOSING_BRACE: Final = re.compile(r"[^\S\n]*\}")
_QUOTED_BLOCK: Final = re.compile(r"\s*(?P<mark>\"\"\"|'''|```)\w*[^\S\n]*\n?")


class Declaration(NamedTuple):
    """A place where a response says that its answer follows."""

    form: Form
    start: int
    stop: int
    """The stretch that holds the answer."""
    begin: int
    """Where what introduces it begins."""
    row: FormRow | None = None
    """What introduces it; None where the prompt asks for the form."""
    is_asked: bool = False
    """Whether the prompt asks for this form."""
    is_below: bool = False
    """Whether the stretch stands on a line below what introduces it."""


def declarations(response: Answer) -> Iterator[Declaration]:
    """Yield the declarations of a response: asked, strong, plain; of each the last first."""
    asked_form = response.asked
    if asked_form is not None:
        for match in reversed(list(asked_form.pattern.finditer(response.text))[-_LOOKED_AT_MAX:]):
            if asked_form.form is Form.ASKED:
                if match[1] is not None:
                    yield Declaration(asked_form.form, *match.span(1), match.start(), is_asked=True)
            elif declaration := _declaration(response, asked_form.form, match, None, is_asked=True):
                yield declaration
        if asked_form.is_strict:
            return
    # Most rows of the table cannot match a response, since a text that they need does not occur:
    # which rows can is looked up by the texts that do occur, and only those are searched.
    low = response.low
    needs = tuple(filter(low.__contains__, _needs(low.isascii())))
    for rows_of_strength in _rows_needing(needs):
        places = [
            (row, match)
            for row, row_needs in rows_of_strength
            for match in _matches(row, row_needs, low)
        ]
        if len(places) > 1:
            places.sort(key=lambda position: position[1].end(), reverse=True)
        for row, match in places:
            declaration = _declaration(response, row.form, match, row, is_asked=False)
            if declaration is not None:
                yield declaration


def _matches(row: FormRow, needs: Iterable[str], low: str) -> list[re.Match[str]]:
    """Return the last matches of a row; before the first text that it needs there is none."""
    first_need = min(map(low.find, needs))
    return list(row.pattern.finditer(low, max(0, first_need - _BEFORE_MAX)))[-_LOOKED_AT_MAX:]


@cache
def _rows_of(strength: str) -> tuple[FormRow, ...]:
    return tuple(row for row in rows() if row.strength == strength)


@lru_cache(maxsize=_NEEDS_MAX)
def _rows_needing(
    needs: tuple[str, ...],
) -> tuple[tuple[tuple[FormRow, frozenset[str]], ...], ...]:
    """Return the rows that need one of some texts, each with those that it needs: the strong ones
    and the plain ones, where there are any.
    """
    rows_by_strength = (
        tuple(
            (row, row_needs)
            for row in _rows_of(strength)
            if (row_needs := frozenset(needs).intersection(row.needs))
        )
        for strength in _STRENGTHS
    )
    return tuple(filter(None, rows_by_strength))


@cache
def _needs(is_ascii: bool) -> tuple[str, ...]:
    """Return the texts that rows of forms need, for an ASCII response those of ASCII."""
    texts = dict.fromkeys(text for row in rows() if row.strength for text in row.needs)
    return tuple(text for text in texts if text.isascii() or not is_ascii)


def named_in(response: Answer, kind: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield where a stretch names an answer of a kind in words of the table: "B is correct"."""
    for row in _rows_of(""):
        if row.kind == kind and any(text in response.low for text in row.needs):
            for match in row.pattern.finditer(response.low, start, stop):
                yield match.span("value")


def _declaration(
    response: Answer,
    form: Form,
    match: re.Match[str],
    row: FormRow | None,
    *,
    is_asked: bool,
) -> Declaration | None:
    text, is_below = response.text, False
    begin, start = match.span()
    if form is Form.BOX:
        closing = closing_brace(text, start)
        if closing is None:
            return None
        stop = closing
    elif match[0].startswith("<"):
        stop = text.find("</", start, start + _CONTENT_MAX)
        if stop < 0:  # a tag that is never closed ends with its line
            stop = line_end(text, start)
    elif form is Form.FIELD:
        stop = field_end(text, start)
    else:
        after_marker = _after_marker(response, form, start)
        start, stop = introduced_span(response, after_marker)
        is_below = "\n" in text[after_marker:start]
    return Declaration(form, start, stop, begin, row, is_asked, is_below)


def _after_marker(response: Answer, form: Form, start: int) -> int:
    """Return where a text goes on after a marker or phrase: past what it denies, the end of its
    brace, and the question that it repeats.
    """
    text = response.text
    if form is Form.PHRASE:
        start = after_denial(response.low, start)
    brace = _CLOSING_BRACE.match(text, start)
    if brace is not None and _MARKER_AS_TEXT.search(text, max(0, start - _BEFORE_MAX), start):
        start = brace.end()
    question = _QUESTION.match(text, start) if form is Form.MARKER else None
    return start if question is None else question.end()


def introduced_span(response: Answer, start: int) -> tuple[int, int]:
    """Return the stretch after a marker: the rest of its line, or the line or block below."""
    text = response.text
    block = _QUOTED_BLOCK.match(text, start)
    if block is not None:
        stop = text.find(block["mark"], block.end())
        return block.end(), stop if stop >= 0 else len(text)
    blank = _BLANK.match(text, start)
    if blank is not None:
        start = blank.end()
    return start, line_end(text, start)


def line_end(text: str, start: int) -> int:
    """Return where the line at a place ends."""
    stop = text.find("\n", start)
    return stop if stop >= 0 else len(text)


def closing_brace(text: str, start: int) -> int | None:
    """Return where the brace closes that was opened before a place, or None."""
    depth = 1
    for match in _BRACES.finditer(text, start, start + _CONTENT_MAX):
        depth += 1 if match[0] == "{" else -1 if match[0] == "}" else 0
        if depth == 0:
            return match.start()
    return None


_BRACES: Final = re.compile(r"\\[{}]|[{}]")
# A string of JSON, also of JSON within a string (``\\"text\\"``), or in single quotes as Python
# writes it. It ends at the quote before a comma, a bracket or the line's end, since models do not
# escape the quotes within it.
_FIELD_STRING: Final = re.compile(
    r"(?P<escape>\\)?(?P<quote>[\"'])(?:[^\\]|\\[^\"'])*?(?:\\(?P=quote)(?:[^\\]|\\[^\"'])*?)*?(?(escape)\\)(?P=quote)(?=\s*(?:[,}\]]|\Z|\n))"
)
_FIELD_MARK: Final = re.compile(r"[\[{(\]})\n]|,(?=\s)")


def field_end(text: str, start: int) -> int:
    """Return where the value of a JSON field ends: a quoted string, a bracketed value or a word."""
    string = _FIELD_STRING.match(text, start)
    if string is not None:
        return string.end()
    depth = 0
    for mark in _FIELD_MARK.finditer(text, start, start + _CONTENT_MAX):
        if mark[0] in "[{(":
            depth += 1
        elif depth == 0:
            return mark.start()
        elif mark[0] in "]})":
            depth -= 1
    return len(text)
