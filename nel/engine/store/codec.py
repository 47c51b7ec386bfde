"""Encodes the core types as JSON text for the store, and decodes them. Depends on strict JSON
alone.

Later versions read what is written here: add fields, and never change the meaning of one. A sample
and what a session spent are sealed with a checksum in their text, since a flipped byte is still
JSON; rows of the log have theirs beside it (`nel.engine.store.rows`).
"""

from __future__ import annotations

import zlib
from dataclasses import asdict, fields
from operator import eq
from typing import Any, Final

from nel.core.message_json import message_json, read_message, read_native
from nel.core.strict_json import dumps, loads
from nel.errors import StoreError
from nel.types import (
    Border,
    ChoiceScore,
    ModelFailure,
    Outcome,
    Response,
    ResponseError,
    Sample,
    Scored,
    ToolCall,
    Unscored,
    Usage,
)

_SEAL: Final = "~"
_OPTIONAL_OF_SAMPLE: Final = (
    "gold_kind", "subset", "group", "recorded_response", "continuation", "tool_choice", "limits",
)  # fmt: skip
_TUPLES_OF_SAMPLE: Final = ("choices", "labels", "turns", "tools")
_USAGE: Final = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
_OPTIONAL_OF_RESPONSE: Final = (
    "finish_reason", "model", "system_fingerprint", "fallback", "first_token_seconds", "inter_token_seconds", "episode",
)  # fmt: skip
_STATES: Final[dict[str, type[Outcome]]] = {
    "scored": Scored,
    "model_failure": ModelFailure,
    "unscored": Unscored,
}
_BEFORE_SEAL: Final = f',"{_SEAL}":"'
_SEAL_CHARACTERS: Final = len(_BEFORE_SEAL) + len('01234567"}')


def seal_text(text: str) -> str:
    """Return the text of a JSON object with its checksum as its last field."""
    if text == "{}" or not text.endswith("}"):
        return text
    return f'{text[:-1]}{_BEFORE_SEAL}{zlib.crc32(text.encode()):08x}"}}'


def is_intact(text: object) -> bool:
    """Return whether a stored text is what was sealed; one of an earlier version has no seal to
    check.
    """
    if not isinstance(text, str):
        return False
    tail = text[-_SEAL_CHARACTERS:]
    if not tail.startswith(_BEFORE_SEAL):
        n_equal = sum(map(eq, tail, _BEFORE_SEAL))
        return (
            tail[2:3] != _SEAL or n_equal < len(_BEFORE_SEAL) - 1
        )  # else it is a seal with a flipped byte
    try:
        body = text[:-_SEAL_CHARACTERS].encode()
    except UnicodeEncodeError:
        body = text[:-_SEAL_CHARACTERS].encode("utf-8", "surrogatepass")
    return tail == f'{_BEFORE_SEAL}{zlib.crc32(b"}", zlib.crc32(body)):08x}"}}'


def unseal_text(text: str) -> str:
    """Return what was sealed."""
    body, seal, _ = text.rpartition(_BEFORE_SEAL)
    return f"{body}}}" if seal else text


def damage_of(error: Exception) -> StoreError:
    """Return what is raised for a record that cannot be decoded."""
    return StoreError(f"a record of run.db is damaged ({type(error).__name__}); {NEXT_STEP}")


DAMAGE: Final = (ValueError, KeyError, TypeError, AttributeError)
"""What decoding raises for a text that does not hold what it should."""
NEXT_STEP: Final = (
    "nel eval salvage DIR keeps what can be read, and nel eval resume DIR then asks for the rest"
)


def _sealed_fields(text: str) -> dict[str, Any]:
    """Return the fields of a sealed JSON object.

    Raises:
        ValueError: It is not what was sealed.
    """
    if not is_intact(text):
        raise ValueError("its checksum is not that of its text")
    fields: dict[str, Any] = loads(text)
    fields.pop(_SEAL, None)
    return fields


def encode_sample(sample: Sample) -> str:
    """Return a sample as JSON text; its id is not in it."""
    fields: dict[str, object] = {
        "input": (
            sample.input
            if isinstance(sample.input, str)
            else [message_json(message) for message in sample.input]
        ),
        "target": sample.target,
        "metadata": sample.metadata,
    }
    for name in (*_OPTIONAL_OF_SAMPLE, *_TUPLES_OF_SAMPLE):
        value = getattr(sample, name)
        if value not in (None, ()):
            fields[name] = value
    return dumps(fields)


