"""What NeMo Evaluator's primitives do to a text and nel's do not, for files that are loaded under
its names.
"""

from __future__ import annotations

import re
import string
import unicodedata

from nel.scoring import text
from nel.types import ScorerInput

__all__ = ["answer_line", "normalised", "normalised_formula"]

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_NO_SIGNS = str.maketrans("", "", ",$% ")


def answer_line(sample: ScorerInput, pattern: str | None = None) -> dict[str, bool | str | None]:
    """Return the verdict of `nel.answer_line`; a response that marks no answer is right where its
    last line is.

    Args:
        pattern: As there.

    >>> answer_line(ScorerInput(response="2 + 2 makes\\n4", target="4"))
    {'correct': True, 'extracted': '4'}
    """
    verdict = text.answer_line(sample, pattern)
    last = (sample.response or "").strip().rpartition("\n")[2]
    is_target = bool(last) and normalised_formula(last) == normalised_formula(str(sample.target))
    return (
        {"correct": True, "extracted": last}
        if verdict["extracted"] is None and is_target
        else verdict
    )


def normalised(text: str) -> str:
    """Return a text in small letters without accents joined, articles, ASCII punctuation and spare
    spaces.

    >>> normalised("The  U.S. Army!")
    'us army'
    """
    small = unicodedata.normalize("NFKD", text).lower()
    return " ".join(_ARTICLES.sub(" ", small).translate(_NO_PUNCTUATION).split())


def normalised_formula(text: str) -> str:
    """Return a formula in small letters without spaces, commas, dollar and percent signs, and full
    stops at its end.

    >>> normalised_formula(" $1,000. ")
    '1000'
    """
    return text.strip().lower().translate(_NO_SIGNS).rstrip(".")
