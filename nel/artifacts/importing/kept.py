"""Reads what nel itself wrote into another tool's format beside that tool's own fields, as
untrusted as the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args

from nel.artifacts.importing.reading import number, text, whole
from nel.core.json_values import inner
from nel.types import (
    FailureKind,
    JsonObject,
    ModelFailure,
    Outcome,
    Response,
    Unscored,
    UnscoredCause,
    Usage,
)

_TOKENS: Final = ("prompt", "completion", "reasoning", "cached")


def kept_unscored(outcome_json: object) -> Unscored | None:
    """Return the outcome of a result without a score as nel had it, None where it is not said."""
    outcome = outcome_json if isinstance(outcome_json, dict) else {}
    cause: Any = outcome.get("cause")
    if outcome.get("state") != "unscored" or cause not in get_args(UnscoredCause):
        return None
    return Unscored(
        cause=cause,
        kind=text(outcome.get("kind")) or "unknown",
        detail=text(outcome.get("detail")) or "",
    )


def kept_failure(
    outcome_json: object,
    *,
    metrics: Mapping[str, float],
    answer: str | None,
    details: JsonObject,
) -> Outcome | None:
    """Return a failure of the model as nel had it, None where it is not said."""
    outcome = outcome_json if isinstance(outcome_json, dict) else {}
    kind: Any = outcome.get("kind")
    if outcome.get("state") != "model_failure" or kind not in get_args(FailureKind):
        return None
    detail = text(outcome.get("detail")) or ""
    return ModelFailure(
        kind=kind, detail=detail, metrics=dict(metrics), answer=answer, details=dict(details)
    )


def kept_response(answer: str, nel_fields: JsonObject) -> Response:
    """Return an answer with the tokens, times and reasons that nel kept of it."""
    timing = inner(nel_fields, "timing")
    return Response(
        text=answer,
        reasoning=text(nel_fields.get("reasoning")),
        finish_reason=text(nel_fields.get("finish_reason")),
        usage=usage_of(inner(nel_fields, "tokens")),
        model=text(nel_fields.get("served_model")),
        latency_seconds=number(timing.get("latency_seconds")),
        first_token_seconds=number(timing.get("first_token_seconds")),
        attempts=whole(timing.get("attempts")) or 0,
    )


def usage_of(tokens: JsonObject) -> Usage:
    """Return the counts of tokens that have the names of nel."""
    return Usage(**{f"{name}_tokens": whole(tokens.get(name)) for name in _TOKENS})
