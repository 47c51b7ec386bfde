"""Translates the search syntax of a page into a query of SQLite's FTS5, which is always valid.

``word`` matches in any case and accent, ``wor*`` matches a prefix, ``"two words"`` a phrase;
``-word`` excludes, ``answer:word`` searches one column, and ``tokens>500`` compares a number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from nel.reports.distributions import MEASURES

COLUMNS: Final = ("id", "question", "answer", "reasoning", "target", "detail")
"""The texts of a result that are indexed."""
FACETS: Final = "facets"
ALL: Final = "all"
"""The facet of every result."""
NUMBERS: Final = ("score", *MEASURES)
"""The numbers of a result that can be compared and sorted by."""
SHORT_NAMES: Final = {"tokens": "completion_tokens", "seconds": "latency"}
_TEXTS: Final = f"{{{' '.join(COLUMNS)}}}"
_TERMS_MAX: Final = 32
_CHARACTERS_MAX: Final = 1_000
_TERM: Final = re.compile(
    rf"""(?P<minus>-?) (?:(?P<column>{"|".join(COLUMNS)}):)? (?: "(?P<phrase>[^"]*)"? | (?P<word>[^\s"]+) )""",
    re.VERBOSE | re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    rf"""(?<!\S) (?P<name>{"|".join((*NUMBERS, *SHORT_NAMES))}) \s* (?P<sign><=|>=|<|>|=) \s*
    (?P<number>-?[0-9]{{1,15}}(?:\.[0-9]{{1,15}})?) (?!\S)""",
    re.VERBOSE | re.IGNORECASE,
)
_IDEOGRAPH: Final = re.compile(
    "([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])"
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison that a number of a result must satisfy."""

    column: str
    """One of `NUMBERS`."""
    sign: str
    number: float


def conditions_of(typed: str) -> tuple[str, tuple[Condition, ...]]:
    """Return a search without its comparisons of numbers, and these comparisons.

    >>> conditions_of("red tokens > 500 blue")
    ('red blue', (Condition(column='completion_tokens', sign='>', number=500.0),))
    """
    typed = typed[:_CHARACTERS_MAX]
    conditions = []
    for match in islice(_CONDITION.finditer(typed), _TERMS_MAX):
        name = match["name"].lower()
        column = SHORT_NAMES.get(name, name)
        conditions.append(Condition(column, match["sign"], float(match["number"])))
    return " ".join(_CONDITION.sub(" ", typed).split()), tuple(conditions)


def space_out(text: str) -> str:
    """Return a text with spaces around ideographs, so that FTS5 indexes each as a word."""
    return text if text.isascii() else _IDEOGRAPH.sub(r" \1 ", text)


def query_of(typed: str, facets: Sequence[str] = ()) -> str | None:
    """Return the query for typed words and required facets, None where it cannot match anything.

    Args:
        typed: Only the first 1,000 characters and 32 terms count.
        facets: Made by `nel.apps.view.index`, of letters and digits.

    >>> query_of('red "blue sky" -answer:green', ["ox1"])[:38]
    '({facets} : (ox1) AND {id question ans'
    """
    included: list[str] = []
    excluded: list[str] = []
    terms = list(_TERM.finditer(typed[:_CHARACTERS_MAX].replace("\0", " ")))[:_TERMS_MAX]
    for match in terms:
        if match["phrase"] is None:
            term = _phrase(match["word"], is_word=True)
        else:
            term = _phrase(match["phrase"], is_word=False)
        if term is None:
            continue
        if match["column"]:
            term = f"{match['column'].lower()} : {term}"
        if match["minus"]:
            excluded.append(term)
        else:
            included.append(term)
    if terms and not (included or excluded):
        return None
    parts = []
    # NOT is binary in FTS5: without included words its left side is the facet of all results.
    if facets or not included:
        parts.append(f"{{{FACETS}}} : ({' AND '.join(facets or (ALL,))})")
    if included:
        parts.append(f"{_TEXTS} : ({' AND '.join(included)})")
    query = " AND ".join(parts)
    if excluded:
        query = f"({query}) NOT {_TEXTS} : ({' OR '.join(excluded)})"
    return query


def _phrase(text: str, *, is_word: bool) -> str | None:
    """Return a text as a quoted phrase, None where it has no letter or digit to match."""
    prefix = "*" if is_word and text.endswith("*") else ""
    words = space_out(text.encode("utf-8", "replace").decode()).replace('"', " ").strip()
    if not any(unicodedata.category(character)[0] in "LN" for character in words):
        return None
    return f'"{" ".join(words.rstrip("*").split())}"{prefix}'
