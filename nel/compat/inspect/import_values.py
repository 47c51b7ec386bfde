"""A sample of an Inspect log as a result of nel."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Final

from nel.artifacts.importing.contract import ImportedResult
from nel.artifacts.importing.kept import kept_failure, kept_unscored, usage_of
from nel.artifacts.importing.reading import (
    messages_of,
    number,
    numbers_of,
    required_field,
    text,
    whole,
)
from nel.core.json_values import inner
from nel.core.reward_keys import with_headline
from nel.errors import OutputError, UndefinedMetric
from nel.metrics.score_values import DEFAULT_TO_FLOAT
from nel.types import (
    JsonObject,
    Message,
    Outcome,
    Response,
    Sample,
    Scored,
    ToolCall,
    Unscored,
)

_FINISH_REASONS: Final = {"max_tokens": "length", "model_length": "length", "stop": "stop"}
_ATTACHMENT: Final = "attachment://"


def result_of(sample: JsonObject, scorers: Sequence[str], where: str) -> ImportedResult:
    """Return a sample as a result.

    Args:
        scorers: Of the log; the first gives the reward, further ones are metrics. Without any the
            sample names them.
        where: The file and the sample, for messages.

    Raises:
        OutputError: A required field is missing or of another type.
    """
    epoch = required_field(sample, "epoch", int, where)
    sample_id = sample.get("id")
    if epoch < 1 or not isinstance(sample_id, str | int):
        raise OutputError(f'{where}: "id" and "epoch" name no sample; give an undamaged copy')
    store = inner(sample.get("store") or {}, "nel")
    attached = sample.get("attachments") or {}
    return ImportedResult(
        sample=_sample(sample, str(sample_id), store, _resolve(sample.get("input"), attached)),
        repeat=epoch - 1,
        response=_response(sample, store, attached),
        outcome=_outcome(sample, scorers, store),
    )


def value_to_float(value: Any) -> float | None:
    """Return a score's value as Inspect counts it; None for NaN and for what is not a number."""
    try:
        return number(DEFAULT_TO_FLOAT(value))
    except UndefinedMetric:
        return None


def _sample(sample: JsonObject, sample_id: str, store: JsonObject, prompt: object) -> Sample:
    metadata = dict(sample.get("metadata") or {})
    category = metadata.get("category")
    if store:
        metadata.pop("category", None)
    entries = sample.get("choices")
    choices = tuple(map(str, entries)) if isinstance(entries, list) and entries else None
    target = sample.get("target")
    return Sample(
        id=sample_id,
        input=prompt if isinstance(prompt, str) else _conversation(prompt) or "",
        target=target if isinstance(target, str | list) else None,
        choices=choices,
        metadata=metadata,
        subset=text(category),
        group=text(store.get("group")),
    )


def _conversation(value: object) -> tuple[Message, ...] | None:
    """Return messages in the shape of OpenAI's: an image part of Inspect has its own."""
    if not isinstance(value, list):
        return None
    messages = [
        {**message, "content": _parts(message.get("content"))}
        for message in value
        if isinstance(message, dict)
    ]
    return messages_of(messages)


def _parts(content: object) -> object:
    if not isinstance(content, list):
        return content
    parts: list[object] = []
    for block in content:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "image":
            parts.append({"type": "image_url", "image_url": {"url": block.get("image")}})
        else:
            parts.append(block)
    return parts


def _response(sample: JsonObject, store: JsonObject, attached: JsonObject) -> Response | None:
    output = sample.get("output") or {}
    choices = output.get("choices") or []
    if not choices or not isinstance(choices[0], dict):
        return None
    message = _resolve((choices[0].get("message") or {}).get("content"), attached)
    usage, timing = output.get("usage") or {}, store.get("timing") or {}
    tokens = store.get("tokens") or {
        "prompt": usage.get("input_tokens"),
        "completion": usage.get("output_tokens"),
        "reasoning": usage.get("reasoning_tokens"),
        "cached": usage.get("input_tokens_cache_read"),
    }
    reason = choices[0].get("stop_reason")
    finish_reason = store.get("finish_reason", _FINISH_REASONS.get(str(reason), reason))
    return Response(
        text=_texts(message, "text"),
        reasoning=_texts(message, "reasoning") or None,
        finish_reason=text(finish_reason),
        usage=usage_of(tokens),
        tool_calls=_calls((choices[0].get("message") or {}).get("tool_calls")),
        model=text(output.get("model")),
        latency_seconds=number(output.get("time")),
        first_token_seconds=number(timing.get("first_token_seconds")),
        attempts=whole(timing.get("attempts")) or 0,
    )


