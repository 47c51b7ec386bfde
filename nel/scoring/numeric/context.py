"""What the characters around digits make of them: a number, a part of something else, or a label.

``5\\sqrt{3}``, ``10!``, ``40 to 42``, ``10:30`` and ``12/31/2020`` hold digits that are no single number; the 3 of
"Step 3", of ``x_3``, of CO2 or of a footnote ``[3]`` is a label. Depends on `nel.scoring.numeric.parsing` to see that
two ways to write a number are equal. Looks at some forty characters on either side, and never at a whole text.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.parsing import CURRENCIES, parse_number


class Standing(Enum):
    """What digits in a text are."""

    NUMBER = auto()
    PART = auto()
    """A part of what is no single number: an expression, a range, a time, a date, a bound."""
    LABEL = auto()
    """Not about numbers: a list item's or a step's number, a subscript, a footnote, a part of a name."""


_BEFORE: Final = 48
_AFTER: Final = 28
_SIBLING_CHARACTERS_MAX: Final = 4_000

_OPERATORS: Final = "+-−–—*×·÷/^±√∛"
_COMMAND = lazy_pattern(r"\\([a-zA-Z]+)\s?\Z")
_OPERATOR_COMMANDS: Final = frozenset(
    "times cdot div pm mp ast sqrt log ln exp sin cos tan binom frac dfrac tfrac over mod bmod pmod choose pi "
    "lt gt le ge leq geq ne neq".split()
)
_MONEY = lazy_pattern(r"(?:\b|(?<=\d))(?:Rs|USD|EUR|GBP|INR|JPY|CNY|RMB|CHF|RM|kr|KSh|Ksh|US|R|A|C|NZ|HK|S)\Z")
_ARGUMENT = lazy_pattern(
    r"(?:\\(?:sqrt|[dt]?frac|binom|log|ln)\s?(?:\[[^\[\]]*\])?|\}|\^|sqrt|(?<![A-Za-z])[a-zA-Z])\s?[{(]\Z"
)
_SUBSCRIPT = lazy_pattern(r"[^\W_]_\{?\Z|[})]_\{?\Z")
_OPERAND_BEFORE = lazy_pattern(
    r"""
    (?: [\d)\]%½¼¾²³π] | \\pi | [\d)]\} | (?<![A-Za-z\\<]) [b-zB-HJ-Z] ) [^\S\n]*
    (?: [+\-−–—×·÷/^±√∛] | \*{1,2} )
    [^\S\n]* \{? \Z
    """,
    re.VERBOSE,
)
_ROOT_OR_SPREAD = lazy_pattern(r"(?:[√∛±^]|\+/-)\s?[({]?\Z")
_COMPARED = lazy_pattern(r"(?:(?<![A-Za-z<])[a-zA-Z]|[\d)}])\s?(?:[<>≤≥≠]=?|!=|\\(?:leq?|geq?|lt|gt|neq?))\s?\Z")
_BOUND_COMMAND = lazy_pattern(r"\\(?:leq?|geq?|lt|gt|neq?|leqslant|geqslant)\s?\Z")
_FUNCTION_COMMAND = lazy_pattern(r"\\(?:arc)?(?:log|ln|lg|exp|sin|cos|tan|cot|sec|csc|Gamma|phi)\s*\Z")
"""A function whose argument digits are: the 204 of ``\\log 204``."""
_UNIT_POWER = lazy_pattern(
    r"""
    (?: (?<![A-Za-z\\]) (?: [cdkmnµμ]?m | in | ft | yd | mi | s | sec | units? | inch(?:es)? | feet | foot | yards?
      | miles?
      | (?:centi|kilo|milli|deci)?met(?:er|re)s? | seconds? | bushels? )
      | \\(?:text|mathrm|textrm|rm|mbox)\s?\{[^{}\\]{1,20}\} )
    \s? \^ \s? \{? \Z
    """,
    re.VERBOSE,
)
"""The unit whose power digits are: the 2 of ``m^2``."""
_RESIDUE = lazy_pattern(r"\s?\$?\s?\(?\s?(?:\\[pb]?mod(?![a-z])|mod(?:ulo)?\b)\s?[{$(]*\s?(?P<modulus>\d{1,9})(?!\d)")
"""The modulus after a remainder: the 1000 of ``204 \\pmod{1000}``."""
_MODULUS = lazy_pattern(r"(?:\\[pb]?mod|\bmod(?:ulo)?)\s?[{$(]*\s?\Z")
_TAG = lazy_pattern(r"</?[A-Za-z][^<>\n]{0,30}>\s*\Z")
_NEGATIVE_SPACED = lazy_pattern(r"[=:(][^\S\n]*[-−–][^\S\n]+\Z")
_SIGN_WORD = lazy_pattern(
    r"(?:(?<![^\W_])(?:minus|negative|moins|menos|meno|минус)\s+|(?:マイナス|负|負)\s*|(?:ناقص|سالب)\s+)\Z",
    re.IGNORECASE,
)
_LAST_WORD = lazy_pattern(r"[^\W\d_][^\W_./]*[./]?[^\W_]*\.?\Z")
_SIGN_WORDS: Final = frozenset("minus negative moins menos meno минус ناقص سالب".split())
_OPERAND_END = lazy_pattern(r"(?:[\d)%½¼¾]|\b[b-z])\s*\Z")
_LABEL_WORDS: Final = frozenset(
    """
    step steps question questions problem problems equation equations eq eq. figure fig. table exercise example theorem
    lemma case cases approach note item schritt frage étape question paso pregunta passo pergunta passaggio domanda шаг
    шага вопрос
    """.split()
)
_LABEL_SIGNS: Final = ("第", "步骤", "ステップ", "问题", "問題", "الخطوة", "السؤال")
_OPERATOR_WORDS: Final = frozenset("plus times modulo mod choose than".split())
_OPERATOR_PHRASE = lazy_pattern(
    r"(?:divided\s+by|multiplied\s+by|root\s+of|logarithm\s+of|factorial\s+of|power\s+of|\d\s+(?:over|out\s+of|"
    r"of))\s+\Z",
    re.IGNORECASE,
)
_OPERATOR_PHRASE_ENDS: Final = frozenset("by of over".split())
_JOINING_WORDS: Final = frozenset(
    "to or and through bis oder und ou et o u y e a al à до или и أو إلى و and/or versus vs vs.".split()
)
_JOINED_SIGNS: Final = ("或", "或者", "到", "至", "和", "〜", "～", "から", "か", "または", "と", "~")
_JOINED = lazy_pattern(
    rf"""
    (?P<number> [{CURRENCIES}]? [\d½¼¾⅓⅔] [\d.,/]* ) [^\S\n]* [*$]{{0,2}}
    (?P<unit> % | \\% | °[CF]? | [{CURRENCIES}] | [^\W\d]{{1,12}}[^\S\n] )? [^\S\n]* ,? [^\S\n]*
    (?P<joint>
        to | or | and | through | bis | oder | und | ou | et | o | u | y | e | a | al | à | до | или | и | أو | إلى | و
      | and/or | vs\.? | versus | [~〜～] | 或者? | 到 | 至 | 和 | から | か | または | と
    )
    [^\S\n]* \(? (?: even\s+ | maybe\s+ | perhaps\s+ | possibly\s+ )? [*$]{{0,2}} \Z
    """,
    re.VERBOSE,
)
_ROUNDED = lazy_pattern(r"\bround(?:ed|s|ing)?(?:\s+(?:up|down|off))?\s+to\s+\Z", re.IGNORECASE)
_WITH_UNIT: Final = frozenset("to or through bis oder ou o до или أو إلى ~ 〜 ～ 或 或者 到 至 から か または".split())
"""Joints that make a range or a choice with a unit between, too: "40 cm to 42 cm"; not "48 clips and 24 pens"."""
_MONTH: Final = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_DATE_BEFORE = lazy_pattern(
    rf"(?:{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}),?\s+\Z"
)
_DATE_AFTER = lazy_pattern(rf"(?:st|nd|rd|th)?(?:,?\s+\d{{4}}\b|\s+(?:of\s+)?{_MONTH},?\s+\d{{4}}\b)")
_TUPLE = lazy_pattern(r"[(\[{][^()\[\]{}\n]{0,40}\d\s?,\s?\Z")

_UNIT_LETTERS = lazy_pattern(r"[A-Za-z]+")
_VARIABLES = lazy_pattern(r"[abcdeijnpqruvwxyz]|[xyz]{2,3}")
_ORDINAL: Final = frozenset(("st", "nd", "rd", "th"))
_EXPRESSION_AFTER = lazy_pattern(
    r"""
      _ (?: [^\W_] | \{ )
    | : \d
    | / (?: \\?[($]? \d | [a-z](?![\w]) )
    | \( [\d.]+ \)
    | \)? \s? \^ (?! \s? \{? \s? (?: \\circ | \\text | \\mathrm | st | nd | rd | th | \[ | ◦ ) )
    | \s? (?: [√∛π±÷×·] | \\ (?: sqrt | pi | cdot | times | div | binom | [dt]?frac | log | ln | sin | cos | tan | pm
                               | p?mod | bmod | choose | over ) (?![a-zA-Z]) | sqrt\b )
    | \s? [+\-−–—] \s? (?: [$\\]{0,2}[\d√π] | \\ (?:sqrt|pi|frac) | \(\d | [b-z](?![\w'’]) )
    | (?: \* | \s\*\s ) (?: [\d(] | [b-z](?!\w) )
    | \+ (?= [\s.,;)}\]$*] | \Z )                         # "18+" is 18 or more
    | [^\S\n]+ (?: (?:more|less|fewer)\s+than | squared | cubed | factorial | times\s | choose\s | plus\s
      | divided\s | multiplied\s | modulo
                 | mod\s | to\s+the\s+power | or\s+(?:more|less|fewer|greater|higher|lower)
                 | and\s+a\s+(?:half|third|quarter) | minus\s+\d ) \b
    """,
    re.VERBOSE,
)
_JOINED_AFTER = lazy_pattern(
    rf"""
    (?: [^\S\n]* (?: % | \\% | °[CF]? | [{CURRENCIES}] | [^\S\n][^\W\d]{{1,12}} ) )? [*]{{0,2}} [^\S\n]*
    (?:
        [^\S\n] (?: to | or | through | bis | oder | ou | o | до | или | أو | إلى | and/or ) [^\S\n]
      | [~〜～或到至] | から | または
    )
    [^\S\n]* [*]{{0,2}} [{CURRENCIES}]? (?P<number> \d [\d.,/]* )
    | [^\S\n]+ (?: and | und | et | y | e | и | و ) [^\S\n]+ [*]{{0,2}} [{CURRENCIES}]? \d
    """,
    re.VERBOSE,
)
_FACTORIAL = lazy_pattern(r"!+(?=[}$\\/^+×·)\d]|\s*[+×·/=]|\s*-\s*\d)")
_EXCLAIMED = lazy_pattern(r"(?:[^\W\d_]{2}|['’]s)[*_\"“”']*[^\S\n]+[*_]*\Z")
_LIST_LEAD = lazy_pattern(r"(?:\A|\n)[^\S\n]*[#>*•(-]*[^\S\n]*\**\(?\Z")
_LIST_TAIL = lazy_pattern(r"[.)]\**:?[^\S\n]+\S")
_FOOTNOTE_LEAD = lazy_pattern(r"[\w.,;:!?)%*$][^\S\n]?\[\^?\Z")
_FOOTNOTE_NOT = lazy_pattern(r"(?:\b(?:is|are|was|be|answer|equals|lautet|es|est|è|é)|[=:])[*\s]*\[\Z", re.IGNORECASE)


def standing(text: str, start: int, end: int) -> tuple[Standing, int]:
    """Return what the digits at a place are, and where their number begins: at its sign in words, or at the place.

    >>> standing("about 40 to 42", 12, 14)[0].name, standing("as in Step 3", 11, 12)[0].name
    ('PART', 'LABEL')
    >>> standing("it is minus 7", 12, 13)
    (<Standing.NUMBER: 1>, 6)
    """
    before, after = text[max(0, start - _BEFORE) : start], text[end : end + _AFTER]
    if after and (found := _after(text, before, after, start, end)) is not None:
        return found, start
    if "mod" in before and _MODULUS.search(before):
        return Standing.LABEL, start
    if before:
        return _before(text, before, start, end)
    return Standing.NUMBER, start


def _after(text: str, before: str, after: str, start: int, end: int) -> Standing | None:
    """Return what the characters after digits make of them, or None where they leave them a number."""
    first = after[0]
    if first.isascii() and first.isalpha():
        letters = _UNIT_LETTERS.match(after)[0]  # type: ignore[index]
        follows = after[len(letters) : len(letters) + 1]
        if letters not in _ORDINAL and (_VARIABLES.fullmatch(letters) or follows.isdigit()):
            return Standing.PART
    elif first == "!":
        if _FACTORIAL.match(after):
            return Standing.PART
        if not (_EXCLAIMED.search(before) or text[start] in CURRENCIES):
            return Standing.PART
    elif (first in ".)" and _is_list_number(text, before, after, start, end)) or (
        first == "]"
        and before[-1:] in ("[", "^")
        and _FOOTNOTE_LEAD.search(before)
        and not _FOOTNOTE_NOT.search(before)
    ):
        return Standing.LABEL
    if first in ".]" or ("mod" in after and _is_remainder(after, text[start:end])):
        return None
    joined = _JOINED_AFTER.match(after)
    if _EXPRESSION_AFTER.match(after) or (joined and not _same(joined["number"] or "", text[start:end])):
        return Standing.PART
    if _DATE_AFTER.match(after) and re.search(rf"{_MONTH}\s+\Z|(?:\A|\s)\Z", before):
        return Standing.PART
    return None


def _before(text: str, before: str, start: int, end: int) -> tuple[Standing, int]:
    """Return what the characters before digits make of them, and where the number begins."""
    if text[start] in "+-−–":
        before += text[start]  # "10 -5" is a difference, "is -5" a negative number
    last = before[-1]
    if last.isalpha() or last in "_{(":
        found = _glued(text, before, last, start)
        if found is not None:
            return found
    stripped = before.rstrip(" \t\u00a0\u202f*$({`_\"'“‘")
    if not stripped:
        return Standing.NUMBER, start
    sign = stripped[-1]
    if "*" in before[-3:] and text[end : end + 1] != "*" and _OPERAND_BEFORE.search(before):
        return Standing.PART, start
    if sign == "^" and _UNIT_POWER.search(before):
        return Standing.LABEL, start
    if sign in _OPERATORS or last == "^":
        return _behind_operator(before, start)
    if sign in "<>≤≥≠=" and not _TAG.search(before) and _COMPARED.search(before):
        return Standing.PART, start
    if sign == ":" and last == ":" and before[-2:-1].isdigit():
        return Standing.PART, start
    if sign == "," and _TUPLE.search(before):
        return Standing.PART, start
    if sign.isalpha() and "\\" in before and (_BOUND_COMMAND.search(before) or _FUNCTION_COMMAND.search(before)):
        return Standing.PART, start
    return _behind_word(text, before, stripped, start, end)


def _glued(text: str, before: str, last: str, start: int) -> tuple[Standing, int] | None:
    """Return what letters, an underscore or a bracket directly before digits make of them, or None."""
    if last == "{" and _UNIT_POWER.search(before):
        return Standing.LABEL, start
    if last in "{(":
        if _SUBSCRIPT.search(before):
            return Standing.LABEL, start
        return (Standing.PART, start) if _ARGUMENT.search(before) else None
    if last == "_":
        return (Standing.LABEL, start) if _SUBSCRIPT.search(before) else None
    if not last.isascii():
        return None
    command = _COMMAND.search(before)
    if command:
        return (Standing.PART, start) if command[1] in _OPERATOR_COMMANDS else None
    if text[start] in CURRENCIES or _MONEY.search(before):
        return None
    return Standing.LABEL, start


def _behind_operator(before: str, start: int) -> tuple[Standing, int]:
    if _OPERAND_BEFORE.search(before) or _ROOT_OR_SPREAD.search(before):
        return Standing.PART, start
    hyphen = before[-1] in "-–" and before[-2:-1]
    if hyphen and hyphen.isascii() and hyphen.isupper():
        return Standing.LABEL, start  # GPT-4, COVID-19
    if negative := _NEGATIVE_SPACED.search(before):
        return Standing.NUMBER, start - len(before) + negative.end() - len(negative[0].lstrip("=:( \t"))
    return Standing.NUMBER, start


def _behind_word(text: str, before: str, stripped: str, start: int, end: int) -> tuple[Standing, int]:
    """Return what the word before digits makes of them: a sign, an operator, a label, the end of a range."""
    last_word = _LAST_WORD.search(stripped, max(stripped.rfind(" "), stripped.rfind("\n")) + 1)
    word = last_word[0].lower() if last_word else ""
    if word in _SIGN_WORDS or stripped[-1] in "负負ス":
        sign = _SIGN_WORD.search(before)
        if sign:
            rest = before[: sign.start()]
            part = _OPERAND_END.search(rest) is not None
            return (Standing.PART, start) if part else (Standing.NUMBER, start - len(before) + sign.start())
    if word in _LABEL_WORDS or stripped.endswith(_LABEL_SIGNS):
        return Standing.LABEL, start
    if word in _OPERATOR_WORDS or (word in _OPERATOR_PHRASE_ENDS and _OPERATOR_PHRASE.search(before)):
        return Standing.PART, start
    if word in _JOINING_WORDS or stripped.endswith(_JOINED_SIGNS):
        joined = None if _ROUNDED.search(before) else _JOINED.search(before)
        if (
            joined
            and (not joined["unit"] or joined["joint"] in _WITH_UNIT)
            and not _same(joined["number"], text[start:end])
        ):
            return Standing.PART, start
    if end - start == 4 and _DATE_BEFORE.search(before):  # noqa: PLR2004 - a year
        return Standing.PART, start
    return Standing.NUMBER, start


def _is_remainder(after: str, digits: str) -> bool:
    """Return whether digits are a remainder, smaller than the modulus after them, and no dividend."""
    found = _RESIDUE.match(after)
    return found is not None and digits.isdecimal() and int(digits) < int(found["modulus"])


def _same(left: str, right: str) -> bool:
    """Return whether "or" joins two ways to write one number: "1/2 or 0.5"."""
    value = parse_number(left.rstrip(".,"))
    return value is not None and value == parse_number(right)


def _is_list_number(text: str, before: str, after: str, start: int, end: int) -> bool:
    """Return whether digits number an item of a list: "3. " at the start of a line, with a 2 before it."""
    digits = text[start:end]
    if not digits.isdigit() or len(digits) > 2 or not _LIST_TAIL.match(after):  # noqa: PLR2004 - up to item 99
        return False
    if not _LIST_LEAD.search(before) or (start > len(before) and "\n" not in before):
        return False
    number = int(digits)
    if number <= 1:
        return True
    above = text[max(0, start - _SIBLING_CHARACTERS_MAX) : start]
    return re.search(rf"(?m)^[^\S\n]*[#>*•(-]*[^\S\n]*\**\(?{number - 1}[.)]", above) is not None
