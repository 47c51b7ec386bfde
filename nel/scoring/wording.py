"""What the words around an answer do to it: denials, suppositions, corrections; and invisible
characters.

Depends on the standard library alone. These rules look at a few words of one clause: they keep "it
is not B" and "if the answer is A" from being read as answers, and do not understand a text beyond
that.
"""

from __future__ import annotations

import re
import unicodedata
from collections import deque
from collections.abc import Callable
from typing import Final

_WINDOW: Final = 60
"""Characters before an answer that are examined."""
_CLAUSE_STARTS = re.compile(
    r"[.!?;:\n]|\b(?:but|so|rather|instead|therefore|thus|hence)\b|,\s(?=(?:it['’]s\b|(?:the|my|our)\s(?:\w+\s)?(?:answer|choice)\b))",
    re.IGNORECASE,
)
_DENIED_CLOSELY = re.compile(
    r"\b(?:not|never|neither|nor|isnt|isn['’]t|cannot)(?:\s+\w+)?\s*\Z", re.IGNORECASE
)
_SUPPOSITION = re.compile(
    r"\b(?:if(?!\s+i\s+(?:had|have|must)\b)|whether|suppose|supposing|assume|assuming|unless)\b",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"""
      [\s*_)\]}"'”’]* ,?\s*
      (?: is | are | was | were | would\s+be | seems? | looks ) \s+ (?: both\s+ | clearly\s+ | also\s+ )?
      (?: not\b | wrong\b | incorrect\b | false\b | tempting\b | a\s+trap\b | ruled\s+out )
    | [\s*_)\]}]* (?: isn | aren )['’]t \b
    | (?P<japanese> \s* (?: では | じゃ ) (?: ない | ありません ) )
    | (?P<chinese> \s* (?: 不对 | 是错 ) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BOX = re.compile(r"\\(?:boxed|fbox)\s*\{")
_BOX_CHARACTERS_MAX: Final = 4_000
_BOXES_MAX: Final = 16
"""Boxes at the end of a text that are looked into."""
_MEANINGFUL_SYMBOLS: Final = "♭♯\u200c\u200d"
"""Signs of music, and the joiners that Indic and Persian spelling needs."""
_INVISIBLE: Final = frozenset("\u00ad\u061c\u200b\u200e\u200f\u2060\ufe0e\ufe0f\ufeff")


class TranslationTable(dict[int, int | str | None]):
    """A table for `str.translate` that computes the replacement of a character once, when it first
    occurs.
    """

    def __init__(self, replacement: Callable[[str], int | str | None]) -> None:
        """Take the function that returns the replacement of a character."""
        super().__init__()
        self._replacement = replacement

    def __missing__(self, code: int) -> int | str | None:
        self[code] = replacement = self._replacement(chr(code))
        return replacement


_HYPHENS: Final = frozenset("\u2010\u2011\ufe63\uff0d")
"""Hyphens that models write for a minus; the true minus and the dashes are read where numbers
are.
"""
_FULL_WIDTH_MARKS: Final = frozenset("（）［］．")


def _visible(character: str) -> str:
    if character in _HYPHENS:
        return "-"
    if (
        "\U0001d400" <= character <= "\U0001d7ff"
    ):  # letters and digits of mathematics, bold or italic
        return unicodedata.normalize("NFKC", character)
    if "\uff01" <= character <= "\uff5e" and (
        character.isalnum() or character in _FULL_WIDTH_MARKS
    ):
        return chr(ord(character) - 0xFEE0)
    if "\u24b6" <= character <= "\u24e9":
        return unicodedata.normalize("NFKC", character)[:1]
    if character in _INVISIBLE or (
        unicodedata.category(character) in ("So", "Cf", "Co")
        and character not in _MEANINGFUL_SYMBOLS
    ):
        return " "
    return character


_VISIBLE = TranslationTable(_visible)


def clean(text: str) -> str:
    """Return the text, in the same length: full-width and circled letters as ASCII, invisible marks
    as spaces.

    >>> clean("答案：Ｂ"), clean("\u200bB 😊")
    ('答案：B', ' B  ')
    """
    return text if text.isascii() else text.translate(_VISIBLE)


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a pattern in a text, or None."""
    last = None
    for last in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return last


def is_denied_before(text: str, start: int) -> bool:
    """Return whether what stands there is denied by the words before it, with at most one word
    between: "it is not B".

    >>> is_denied_before("It is not B.", 10), is_denied_before("It is not A but B.", 16)
    (True, False)
    """
    return _DENIED_CLOSELY.search(_clause_before(text, start)) is not None


def is_denied_after(words: str) -> bool:
    """Return whether an answer is denied by the words after it: "A is wrong", "B isn't right"."""
    return _DENIED_AFTER.match(words) is not None


def is_supposed(text: str, start: int) -> bool:
    """Return whether what stands there is only supposed: "if the answer is A", "whether it is
    true".

    >>> is_supposed("If the answer is A, then", 17), is_supposed("The answer is A", 14)
    (True, False)
    """
    before = _clause_before(text, start)
    return _SUPPOSITION.search(before, before.rfind(",") + 1) is not None


def last_boxed(text: str) -> str | None:
    """Return the content of the last ``\\\\boxed{}`` whose braces close, or None.

    >>> last_boxed("so \\\\boxed{\\\\frac{1}{2}}")
    '\\\\frac{1}{2}'
    """
    for match in reversed(deque(_BOX.finditer(text), maxlen=_BOXES_MAX)):
        content = _balanced_span(text, match.end())
        if content is not None:
            return content
    return None


def _clause_before(text: str, start: int) -> str:
    """Return the words of the same clause before a place, some sixty characters at most."""
    before = text[max(0, start - _WINDOW) : start]
    last = last_match(_CLAUSE_STARTS, before.rstrip())
    return before if last is None else before[last.end() :]


def _balanced_span(text: str, start: int) -> str | None:
    depth = 1
    for position in range(start, min(len(text), start + _BOX_CHARACTERS_MAX)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return text[start:position].strip() or None
    return None
