"""What speaks against a declared number: its box is one of several or a part of a longer number, or it is an example.

Depends on `nel.scoring.numeric` for the values of boxes, and on `nel.scoring.reading.declarations` for their places.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.reading.declarations import Declaration
from nel.scoring.reading.status import UNDECIDED

_BEFORE_MAX: Final = 160
_MARKS: Final = r"[\s$*_(\\\[]*"
_CLOSING: Final = r"[\s$*_)\\\]]*"
_OTHER: Final = rf"\\(?:boxed|fbox)\s?\{{(?P<other>[^{{}}]{{1,40}})\}}{_CLOSING}"
_BESIDE = lazy_pattern(
    rf"{_OTHER}(?:[,;&、和]|[,;]?\s*(?:or|and|oder|und|ou|et|o|y|e|или|и|または|或者?)(?![^\W_])){_MARKS}\Z"
)
"""Another box right before one: "\\boxed{3} and \\boxed{4}"."""
_SECOND_ASSIGNED = lazy_pattern(
    rf"(?<![A-Za-z\\])(?P<first>[A-Za-z])\s*=\s*[$\s]*{_OTHER}(?:[,;]|\band\b|,\s*and\b){_MARKS}(?!(?P=first))[A-Za-z]\s*=[\s$]*\Z"
)
"""Two variables, each with a box of its own: "m = \\boxed{1}, n = \\boxed{2}"."""
_TOTAL_FOLLOWS = lazy_pattern(
    r"[.,;\s](?:so,?\s+|thus,?\s+|therefore,?\s+|hence,?\s+)?(?:(?:the|our|a|grand|in|overall)\s+)*"
    r"(?:totals?|sum|altogether|combined|adding|(?:we\s+)?add)\b[^.!?\n\d]{0,40}[:=]?[\s*_$]*\Z",
    re.IGNORECASE,
)
"""The end of a response that is cut off before the sum of what it has put into boxes: "Total:"."""
_TOTAL_MAX: Final = 200
_EXAMPLE = lazy_pattern(
    r"(?:\be\.g\.|\bfor\s+(?:example|instance)|\bsuch\s+as"
    r"|\b(?:should|must|needs?\s+to|has\s+to|have\s+to|is\s+to|asked\s+to)\b[^.!?\n]{0,60}\b(?:form|format|formatted)(?:\s+(?:of|as|like))?)"
    r"[,:\s]*[$*_`\"'“(\\\[]*(?:boxed\s?\{)?[\s$]*\Z"
)
"""What stands before a number that only shows the form of an answer: "it should be of the form"."""


def box_objection(text: str, place: Declaration) -> str | None:
    """Return why the number in a box is not the answer that a response gives, or None.

    >>> from nel.scoring.reading.declarations import declarations
    >>> text = "It is \\\\boxed{3} or \\\\boxed{4}"
    >>> box_objection(text, next(iter(declarations(text))))
    'undecided'
    """
    if text[place.stop + 1 : place.stop + 2].isdigit():
        return UNDECIDED
    before = text[max(0, place.start - _BEFORE_MAX) : place.start]
    joined = _BESIDE.search(before) or _SECOND_ASSIGNED.search(before)
    is_second = joined is not None and not _same(joined["other"], text[place.end : place.stop])
    if is_second or (text[place.stop + 1 :].strip() and _is_before_total(text, place.stop + 1)):
        return UNDECIDED
    return None


def _is_before_total(text: str, start: int) -> bool:
    """Return whether nothing but the announcement of a total stands after a place."""
    behind = text[start : start + _TOTAL_MAX + 1].rstrip()
    return len(behind) <= _TOTAL_MAX and _TOTAL_FOLLOWS.search(behind) is not None


def is_example(text: str, start: int) -> bool:
    """Return whether the number that begins at a place only shows what an answer looks like: "e.g. 042"."""
    return _EXAMPLE.search(text, max(0, start - _BEFORE_MAX), start) is not None


def _same(left: str, right: str) -> bool:
    return left.strip() == right.strip() or (
        (value := parse_number(left.strip())) is not None and value == parse_number(right.strip())
    )
