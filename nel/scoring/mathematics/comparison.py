"""`expressions_equal`: whether two final answers are the same mathematics.

What is decided without math-verify: answers that are written alike, words, plain numbers, and what
it takes for equal although it is not: numbers of different bases, sets and tuples, other units.
Depends on `nel.reading.numerals` for the value of a plain number.
"""

from __future__ import annotations

import re
from typing import Final

from nel.reading.numerals import parse_number
from nel.scoring.mathematics.notation import GAP, TEXT, usual_notation
from nel.scoring.mathematics.process import compare
from nel.scoring.mathematics.units import split_unit
from nel.scoring.words import same_text

_CHARACTERS_MAX: Final = 2_000
_TEXT: Final = re.compile(rf"{TEXT}\s*\{{([^{{}}]*)\}}")
_SPACES: Final = re.compile(r"(?<![\d,])\s+|\s+(?!\d)")
"""Those that say nothing: not between the digits of ``1 1/2`` or in the list ``1, 234``."""
_WORDS: Final = re.compile(r"[\w\s.,:;'()-]*[^\W\d_]{3}[\w\s.,:;'()-]*")
_PROSE: Final = re.compile(r"(?:(?<![\\A-Za-z])[^\W\d_]{2,}[\s,]+){2}[^\W\d_]{2,}")
_NO_SOLUTION: Final = re.compile(
    r"(?:there (?:is|are) )?no (?:real |integer )?(?:solutions?|roots?)|none", re.IGNORECASE
)
_ALL_REALS: Final = re.compile(r"all real(?: number)?s", re.IGNORECASE)
_FRACTION: Final = re.compile(r"/|frac|[½⅓⅔¼¾]")
"""Without one, two numbers are decimals, and as exact as they are written."""
_LISTED: Final = re.compile(r"\d,\s")
"""``1, 234`` is a list."""
_PERCENTAGE: Final = re.compile(
    rf"""
    (?: [A-Za-z] \s* = )?
    (?P<number> (?: [^,=] | ,(?=\d{{3}}) )* [\d}})] ) {GAP}  # one number: no list of several
    (?: \\?% | (?:{TEXT}\s*\{{\s*)? per\s?cent \s*\}}? )
    """,
    re.VERBOSE,
)
_BASED: Final = re.compile(r"\(?[\dA-F]+\)?_\{?(?P<base>\d+)\}?")
_BRACKETS: Final = {"(": ")", "[": "]", "{": "}"}


def expressions_equal(gold: str, answer: str) -> bool:
    """Return whether two expressions mean the same; see `math_equal` for the rule and the errors.

    >>> expressions_equal("10", "100"), expressions_equal("\\\\sqrt{8}", "2\\\\sqrt2")
    (False, True)
    """
    if len(answer) > _CHARACTERS_MAX:
        return False
    gold, answer = _in_signs(usual_notation(gold)), _in_signs(usual_notation(answer))
    gold_text, answer_text = _without_tex(gold), _without_tex(answer)
    if _SPACES.sub("", gold_text) == _SPACES.sub("", answer_text):
        return True
    if _WORDS.fullmatch(gold_text) and _WORDS.fullmatch(answer_text):
        return same_text(answer_text, gold_text)
    (gold, is_gold_percentage), (answer, is_percentage) = (
        _split_percent(gold),
        _split_percent(answer),
    )
    if _values_equal(gold, answer):
        return True
    if is_gold_percentage == is_percentage:
        return False
    # 12.5 % is 12.5, and 0.125 as well
    if is_percentage:
        return _values_equal(gold, _hundredth(answer))
    return _values_equal(_hundredth(gold), answer)


def _split_percent(text: str) -> tuple[str, bool]:
    """Return an answer without its percent sign, and whether it had one."""
    percentage = _PERCENTAGE.fullmatch(text)
    return (text, False) if percentage is None else (percentage["number"], True)


def _hundredth(number: str) -> str:
    return f"\\frac{{{number.replace(',', '')}}}{{100}}"


def _values_equal(gold: str, answer: str) -> bool:
    verdict = _numbers_equal(_without_tex(gold), _without_tex(answer))
    if verdict is not None:
        return verdict
    (gold, gold_unit), (answer, answer_unit) = split_unit(gold), split_unit(answer)
    if None not in (gold_unit, answer_unit) and gold_unit != answer_unit:
        return False
    if _PROSE.search(f"{gold} | {answer}") or _are_apart(gold, answer):
        return False
    return compare(gold, answer)


def _without_tex(text: str) -> str:
    return _TEXT.sub(r"\1", text).strip()


def _in_signs(text: str) -> str:
    """Return the sign for words that have one: "no solution", "all real numbers"."""
    words = _without_tex(text)
    if _NO_SOLUTION.fullmatch(words):
        return "\\emptyset"
    return "\\mathbb{R}" if _ALL_REALS.fullmatch(words) else text


def _numbers_equal(gold: str, answer: str) -> bool | None:
    """Return whether two plain numbers are equal, exactly; None where it takes more to tell."""
    values = parse_number(gold), parse_number(answer)
    if None in values or _LISTED.search(f"{gold} {answer}"):
        return None
    if values[0] == values[1]:
        return True
    return None if _FRACTION.search(gold + answer) else False


def _are_apart(gold: str, answer: str) -> bool:
    """Return whether answers differ in base, or in the brackets of a set, pair or interval."""
    gold_base, answer_base = _BASED.fullmatch(gold), _BASED.fullmatch(answer)
    if answer_base is not None:
        return answer_base["base"] != ("10" if gold_base is None else gold_base["base"])
    kinds = _brackets(gold), _brackets(answer)
    if None in kinds or kinds[0] == kinds[1]:
        return False
    return "{}" in kinds or gold.count(",") == answer.count(",") == 1


def _brackets(text: str) -> str | None:
    """Return the outer brackets of a sequence, or None where it has none."""
    content = text.replace("\\", "")
    if "," not in content or content[0] not in _BRACKETS or content[-1] not in _BRACKETS.values():
        return None
    return content[0] + content[-1]
