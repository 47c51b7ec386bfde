"""Patterns of many phrases that are searched only where one of their words occurs, which is seldom.

Searching a sentence for a hundred phrases takes a hundred times as long as looking whether it has any of their words.
Depends on the standard library alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from nel.core.lazy_regex import lazy_pattern

_WORD: Final = lazy_pattern(r"[^\W\d_]+")
_LITERAL: Final = lazy_pattern(r"(?<!\\)([^\W\d_]{2,})(\\w[*+])?")
_GROUP_NAME: Final = lazy_pattern(r"\(\?P<\w+>")
_OTHER_SCRIPT: Final = lazy_pattern("[\u0370-\u1fff\u3040-\ud7ff]")
_COMMON: Final = frozenset(
    "the is was are be been it that this to of in on at and for with you we my me our one ve re ll as by its would has "
    "have had there here what which could de la le el il das die der es est un une una di que do da os".split()
) - frozenset("had would could".split())
"""Words that are in so many sentences that they tell nothing; each phrase has another one."""


@lru_cache(maxsize=512)
def lowered(text: str) -> tuple[str, frozenset[str], bool]:
    """Return a text in small letters and of the same length, its words, and whether it has letters of other scripts."""
    small = text.lower()
    if len(small) != len(text):  # a few letters, such as İ, grow when lowered
        small = "".join(low if len(low := mark.lower()) == 1 else mark for mark in text)
    return small, frozenset(_WORD.findall(small)), not small.isascii() and _OTHER_SCRIPT.search(small) is not None


class Rule:
    """Phrases, any of which may occur; capitals do not count."""

    def __init__(self, *phrases: str, words: str = "", common: str = "", flags: int = 0) -> None:
        """Compile the phrases, regular expressions in small letters.

        Args:
            words: Further words of the phrases, where a pattern does not spell them out, such as ``cannot``.
            common: Words of the phrases that are not to lead to a search; each phrase has another one.
            flags: Those of `re.compile`.
        """
        source = "|".join(phrases)
        self.pattern: Final = re.compile(source, flags)
        found = _LITERAL.findall(_GROUP_NAME.sub(" ", source))
        self._words: Final = frozenset(word for word, stem in found if not stem) - _COMMON - frozenset(
            common.split()
        ) | frozenset(words.split())
        self._stems: Final = tuple(word for word, stem in found if stem)

    def may_occur(self, words: frozenset[str]) -> bool:
        """Return whether a text with these words may have one of the phrases."""
        if not self._words.isdisjoint(words):
            return True
        return bool(self._stems) and any(word.startswith(self._stems) for word in words)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first place where a phrase occurs, or None; the match is of the text in small letters."""
        small, words, is_other = lowered(text)
        return self.pattern.search(small) if is_other or self.may_occur(words) else None

    def match(self, text: str, place: int = 0) -> re.Match[str] | None:
        """Return the phrase that begins at a place, or None."""
        return self.pattern.match(lowered(text)[0], place)

    def last(self, text: str) -> re.Match[str] | None:
        """Return the last place where a phrase occurs, or None."""
        last = None
        for last in self._all(text):  # noqa: B007 - the last one is wanted
            pass
        return last

    def _all(self, text: str) -> Iterator[re.Match[str]]:
        small, words, is_other = lowered(text)
        return self.pattern.finditer(small) if is_other or self.may_occur(words) else iter(())