def _calls(entries: object) -> tuple[ToolCall, ...]:
    calls = []
    for entry in entries if isinstance(entries, list) else []:
        fields = entry if isinstance(entry, dict) else {}
        arguments = fields.get("arguments")
        # A log has arguments as an object; nel writes those that are none below "unread".
        if isinstance(arguments, dict) and set(arguments) == {"unread"}:
            arguments = arguments["unread"]
        if name := text(fields.get("function")):
            call_id = text(fields.get("id")) or ""
            calls.append(ToolCall(id=call_id, name=name, arguments=text(arguments) or "{}"))
    return tuple(calls)


def _texts(content: object, kind: str) -> str:
    """Return the texts of a content's parts of a kind; a content that is a text has one."""
    if isinstance(content, str):
        return content if kind == "text" else ""
    parts = content if isinstance(content, list) else []
    return "\n".join(
        str(entry.get(kind) or "")
        for entry in parts
        if isinstance(entry, dict) and entry.get("type") == kind
    )


def _outcome(sample: JsonObject, scorers: Sequence[str], store: JsonObject) -> Outcome:
    scores = sample.get("scores") or {}
    # A single score counts whatever its name is; a sample without any lacks the reward.
    if len(scores) < 2 and not set(scores) & set(scorers):  # noqa: PLR2004 - a single one
        scorers = tuple(scores) or ("reward",)
    main, *others = scorers
    score, error = scores.get(main), sample.get("error")
    if error or not isinstance(score, dict):
        message = text(inner(sample, "error").get("message"))
        detail = message or f"the log has no score of {main}"
        outcome = kept_unscored(store.get("outcome"))
        return outcome or Unscored(cause="infra", kind="unknown", detail=detail)
    details = dict(score.get("metadata") or {})
    metrics = details.pop("metrics", None) if store else None  # nel's, where nel wrote the log
    answer = text(score.get("answer"))
    failure = kept_failure(
        store.get("outcome"), metrics=metrics or {}, answer=answer, details=details
    )
    if failure is not None:
        return failure
    values = _values(score.get("value"), main)
    if not values:
        return Unscored(
            cause="scorer",
            kind="unknown",
            detail=f"the score {text(score.get('value'))} is not a number",
        )
    if score.get("explanation") and "explanation" not in details:
        details["explanation"] = score["explanation"]
    first = next(iter(values))
    all_values = {**values, **_values_of_others(scores, others, values)}
    return Scored(
        reward=values[first],
        metrics=metrics or with_headline(all_values, first),
        answer=answer,
        details=details,
    )


def _values_of_others(
    scores: JsonObject, names: Sequence[str], main_names: Container[str]
) -> dict[str, float]:
    """Return the numbers of other scorers: one as ``scorer``, several as ``scorer/value``."""
    values: dict[str, object] = {}
    for name in names:
        value = (scores.get(name) or {}).get("value")
        if isinstance(value, dict):
            values |= {f"{name}/{key}": element for key, element in value.items()}
        else:
            values[name] = value
    return {name: value for name, value in _floats(values).items() if name not in main_names}


def _values(value: object, name: str) -> dict[str, float]:
    """Return the numbers of a score, none where its first value is not a number."""
    values = value if isinstance(value, dict) else {name: value}
    reward = next(iter(values.values()), None)
    return {} if value_to_float(reward) is None else _floats(values)


def _floats(values: Mapping[str, object]) -> dict[str, float]:
    return numbers_of((name, value_to_float(value)) for name, value in values.items())


def _resolve(value: object, attached: JsonObject) -> object:
    """Return a value with the texts that the log keeps apart put back in."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attached.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [_resolve(element, attached) for element in value]
    if isinstance(value, dict):
        return {name: _resolve(element, attached) for name, element in value.items()}
    return value
