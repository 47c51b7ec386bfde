"""The words of a text as `f1` and `exact` of `nel.scoring.configurable` compare them.

Depends on `nel.scoring.equality` for the normal form and on the number reader. Source: Inspect's
normalising, in which every article, sign and symbol vanishes; here only an article before another
word does, and punctuation without a meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from nel.reading.numerals import parse_number
from nel.scoring.equality import normalise, same_brackets, same_text
from nel.scoring.marks import Kind, has_word, kinds_that_count, same_signs, undress

_MAY_BE_NUMBER = re.compile(r"[^\x00-/:-\x7f]")
"""A digit, or a character of another script, some of which are numbers."""


class SeenWords:
    """The words of a response, read once for all targets that need the same symbols."""

    def __init__(self, text: str, targets: Iterable[str]) -> None:
        self.text = undress(text, " ".join(targets))
        self._words: dict[Kind, list[str]] = {}

    def words(self, counting: Kind) -> list[str]:
        """Return the words, with symbols of the kinds that count."""
        if counting not in self._words:
            self._words[counting] = words_of(self.text, counting)
        return self._words[counting]


def same_words(seen: SeenWords, wanted: str) -> bool:
    """Return whether a response has the target's words, and its brackets and signs where both have
    any.
    """
    if not has_word(wanted):
        return same_text(seen.text, wanted)
    counting = kinds_that_count(seen.text, wanted)
    return (
        seen.words(counting) == words_of(wanted, counting)
        and same_brackets(seen.text, wanted)
        and same_signs(seen.text, wanted)
    )


def words_of(text: str, counting: Kind = Kind.NONE) -> list[str]:
    """Return the normal words of a text, a number as its exact value.

    >>> words_of("The 3,000 cats"), words_of("3000.0 cats"), words_of("Vitamin A")
    (['3000', 'cats'], ['3000', 'cats'], ['vitamin', 'a'])
    """
    return [_number_of(word) for word in normalise(text, counting=counting).split()]


@lru_cache(maxsize=65_536)
def _number_of(word: str) -> str:
    if not _MAY_BE_NUMBER.search(word):
        return word
    number = parse_number(word, numeral_only=True)
    return word if number is None else str(number)
