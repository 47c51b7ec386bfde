"""Classifies responses that no scorer needs to see, and what a resume does about an outcome.

Does no I/O.

Note: a truncated answer is neither wrong nor right; by default it is a model failure of its own
kind.
"""

from __future__ import annotations

from typing import Literal

from nel.core.finish_reasons import ending_of, is_context_full, is_failed_call
from nel.engine.scorers.call import ScoringTask
from nel.engine.scorers.tool_calls import answer_in
from nel.engine.store.codec import encode_outcome
from nel.engine.store.rows import KEEP, RESCORE, RESEND, Row, verdict_row
from nel.types import ModelFailure, Outcome, Response, Sample, SampleKey, Scored, Unscored

_ASKED_AGAIN = ("infra", "environment", "cancelled", "budget")


def verdict_before_scoring(
    response: Response, *, truncated: Literal["failure", "score"], sample: Sample | None = None
) -> ModelFailure | Unscored | None:
    """Return the outcome of a response that no scorer needs to see; None for any other.

    Args:
        response: What was received.
        truncated: Whether a truncated answer is a failure or is scored.
        sample: Its prompt may ask for calls of tools as text, which are then the answer.
    """
    error = response.error
    if error is not None:
        if error.model_failure is not None:
            return ModelFailure(kind=error.model_failure, detail=error.message)
        return Unscored(cause=error.cause, kind=error.kind, detail=error.message)
    if response.episode is not None:
        failed = response.episode["failure"] if response.episode["fails"] else None
        return None if failed is None else ModelFailure(**failed)
    ending = ending_of(response.finish_reason)
    if ending == "content_filter":
        return ModelFailure(kind="content_filter", detail="the endpoint filtered the answer")
    if ending == "refusal":
        return ModelFailure(kind="refusal", detail="the endpoint marked the answer as a refusal")
    is_empty = not response.text.strip() and not response.tool_calls
    if ending == "truncated" and (is_empty or truncated == "failure"):
        is_full = is_context_full(response.finish_reason)
        detail = (
            "cut off where the model's context ends"
            if is_full
            else "cut off by the token limit; raise --max-tokens"
        )
        return ModelFailure(kind="truncated", detail=detail)
    if is_failed_call(response.finish_reason):
        return ModelFailure(
            kind="no_answer", detail="the model called a tool in a form that its server refused"
        )
    only_calls = bool(response.text.strip()) and not answer_in(response, sample).strip()
    if only_calls or (is_empty and ending == "tool_calls"):
        return ModelFailure(kind="no_answer", detail="the model called a tool instead of answering")
    if is_empty:
        return ModelFailure(
            kind="empty", detail="no answer beside the reasoning" if response.reasoning else ""
        )
    return None


def settle_outcome(response: Response, outcome: Outcome) -> Outcome:
    """Return the outcome of an episode: one that was not solved, and whose last answer failed, is
    that failure of the model.
    """
    failed = None if response.episode is None else response.episode["failure"]
    if failed is None or not isinstance(outcome, Scored) or outcome.reward > 0:
        return outcome
    return ModelFailure(
        **failed, metrics=outcome.metrics, answer=outcome.answer, details=outcome.details
    )


def remake_of(outcome: Outcome) -> int:
    """Return what a resume does about an outcome: `KEEP`, `RESCORE` or `RESEND`."""
    if not isinstance(outcome, Unscored):
        return KEEP
    return RESEND if outcome.cause in _ASKED_AGAIN else RESCORE


def scored_row(item: ScoringTask, outcome: Outcome) -> Row:
    """Return the row of a scorer's outcome; a resume may score it again but never asks again.

    It scores again where a panel or the repeats of a judge decided without some grade, so that the
    missing grades are asked for then. A resume that asked for them only where the others tied would
    measure agreement on ties.
    """
    again = RESCORE if item.has_missing_grades else min(remake_of(outcome), RESCORE)
    return verdict_row(item.key, encode_outcome(outcome), again)


def unscored_row(key: SampleKey, outcome: Outcome) -> Row:
    """Return the row of an outcome that no scorer had to make."""
    return verdict_row(key, encode_outcome(outcome), remake_of(outcome))
