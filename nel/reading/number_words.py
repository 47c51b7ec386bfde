"""Numbers in English words: ``twelve``, ``minus seven``, ``one hundred and five``, ``a dozen``.

Recorded outputs in other languages write digits. Depends on `nel.reading.table`.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from nel.reading.table import scales

_DIGITS: Final = "one two three four five six seven eight nine".split()
_TEENS: Final = (
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
)
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES: Final = {word: value for value, word in enumerate([*_DIGITS, *_TEENS], 1)} | {
    word: 10 * value for value, word in enumerate(_TENS, 2)
}
_SCALES: Final = scales("en")
_SECTION_MIN: Final = 1_000
"""A scale from which on a number has another section: "two thousand five hundred"."""
_SMALL: Final = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_DIGITS)}))?|{'|'.join(_VALUES)}|zero)(?!\w)"
)
_SCALED: Final = rf"(?:{_SMALL}|an?)(?:[\s-](?:{'|'.join(_SCALES)}))+"
IN_WORDS: Final = re.compile(
    rf"(?<![\w-])(?:(?:minus|negative)\s)?(?:{_SCALED}(?:,?\s(?:and\s)?(?:{_SCALED}|{_SMALL}))*|{_SMALL})(?![\w-])",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w+")


def words_value(text: str) -> Fraction | None:
    """Return the value of a text that is one number in words, or None.

    >>> [str(words_value(text)) for text in ("twelve", "one hundred and five", "a hundred", "a")]
    ['12', '105', '100', 'None']
    >>> [str(words_value(text)) for text in ("minus seven", "five six", "half")]
    ['-7', 'None', 'None']
    """
    if IN_WORDS.fullmatch(text) is None:
        return None
    total = section = 0
    words = _WORD.findall(text.lower())
    for word in words:
        if word in _SCALES:
            section = max(section, 1) * _SCALES[word]
        else:
            section += _VALUES.get(word, 0)
        if _SCALES.get(word, 0) >= _SECTION_MIN:
            total, section = total + section, 0
    total += section
    return Fraction(-total if words[0] in ("minus", "negative") else total)
