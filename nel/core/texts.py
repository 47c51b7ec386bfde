"""Texts for people, and the names that they give to parts of their data. Pure functions."""

from __future__ import annotations

import ast
import inspect
import math
import re
import unicodedata
from typing import Final

# 'Rome' or "Rome", in which a backslash takes the character after it along, as in 'O\'Hara'.
_TEXT_LITERAL: Final = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_ITEM: Final = re.compile(_TEXT_LITERAL, re.DOTALL)
# ['Rome', 'Roma'], and ['4' '2'] as numpy writes an array.
_LIST: Final = re.compile(
    rf"\[\s*{_TEXT_LITERAL}(?:(?:\s*,\s*|\s+){_TEXT_LITERAL})*\s*\]", re.DOTALL
)


def shorten(text: str, characters_max: int) -> str:
    """Return a text, cut where it is longer; the mark of the cut is counted.

    >>> shorten("abcdef", 4), shorten("abcd", 4)
    ('abc…', 'abcd')
    """
    return text if len(text) <= characters_max else f"{text[: characters_max - 1]}…"


def count_text(n: int, noun: str) -> str:
    """Return a number with its noun, in the plural for all but one.

    >>> count_text(1, "pair"), count_text(1200, "pair")
    ('1 pair', '1,200 pairs')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def setting_text(value: object, characters_max: int = 60) -> str:
    """Return the value of a setting for a message that says what differs.

    >>> setting_text(None), setting_text(0.5)
    ('unset', '0.5')
    """
    return "unset" if value is None else shorten(str(value), characters_max)


def cost_text(cost: float) -> str:
    """Return a cost in the currency of its price: two decimals, or three digits where it is less.

    >>> [cost_text(cost) for cost in (1234567.8, 12.5, 0.063, 0.0000451, 0)]
    ['1,234,567.80', '12.50', '0.063', '0.0000451', '0']
    """
    if cost >= 1:
        return f"{cost:,.2f}"
    if cost <= 0:
        return "0"
    # 0.063 is 6.3e-2: its third digit has the decimal place 2 + 2.
    places = 2 - math.floor(math.log10(cost))
    return f"{cost:.{places}f}".rstrip("0").rstrip(".")


def first_paragraph(docstring: str) -> str:
    """Return the first paragraph of a docstring on one line, without its full stop.

    >>> first_paragraph("Add two\\n    numbers.\\n\\n    Slowly.")
    'Add two numbers'
    """
    return inspect.cleandoc(docstring).partition("\n\n")[0].replace("\n", " ").rstrip(".")


def slug(text: str) -> str:
    """Return a text as a part of a name: small letters of ASCII, digits, - and _; empty where none
    is left.

    >>> slug(" My bench (v2)"), slug("???")
    ('my-bench-v2', '')
    """
    return re.sub(r"[^a-z0-9_-]+", "-", text.strip().lower()).strip("-")


def one_spelling(label: str) -> str:
    """Return the name of a category or group in the one spelling (NFC) that nel compares.

    >>> one_spelling("ge\\u0301ographie") == "g\\u00e9ographie"
    True
    """
    return label if label.isascii() else unicodedata.normalize("NFC", label)


def list_in_text(text: str) -> list[str] | None:
    """Return the list of texts that a text is, as JSON, Python or numpy write one; None otherwise.

    >>> list_in_text("['Rome', 'Roma']"), list_in_text('["Rome"]'), list_in_text("['4' '2']")
    (['Rome', 'Roma'], ['Rome'], ['4', '2'])
    >>> list_in_text("[1, 2]"), list_in_text("Rome"), list_in_text("[]")
    (None, None, None)
    """
    if not _LIST.fullmatch(text.strip()):
        return None
    try:
        return [str(ast.literal_eval(item)) for item in _ITEM.findall(text)]
    except (SyntaxError, ValueError):  # an escape that Python does not have, or a line break
        return None
