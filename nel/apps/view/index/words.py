"""Turns what a person types into a full-text query that is always valid: every word is quoted.

``word`` finds it in any case and accent, ``wor*`` what begins so, ``"two words"`` a phrase,
``-word`` leaves out, ``answer:word`` looks in one column, and ``tokens>500`` compares a number.
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
"""Texts of a result that are searched."""
FACETS: Final = "facets"
ALL: Final = "all"
"""The facet of every result."""
NUMBERS: Final = ("score", *MEASURES)
"""Numbers of a result that are compared and ordered by."""
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
    """What a number of a result must satisfy."""

    column: str
    """One of `NUMBERS`."""
    sign: str
    number: float


def conditions_of(typed: str) -> tuple[str, tuple[Condition, ...]]:
    """Return what was typed without its comparisons of numbers, and these.

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
    """Return a text with spaces around characters that stand for words, so that each is found."""
    return text if text.isascii() else _IDEOGRAPH.sub(r" \1 ", text)


def query_of(typed: str, facets: Sequence[str] = ()) -> str | None:
    """Return the query for typed words and facets that must hold, None where it can find nothing.

    Args:
        typed: At most 1,000 characters of it and 32 terms count.
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
    # NOT of FTS5 needs something before it, which is then the facet that all results have.
    if facets or not included:
        parts.append(f"{{{FACETS}}} : ({' AND '.join(facets or (ALL,))})")
    if included:
        parts.append(f"{_TEXTS} : ({' AND '.join(included)})")
    query = " AND ".join(parts)
    if excluded:
        query = f"({query}) NOT {_TEXTS} : ({' OR '.join(excluded)})"
    return query


def _phrase(text: str, *, is_word: bool) -> str | None:
    """Return a text as a phrase, None where it has no letter or digit to find."""
    prefix = "*" if is_word and text.endswith("*") else ""
    words = space_out(text.encode("utf-8", "replace").decode()).replace('"', " ").strip()
    if not any(unicodedata.category(character)[0] in "LN" for character in words):
        return None
    return f'"{" ".join(words.rstrip("*").split())}"{prefix}'
