"""Several formulas of a response that are one answer: "$x = 1$ or $x = -2$", "the roots are 1 and -2".

They become one word of the masked text, so that what speaks for or against an answer is looked for around all of them.
Two guesses ("5 or 7") stay apart; two ways to write one number become the first of them. Depends on
`nel.scoring.reading.formulas` for the masked text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.reading.formulas import WORD, Formula, Masked

_ITEM: Final = rf"(?:\\boxed\{{{WORD}\}}|{WORD}|[-−]?\d++(?:[.,/]\d++)*+)"
"""One formula; a number is taken whole, so that there is one way to read ``1,2,3,4``."""
_BULLET: Final = r"[.,;]?[^\S\n]*\n\s*(?:[-*•]|\d{1,2}[.)])[^\S\n]+[*_]*"
_JOINT: Final = (
    r"(?:[*_]*\s*[,;、，]\s*(?:(?:and|or)\s+)?[*_]*|[*_]*\s*\b(?:and|or|und|oder|et|ou|y|o|e|ed)\b\s+[*_]*|\s*[和或]\s*|"
    rf"{_BULLET})"
)
_RUN: Final = lazy_pattern(
    rf"(?<![\w\\.,/-])(?P<first>{_ITEM})(?:{_JOINT}{_ITEM}){{1,12}}(?=[\s*_$.。)\]]*(?:\Z|\n|[.。;；]\s))"
)
_ITEMS: Final = lazy_pattern(_ITEM)
_PLURAL: Final = lazy_pattern(
    r"""
    \b (?: solutions | roots | zeros | zeroes | answers | values | intercepts | x-intercepts | eigenvalues | numbers
      | integers | primes | points | pairs | lösungen | soluciones | raíces | racines | soluzioni | soluções )
    (?: \s [^.!?\n:]{0,60}? )? [*_]* (?: \s(?:are|sind|sont|son|sono|são) \b \s*:? | \s?: ) [\s*_]*
    (?: (?:[-*•]|\d{1,2}[.)])\s+ )? \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Words that introduce several solutions; one of several choices is no solution."""
_ANSWER: Final = lazy_pattern(r"\banswer\b[*_]*(?:\s+is|\s*:)[\s*_:]*\Z", re.IGNORECASE)
FIRST: Final = ""
"""Joins nothing: the first of two ways to write a number is the answer."""
_HEAD_MAX: Final = 120
_NAMED: Final = lazy_pattern(
    r"\s*(?P<name>[A-Za-z]|\\(?:theta|alpha|lambda))(?:_\{?\w{1,2}\}?)?\s*"
    r"(?P<sign>=|[<>≤≥]|\\(?:leq?|geq?|leqslant|geqslant|lt|gt)(?![a-z]))\s*[^=<>≤≥]+"
)
_MORE: Final = lazy_pattern(rf"{WORD}|\d")
"""What goes on after solutions that are not declared to be the answer: one of them may be left out."""
_OR: Final = lazy_pattern(r"\b(?:or|oder|ou|o)\b|或")
_OR_ABOUT: Final = lazy_pattern(
    rf"(?P<first>{WORD}),?\s(?:or|i\.e\.,?|that\sis,?)\s(?:about|approximately|roughly|around)\s(?:{WORD}|[\d.,]*\d)\s?(?:\\?%|percent)?"
)


class _Run(NamedTuple):
    """Formulas in a row, in the masked text, and what stands in their place."""

    start: int
    end: int
    word: str
    formula: Formula
    """Its place counts from the start of the word."""


def with_lists(hidden: Masked, text: str) -> Masked:
    """Return a masked text in which the formulas of one answer are one word.

    >>> from nel.scoring.reading.formulas import masked
    >>> text = "The roots of $f$ are not 1 and 2. Hence $x = 1$ or $x = 3$."
    >>> with_lists(masked(text), text).text
    'The roots of Xqzw are not 1 and 2. Hence Xqzw.'
    """
    runs = _runs(hidden, text)
    if not runs:
        return hidden
    written: list[str] = []
    formulas: list[Formula] = []
    parts: list[tuple[int, int]] = []
    size = place = 0
    for run in [*runs, None]:
        stop = len(hidden.text) if run is None else run.start
        shift = size - place
        parts.append((size, hidden.origin(place)))
        parts += [(start + shift, origin) for start, origin in hidden.parts if place < start < stop]
        formulas += [one._replace(place=one.place + shift) for one in hidden.formulas if place <= one.place < stop]
        written.append(hidden.text[place:stop])
        size += stop - place
        if run is not None:
            parts.append((size, run.formula.start))
            formulas.append(run.formula._replace(place=size + run.formula.place))
            written.append(run.word)
            size += len(run.word)
            place = run.end
    return Masked("".join(written), tuple(formulas), tuple(parts))


def _runs(hidden: Masked, text: str) -> list[_Run]:
    """Return the formulas in a row that are one answer, in order."""
    found = []
    for match in _RUN.finditer(hidden.text):
        spans = [_origin(hidden, item) for item in _ITEMS.finditer(hidden.text, *match.span())]
        items = [text[start:end] for start, end in spans]
        joint = _joint(hidden, match, items)
        spans = spans[:1] if joint == FIRST else spans
        if joint is not None:
            found.append(_run(match, spans, joint))
    for match in _OR_ABOUT.finditer(hidden.text):
        if not any(run.start < match.end() and match.start() < run.end for run in found):
            formula = hidden.within(match.start(), match.start() + 1)[0]
            found.append(_run(match, [(formula.start, formula.end)], FIRST))
    return sorted(found)


def _run(match: re.Match[str], spans: list[tuple[int, int]], joint: str) -> _Run:
    is_boxed = match["first"].startswith("\\")
    word = f"\\boxed{{{WORD}}}" if is_boxed else WORD
    formula = Formula(spans[0][0], spans[-1][1], word.index(WORD), tuple(spans), joint)
    return _Run(*match.span(), word, formula)


def _origin(hidden: Masked, item: re.Match[str]) -> tuple[int, int]:
    """Return where an item stands in the response."""
    found = hidden.within(*item.span())
    if found:
        return found[0].start, found[0].end
    start = hidden.origin(item.start())
    return start, start + len(item[0])


def _joint(hidden: Masked, match: re.Match[str], items: list[str]) -> str | None:
    """Return what joins formulas to one answer, or None where they are none."""
    if len(items) == 2 and _is_one_number(*items):  # noqa: PLR2004 - written in two ways
        return FIRST
    head = hidden.text[max(0, match.start() - _HEAD_MAX) : match.start()]
    is_declared = _is_answer(head, match)
    if not is_declared and _MORE.search(hidden.text, match.end()):
        return None
    named = [_NAMED.fullmatch(item) for item in items]
    names = {found["name"] for found in named if found is not None}
    bounds = [found for found in named if found is not None and found["sign"] != "="]
    is_less = {found["sign"][:1] in "<≤" or found["sign"].startswith("\\l") for found in bounds}
    is_choice = _OR.search(hidden.text, *match.span()) is not None
    if None not in named and len(names) == 1 and len(bounds) in (0, len(items)) and (not bounds or len(is_less) > 1):
        return ", " if not bounds else " \\text{ or } " if is_choice else " \\text{ and } "
    if named[0] is not None and named[1:] == [None] * (len(items) - 1) and not bounds and not is_choice:
        return ", "  # "x = 1 and 2"
    is_one_line = "\n" not in match[0]
    if any(named):
        return None
    if _PLURAL.search(head) or (is_one_line and not is_choice and " and " in match[0] and is_declared):
        return ", "
    return None


def _is_answer(head: str, match: re.Match[str]) -> bool:
    """Return whether formulas are declared together as the answer, each of them in a box or all behind the words."""
    return match["first"].startswith("\\") or _ANSWER.search(head) is not None


def _is_one_number(left: str, right: str) -> bool:
    """Return whether two formulas are one number: ``\\frac72`` and 3.5."""
    value = parse_number(left)
    return value is not None and value == parse_number(right)
