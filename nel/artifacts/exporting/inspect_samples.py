"""The samples of an Inspect log (format version 2), as plain values that are JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from nel.artifacts.exporting.run import results_of, state_of
from nel.core.strict_json import dumps, loads
from nel.reports.run_files import BenchmarkFiles

_STOP_REASONS: Final = {
    "stop": "stop",
    "length": "max_tokens",
    "tool_calls": "tool_calls",
    "content_filter": "content_filter",
}
_KEPT: Final = ("problem_idx", "outcome", "group", "finish_reason", "timing", "tokens", "reward")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SUMMARY: Final = (
    "id",
    "epoch",
    "input",
    "target",
    "metadata",
    "scores",
    "model_usage",
    "total_time",
    "uuid",
)
_METADATA_TEXT_MAX: Final = 1024
"""Characters of a text in the metadata of a summary, as Inspect cuts it."""


def inspect_samples(files: BenchmarkFiles) -> Iterator[dict[str, Any]]:
    """Yield an EvalSample for each result that was asked for; one without a score has an error and
    no scores.

    Raises:
        OutputError: A result is damaged or missing.
    """
    model, scorer = model_name(files), scorer_name(files)
    for result in results_of(files):
        if state_of(result) != "not_asked":
            yield storable(_sample(result, model, scorer))


def summary_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return the EvalSampleSummary of a sample: without messages and output, long texts of the
    metadata cut.
    """
    summary = {name: sample[name] for name in _SUMMARY if name in sample}
    summary["metadata"] = {
        name: value[:_METADATA_TEXT_MAX] if isinstance(value, str) else value
        for name, value in sample["metadata"].items()
        if isinstance(value, str | int | float | bool)
    }
    if sample["error"] is not None:
        summary["error"] = sample["error"]["message"]
    return {**summary, "completed": True, "message_count": len(sample["messages"])}


def model_name(files: BenchmarkFiles) -> str:
    """Return the model as the run was configured; ``unknown`` where recorded answers were
    scored.
    """
    return str(files.bundle["config"].get("model") or "unknown")


def scorer_name(files: BenchmarkFiles) -> str:
    """Return the name under which scores stand in the log."""
    return str((files.bundle["config"].get("scorer") or {}).get("name") or "reward")