def decode_sample(sample_id: str, text: str) -> Sample:
    """Return the sample that `encode_sample` wrote."""
    try:
        fields = _sealed_fields(text)
        stored = fields["input"]
        optional: dict[str, Any] = {
            **{name: fields[name] for name in _OPTIONAL_OF_SAMPLE if name in fields},
            **{name: tuple(fields[name]) for name in _TUPLES_OF_SAMPLE if name in fields},
        }
        return Sample(
            id=sample_id,
            input=(
                stored
                if isinstance(stored, str)
                else tuple(read_message(message) for message in stored)
            ),
            target=fields["target"],
            metadata=fields["metadata"],
            **optional,
        )
    except DAMAGE as error:
        raise damage_of(error) from error


def response_json(response: Response) -> dict[str, Any]:
    """Return a response as a JSON object without its counts and its latency; empty fields are left
    out.
    """
    error = response.error
    fields = {
        "text": response.text,
        **_reasoning_fields(response),
        **{name: getattr(response, name) for name in _OPTIONAL_OF_RESPONSE},
        "cached": response.cached or None,
        "error": None if error is None else asdict(error),
        "first_token": dict(response.first_token) or None,
        "choice_scores": [asdict(score) for score in response.choice_scores] or None,
        "tool_calls": [asdict(call) for call in response.tool_calls] or None,
        "native": None if response.native is None else asdict(response.native),
    }
    return {name: value for name, value in fields.items() if value is not None}


def response_of(
    fields: dict[str, Any], *, usage: Usage, attempts: int, latency_seconds: float | None
) -> Response:
    """Return the response that `response_json` made an object of, with its counts."""
    error = fields.get("error")
    return Response(
        text=fields["text"],
        reasoning=_reasoning(fields),
        received=fields.get("received"),
        usage=usage,
        **{name: fields.get(name) for name in _OPTIONAL_OF_RESPONSE},
        latency_seconds=latency_seconds,
        cached=fields.get("cached", False),
        attempts=attempts,
        error=None if error is None else ResponseError(**error),
        first_token=fields.get("first_token", {}),
        choice_scores=tuple(_choice_score(score) for score in fields.get("choice_scores", ())),
        tool_calls=tuple(ToolCall(**call) for call in fields.get("tool_calls", ())),
        native=read_native(fields),
    )


def encode_response(response: Response) -> str:
    """Return a whole response as JSON text, as the cache keeps it."""
    counts = {name: getattr(response.usage, name) for name in _USAGE}
    timed = {"latency_seconds": response.latency_seconds, "attempts": response.attempts}
    return dumps({**response_json(response), "usage": {**counts, **timed}})


def decode_response(text: str) -> Response:
    """Return the response that `encode_response` wrote."""
    try:
        fields = loads(text)
        counts = fields.pop("usage")
        attempts, latency = counts.pop("attempts"), counts.pop("latency_seconds")
        return response_of(
            fields, usage=Usage(**counts), attempts=attempts, latency_seconds=latency
        )
    except DAMAGE as error:
        raise damage_of(error) from error


def _reasoning_fields(response: Response) -> dict[str, object]:
    """Return the fields of reasoning: its span where it stands in what was received, so that it is
    stored once.
    """
    received, reasoning = response.received, response.reasoning
    start = -1 if received is None or reasoning is None else received.find(reasoning)
    if received is None or reasoning is None or start < 0:
        return {"reasoning": reasoning, "received": received}
    return {"received": received, "reasoning_span": [start, start + len(reasoning)]}


def _reasoning(fields: dict[str, Any]) -> str | None:
    span = fields.get("reasoning_span")
    reasoning: str | None = (
        fields.get("reasoning") if span is None else fields["received"][span[0] : span[1]]
    )
    return reasoning


def _choice_score(fields: dict[str, Any]) -> ChoiceScore:
    borders = tuple(Border(**border) for border in fields.pop("borders", ()))
    return ChoiceScore(**fields, borders=borders)


def encode_outcome(outcome: Outcome) -> str:
    """Return an outcome as JSON text."""
    stored = {item.name: getattr(outcome, item.name) for item in fields(outcome)}
    if "metrics" in stored:  # in order: the first number may be the reward
        stored["metrics"] = list(stored["metrics"].items())
    state = next(name for name, kind in _STATES.items() if isinstance(outcome, kind))
    return dumps({"state": state, **stored})


def decode_outcome(text: str) -> Outcome:
    """Return the outcome that `encode_outcome` wrote."""
    try:
        stored = loads(text)
        if "metrics" in stored:
            stored["metrics"] = dict(stored["metrics"])
        return _STATES[stored.pop("state")](**stored)
    except DAMAGE as error:
        raise damage_of(error) from error
