"""The rows of EvalScope's predictions and reviews, as plain values that are JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from nel.core.strict_json import dumps

_STOP_REASONS: Final = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}


def prediction_of(result: Mapping[str, Any], model: str, index: int) -> dict[str, Any]:
    """Return the row of a prediction, EvalScope's ``ModelResult``."""
    tokens, timing = result.get("tokens") or {}, result.get("timing") or {}
    has_response = result.get("model_response") is not None
    reason = _STOP_REASONS.get(str(result.get("finish_reason")), "unknown")
    prompt, completion = tokens.get("prompt") or 0, tokens.get("completion") or 0
    return {
        "index": index,
        "model": model,
        "model_output": {
            "model": str(result.get("model") or model),
            "choices": (
                [{"message": _answer(result), "stop_reason": reason}] if has_response else []
            ),
            "usage": {
                "input_tokens": prompt,
                "output_tokens": completion,
                "total_tokens": prompt + completion,
                "input_tokens_cache_read": tokens.get("cached"),
                "reasoning_tokens": tokens.get("reasoning"),
            },
            "time": timing.get("latency_seconds"),
            "error": _fault(result),
        },
        "messages": _messages(result),
        "metadata": result.get("metadata") or {},
    }


def review_of(result: Mapping[str, Any], headline: str, index: int) -> dict[str, Any]:
    """Return the row of a review, EvalScope's ``ReviewResult``; its value is empty where there is
    no score.
    """
    target, outcome = result.get("expected_answer"), result["outcome"]
    texts = target if isinstance(target, list) else [] if target is None else [target]
    targets = [text if isinstance(text, str) else dumps(text) for text in texts]
    details = result.get("scoring_details") or {}
    reward = result["reward"]
    answer = result.get("extracted_answer")
    named = {
        str(name): text
        for name, text in (details.get("metrics") or {}).items()
        if isinstance(text, int | float)
    }
    others = {name: text for name, text in named.items() if name != headline}
    value = {} if reward is None else {headline: reward, **others}
    return {
        "index": index,
        "target": [text for text in targets if text.strip()] or None,
        "messages": _messages(result),
        "sample_score": {
            "score": {
                "value": value,
                "status": "excluded" if reward is None else "success",
                "extracted_prediction": (
                    answer if answer is None or isinstance(answer, str) else dumps(answer)
                ),
                "prediction": result.get("model_response"),
                "explanation": _fault(result) or _failure(outcome),
                "metadata": {**details, "outcome": outcome},
                "main_score_name": None if reward is None else headline,
            },
            "sample_id": index,
            "group_id": result["problem_idx"],
            "generation_index": result["repeat"],
            "sample_metadata": {**(result.get("metadata") or {}), "sample_id": result["sample_id"]},
        },
    }


def _fault(result: Mapping[str, Any]) -> str | None:
    outcome = result["outcome"]
    if result["reward"] is not None:
        return None
    return (
        f"unscored, {outcome.get('cause')} {outcome.get('kind')}:"
        f" {outcome.get('detail') or 'no detail'}"
    )


def _failure(outcome: Mapping[str, Any]) -> str | None:
    if outcome["state"] != "model_failure":
        return None
    return f"a failure of the model, {outcome.get('kind')}: {outcome.get('detail') or 'no detail'}"


def _messages(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    prompt = result.get("prompt")
    asked = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt or ""}]
    messages = [
        {"role": str(message.get("role")), "content": _parts(message.get("content"))}
        for message in asked
    ]
    return [*messages, _answer(result)] if result.get("model_response") is not None else messages


def _answer(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer as a list of parts: of a plain text EvalScope would cut what stands between
    think tags.
    """
    reasoning = result.get("reasoning")
    parts = [{"type": "reasoning", "reasoning": reasoning}] if reasoning else []
    return {
        "role": "assistant",
        "content": [*parts, {"type": "text", "text": result["model_response"]}],
        "source": "generate",
    }


def _parts(content: object) -> object:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return (
        [_content_part(content_part) for content_part in content]
        if isinstance(content, list)
        else dumps(content)
    )


def _content_part(content_part: object) -> dict[str, Any]:
    if (
        isinstance(content_part, dict)
        and content_part.get("type") == "text"
        and isinstance(content_part.get("text"), str)
    ):
        return {"type": "text", "text": content_part["text"]}
    image = (
        content_part.get("image_url")
        if isinstance(content_part, dict) and content_part.get("type") == "image_url"
        else None
    )
    url = image.get("url") if isinstance(image, dict) else image
    return (
        {"type": "image", "image": url}
        if isinstance(url, str)
        else {"type": "text", "text": dumps(content_part)}
    )
