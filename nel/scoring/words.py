"""The words of a text as `f1` and `exact` of `nel.scoring.configurable` compare them.

Depends on `nel.scoring.marks` and the number reader. Source: Inspect's normalising, in which every
article, sign and symbol vanishes; here only an article before another word does, and punctuation
without a meaning.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from unicodedata import category

from nel.reading.numerals import parse_number
from nel.scoring.equality import same_brackets, same_text
from nel.scoring.marks import (
    Kind,
    comparable,
    has_word,
    kinds_that_count,
    protected,
    restored,
    undressed,
    with_signs,
)
from nel.scoring.wording import TranslationTable

_ARTICLE = re.compile(r"[*_\"'“‘«`]*(?P<article>[Tt]he|THE|[Aa]n|AN|[Aa])[*_\"'”’»`]*")
_OPERATORS: Final = frozenset("+*/")
_OPENS_WITH_WORD = re.compile(r"[^\w\s]*(?P<word>\w+)")
_MAY_BE_NUMBER = re.compile(r"[^\x00-/:-\x7f]")
"""A digit, or a character of another script, some of which are numbers."""
_OUTER: Final = string.punctuation.replace("%", "").replace("-", "").replace("+", "")
_KEPT: Final = frozenset("%‰‱")
_NO_PUNCTUATION = TranslationTable(
    lambda mark: (
        ""
        if (mark in string.punctuation or category(mark)[0] == "P") and mark not in _KEPT
        else mark
    )
)
_DASHES = re.compile("[-–—―]")


class SeenWords:
    """The words of a response, read once for all targets that need the same symbols."""

    def __init__(self, text: str, targets: Iterable[str]) -> None:
        self.text = undressed(text, " ".join(targets))
        self._words: dict[Kind, list[str]] = {}

    def words(self, counting: Kind) -> list[str]:
        """Return the words, with symbols of the kinds that count."""
        if counting not in self._words:
            self._words[counting] = words_of(comparable(self.text, counting))
        return self._words[counting]


def same_words(seen: SeenWords, wanted: str) -> bool:
    """Return whether a response has the target's words, and its brackets where both have any."""
    if not has_word(wanted):
        return same_text(seen.text, wanted)
    counting = kinds_that_count(seen.text, wanted)
    return seen.words(counting) == words_of(comparable(wanted, counting)) and same_brackets(
        seen.text, wanted
    )


def words_of(text: str) -> list[str]:
    """Return the normal words of a text, without the articles before others; an article alone is a
    word.
    """
    tokens = with_signs(text).split()
    words: list[str] = []
    for index, token in enumerate(tokens, start=1):
        found, article = _normal_words(token)
        if article and index < len(tokens) and _is_article(article, tokens[index], first=not words):
            continue
        if not found and token in _OPERATORS and words and index < len(tokens):
            found = _operator(words[-1], token, tokens[index])
        words += found
    return words


def _is_article(article: str, following: str, *, first: bool) -> bool:
    """Return whether it stands before a word; a capital A only as the first word, and before no
    single letter.
    """
    word = _OPENS_WITH_WORD.match(following)
    if word is None or article != "A":
        return word is not None
    return first and not (len(word["word"]) == 1 and word["word"].isalpha())


def _operator(before: str, operator: str, following: str) -> tuple[str, ...]:
    """Return the operator where it stands between two operands, and not beside words of prose."""
    operands = all(
        len(text) == 1 or text[:1].isdigit() or text[:1] == "(" for text in (before, following)
    )
    return (operator,) if operands else ()


@lru_cache(maxsize=65_536)
def _normal_words(token: str) -> tuple[tuple[str, ...], str]:
    """Return the words of a token, and the article that it is if there is a word after it.

    Words are casefolded, a number is its exact value, and anything else has no punctuation.
    """
    words = tuple(word for word in map(_normal_word, _DASHES.split(protected(token))) if word)
    article = _ARTICLE.fullmatch(token)
    return words, article["article"] if article else ""


def _normal_word(part: str) -> str:
    plain = restored(part).casefold()
    if _MAY_BE_NUMBER.search(plain):
        # As written, without outer marks, and without thousands commas; a comma that is left would
        # be a decimal mark.
        for candidate in (plain, plain.strip(_OUTER), plain.replace(",", "").strip(_OUTER)):
            number = parse_number(candidate, numeral_only=True) if "," not in candidate else None
            if number is not None:
                return str(number)
    return restored(part.casefold().translate(_NO_PUNCTUATION))
