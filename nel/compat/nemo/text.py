"""Primitives of NeMo Evaluator that treat a text otherwise than nel's, for files of its names."""

from __future__ import annotations

from nel.scoring import text
from nel.types import ScorerInput

_NO_SIGNS = str.maketrans("", "", ",$% ")


def answer_line(sample: ScorerInput, pattern: str | None = None) -> dict[str, bool | str | None]:
    """Return the verdict of `nel.answer_line`; without a marked answer, the last line counts.

    Args:
        pattern: As there.

    >>> answer_line(ScorerInput(response="2 + 2 makes\\n4", target="4"))
    {'correct': True, 'extracted': '4'}
    """
    verdict = text.answer_line(sample, pattern)
    last_line = (sample.response or "").strip().rpartition("\n")[2]
    is_target = bool(last_line) and _normalise(last_line) == _normalise(str(sample.target))
    if verdict["extracted"] is None and is_target:
        return {"correct": True, "extracted": last_line}
    return verdict


def _normalise(text: str) -> str:
    """Return a text in lower case without spaces, commas, signs ($ and %) and final full stops.

    >>> _normalise(" $1,000. ")
    '1000'
    """
    return text.strip().lower().translate(_NO_SIGNS).rstrip(".")
