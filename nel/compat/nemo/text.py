"""What NeMo Evaluator's primitives do to a text and nel's do not, for files that are loaded under
its names.
"""

from __future__ import annotations

from nel.scoring import text
from nel.types import ScorerInput

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
    is_target = bool(last) and _normalise(last) == _normalise(str(sample.target))
    return (
        {"correct": True, "extracted": last}
        if verdict["extracted"] is None and is_target
        else verdict
    )


def _normalise(text: str) -> str:
    """Return a formula in small letters without spaces, commas, dollar and percent signs, and full
    stops at its end.

    >>> _normalise(" $1,000. ")
    '1000'
    """
    return text.strip().lower().translate(_NO_SIGNS).rstrip(".")
