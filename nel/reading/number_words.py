"""Numbers in English words: ``twelve``, ``minus seven``, ``one hundred and five``, ``a dozen``.

Recorded outputs in other languages write digits. Depends on the standard library alone.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

_ONES: Final = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES: Final = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
SCALES: Final = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_SCALE_MIN: Final = 1_000
_WORDS_MAX: Final = 16
_WORD: Final = "|".join([*_VALUES, *SCALES, "and", "an?"])
IN_WORDS: Final = re.compile(
    rf"(?<![\w-])(?:minus\s|negative\s)?(?:(?:{_WORD})(?:,?\s|-))*(?:{_WORD})(?![\w-])",
    re.IGNORECASE,
)
"""A row of words of numbers; `words_value` says whether it is one."""


def words_value(text: str) -> Fraction | None:
    """Return the value of a text that is one number in words, or None.

    >>> [str(words_value(text)) for text in ("twelve", "one hundred and five", "a hundred", "a")]
    ['12', '105', '100', 'None']
    >>> [str(words_value(text)) for text in ("minus seven", "five six", "half")]
    ['-7', 'None', 'None']
    """
    words = text.lower().replace("-", " ").replace(",", " ").split()
    if not words or len(words) > _WORDS_MAX:
        return None
    if words[0] in ("minus", "negative"):
        value = words_value(" ".join(words[1:]))
        return None if value is None else -value
    integer = _whole(words)
    return None if integer is None else Fraction(integer)


def _whole(words: list[str]) -> int | None:
    """Return the value of a whole number in words; a scale multiplies what precedes it."""
    if not words or words[0] == "and" or words[-1] in ("and", "a", "an"):
        return None
    total, section, previous = 0, 0, "start"
    for word in words:
        if word in SCALES:
            section = max(section, 1) * SCALES[word]
            if SCALES[word] >= _SCALE_MIN:
                total, section = total + section, 0
            previous = "scale"
        elif word in ("a", "an"):
            if previous != "start":
                return None
            section, previous = 1, "article"
        elif word == "and":
            if previous != "scale":
                return None
        else:
            kind = "ten" if word in _TENS else "one"
            value = _VALUES.get(word)
            fits = previous in ("start", "scale") or (
                previous == "ten" and kind == "one" and value in range(1, 10)
            )
            if value is None or not fits:
                return None
            section, previous = section + value, kind
    return None if previous == "article" else total + section
