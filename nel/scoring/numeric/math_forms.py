"""`usual_form`: an answer in LaTeX without what only frames it, in the form that gold answers have.

A bracket's size, the marks between thousands, an option's letter, "the probability is" before a value and "for integers
k" after it say nothing of what an answer is; a base, a recurring decimal or a remainder is written in several ways.
Depends on `nel.scoring.numeric.words` for numbers in words.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.words import words_value

_TEXT: Final = r"\\(?:text|textbf|textrm|textit|mathrm|mathbf|mbox)"
_CHARACTERS_MAX: Final = 1_000
"""A longer answer is taken as it is written."""
_SAME: Final = (
    (lazy_pattern(r"\\[bB]igg?[lrm]?(?![A-Za-z])\s*"), ""),
    (lazy_pattern(r"\\(left|right)\s+(?=[()\[\]|.\\])"), r"\\\1"),
    (lazy_pattern(r"\\bigcup(?![A-Za-z])"), r"\\cup"),
    (lazy_pattern(r"\\lbrace(?![A-Za-z])\s?"), r"\\{"),
    (lazy_pattern(r"\\rbrace(?![A-Za-z])"), r"\\}"),
    (lazy_pattern(r"\\colon(?![A-Za-z])\s?"), ":"),
    (lazy_pattern(r"\\cr(?![A-Za-z])"), r"\\\\"),
    (lazy_pattern(rf"{_TEXT}\{{\s?([:,])\s?\}}"), r"{\1}"),
    (lazy_pattern(rf"{_TEXT}\{{\s?(ln|log|sin|cos|tan)\s?\}}"), r"\\\1 "),
    (lazy_pattern(r"(?<=\d)\{:\}(?=\d)"), ":"),
    (lazy_pattern(r"(?<=\d)\s?(?:\{\s?,\s?\}|\\[,!:;])(?:\\!)?\s?(?=\d{3}(?!\d))"), ""),
    (lazy_pattern(r"(?<=[\w,;}.)])~"), " "),
    (lazy_pattern(r"(?:\A|(?<==))\s*\+\s?/?\s?-(?=\s?[\d\\])"), r"\\pm "),
    (lazy_pattern(rf"(?<=[)\]])\s*{_TEXT}\{{\s*or\s*\}}\s*(?=[(\[])"), r"\\cup "),
    (lazy_pattern(r"\\overline\s?\{([0-9A-F]+)\}(?=\s?_)"), r"\1"),
    (
        lazy_pattern(
            rf"(?<=[0-9A-F])(?:_\{{?\s?(?:\(|{_TEXT}\s?\{{\s?base\s?\}}?)|[\\ ~]*{_TEXT}\{{\s?\(?(?:in\s)?base\s?\}}?)"
            r"\s*(\d{1,2})[)}\s]*\Z"
        ),
        r"_{\1}",
    ),
)
"""Ways to write the same, and the usual one."""
_MARKS: Final = frozenset("\\~\n+_{")
"""Any of which is in every text that one of these changes."""
_FRAMES: Final = (
    lazy_pattern(rf"\A\s*{_TEXT}\s?\{{[^{{}}]*(?:\bis|[:=]|\b(?:yes|no),)\s*\}}\s*(?=\S)", re.IGNORECASE),
    lazy_pattern(
        rf"""
        \A \s* (?: {_TEXT}\s?\{{ \(?[A-J][).:] (?:\\?\s)* \}} | \([A-J]\) | [A-J]\) )
        (?: [\s~:] | \\[\ ,;] | \\q?quad )* (?= [\\\d$(-] )
        """,
        re.VERBOSE,
    ),
    lazy_pattern(
        r"""
        \A \s* [A-Za-z] (?: \^\{?-1\}? | ' | _\{?\w\}? )* \s*
        (?:\\left)? \( \s* [a-z] (?: \s*,\s* [a-z] )* \s* (?:\\right)? \) \s* = (?= [^=]+\Z )
        """,
        re.VERBOSE,
    ),
    lazy_pattern(
        rf"""
        (?<! [\s,;] ) (?: [\s,;] | \\[,;:\ ] | \\q?quad )*
        (?: {_TEXT}\{{\s*\(?\s* (?:where|for|with)? [^{{}}]{{0,40}} \}}\s* )?
        (?<= [\s,;}}d] ) [a-z] \s* \\in \s* \\(?:mathbb|mathbf)? \s* \{{?Z\}}? \)? \s* \Z
        """,
        re.VERBOSE,
    ),
)
"""What frames an answer: "The probability is", an option's letter, a function's name, "for an integer k" after it."""
_REMAINDER: Final = lazy_pattern(
    r"""
    (?: [A-Za-z] (?:\^\{?\w+\}?)? \s* (?:\\equiv|=) \s* )? (?P<rest> \d{1,18} ) \s* (?: \\[,;:\ ] | ~ )* \s*
    \\?\(? (?:[pb]?mod) [\s{]* (?P<modulus> \d{1,18} ) \}?\)? \s*
    """,
    re.VERBOSE,
)
_RECURRING: Final = lazy_pattern(
    r"(?P<whole>\d{0,18})\.(?P<fixed>\d{0,12})\\(?:overline|bar|dot)\s?(?:\{(?P<group>\d{1,12})\}|(?P<one>\d))"
)
_IN_TEXT: Final = lazy_pattern(rf"\s*{_TEXT}\s?\{{(?P<inner>[^{{}}$]*[\d=][^{{}}$]*)\}}\s*")
_NONE: Final = lazy_pattern(
    r"\s*(?:there\s(?:is|are)\s)?(?:no\s(?:real\s)?(?:solutions?|values?)|(?:the\s)?empty\sset|no\ssuch\s\w+)\s*\.?\s*",
    re.IGNORECASE,
)
_INFINITE: Final = frozenset(("infinity", "infinitely many", "infinite"))
_WORDS: Final = lazy_pattern(rf"\s*(?:{_TEXT}\s?\{{)?(?P<words>[A-Za-z][A-Za-z -]*)\}}?\s*")


def usual_form(text: str, other: str) -> str:
    """Return an answer in the form that is usual, without frames that the answer it is compared with has not.

    >>> usual_form("N = 10{,}080", "5"), usual_form("\\\\textbf{(B) }2", "2"), usual_form("0.\\\\overline{3}", "1/3")
    ('N = 10080', '2', '\\\\frac{3}{9}')
    >>> usual_form("x \\\\equiv 2 \\\\pmod 7", "2"), usual_form("f^{-1}(x) = x - 1", "x-1"), usual_form("2 + 3", "5")
    ('2', ' x - 1', '2 + 3')
    """
    if len(text) > _CHARACTERS_MAX:
        return text
    words = _WORDS.fullmatch(text)
    if words is not None:
        return _in_signs(words["words"].strip(), text)
    if _MARKS.isdisjoint(text) and "=" not in text and text.lstrip()[:1] not in ("(", *"ABCDEFGHIJ"):
        return text
    plain = text.replace("\n", " ")
    for pattern, usual in _SAME:
        plain = pattern.sub(usual, plain)
    inner = _IN_TEXT.fullmatch(plain)
    plain = plain if inner is None else inner["inner"]
    for frame in _FRAMES:
        if frame.search(plain) is not None and frame.search(other) is None:
            plain = frame.sub("", plain)
    remainder = _REMAINDER.fullmatch(plain) if "mod" not in other else None
    if remainder is not None and int(remainder["rest"]) < int(remainder["modulus"]):
        plain = remainder["rest"]
    return _RECURRING.sub(_as_fraction, plain)


def _in_signs(words: str, text: str) -> str:
    """Return the sign or the digits of words that have them: "no solution", "infinity", "two"."""
    if _NONE.fullmatch(words):
        return "\\emptyset"
    if words.lower() in _INFINITE:
        return "\\infty"
    value = words_value(words) if len(words) > 1 else None
    return text if value is None or value.denominator != 1 else str(value.numerator)


def _as_fraction(found: re.Match[str]) -> str:
    """Return a recurring decimal as a fraction: ``0.1\\\\overline{6}`` is 15/90."""
    fixed, group = found["fixed"], found["group"] or found["one"]
    below = (10 ** len(group) - 1) * 10 ** len(fixed)
    above = int(found["whole"] + fixed + group) - int((found["whole"] + fixed) or 0)
    return f"\\frac{{{above}}}{{{below}}}"
