"""Labels of pairs: people see both answers, in an order that the file does not tell.

A judge of pairs says which of two answers is better, and so must a person: the answer whose win is
the score, and the baseline of its row. Which of the two is called A follows from a hash of the
sample, so no file has to keep it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nel.artifacts.results import Result
from nel.errors import UsageError
from nel.judges.stats.human_labels import judgements_of, priority

_TEMPLATE: Final = "pairwise"
_FIELD: Final = "baseline"
_WINNERS: Final[Mapping[str, float]] = {
    **dict.fromkeys(("a", "answer a", "first"), 1.0),
    **dict.fromkeys(("b", "answer b", "second"), 0.0),
    **dict.fromkeys(("tie", "draw", "equal", "both", "neither", "="), 0.5),
}
DESCRIBED: Final = "A, B or tie"
"""The possible labels, for messages."""


def is_pair(result: Result) -> bool:
    """Return whether the judge compared two answers."""
    judgements = judgements_of(result.outcome.details)
    return {judgement.get("template") for judgement in judgements} == {_TEMPLATE}


def baseline_of(result: Result) -> str | None:
    """Return the other answer of a pair; None where the judge graded one answer, or the row does
    not hold the other.
    """
    if result.sample is None or not is_pair(result):
        return None
    baseline = result.sample.metadata.get(_FIELD)
    return baseline if isinstance(baseline, str) else None


def check_pair(result: Result) -> None:
    """Refuse a pair whose row does not hold the other answer.

    Raises:
        UsageError: People cannot be shown both answers.
    """
    if is_pair(result) and baseline_of(result) is None:
        raise UsageError(
            f"sample {result.sample_id!r} was judged as a pair, and its row has no field {_FIELD}"
            " with the other answer: people cannot be shown both; put the answer into the row"
        )


def is_shown_first(result: Result) -> bool:
    """Return whether a pair's response, and not its baseline, is answer A of the label file."""
    return priority(result.sample_id, "which answer is A")[0] % 2 == 1


def shown_pair(result: Result, response: str, baseline: str) -> tuple[str, str]:
    """Return the answers of a pair as A and B of the label file."""
    return (response, baseline) if is_shown_first(result) else (baseline, response)


def read_winner(label: object) -> float | None:
    """Return the score of answer A that a label gives, None of an empty one.

    Raises:
        ValueError: It is neither A nor B nor a tie.

    >>> read_winner("A"), read_winner("tie"), read_winner("")
    (1.0, 0.5, None)
    """
    text = "" if label is None else str(label).strip()
    if not text:
        return None
    score = _WINNERS.get(text.casefold())
    if score is None:
        raise ValueError(f"the label {text[:60]!r} names no answer of the pair: {DESCRIBED}")
    return score


def response_score(result: Result, score_of_a: float) -> float:
    """Return the score of the response of a pair from that of its answer A."""
    return score_of_a if is_shown_first(result) else 1.0 - score_of_a
