"""`split_unit`: an answer without its unit, and the unit, which may be left out but not differ.

math-verify drops a unit, too, but takes ``4t`` for 4 and ``5-\\mathrm{e}^2`` for 5, so it is asked
without. Depends on `nel.scoring.mathematics.notation` for texts in LaTeX.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from nel.scoring.mathematics.notation import GAP, TEXT

_NAMES: Final = (
    "cm centimeter centimetre",
    "mm millimeter millimetre",
    "km kilometer kilometre",
    "m meter metre",
    "in inch inche",
    "ft foot feet",
    "yd yard",
    "mi mile",
    "s sec second",
    "min minute",
    "h hr hour",
    "day",
    "week",
    "year yr",
    "g gram",
    "kg kilogram",
    "lb pound",
    "oz ounce",
    "cent",
    "dollar",
    "degree",
)
_UNITS: Final = {name: names.split()[0] for names in _NAMES for name in names.split()}
_PLAIN: Final = "|".join(name for name in _UNITS if len(name) > 1)
_IN_TEXT: Final = rf"{TEXT}\s*\{{[\s~]*(?!(?:or|and|to|in|base)\b)[A-Za-z][^{{}}\d]{{0,30}}\}}(?:\^\{{?-?[23]\}}?)?"
_UNIT: Final = re.compile(
    rf"""
    (?: (?<=[\d)}}%]) | (?<=\\pi) ) {GAP}
    (?P<unit> {_IN_TEXT} (?: \s*(?:/|\\cdot)?\s* {_IN_TEXT} )*
      | (?:square\s|cubic\s|sq\.?\s)? (?:{_PLAIN}|unit) (?:s|es)? (?![A-Za-z]) [^\d]{{0,12}} )
    \Z
    """,
    re.VERBOSE,
)
_WORD: Final = re.compile(r"(?<![\\A-Za-z])(?!(?:square|cubic|sq)\b)[A-Za-z]+")


class Quantity(NamedTuple):
    """An answer without its unit, and the unit's short name, or None where none is known."""

    value: str
    unit: str | None


def split_unit(text: str) -> Quantity:
    """Return an answer and its unit.

    >>> split_unit("5\\\\text{ cm}^2"), split_unit("13.45 years")
    (Quantity(value='5', unit='cm'), Quantity(value='13.45', unit='year'))
    >>> split_unit("4t")
    Quantity(value='4t', unit=None)
    """
    match = _UNIT.search(text)
    if match is None:
        return Quantity(text, None)
    word = _WORD.search(match["unit"])
    name = "" if word is None else word[0]
    return Quantity(
        text[: match.start()], _UNITS.get(name) or _UNITS.get(name.lower().removesuffix("s"))
    )
