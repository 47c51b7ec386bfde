"""Patterns of phrases in small letters, for texts in which capitals do not count.

A pattern without `re.IGNORECASE` on a text in small letters takes half the time. Depends on `nel.core.phrase_regex`.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.phrase_regex import phrase_pattern
from nel.scoring.wording import last_match


def lowered(text: str) -> str:
    """Return a text in small letters and of the same length."""
    small = text.lower()
    if not small.isascii() and len(small) != len(text):  # a few letters, such as İ, grow when lowered
        small = "".join(low if len(low := mark.lower()) == 1 else mark for mark in text)
    return small


class Rule:
    """Phrases, any of which may occur; capitals do not count."""

    def __init__(self, *phrases: str, flags: int = 0) -> None:
        """Take the phrases, regular expressions in small letters, and the flags of `re.compile`."""
        self.pattern: Final = phrase_pattern("|".join(phrases), flags)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first place where a phrase occurs, or None; the match is of the text in small letters."""
        return self.pattern.search(lowered(text))

    def match(self, text: str, place: int = 0) -> re.Match[str] | None:
        """Return the phrase that begins at a place, or None."""
        return self.pattern.match(lowered(text), place)

    def last(self, text: str) -> re.Match[str] | None:
        """Return the last place where a phrase occurs, or None."""
        return last_match(self.pattern, lowered(text))
