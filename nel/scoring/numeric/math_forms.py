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
    (lazy_pattern(rf"(?:\\overline|{_TEXT}(?=\{{\d))\s?\{{([0-9A-F]+)\}}(?=\s?_)"), r"\1"),
    (lazy_pattern(r"\\langle(?![A-Za-z])\s?"), "("),
    (lazy_pattern(r"\s?\\rangle(?![A-Za-z])"), ")"),
    (lazy_pattern(r"\\(?:mathbf|Bbb)\s?\{?\s?R\s?\}?(?![A-Za-z])"), r"\\mathbb{R}"),
    (
        lazy_pattern(
            r"(?P<name>\\(?:sin|cos|tan|cot|sec|csc)(?:\^\{?-?\d\}?)?)\s*(?P<open>[({]?)\s*(?P<degrees>\d+(?:\.\d+)?)\s?"
            r"(?:\^\s?\{?\s?\\circ\s?\}?|°)\s?[)}]?"
        ),
        r"\g<name>{\\frac{\g<degrees>\\pi}{180}}",
    ),
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
    lazy_pattern(r"(?<=[a-z])_\{?\d\}?(?=\s*=)"),
    lazy_pattern(
        rf"""
        (?<! [\s,;] ) (?: [\s,;] | \\[,;:\ ] | \\q?quad )* (?: {_TEXT}\{{ )? \s*\(?\s*
        (?: (?:where|for|with) \s (?: (?:all|any|every|some|each) \s )? (?: an? \s )?
              (?:integers? | integer \s values \s of)
              \s* \}}? \s* \$? [a-z] \$? (?: \s* \}} )?
          | (?:where|with|and) \s* \}}? \s* \$? [a-z] \$? \s* (?: {_TEXT}\{{ )? \s* is \s any? \s integer \s* \}}? )
        \)? \s* \Z
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
_RUN_ON_DECIMAL: Final = lazy_pattern(
    r"(?P<whole>\d{0,18})\.(?P<digits>\d{2,40}?)\s?(?:\\[lcd]?dots(?![A-Za-z])|…|\.{3})"
)
_REPEATED: Final = lazy_pattern(r"(?P<group>\d{1,12}?)(?P=group)+(?P<start>\d*)")
_LATER_REPEATED: Final = lazy_pattern(
    r"(?P<fixed>\d{1,8}?)(?:(?P<group>(?P<one>\d)(?P=one){2,})|(?P<pair>\d{2,3})(?P=pair)+(?P<start>\d*))"
)
"""The digits of a recurring decimal that is written out, such as 0.1666…, with what does not recur before them."""
_IN_TEXT: Final = lazy_pattern(rf"\s*{_TEXT}\s?\{{(?P<inner>[^{{}}$]*[\d=][^{{}}$]*)\}}\s*")
_IN_BASE: Final = lazy_pattern(
    r"\s*(?P<digits>-?[0-9A-F]{1,40})\s*(?:\(\s*(?:in\s+)?base[\s-]*(?P<bracketed>\d{1,2}|[a-z]{3,9})\s*\)"
    r"|(?:in\s+)?base[\s-]*(?P<base>\d{1,2}|[a-z]{3,9}))\s*"
)
"""A number whose base is said in words: "2516 (base 8)"."""
_RATIO_IN_WORDS: Final = lazy_pattern(rf"\s*(\d+)\s*(?:{_TEXT}\s?\{{\s*to\s*\}}|\bto\b)\s*(\d+)\s*")
_TUPLES: Final = lazy_pattern(rf"\)\s*(?:,|{_TEXT}\s?\{{\s*(?:and|or)\s*\}})\s*\(")
_OF_TUPLES: Final = lazy_pattern(rf"(?<=[)\]])\s*{_TEXT}\{{\s*or\s*\}}\s*(?=[(\[])")
_NONE: Final = lazy_pattern(
    r"""
    \s* (?: none
      | (?: (?:there|it|the\s(?:equation|system|inequality|problem)) \s (?:is|are|exists?|has) \s )?
        no \s (?: (?:real|integer|valid|possible|such)\s )* (?: solutions? | values? | roots? | numbers? )
        (?: \s (?: exists? | (?:is|are) \s possible ) )?
      | (?:the\s)? empty\sset | no\ssuch\s\w+ )
    \s* \.? \s*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_REALS: Final = lazy_pattern(
    r"(?:the\s(?:set\sof\s)?)?(?:all\s)?(?:real\snumbers|reals)|(?:all|any|every)\sreal\s(?:numbers?|values?)(?:\sof\s[a-z])?"
    r"|all\sreal\s[a-z]",
    re.IGNORECASE,
)
_INFINITE: Final = frozenset(("infinity", "infinitely many", "infinitely many solutions", "infinite"))
_WORDS: Final = lazy_pattern(rf"\s*(?:{_TEXT}\s?\{{)?(?P<words>[A-Za-z][A-Za-z -]*)\.?\}}?\s*")


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
    in_base = _IN_BASE.fullmatch(text) if "base" in text else None
    if in_base is not None:
        return f"{in_base['digits']}_{{{in_base['base'] or in_base['bracketed']}}}"
    if _MARKS.isdisjoint(text) and "=" not in text and text.lstrip()[:1] not in ("(", *"ABCDEFGHIJ"):
        return _as_ratio(_RUN_ON_DECIMAL.sub(_as_written_out, text), other)
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
    plain = _OF_TUPLES.sub(", " if _TUPLES.search(other) else r"\\cup ", plain)
    return _as_ratio(_RUN_ON_DECIMAL.sub(_as_written_out, _RECURRING.sub(_as_fraction, plain)), other)


def _as_ratio(text: str, other: str) -> str:
    """Return "3 to 2" as 3:2 where that is compared with a ratio."""
    return _RATIO_IN_WORDS.sub(r"\1:\2", text, count=1) if ":" in other else text


def _in_signs(words: str, text: str) -> str:
    """Return the sign or the digits of words that have them: "no solution", "infinity", "two"."""
    if _NONE.fullmatch(words):
        return "\\emptyset"
    if _REALS.fullmatch(words) or (words == "R" and "mathbf" in text):
        return "\\mathbb{R}"
    if words.lower() in _INFINITE:
        return "\\infty"
    value = words_value(words) if len(words) > 1 else None
    return text if value is None or value.denominator != 1 else str(value.numerator)


def _as_fraction(found: re.Match[str]) -> str:
    """Return a recurring decimal as a fraction: ``0.1\\\\overline{6}`` is 15/90."""
    return _fraction(found["whole"], found["fixed"], found["group"] or found["one"])


def _as_written_out(found: re.Match[str]) -> str:
    """Return a recurring decimal as a fraction whose digits are written several times, others as they are: 0.333…."""
    digits = found["digits"]
    repeated = _REPEATED.fullmatch(digits)
    if repeated is not None and repeated["group"].startswith(repeated["start"]):
        return _fraction(found["whole"], "", repeated["group"])
    later = _LATER_REPEATED.fullmatch(digits)
    if later is None or (later["pair"] and not later["pair"].startswith(later["start"])):
        return found[0]
    return _fraction(found["whole"], later["fixed"], later["one"] or later["pair"])


def _fraction(whole: str, fixed: str, group: str) -> str:
    """Return the fraction of a decimal whose last group of digits recurs."""
    below = (10 ** len(group) - 1) * 10 ** len(fixed)
    above = int(whole + fixed + group) - int((whole + fixed) or 0)
    return f"\\frac{{{above}}}{{{below}}}"
