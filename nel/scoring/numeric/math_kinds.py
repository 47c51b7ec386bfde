"""What keeps two expressions apart although their values agree: brackets, bounds, approximations, units, equations.

math-verify compares values, and takes ``\\\\{1,2\\\\}`` for ``(1,2)``, ``\\\\ge 2`` for 2 and ``5 m`` for ``5 cm``.
Each rule looks at how an expression is written and holds only where it is sure. Depends on
`nel.scoring.numeric.parsing` for plain numbers and on `nel.scoring.reading.wrappers` for texts in LaTeX.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.reading.wrappers import untex

_NUMBER: Final = lazy_pattern(
    r"[-+]?\\?\$?\s?[-+]?(?:\d+(?:,\d{3})*(?:\.\d*)?|\\[dt]?frac\{\d+\}\{\d+\}|\d+/\d+)(?:\s?\\?%)?"
)
_BOUND: Final = lazy_pattern(
    r"\\(?:leq?|geq?|leqslant|geqslant|lt|gt|neq?)(?![a-zA-Z])|[<>]|\b(?:at\s+least|at\s+most|(?:more|less|fewer|greater|"
    r"larger|smaller)\s+than|or\s+(?:more|less|fewer|greater)|up\s+to|between|not)\b",
    re.IGNORECASE,
)
_OPEN: Final = lazy_pattern(r"\\[lcd]?dots|…|\.\.\.|,\s*\Z")
_ABOUT: Final = lazy_pattern(
    r"\\(?:approx|simeq|sim|doteq)(?![a-zA-Z])|~(?=\s?[-\d])|\b(?:about|approx(?:imately|\.)?|roughly|around|nearly|almost)\b",
    re.IGNORECASE,
)
_NAME: Final = lazy_pattern(r"[\s$]*(?:\\?[A-Za-z]{1,6}(?:_\{?\w+\}?)?(?:\([^()]{0,20}\))?\s*=?)?[\s$]*")
_UNSOLVED: Final = lazy_pattern(r"(?<![\\A-Za-z])[a-df-hj-z]\s*\^|\d\s?[a-df-hj-z](?![A-Za-z])|-\s?[a-df-hj-z]\s*\Z")
_THOUSANDS: Final = lazy_pattern(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_SPACED_COMMA: Final = lazy_pattern(r"\d,(?:\s|\\[, ;])+[-+]?\d")
_PAIR: Final = lazy_pattern(r"[-+]?\d+,[-+]?\d{1,2}(?!\d)")
_BRACKETS: Final = lazy_pattern(r"\\left|\\right|\\[bB]ig+[lr]?")
_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_UNIT: Final = lazy_pattern(
    r"""
    (?P<rest> .* [\d)}\]%] )
    (?: \s*(?:\\[,;:! ]|~)*\s* \\(?:text|mathrm|textrm|rm|mbox|operatorname)\s*\{ \s* (?P<tex> [^{}]{1,30}? ) \s* \}
      | (?:\s|\\[,;:! ]|~)+ (?P<plain> (?:square\s|cubic\s)? [A-Za-zµ]{1,14} (?:\s?/\s?[a-z]{1,8})? ) \.? )
    (?P<power> \^\{?[23]\}? )? \s*
    """,
    re.VERBOSE,
)
_MONEY: Final = lazy_pattern(r"(?P<sign>[-+]?)\s*(?P<money>\\?\$|€|£|¥|₹)\s*(?=[-+]?[\d.\\])")
_CIRCLE: Final = lazy_pattern(r"\^\s*\{?\s*\\circ\s*\}?\s*\Z")
_NAMES: Final = (
    ("cm", "centimeter centimetre cms"),
    ("mm", "millimeter millimetre"),
    ("km", "kilometer kilometre kms"),
    ("m", "meter metre"),
    ("in", "inch inche"),
    ("ft", "foot feet"),
    ("yd", "yard"),
    ("mi", "mile"),
    ("s", "sec second"),
    ("min", "minute mins"),
    ("h", "hr hour hrs"),
    ("day", ""),
    ("week", ""),
    ("month", ""),
    ("year", "yr yrs"),
    ("g", "gram"),
    ("kg", "kilogram kgs"),
    ("mg", "milligram"),
    ("lb", "pound lbs"),
    ("oz", "ounce"),
    ("l", "L liter litre"),
    ("ml", "mL milliliter millilitre"),
    ("$", "dollar usd USD"),
    ("¢", "cent"),
    ("€", "euro EUR"),
    ("°", "degree deg"),
    ("rad", "radian"),
    ("%", "percent"),
    ("km/h", "kph kmh km/hr"),
    ("mi/h", "mph"),
    ("m/s", ""),
    ("ft/s", ""),
)
_UNITS: Final = {name: unit for unit, names in _NAMES for name in (unit, *names.split())}
_NO_UNIT: Final = frozenset({"unit", "sq unit", "square unit", "cubic unit"})


class Quantity(NamedTuple):
    """An expression without its unit, and the unit, or None where it has none that is known."""

    value: str
    unit: str | None


def quantity(text: str) -> Quantity:
    """Return an expression and its unit: money, a word after a number, degrees.

    >>> quantity("5\\\\text{ cm}"), quantity("5 meters").unit, quantity("12 dollars").unit == quantity("$12").unit
    (Quantity(value='5', unit='cm'), 'm', True)
    """
    text = text.strip()
    money = _MONEY.match(text)
    if money is not None and text.count("$") < 2:  # noqa: PLR2004 - a pair delimits a formula
        return Quantity(money["sign"] + text[money.end() :], money["money"].lstrip("\\"))
    if _CIRCLE.search(text):
        return Quantity(text, "°")
    found = _UNIT.fullmatch(text)
    if found is None:
        return Quantity(text, None)
    unit = _unit(found["tex"] or found["plain"], found["power"] or "")
    if unit == "%":
        return Quantity(found["rest"] + "\\%", unit)
    return Quantity(text, None) if unit is None else Quantity(found["rest"], unit or None)


def _unit(written: str, power: str) -> str | None:
    """Return a unit by its short name, an empty one where it says nothing, or None where it is none that is known."""
    name = " ".join(written.replace(" /", "/").replace("/ ", "/").split())
    for word, exponent in (("square ", "2"), ("sq ", "2"), ("cubic ", "3")):
        if name.startswith(word) and name not in _NO_UNIT:
            name, power = name.removeprefix(word), exponent
    if name.removesuffix("s") in _NO_UNIT:
        return ""
    unit = _UNITS.get(name) or _UNITS.get(name.lower()) or _UNITS.get(name.lower().removesuffix("s"))
    return None if unit is None else unit + "".join(mark for mark in power if mark.isdigit())


def words_of(text: str) -> str | None:
    """Return an answer in words without LaTeX, or None where it is an expression.

    >>> words_of("\\\\text{June 20}"), words_of("x + \\\\text{a}")
    ('June 20', None)
    """
    plain = untex(text)
    is_words = "\\" not in plain and re.search(r"[^\W\d_]{3,}", plain) is not None
    return plain if is_words and not re.search(r"[=+^<>{}]", plain) else None


_LARGE: Final = re.compile(
    r"\d(?:\s|\\[,;: ]|~|\\(?:text|mathrm|textrm)\s*\{\s*)+"
    r"(?P<word>hundred|thousand|million|billion|trillion|dozen|k|K)\b"
)
"""A word that multiplies the number before it."""
_CELLS: Final = re.compile(r"\\begin|&")
_RATIO: Final = re.compile(r"\d+\s*:\s*\d+")


def is_scaled(gold: str, given: str) -> bool:
    """Return whether two numbers are equal one of which has a word that multiplies it, such as ``2\\text{ million}``.

    >>> is_scaled("58500", "58.5\\\\text{ thousand}"), is_scaled("2", "2 million")
    (True, False)
    """
    if (_LARGE.search(gold) is None) == (_LARGE.search(given) is None):
        return False
    values = parse_number(untex(gold)), parse_number(untex(given))
    return values[0] is not None and values[0] == values[1]


def is_apart(gold: str, given: str) -> bool:
    """Return whether an expression is another kind of thing than the gold one, whatever their values.

    >>> is_apart("\\\\{1,2\\\\}", "(1,2)"), is_apart("2", "\\\\ge 2"), is_apart("5", "x^2 = 5"), is_apart("5", "x = 5")
    (True, True, True, False)
    >>> is_apart("(3,\\\\pi/2)", "[3,\\\\pi/2]"), is_apart("2x + 3", "x = 2x + 3"), is_apart("2/5", "2/5 = 40%")
    (True, True, False)
    """
    kinds = brackets(gold), brackets(given)
    if None not in kinds and kinds[0] != kinds[1] and kinds.count("list") == 0:
        is_pair = gold.count(",") == given.count(",") == 1
        if "set" in kinds or (is_pair and not _CELLS.search(given)):
            return True
    if ":" in given and ":" not in gold and _RATIO.fullmatch(given.strip()):
        return True
    if (large := _LARGE.search(given)) is not None and large["word"] not in gold:
        return True
    tail = given.rpartition("=")[2]
    if _NUMBER.fullmatch(gold.strip()) and (_BOUND.search(given) or _OPEN.search(tail)):
        return True
    if _is_list(gold, given) or _is_list(given, gold) or (_PAIR.fullmatch(gold) and _NUMBER.fullmatch(given)):
        return True
    if given.count("=") != 1 or "=" in gold:
        return False
    head = untex(given.partition("=")[0])
    if _UNSOLVED.search(head) is not None or _is_defined_by_itself(head, tail):
        return True
    values = parse_number(head), parse_number(tail)
    if values[0] is None or values[1] is None or values[0] == values[1]:
        return False
    return not ("%" in tail and "%" not in head and values[0] * 100 == values[1])


def _is_defined_by_itself(head: str, tail: str) -> bool:
    """Return whether the unknown before an equals sign occurs after it, too: ``x = 2x + 3``."""
    name = head.strip(" $")
    return len(name) == 1 and name.isalpha() and re.search(rf"(?<![\\A-Za-z]){name}(?![A-Za-z])", tail) is not None


def _is_list(left: str, right: str) -> bool:
    """Return whether one is a list and the other one a number with a comma between its thousands."""
    return _THOUSANDS.fullmatch(right) is not None and _SPACED_COMMA.search(left) is not None


def brackets(text: str) -> str | None:
    """Return the kind of a sequence by its outer brackets: set, tuple, closed, half-open or list; None for none.

    >>> brackets("\\\\left(1, 2\\\\right)"), brackets("\\\\{1\\\\}"), brackets("1, 2"), brackets("(x+1)(x-1)")
    ('tuple', 'set', 'list', None)
    """
    plain = _BRACKETS.sub("", text).replace("\\{", "{").replace("\\}", "}").replace("\\lbrace", "{").strip()
    depth, commas, closes_at_end = 0, 0, False
    for place, mark in enumerate(plain):
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
            closes_at_end = depth == 0 and place == len(plain) - 1
            if depth == 0 and not closes_at_end and plain[:1] in _OPENING:
                return None
        elif mark == "," and depth <= (plain[:1] in _OPENING):
            commas += 1
    if not plain or (plain[0] in _OPENING) != closes_at_end:
        return "list" if commas and plain[:1] not in _OPENING else None
    if plain[0] == "{":
        return "set" if plain[-1] == "}" else None
    if not commas:
        return None
    if plain[0] not in _OPENING:
        return "list"
    return {"()": "tuple", "[]": "closed"}.get(plain[0] + plain[-1], "half-open")


def items(text: str) -> list[str]:
    """Return what stands between the commas of a sequence that has no brackets within.

    >>> items("\\\\left(1, x\\\\right)"), items("3,4")
    (['1', 'x'], ['3', '4'])
    """
    plain = _BRACKETS.sub("", text).strip()
    plain = plain[1:-1] if plain[:1] in _OPENING else plain
    return [item.strip() for item in plain.split(",")]


def exact(gold: str, given: str) -> str | None:
    """Return an answer without the approximation after it, or None where it is nothing but one.

    A gold answer with a decimal point may be rounded, and an approximation is compared with it.

    >>> exact("2/3", "2/3 \\\\approx 0.7"), exact("5", "\\\\approx 5"), exact("1.41", "x \\\\approx 1.41")
    ('2/3', None, '1.41')
    """
    found = _ABOUT.search(given)
    if found is None or _ABOUT.search(gold):
        return given
    before, behind = given[: found.start()].strip(), given[found.end() :].strip()
    is_rounded = "." in gold
    if _NAME.fullmatch(before):
        return behind if is_rounded else None
    return behind if is_rounded and behind.strip("$ ").startswith(gold.strip("$ ")) else before
