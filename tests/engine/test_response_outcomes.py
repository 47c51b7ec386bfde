"""What a response means before any scorer sees it."""

from __future__ import annotations

import pytest

from nel.engine.asking.response_outcomes import KEEP, RESCORE, RESEND, remake_of, verdict_before_scoring
from nel.types import ModelFailure, Outcome, Response, Scored, Unscored


@pytest.mark.parametrize(
    ("response", "kind"),
    [
        (Response(text="42", finish_reason="stop"), None),
        (Response(text="42", finish_reason="length"), "truncated"),
        (Response(text="", finish_reason="length"), "truncated"),
        (Response(text=" \n", finish_reason="stop"), "empty"),
        (Response(text="", reasoning="hm", finish_reason="stop"), "empty"),
        (Response(text="x", finish_reason="content_filter"), "content_filter"),
        (Response(text="x", finish_reason="refusal"), "refusal"),
        (Response(text="", finish_reason="tool_calls"), "no_answer"),
        (Response(text='<tool_call>\n{"name": "add"}\n</tool_call>', finish_reason="stop"), "no_answer"),
        (Response(text="I add.\n<function=add>{}</function>", finish_reason="stop"), None),
        (Response(text="", finish_reason="MALFORMED_FUNCTION_CALL"), "no_answer"),
        (Response(text="3", finish_reason="FinishReason.MALFORMED_FUNCTION_CALL"), "no_answer"),
    ],
)
def test_model_failures(response: Response, kind: str | None) -> None:
    """Truncated, empty, filtered and refused answers and calls of tools are failures of the model, each of its kind."""
    verdict = verdict_before_scoring(response, truncated="failure")
    assert (verdict.kind if isinstance(verdict, ModelFailure) else verdict) == kind


def test_truncated_answers_can_be_scored_by_declared_policy() -> None:
    """With truncated=score a cut answer goes to the scorer; an empty one never does."""
    assert verdict_before_scoring(Response(text="42", finish_reason="length"), truncated="score") is None
    empty = verdict_before_scoring(Response(text="", finish_reason="length"), truncated="score")
    assert isinstance(empty, ModelFailure)
    assert empty.kind == "truncated"


@pytest.mark.parametrize(
    ("outcome", "retry"),
    [
        (Scored(reward=0.0, metrics={}), KEEP),
        (ModelFailure(kind="truncated"), KEEP),
        (Unscored(cause="infra", kind="timeout"), RESEND),
        (Unscored(cause="scorer", kind="raised"), RESCORE),
        (Unscored(cause="judge", kind="no_verdict"), RESCORE),
        (Unscored(cause="sandbox", kind="unavailable"), RESCORE),
    ],
)
def test_what_a_resume_makes_again(outcome: Outcome, retry: int) -> None:
    """Verdicts stay; a scorer's fault is scored again; only an endpoint's fault is asked again."""
    assert remake_of(outcome) == retry
