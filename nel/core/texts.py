"""Texts for people. Pure functions."""

from __future__ import annotations


def shorten(text: str, characters_max: int) -> str:
    """Return a text, cut where it is longer; the mark of the cut is counted.

    >>> shorten("abcdef", 4), shorten("abcd", 4)
    ('abc…', 'abcd')
    """
    return text if len(text) <= characters_max else f"{text[: characters_max - 1]}…"