def storable(value: Any) -> Any:  # JSON of any shape
    """Return a value whose texts UTF-8 can hold: half a character becomes U+FFFD."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(element) for key, element in value.items()}
    return [storable(element) for element in value] if isinstance(value, list) else value


def _sample(result: Mapping[str, Any], model: str, scorer: str) -> dict[str, Any]:
    prompt, target, timing = (
        result.get("prompt"),
        result.get("expected_answer"),
        result.get("timing") or {},
    )
    messages = (
        [_message(element, position) for position, element in enumerate(prompt)]
        if isinstance(prompt, list)
        else prompt or ""
    )
    asked = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    usage = {model: _usage(result.get("tokens") or {})}
    answer = _answer(result)
    reason = _STOP_REASONS.get(str(result.get("finish_reason")), "unknown")
    has_response = result.get("model_response") is not None
    output = {
        "model": str(result.get("model") or model),
        "choices": [{"message": answer, "stop_reason": reason}] if has_response else [],
        "usage": usage[model],
        "time": timing.get("latency_seconds"),
    }
    return {
        "id": result["sample_id"],
        "epoch": result["repeat"] + 1,
        "input": messages,
        "target": _target(target),
        "messages": [*asked, answer] if has_response else asked,
        "output": output,
        "scores": {scorer: _score(result)} if result["reward"] is not None else {},
        "metadata": result.get("metadata") or {},
        "store": {"nel": {name: result.get(name) for name in _KEPT}},
        "events": [],
        "model_usage": usage,
        "total_time": timing.get("latency_seconds"),
        "uuid": f"{result['sample_id']}:{result['repeat']}",
        "error": _error(result),
        "attachments": {},
    }


def _target(target: Any) -> str | list[str]:
    """Return the gold answer as text or a list of texts."""
    if isinstance(target, list) and all(isinstance(element, str) for element in target):
        return target
    if isinstance(target, str):
        return target
    return "" if target is None else dumps(target)


def _score(result: Mapping[str, Any]) -> dict[str, Any]:
    outcome, details = result["outcome"], result.get("scoring_details") or {}
    explanation = details.get("explanation")
    if outcome["state"] == "model_failure":
        explanation = (
            f"a failure of the model, {outcome.get('kind')}: {outcome.get('detail') or 'no detail'}"
        )
    answer = result.get("extracted_answer")
    return {
        "value": result["reward"],
        "answer": answer if answer is None or isinstance(answer, str) else dumps(answer),
        "explanation": explanation if isinstance(explanation, str) else None,
        "metadata": details,
    }


def _error(result: Mapping[str, Any]) -> dict[str, str] | None:
    if result["reward"] is not None:
        return None
    outcome = result["outcome"]
    parts = [str(outcome[name]) for name in ("cause", "kind", "detail") if outcome.get(name)]
    return {"message": f"no score: {': '.join(parts)}", "traceback": "", "traceback_ansi": ""}


def _answer(result: Mapping[str, Any]) -> dict[str, Any]:
    text, reasoning = result.get("model_response") or "", result.get("reasoning")
    content = (
        [{"type": "reasoning", "reasoning": reasoning}, {"type": "text", "text": text}]
        if reasoning
        else text
    )
    made: dict[str, Any] = {"role": "assistant", "content": content, "source": "generate"}
    calls = result.get("tool_calls")
    if isinstance(calls, list):
        made["tool_calls"] = [_call(call, f"answer.{number}") for number, call in enumerate(calls)]
    return made


def _usage(tokens: Mapping[str, Any]) -> dict[str, Any]:
    prompt, completion = tokens.get("prompt") or 0, tokens.get("completion") or 0
    return {
        "input_tokens": prompt,
        "output_tokens": completion,
        "total_tokens": prompt + completion,
        "input_tokens_cache_read": tokens.get("cached"),
        "reasoning_tokens": tokens.get("reasoning"),
    }


def _message(sent: Mapping[str, Any], position: int) -> dict[str, Any]:
    """Return a message of Inspect for one in the shape of OpenAI's."""
    role, content = str(sent.get("role")), sent.get("content")
    message: dict[str, Any] = {
        "role": role if role in ("system", "user", "assistant", "tool") else "user"
    }
    parts = (
        [_content_part(element) for element in content] if isinstance(content, list) else content
    )
    message["content"] = parts if isinstance(parts, list | str) else ""
    if role == "tool":
        message["tool_call_id"] = str(sent.get("tool_call_id") or "")
    calls = sent.get("tool_calls")
    if role == "assistant" and isinstance(calls, list):
        message["tool_calls"] = [
            _call(element, f"{position}.{number}") for number, element in enumerate(calls)
        ]
    return message


def _content_part(content_part: Any) -> dict[str, Any]:  # checked here
    kind = content_part.get("type") if isinstance(content_part, dict) else None
    if kind == "text":
        return {"type": "text", "text": str(content_part.get("text"))}
    if kind == "image_url":
        image = content_part.get("image_url")
        return {
            "type": "image",
            "image": str(image.get("url") if isinstance(image, dict) else image),
        }
    return {"type": "text", "text": dumps(content_part)}


def _call(call: Any, name: str) -> dict[str, Any]:  # checked here
    fields = call if isinstance(call, dict) else {}
    function = fields.get("function", fields)  # of the OpenAI shape, or of results.jsonl
    function = function if isinstance(function, dict) else {}
    try:
        arguments = loads(str(function.get("arguments")))
    except ValueError:
        arguments = None
    made = {"id": str(fields.get("id") or name), "function": str(function.get("name"))}
    unread = function.get("arguments")
    return {
        **made,
        "arguments": arguments if isinstance(arguments, dict) else {"unread": unread},
        "type": "function",
    }
