"""The rows of EvalScope's predictions and reviews, as plain values that are JSON."""

from __future__ import annotations

from typing import Any

from nel.artifacts.exporting.inspect_messages import (
    answer_parts,
    content_part,
    failure_text,
    inspect_output,
)
from nel.artifacts.exporting.run import asked_messages, expected_texts
from nel.core.strict_json import dumps
from nel.types import JsonObject


def prediction_of(result: JsonObject, model: str, index: int) -> dict[str, Any]:
    """Return the row of a prediction, EvalScope's ``ModelResult``."""
    return {
        "index": index,
        "model": model,
        "model_output": {
            **inspect_output(result, model, _answer(result)),
            "error": _fault(result),
        },
        "messages": _messages(result),
        "metadata": result["metadata"],
    }


def review_of(result: JsonObject, headline: str, index: int) -> dict[str, Any]:
    """Return the row of a review, EvalScope's ``ReviewResult``; its value is empty where there is
    no score.
    """
    return {
        "index": index,
        "target": [text for text in expected_texts(result) if text.strip()] or None,
        "messages": _messages(result),
        "sample_score": {
            "score": {
                **_score(result, headline),
                "extracted_prediction": result["extracted_answer"],
                "prediction": result["model_response"],
                "metadata": {**result["scoring_details"], "outcome": result["outcome"]},
            },
            "sample_id": index,
            "group_id": result["problem_idx"],
            "generation_index": result["repeat"],
            "sample_metadata": {**result["metadata"], "sample_id": result["sample_id"]},
        },
    }


def _score(result: JsonObject, headline: str) -> dict[str, Any]:
    if result["reward"] is None:
        return {
            "value": {},
            "status": "excluded",
            "explanation": _fault(result),
            "main_score_name": None,
        }
    value = {headline: result["reward"]}
    for name, number in (result["scoring_details"].get("metrics") or {}).items():
        if isinstance(number, int | float):
            value.setdefault(str(name), number)
    outcome = result["outcome"]
    is_failure = outcome["state"] == "model_failure"
    return {
        "value": value,
        "status": "success",
        "explanation": failure_text(outcome) if is_failure else None,
        "main_score_name": headline,
    }


def _fault(result: JsonObject) -> str | None:
    outcome = result["outcome"]
    if result["reward"] is not None:
        return None
    return f"unscored, {outcome['cause']} {outcome['kind']}: {outcome['detail'] or 'no detail'}"


def _messages(result: JsonObject) -> list[dict[str, Any]]:
    messages = [
        {"role": str(message.get("role")), "content": _parts(message.get("content"))}
        for message in asked_messages(result)
    ]
    return [*messages, _answer(result)] if result["model_response"] is not None else messages


def _answer(result: JsonObject) -> dict[str, Any]:
    """Return the answer as a list of parts: of a plain text EvalScope would cut what stands between
    think tags.
    """
    return {"role": "assistant", "content": answer_parts(result), "source": "generate"}


def _parts(content: object) -> object:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(map(content_part, content)) if isinstance(content, list) else dumps(content)
