"""Which option an answer names in other words than the option's own: shortened, as another number, in the plural.

"blue" names "blue ball" where all options are balls, "0.5" names "1/2", "42" names "42 cm" or "42%", "nucleus" names
"the nucleus". An answer that names two options names none. Depends on `nel.scoring.text` for the normal form of a text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from nel.scoring.marks import without_latex
from nel.scoring.text import normalise

_ANSWER_CHARACTERS_MAX: Final = 120
_WORDS_MAX: Final = 12
"""Of an option that an answer may shorten."""
_ARTICLES: Final = frozenset({"an", "the"})
_SMALL_A: Final = re.compile(r"[\s*_`\"'“]*a\s")
_FILLING: Final = frozenset({"one", "ones"})
"""Words at the end of an answer that stand for what the options have in common: "the blue one"."""
_SIGNED: Final = re.compile(
    r"(?P<currency>[$€£¥])?(?P<number>[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?)"
    r"\s?(?P<unit>%|°\s?[CFK]?|[A-Za-zµμΩ][\w/^·.²³⁻¹-]{0,20}(?:\s[A-Za-z][\w/^²³-]{0,12})?)?"
)
"""A number with its unit as the whole text of an option or an answer."""
_AROUND: Final = " \t\n*_`\"'“”()."
_NAME: Final = re.compile(r"(?:[A-Z][\w.'’-]*\s){1,3}[A-Z][\w'’-]{2,}")
_PER_CENT: Final = frozenset({"percent", "per cent"})
_NO_UNIT: Final = frozenset("or and to of at more less than x times only e".split())
_TOKEN: Final = re.compile(r"\S+")


def number_of(text: str) -> tuple[Fraction, str] | None:
    """Return the number and the unit that a text is nothing but, or None.

    >>> number_of("5.0 m/s"), number_of("$1,200"), number_of("1/2"), number_of("5 or more")
    ((Fraction(5, 1), 'm/s'), (Fraction(1200, 1), '$'), (Fraction(1, 2), ''), None)
    """
    found = _SIGNED.fullmatch(without_latex(text, "").strip(_AROUND).replace("\\", ""))
    if found is None or (found["currency"] and found["unit"]):
        return None
    unit = " ".join((found["unit"] or found["currency"] or "").split())
    if _NO_UNIT & set(unit.lower().split()):
        return None
    value = _value(found["number"])
    return None if value is None else (value, "%" if unit in _PER_CENT else unit)


def _value(written: str) -> Fraction | None:
    try:
        return Fraction(written.replace(",", "").replace("−", "-").lstrip("+"))
    except (ValueError, ZeroDivisionError):
        return None


class NearTexts:
    """The options of a question, to find the one that an answer means without repeating its text."""

    def __init__(self, labels: Sequence[str], choices: Sequence[str]) -> None:
        """Take the labels and the texts of the options, in the same order."""
        pairs = list(zip(labels, choices, strict=False))
        self._small = frozenset(label.lower() for label in labels)
        self._numbers = [(label, number_of(choice)) for label, choice in pairs]
        self._words = [(label, _words_of(choice)) for label, choice in pairs]
        self._compact: dict[str, str | None] = {}
        for label, words in self._words:
            if compact := _compact(words):
                self._compact[compact] = None if compact in self._compact else label
        surnames = [choice.split()[-1] for choice in choices if _NAME.fullmatch(choice.strip())]
        self._surnames: dict[str, str] = {}
        """Labels by the last names of persons, where all options are names."""
        if len(surnames) == len(set(surnames)) == len(pairs):
            self._surnames = dict(zip(surnames, labels, strict=False))
        self._shared = Counter(word for _, words in self._words for word in set(words))

    @property
    def are_numbers(self) -> bool:
        """Whether each option is nothing but a number, maybe with a unit."""
        return bool(self._numbers) and all(number is not None for _, number in self._numbers)

    def named(self, part: str) -> str | None:
        """Return the label of the only option that a short answer names, or None.

        >>> balls = NearTexts("AB", ["red ball", "blue ball"])
        >>> balls.named("the blue one"), balls.named("ball"), balls.named("green")
        ('B', None, None)
        """
        if len(part) > _ANSWER_CHARACTERS_MAX:
            return None
        if (surname := self._surnames.get(part.strip(_AROUND))) is not None:
            return surname
        number = number_of(part)
        if number is not None:
            return self.of_number(*number)
        words = _words_of(part)
        if not words or words[0] in self._small:
            return None  # a label, and not a word of an option
        return self._compact.get(_compact(words)) or self._shortened(words)

    def of_number(self, value: Fraction, unit: str, *, behind: str = "") -> str | None:
        """Return the label of the only option with a number; a unit must be the option's own, but may be left out.

        Args:
            behind: The word after the number, which must be the unit where the option has one.

        >>> lengths = NearTexts("AB", ["12 cm", "42 cm"])
        >>> lengths.of_number(Fraction(42), ""), lengths.of_number(Fraction(42), "%")
        ('B', None)
        """
        found = [
            label
            for label, number in self._numbers
            if number is not None
            and number[0] == value
            and (not unit or unit == number[1])
            and (not behind or not number[1] or number[1] == "$" or number[1].split()[0] == behind)
        ]
        exact = [label for label, number in self._numbers if number == (value, unit)]
        found = exact if len(exact) == 1 else found
        return found[0] if len(found) == 1 else None

    def _shortened(self, words: tuple[str, ...]) -> str | None:
        """Return the only option with all words of an answer, if most others have what the answer leaves out."""
        if words[-1] in _FILLING:
            words = words[:-1]
        wanted, others = set(words), len(self._words) - 1
        if not wanted or others < 1:
            return None
        found = [(label, own) for label, own in self._words if wanted <= set(own)]
        if len(found) != 1 or len(found[0][1]) > _WORDS_MAX or not _in_order(words, found[0][1]):
            return None
        left_out = set(found[0][1]) - wanted
        is_common = all(2 * (self._shared[word] - 1) >= max(others - 1, 1) for word in left_out)
        return found[0][0] if left_out and is_common else None


def _in_order(words: tuple[str, ...], own: tuple[str, ...]) -> bool:
    rest = iter(own)
    return all(word in rest for word in words)


def _words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text without articles, of which a capital A is none; a formula is one word."""
    words = _TOKEN.findall(normalise(text, articles=True))
    if _SMALL_A.match(text):
        words = words[1:]
    return tuple(word for word in words if word not in _ARTICLES)


def _compact(words: tuple[str, ...]) -> str:
    """Return words without spaces, hyphens and the plural, where they have no digits."""
    joined = "".join(words)
    if any(map(str.isdigit, joined)) or len(joined) < 4:  # noqa: PLR2004 - shorter ones differ in any letter
        return ""
    return "".join(
        word[:-1] if len(word) > 4 and word.endswith("s") and not word.endswith("ss") else word  # noqa: PLR2004 - "gas" is no plural
        for word in words
    ).replace("-", "")
