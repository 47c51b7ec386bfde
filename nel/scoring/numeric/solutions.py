"""`solution_set` and `both_signs`: an answer that gives several solutions, in the form that math-verify compares.

A union may be said by conditions (``x \\le 0, x \\ge 3``), an interval may have a semicolon between its ends or
brackets that are turned outwards, and ``\\pm`` stands for two values. Depends on `nel.scoring.numeric.parsing` for the
order of two ends.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import product
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.parsing import parse_number

_CHARACTERS_MAX: Final = 400
"""A longer answer is taken as it is written."""
_END: Final = r"(?:[^\[\](){},;<>=]|\{[^{}]*\}){1,60}?"
_BUILT: Final = lazy_pattern(
    r"\s*(?:\\left\s*)?\\\{\s*[a-z]\s*(?:\\in\s*\\mathbb\s*\{?R\}?\s*)?(?::|\\mid|\\vert|\|)\s*"
    r"(?P<inner>(?:[^{}:|]|\{[^{}]*\}){1,120}?)\s*(?:\\right\s*)?\\\}\s*"
)
"""A set that is said by its condition: ``\\{x : x \\le 2\\}``."""
_MEMBER: Final = lazy_pattern(r"\s*[a-z]\s*\\in\s*(?=(?:\\left\s*)?(?:[\[\](]|\\\{)|\\mathbb)")
_INTERVAL: Final = lazy_pattern(
    rf"\s*(?:\\left\s*)?(?P<open>[\[\](])(?P<low>{_END})[,;](?P<high>{_END})\s*(?:\\right\s*)?(?P<close>[\[\])])\s*"
)
"""An interval whose brackets may be turned outwards where an end is open: ``]1, 5[``."""
_UNION: Final = lazy_pattern(r"\\cup(?![A-Za-z])")
_SPACE: Final = r"(?:\s|\\[,;:! ]|~|\\q?quad(?![a-z]))*"
_OR: Final = lazy_pattern(
    rf"{_SPACE},?{_SPACE}(?:\\text\s*\{{\s*or\s*\}}|\\(?:lor|vee)(?![a-z])|(?<![A-Za-z])or(?![A-Za-z])){_SPACE}"
)
_AND: Final = lazy_pattern(
    rf"{_SPACE}(?:\\text\s*\{{\s*and\s*\}}|\\(?:land|wedge)(?![a-z])|(?<![A-Za-z])and(?![A-Za-z])){_SPACE}"
)
_COMMA: Final = lazy_pattern(rf"{_SPACE}[,;]{_SPACE}")
_SIGN: Final = r"(?:[<>]|\\(?:leq?|geq?|leqslant|geqslant|lt|gt)(?![a-z]))"
_HALF_LINE: Final = lazy_pattern(rf"\s*(?P<name>[a-z])\s*(?P<sign>{_SIGN})\s*(?P<end>[^<>=,]{{1,40}}?)\s*")
_TURNED: Final = lazy_pattern(rf"\s*(?P<end>[^<>=,]{{1,40}}?)\s*(?P<sign>{_SIGN})\s*(?P<name>[a-z])\s*")
_CHAIN: Final = lazy_pattern(
    rf"\s*(?P<low>[^<>=,]{{1,40}}?)\s*(?P<left>{_SIGN})\s*(?P<name>[a-z])\s*(?P<right>{_SIGN})\s*(?P<high>[^<>=,]{{1,40}}?)\s*"
)
_VARIABLE_IN: Final = lazy_pattern(r"(?<![\\A-Za-z])[a-df-hj-z](?![A-Za-z])")
_NAMED: Final = lazy_pattern(r"\s*[a-z](?:_\{?\w{1,2}\}?)?\s*=\s*(?=[^=]*\Z)")
_BOTH_SIGNS: Final = lazy_pattern(r"\\pm(?![A-Za-z])\s*")
_SIGNS_MAX: Final = 2


class _Line(NamedTuple):
    """The numbers between two ends, each end in LaTeX, infinity included."""

    low: str
    high: str
    is_low_closed: bool
    is_high_closed: bool

    def written(self) -> str:
        return f"{'[' if self.is_low_closed else '('}{self.low},{self.high}{']' if self.is_high_closed else ')'}"


def solution_set(text: str) -> str:
    """Return the solutions that an answer gives in an unusual way as an interval, a union of intervals or a condition.

    >>> solution_set("\\\\{x : x \\\\le 2\\\\}"), solution_set("]1,5["), solution_set("x < 1 \\\\text{ or } x > 2")
    ('x \\\\le 2', '(1,5)', '(-\\\\infty,1)\\\\cup(2,\\\\infty)')
    >>> solution_set("x \\\\le 0, x \\\\ge 3"), solution_set("x > 1, x < 5"), solution_set("[2;5)")
    ('(-\\\\infty,0]\\\\cup[3,\\\\infty)', '(1,5)', '[2,5)')
    """
    if len(text) > _CHARACTERS_MAX:
        return text
    built = _BUILT.fullmatch(text)
    text = built["inner"] if built is not None else text
    parts = [_INTERVAL.fullmatch(part) for part in _UNION.split(_MEMBER.sub("", text, count=1))]
    intervals = [part for part in parts if part is not None]
    if len(intervals) == len(parts) and (";" in text or any(map(_is_outward, intervals))):
        return "\\cup".join(map(_turned_inwards, intervals))
    if _MEMBER.match(text) and (built is not None or text.rstrip().endswith("\\}")):
        return _MEMBER.sub("", text, count=1)
    return _from_conditions(text) or text


def both_signs(text: str) -> str:
    """Return an expression with ``\\pm`` as the list of its values, and anything else as it is.

    >>> both_signs("x = \\\\frac{1 \\\\pm \\\\sqrt5}{2}"), both_signs("\\\\pm 3")
    ('\\\\frac{1 +\\\\sqrt5}{2},\\\\frac{1 -\\\\sqrt5}{2}', '3,-3')
    """
    plain = _NAMED.sub("", text, count=1)
    pieces = _BOTH_SIGNS.split(plain)
    if not 1 <= len(pieces) - 1 <= _SIGNS_MAX or "\\mp" in text or "," in text:
        return text
    written = []
    for signs in product("+-", repeat=len(pieces) - 1):
        value = pieces[0]
        for sign, piece in zip(signs, pieces[1:], strict=True):
            is_first = value.strip()[-1:] in ("", "{", "(", "[")
            value += ("" if sign == "+" and is_first else sign) + piece
        written.append(value)
    return ",".join(written)


def _is_outward(interval: re.Match[str]) -> bool:
    return interval["open"] == "]" or interval["close"] == "["


def _turned_inwards(interval: re.Match[str]) -> str:
    """Return an interval with a comma between its ends and a round bracket at each open one."""
    opening = "(" if interval["open"] in "](" else "["
    closing = ")" if interval["close"] in "[)" else "]"
    return f"{opening}{interval['low'].strip()},{interval['high'].strip()}{closing}"


def _from_conditions(text: str) -> str | None:
    """Return the solutions of several conditions, or of one that holds everywhere; None where these are none."""
    alternatives = _OR.split(text)
    lines: list[_Line | None] = [_both(_AND.split(one)) for one in alternatives]
    if len(lines) == 1 and len(commas := _COMMA.split(text)) == 2:  # noqa: PLR2004 - two conditions
        first, second = (_line(one) for one in commas)
        order = None if first is None or second is None else _order(first, second)
        lines = [first, second] if order == "apart" else [_both(commas)] if order == "overlap" else [None]
        alternatives = commas
    found = [line for line in lines if line is not None]
    if len(found) < len(lines) or not _about_one_name(alternatives):
        return None
    if len(found) == 1 and not (_AND.search(text) or _COMMA.search(text)):
        is_whole = {found[0].low, found[0].high} == {"-\\infty", "\\infty"}
        return found[0].written() if is_whole else None
    return "\\cup".join(line.written() for line in found)


def _about_one_name(conditions: list[str]) -> bool:
    return len({name for one in conditions for name in _VARIABLE_IN.findall(one)}) == 1


def _both(conditions: list[str]) -> _Line | None:
    """Return the numbers that all of one or two conditions hold for; None where these are none or not known."""
    lines = [_line(one) for one in conditions]
    if len(lines) == 1:
        return lines[0]
    if len(lines) != 2 or None in lines:  # noqa: PLR2004 - two conditions
        return None
    above = next((line for line in lines if line is not None and line.high == "\\infty"), None)
    below = next((line for line in lines if line is not None and line.low == "-\\infty"), None)
    if above is None or below is None:
        return None
    low, high = _value(above.low), _value(below.high)
    if low is not None and high is not None and low >= high:
        return None
    return _Line(above.low, below.high, above.is_low_closed, below.is_high_closed)


def _order(first: _Line, second: _Line) -> str | None:
    """Return whether two half-lines overlap or lie apart, or None where they face the same way or it is not known."""
    below, above = (first, second) if first.low == "-\\infty" else (second, first)
    if below.low != "-\\infty" or above.high != "\\infty":
        return None
    high, low = _value(below.high), _value(above.low)
    if high is None or low is None or high == low:
        return None
    return "apart" if high < low else "overlap"


def _value(end: str) -> Fraction | None:
    return parse_number(end.strip(), words=False)


def _line(condition: str) -> _Line | None:
    """Return the numbers that a condition on one variable holds for, or None where it is none."""
    chain = _CHAIN.fullmatch(condition)
    if chain is not None:
        if _is_less(chain["left"]) != _is_less(chain["right"]):
            return None
        line = _Line(_end(chain["low"]), _end(chain["high"]), _is_closed(chain["left"]), _is_closed(chain["right"]))
        return line if _is_less(chain["left"]) else _Line(line.high, line.low, line.is_high_closed, line.is_low_closed)
    half, turned = _HALF_LINE.fullmatch(condition), _TURNED.fullmatch(condition)
    found = half or turned
    if found is None or _VARIABLE_IN.search(found["end"]):
        return None
    is_below = _is_less(found["sign"]) is (half is not None)
    end, closed = _end(found["end"]), _is_closed(found["sign"])
    return _Line("-\\infty", end, False, closed) if is_below else _Line(end, "\\infty", closed, False)


def _end(written: str) -> str:
    return "\\infty" if written.replace(" ", "") == "+\\infty" else written.strip()


def _is_less(sign: str) -> bool:
    return sign[:1] == "<" or sign.startswith("\\l")


def _is_closed(sign: str) -> bool:
    return "e" in sign
