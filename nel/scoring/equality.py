"""Which texts are equal: `normalise` and `same_text`.

Depends on `nel.scoring.marks` for the characters that are not letters. A text that normalises to
nothing equals nothing but itself; otherwise an empty answer would match the target "A", whose only
word is an article, and any answer the target "✓".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from nel.scoring.marks import (
    PROTECTED,
    Kind,
    comparable,
    fold,
    has_word,
    kinds_that_count,
    protect,
    restore,
    same_signs,
    space_marks,
    undress,
    with_signs,
)

_ARTICLES = re.compile(
    r"""
    (?: \b (?: [Tt]he | THE | [Aa]n | AN | a (?!\W+[A-Za-z]\b) ) | (?<!\w) \A \W* A (?!\W+[A-Za-z]\b) )
    (?= [*_"'”»]* \s+ [^\w\s]* \w )
    """,
    re.VERBOSE,
)
"""An article stands before another word, with no punctuation between: not in "Vitamin A", "A, B",
"a + b" or "a b".
"""
_JOINED = re.compile(r"['’′″]|,(?<=\d,)(?=\d{3}(?!\d))|\.(?<=\b[^\W\d_]\.)")
"""Marks that vanish without leaving a gap: apostrophes, thousands commas, the dots of U.S."""
_FORMULA_CHARACTERS_MAX: Final = 10_000
_SOFT = bytes(code for code in range(128) if not chr(code).isalnum() or chr(code) in "anthANTHeE")
"""ASCII characters that normalising may drop: marks, spaces and the letters of articles."""
_REWRITTEN_MAX = len("per cent")
"""Letters that may stand for one mark, since ``5 per cent`` is ``5%``."""
_NAMES_IN_FORMULAS = re.compile(
    r"\\[A-Za-z]+|(?<![A-Za-z])(?:a?(?:sin|cos|tan)|log|exp|max|min|gcd|lcm|mod)(?![A-Za-z])"
)
_IN_FORMULAS = re.compile(r"[\d=+*/^\\]")
_WORD = re.compile(r"[^\W\d_]{3}")
_SPACE_IN_FORMULAS = re.compile(r"(?:\s|\\[,;:! ]|~)+")
_NOT_BETWEEN_NUMBERS = re.compile(r"(?<!\d) | (?!\d)")
_SUPERSCRIPTS = re.compile("[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹ⁿⁱ]+")
_VULGAR = re.compile(r"(?<=\d)(?=[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒])")
_ACCENTS = re.compile("(?<=[A-Za-z\u0370-\u03ff])[\u0300-\u036f]+")
"""Accents of Latin and Greek letters; elsewhere such marks make other letters."""
_STROKES = str.maketrans(
    {
        "Ł": "L",
        "ł": "l",
        "Ø": "O",
        "ø": "o",
        "Đ": "D",
        "đ": "d",
        "Ħ": "H",
        "ħ": "h",
        "ı": "i",
        "Æ": "AE",
        "æ": "ae",
        "Œ": "OE",
        "œ": "oe",
    }
)
_GAPS = re.compile(rf"\s*([{PROTECTED}]+)\s*")
_BRACKETS = re.compile(r"[()\[\]{}]")
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"') | dict.fromkeys("‘’‚‛", "'"))
_WRAPPING = "*_`$\"'."
_BULLET = re.compile(r"\A\s*[-*>•]\s+(?=\S+\s*\Z)")
_WRAPPED = {"(": ")", "[": "]", "{": "}"}


def normalise(text: str, *, articles: bool = False, counting: Kind = Kind.NONE) -> str:
    """Return the text lower-cased, without accents, punctuation and articles, with single spaces.

    What carries meaning stays: a minus before a number, a decimal point, the signs of ``C++``,
    ``A-``, ``5%`` and ``x ≠ y``. An article is dropped before another word only, and a capital A
    only at the start, so that "Vitamin A" is not "Vitamin".

    Args:
        articles: Keep them.
        counting: Kinds of symbols that are kept as well.

    >>> normalise("  The Beatles! ")
    'beatles'
    >>> normalise("Vitamin A"), normalise("-5"), normalise("C++"), normalise("1,000.5"), normalise("A-")
    ('vitamin a', '-5', 'c++', '1000.5', 'a-')
    >>> normalise("K♠"), normalise("K♠", counting=Kind.SYMBOL)
    ('k', 'k♠')
    """
    return restore(_form(text, articles=articles, counting=counting))


def skeleton(form: str) -> bytes:
    """Return what every way of dropping articles and spaces leaves of a normal form.

    >>> skeleton(normalise("The river")) == skeleton(normalise("The river", articles=True))
    True
    """
    return form.encode("utf-8", "replace").translate(None, b" anthe")


def same_formula(answer: str, target: str) -> bool:
    """Return whether two formulas are equal but for spaces; two numbers beside each other stay two.

    A formula has a digit, an operator or a command of LaTeX, and no word but names of functions.

    >>> same_formula("2 x", "2x"), same_formula("\\\\frac {1} x", "\\\\frac{1}x"), same_formula("1 1/2", "11/2")
    (True, True, False)
    >>> same_formula("new york 2", "newyork2")
    False
    """
    if max(len(answer), len(target)) > _FORMULA_CHARACTERS_MAX or not _is_formula(target):
        return False
    return _without_spaces(answer) == _without_spaces(target)


def _without_spaces(formula: str) -> str:
    return _NOT_BETWEEN_NUMBERS.sub("", _SPACE_IN_FORMULAS.sub(" ", formula)).lower()


def _is_formula(text: str) -> bool:
    return (
        _IN_FORMULAS.search(text) is not None
        and _WORD.search(_NAMES_IN_FORMULAS.sub(" ", text)) is None
    )


def same_text(answer: str, target: str) -> bool:
    """Return whether an answer is the target after normalising, with or without articles.

    Symbols and emoji of the answer count where the target has some of their kind, and those of the
    target always; brackets, currencies, units of angles and lengths, and vowel points count where
    both have some, tags where the target has some. A target without any letter or digit equals the
    same marks alone. Two empty texts are not equal.

    >>> same_text("Paris 🎉", "Paris"), same_text("K♠", "K♥"), same_text("K", "K♠")
    (True, False, False)
    >>> same_text("(3.14)", "3.14"), same_text("(a, b]", "(a, b)"), same_text(") >", ">"), same_text("A-", "A")
    (True, False, False, False)
    """
    if not has_word(target):
        return _same_marks(answer, target)
    answer = undress(answer, target)
    short, long = sorted((answer, target), key=len)
    whole = _form(short)
    # Cheap test before a long response is normalised: the characters that stay are more than the
    # short text has.
    if (
        not whole
        or len(long.encode("ascii", "ignore").translate(None, _SOFT)) > len(whole) + _REWRITTEN_MAX
    ):
        return False
    other = _form(long)
    # Cheap test before articles are looked for: what is left without their letters and spaces is
    # not the same.
    if whole != other and skeleton(whole) != skeleton(other):
        return False
    if not _same_form(whole, other) and not _same_form(
        _form(short, articles=False), _form(long, articles=False)
    ):
        return False
    if not same_signs(answer, target):
        return False
    counting = kinds_that_count(answer, target)
    return (
        not counting
        or _same_marked(answer, target, counting)
        or _same_marked(_unwrap(answer, target), _unwrap(target, answer), counting)
    )


def same_brackets(answer: str, target: str) -> bool:
    """Return whether two texts have the same brackets in order, or one of them has none.

    >>> same_brackets("(a, b]", "(a, b)"), same_brackets("(a, b]", "a, b")
    (False, True)
    """
    left, right = _BRACKETS.findall(target), _BRACKETS.findall(answer)
    return (
        not left or not right or left == right or left == _BRACKETS.findall(_unwrap(answer, target))
    )


def _same_marked(answer: str, target: str, counting: Kind) -> bool:
    """Return whether two texts are equal with articles or without, marks of the kinds that count
    included.
    """
    return any(
        _same_form(
            _form(answer, articles=articles, counting=counting),
            _form(target, articles=articles, counting=counting),
        )
        for articles in (True, False)
    )


def _same_form(left: str, right: str) -> bool:
    """Return whether two normal forms are equal; spaces around their marks do not count: ``5 %``,
    ``x=5``.
    """
    if left == right:
        return left != ""
    if left.isascii() or right.isascii():
        return False
    return _GAPS.sub(r"\1", left) == _GAPS.sub(r"\1", right)


def _form(text: str, *, articles: bool = True, counting: Kind = Kind.NONE) -> str:
    """Return a text normalised, its meaningful marks protected."""
    build = _normal_form if len(text) > _REMEMBERED_CHARACTERS_MAX else _remembered_form
    return build(text, articles, counting)


def _normal_form(text: str, articles: bool, counting: Kind) -> str:
    plain = text
    if not text.isascii():
        plain = _VULGAR.sub(" ", _SUPERSCRIPTS.sub(lambda match: "^" + match[0], fold(text)))
        plain = _ACCENTS.sub("", fold(unicodedata.normalize("NFKD", plain)).translate(_STROKES))
        plain = unicodedata.normalize("NFC", plain)
    plain = protect(with_signs(plain))
    if not articles:
        plain = _ARTICLES.sub(" ", plain)
    return " ".join(space_marks(_JOINED.sub("", plain), counting).casefold().split())


_REMEMBERED_CHARACTERS_MAX: Final = 400
_remembered_form = lru_cache(maxsize=256)(_normal_form)
"""Comparing two texts takes each form of them several times."""


def _same_marks(answer: str, target: str) -> bool:
    """Return whether an answer is a target of marks alone; outer emphasis, quotes and a full stop
    do not count.
    """
    wanted = _marks(target, target)
    if not wanted:
        return answer.strip() == target.strip() != ""
    around = "".join(set(_WRAPPING) - set(wanted))
    plain = undress(answer, target)
    variants = [_marks(text, target) for text in (answer, plain, _BULLET.sub("", plain))]
    return wanted in variants or wanted in [text.strip(around) for text in variants]


def _marks(text: str, target: str) -> str:
    """Return a text in the form in which marks are compared with a target of marks."""
    plain = text
    if not text.isascii():
        plain = comparable(
            unicodedata.normalize("NFKC", fold(text)), kinds_that_count(text, target)
        )
    return "".join(with_signs(plain).translate(_QUOTES).split())


def _unwrap(answer: str, target: str) -> str:
    """Return an answer without the brackets around the whole of it, unless the target stands in
    some too.
    """
    plain = answer.strip().rstrip(".")
    closing = _WRAPPED.get(plain[:1])
    if closing is None or not plain.endswith(closing) or target.strip()[:1] in _WRAPPED:
        return answer
    depth = 0
    for position, character in enumerate(plain):
        depth += (character == plain[0]) - (character == closing)
        if depth == 0:
            return plain[1:-1] if position == len(plain) - 1 else answer
    return answer
