"""Patterns of many phrases, searched only in texts with a word that each of their matches has.

To search a sentence for a hundred phrases takes twenty microseconds; to see that it has none of their words, less than
one. The words of each pattern are in `nel.core.phrase_words`, which ``scripts/phrase_words.py`` derives from its syntax
tree; a pattern that is not there, since it was changed, is always searched. Depends on that table alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from string import punctuation
from typing import Final, NamedTuple, cast
from zlib import crc32

from nel.core.phrase_words import WORDS

UNUSUAL: Final = re.compile(
    "[\u0130\u0131\u017f\u03a3\u03b9\u03bc\u03c3\u03d0\u03d1\u03d5\u03d6\u03f0\u03f1\u03f5\u1c80-\u1c87\u1e9b\u1fbe"
    "\u1fd3\u1fe3\ua64b\ufb06]"
)
"""Letters that equal others where capitals do not count, though they differ from them in small letters."""
_QUOTES: Final = frozenset("’‘“”–—…«»„")
_CHARACTERS_MAX: Final = 4_000
"""A longer text is searched at once."""
_END: Final = 1 << 62
_METHODS: Final = ("match", "fullmatch", "findall", "split", "sub", "subn")


class _Separated(dict[int, str]):
    """A table for `str.translate`: one space for what separates words, and spaces around other marks."""

    def __missing__(self, code: int) -> str:
        mark = chr(code)
        if mark.isalnum() or mark == "_":
            found = mark
        elif mark.isascii() or mark.isspace() or mark in _QUOTES:
            found = " "
        else:
            found = f" {mark} "
        self[code] = found
        return found


SEPARATED: Final = _Separated()
_ASCII: Final = bytes(ord(SEPARATED[code]) for code in range(128)).lower() + b" " * 128


class Seen(NamedTuple):
    """A text as the words of patterns are looked for in it."""

    key: str
    """In small letters, with one space between words and at either end."""
    words: frozenset[str]
    is_ascii: bool


class Needed(NamedTuple):
    """Strings of which any text that a pattern matches has one."""

    words: frozenset[str]
    parts: tuple[str, ...]
    """Those that are not one whole word; a space is the end of a word."""
    ascii_parts: tuple[str, ...]
    marks: tuple[str, ...] = ()
    """Single marks of punctuation, as they stand in a text."""


@lru_cache(maxsize=512)
def seen(text: str) -> Seen | None:
    """Return the words of a text; None where it has letters whose equals in a pattern small letters do not show."""
    if text.isascii():
        words = text.encode().translate(_ASCII).decode().split()
        return Seen(f" {' '.join(words)} ", frozenset(words), True)
    if UNUSUAL.search(text):
        return None
    words = text.lower().translate(SEPARATED).split()
    return Seen(f" {' '.join(words)} ", frozenset(words), False)


def digest(pattern: str, flags: int) -> str:
    """Return the name of a pattern in the table of words."""
    return f"{crc32(f'{int(flags)} {pattern}'.encode()):08x}"


def needed(line: str) -> Needed:
    """Return what a line of the table says: the words, and after a stroke the parts, each between dots for spaces."""
    words, _, parts = line.partition("|")
    marks = frozenset(part for part in parts.split() if len(part) == 1 and part in punctuation and part != "_")
    found = tuple(part.replace("·", " ") for part in parts.split() if part not in marks)
    return Needed(
        frozenset(words.split()), found, tuple(part for part in found if part.isascii()), tuple(sorted(marks))
    )


class PhrasePattern:
    """Stands for a compiled pattern, whose `search` and `finditer` look for its words first.

    Both are put together when the first of them is called, since the look must cost less than a microsecond.
    """

    def __init__(self, text: str, flags: int) -> None:
        self.text = text
        self.flags = flags
        self._compiled: re.Pattern[str] | None = None

    def __getattr__(self, name: str) -> object:
        if name in ("search", "finditer"):
            self._put_together()
            return self.__dict__[name]
        pattern = self._pattern()
        for method in _METHODS:
            setattr(self, method, getattr(pattern, method))
        return getattr(pattern, name)

    def _pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.text, self.flags)
        return self._compiled

    def _put_together(self) -> None:
        line = WORDS.get(digest(self.text, self.flags))
        if line is None:
            self.__dict__.update(search=self._pattern().search, finditer=self._pattern().finditer)
            return
        may_match, pattern = _look_for(needed(line)), self._pattern

        def search(text: str, start: int = 0, end: int = _END) -> re.Match[str] | None:
            return pattern().search(text, start, end) if may_match(text[start:end]) else None

        def finditer(text: str, start: int = 0, end: int = _END) -> Iterator[re.Match[str]]:
            return pattern().finditer(text, start, end) if may_match(text[start:end]) else iter(())

        self.__dict__.update(search=search, finditer=finditer)


def _look_for(needed: Needed) -> Callable[[str], bool]:
    """Return a function that says whether a text has one of some strings."""
    words, parts, ascii_parts, marks = needed
    has_none = words.isdisjoint

    def may_match(text: str) -> bool:
        if len(text) > _CHARACTERS_MAX:
            return True
        found = seen(text)
        if found is None:
            return True
        key, in_text, is_ascii = found
        if in_text:
            if not has_none(in_text):
                return True
            for part in ascii_parts if is_ascii else parts:
                if part in key:
                    return True
        for mark in marks:  # noqa: SIM110 - any() takes longer
            if mark in text:
                return True
        return False

    return may_match


def phrase_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled and searched only where a text has one of its words.

    Raises:
        re.error: At its first use, where the text is no regular expression.

    >>> pattern = phrase_pattern(r"\\b(?:unable|not\\s+able)\\s+to\\s+(?:answer|say)\\b")
    >>> pattern.search("I am unable to say.").group(), pattern.search("So the answer is 42.")
    ('unable to say', None)
    """
    return cast("re.Pattern[str]", PhrasePattern(text, flags))
