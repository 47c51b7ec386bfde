"""Whether a target stands at the beginning or end of a response, anywhere in it, or is all of it.

Depends on `nel.scoring.words` for texts and on `nel.reading.numerals` for numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, Literal

from nel.reading.numerals import parse_number
from nel.reading.response import fold as plain_characters
from nel.scoring.words import fold, has_word, same_text, searchable, trim, undress

Location = Literal["begin", "end", "any", "exact"]
_DROPPED = str.maketrans("", "", "$,£€¥*_`\\")
_FULL_STOP = re.compile(r"\.(?=\s|\Z|\D)")
_EDGES: Final = "!?:;()[]{}<>\"'“”‘’=~@#^&|（）【】「」。！？：；，、…\\"
_MARKS_AROUND: Final = "*_`$\"'"


def match_at(
    completion: str, target: str, location: Location, *, ignore_case: bool, numeric: bool
) -> tuple[bool, str | None]:
    """Return whether a target stands at a location of a response, and what is shown as the answer."""
    answer = completion.strip()
    if numeric:
        number = _numeral(_without_marks(target.strip()))
        if number is not None:
            folded = plain_characters(answer).strip()
            is_match, token = _match_number(folded, number, location)
            return is_match, answer if token == folded else token
    if not has_word(target):
        return _match_marks(answer, target, location), answer
    bare = answer if "<" in target or "\\" in target else undress(answer)
    value, sought = (trim(fold(text)) for text in (bare, target))
    if ignore_case:
        value, sought = value.casefold(), sought.casefold()
    if numeric:
        return _stands_apart(value, sought, location), answer
    if location == "begin":
        is_match = value.startswith(sought)
    elif location == "end":
        is_match = value.endswith(sought)
    else:
        is_match = value == sought if location == "exact" else sought in value
    return is_match, answer


def _match_marks(answer: str, target: str, location: Location) -> bool:
    """Return whether a target of marks stands where it should; a word's punctuation is none."""
    if location == "exact" or same_text(answer, target):
        return same_text(answer, target)
    around = f"[{_MARKS_AROUND}]*"
    before = rf"\A{around}" if location == "begin" else rf"(?<![^\s{_MARKS_AROUND}])"
    after = rf"{around}\.?{around}\Z" if location == "end" else rf"(?![^\s.{_MARKS_AROUND}])"
    marks = re.escape(searchable(target).strip())
    return re.search(f"{before}{marks}{after}", searchable(answer.strip())) is not None


def _stands_apart(value: str, sought: str, location: Location) -> bool:
    """Return whether a text stands where it should and is not part of a longer number: 160% does
    not end in 60%.
    """
    begins, ends = location in ("begin", "exact"), location in ("end", "exact")
    before = r"\A" if begins else r"(?<![\d.,−-])" if sought[:1].isdigit() else ""
    after = r"\Z" if ends else r"(?!\d)" if sought[-1:].isdigit() else ""
    return re.search(before + re.escape(sought) + after, value) is not None


def _match_number(answer: str, gold: Fraction, location: Location) -> tuple[bool, str | None]:
    """Return whether the number at a location is the gold one, and that number as written."""
    text = _without_marks(answer)
    if location == "exact":
        return _numeral(_trim(text.replace("boxed{", ""))) == gold, answer
    numerals = ((token, _numeral(token)) for token in _tokens(text, backwards=location == "end"))
    numbers = ((token, number) for token, number in numerals if number is not None)
    if location == "any":
        token = next((token for token, number in numbers if number == gold), None)
        return token is not None, token or answer
    token, number = next(numbers, ("", None))
    return number == gold, token


def _numeral(text: str) -> Fraction | None:
    return parse_number(text, numeral_only=True)


def _without_marks(text: str) -> str:
    """Return a text without the marks that stand in and around numbers."""
    return _FULL_STOP.sub("", text.translate(_DROPPED))


def _tokens(text: str, *, backwards: bool) -> Iterator[str]:
    """Yield the words of a text, their outer marks trimmed, ``x=42`` as its two sides."""
    words = text.split()
    for word in reversed(words) if backwards else words:
        parts = [side for side in word.replace("boxed{", " ").replace("=", " ").split() if side]
        for side in reversed(parts) if backwards else parts:
            yield _trim(side)


def _trim(word: str) -> str:
    return word.strip().strip(_EDGES).rstrip(".")
