"""Encodes the core types as strict JSON text for the store, and decodes them.

A sample and what a session spent are sealed with a checksum in their text, since a flipped byte is
still JSON; rows of the log have theirs beside it (`nel.engine.store.rows`).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from nel.core.message_json import call_json, message_json, native_json, read_message, read_native
from nel.core.paths import as_argument
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
_TUPLES_OF_SAMPLE: Final = frozenset({"choices", "labels", "turns", "tools"})
_OPTIONAL_OF_SAMPLE: Final = _TUPLES_OF_SAMPLE | {
    "gold_kind", "subset", "group", "recorded_response", "continuation", "tool_choice", "limits",
}  # fmt: skip
_MAY_BE_EMPTY: Final = tuple(_OPTIONAL_OF_SAMPLE)
_optional_of: Final = attrgetter(*_MAY_BE_EMPTY)
_ALL_EMPTY = _optional_of(Sample(id="", input=""))
_USAGE: Final = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
_RARE_IN_RESPONSE: Final = (
    "system_fingerprint", "fallback", "first_token_seconds", "inter_token_seconds", "episode",
)  # fmt: skip
_rest_of_response: Final = attrgetter(
    "cached", "error", "first_token", "choice_scores", "tool_calls", "native", *_RARE_IN_RESPONSE
)
_NO_REST: Final = _rest_of_response(Response())
_PLAIN_OF_RESPONSE: Final = frozenset(
    {
        "text", "reasoning", "received", "cached", "first_token", "finish_reason", "model",
        *_RARE_IN_RESPONSE,
    }
)  # fmt: skip
_STATES: Final[dict[str, type[Outcome]]] = {
    "scored": Scored,
    "model_failure": ModelFailure,
    "unscored": Unscored,
}
_NAMES_OF_STATES: Final = {
    kind: (state, tuple(kind.__dataclass_fields__), attrgetter(*kind.__dataclass_fields__))
    for state, kind in _STATES.items()
}
_BEFORE_SEAL: Final = f',"{_SEAL}":"'
_SEAL_CHARACTERS: Final = len(_BEFORE_SEAL) + len('01234567"}')


def seal_text(text: str) -> str:
    """Return the text of a JSON object, which has a field, with its checksum as the last one."""
    # {"input":"1+1"} becomes {"input":"1+1","~":"92806493"}
    return f'{text[:-1]}{_BEFORE_SEAL}{zlib.crc32(text.encode()):08x}"}}'


def is_intact(text: object) -> bool:
    """Return whether a stored text is as it was sealed."""
    if not isinstance(text, str):
        return False
    body = text[:-_SEAL_CHARACTERS].encode("utf-8", "surrogatepass")
    checksum = zlib.crc32(b"}", zlib.crc32(body))  # the brace that stood where the seal begins
    return text.endswith(f'{_BEFORE_SEAL}{checksum:08x}"}}')


def unseal_text(text: str) -> str:
    """Return what was sealed."""
    body, seal, _ = text.rpartition(_BEFORE_SEAL)
    return f"{body}}}" if seal else text


def damage_of(error: Exception) -> StoreError:
    """Return what is raised for a record that cannot be decoded."""
    return StoreError(f"a record of run.db is damaged ({type(error).__name__}); {NEXT_STEP}")


DAMAGE: Final = (ValueError, KeyError, TypeError, AttributeError)
"""What decoding raises for a text that does not hold what it should."""


def next_step(run_dir: str | Path) -> str:
    """Return the commands that go on with a run whose store is damaged."""
    run = as_argument(run_dir)
    return (
        f"nel eval salvage {run} keeps what can be read, and nel eval resume {run} then asks for"
        " the rest"
    )


NEXT_STEP: Final = next_step("DIR")
"""Where the directory is not known; `name_run` puts it in."""


def name_run(error: BaseException | None, run_dir: Path) -> None:
    """Put a run's directory into the commands that an error of its store names."""
    if isinstance(error, StoreError):
        error.args = (str(error).replace(NEXT_STEP, next_step(run_dir)),)


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
    optional = _optional_of(sample)
    if optional != _ALL_EMPTY:
        fields |= {
            name: value
            for name, value in zip(_MAY_BE_EMPTY, optional, strict=True)
            if value not in (None, ())
        }
    return dumps(fields)


def decode_sample(sample_id: str, text: str) -> Sample:
    """Return the sample that `encode_sample` wrote."""
    try:
        fields = _sealed_fields(text)
        if not isinstance(fields["input"], str):
            fields["input"] = tuple(map(read_message, fields["input"]))
        for name in _TUPLES_OF_SAMPLE.intersection(fields):
            fields[name] = tuple(fields[name])
        return Sample(id=sample_id, **fields)
    except DAMAGE as error:
        raise damage_of(error) from error


def response_json(response: Response) -> dict[str, Any]:
    """Return a response as JSON, without counts, latency and empty fields."""
    fields: dict[str, Any] = {"text": response.text}
    if response.received is not None:
        fields |= _split(response.received, response.reasoning)
    elif response.reasoning is not None:
        fields["reasoning"] = response.reasoning
    if response.finish_reason is not None:
        fields["finish_reason"] = response.finish_reason
    if response.model is not None:
        fields["model"] = response.model
    if _rest_of_response(response) != _NO_REST:
        fields |= _rest_json(response)
    return fields


def _rest_json(response: Response) -> dict[str, Any]:
    """Return what few responses have."""
    fields = {
        name: value for name in _RARE_IN_RESPONSE if (value := getattr(response, name)) is not None
    }
    if response.cached:
        fields["cached"] = True
    if response.error is not None:
        fields["error"] = asdict(response.error)
    if response.first_token:
        fields["first_token"] = dict(response.first_token)
    if response.choice_scores:
        fields["choice_scores"] = list(map(asdict, response.choice_scores))
    if response.tool_calls:
        fields["tool_calls"] = list(map(call_json, response.tool_calls))
    if response.native is not None:
        fields["native"] = native_json(response.native)
    return fields


def response_of(
    fields: dict[str, Any], *, usage: Usage, attempts: int, latency_seconds: float | None
) -> Response:
    """Return the response that `response_json` made an object of, with its counts."""
    values = fields
    if not fields.keys() <= _PLAIN_OF_RESPONSE:
        values = {name: fields[name] for name in fields.keys() & _PLAIN_OF_RESPONSE}
        if "reasoning_span" in fields:
            start, end = fields["reasoning_span"]
            values["reasoning"] = fields["received"][start:end]
        for name in fields.keys() & _OBJECTS_OF_RESPONSE.keys():
            values[name] = _OBJECTS_OF_RESPONSE[name](fields)
    if "text" not in values:
        raise KeyError("text")
    return Response(
        **values,
        usage=usage,
        latency_seconds=latency_seconds,
        attempts=attempts,
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


def _split(received: str, reasoning: str | None) -> dict[str, Any]:
    """Return the received text and the span of the reasoning in it, which is then stored once."""
    start = -1 if reasoning is None else received.find(reasoning)
    if reasoning is None or start < 0:
        return {"received": received} | ({} if reasoning is None else {"reasoning": reasoning})
    return {"received": received, "reasoning_span": [start, start + len(reasoning)]}


def _choice_score(fields: dict[str, Any]) -> ChoiceScore:
    borders = tuple(Border(**border) for border in fields.pop("borders", ()))
    return ChoiceScore(**fields, borders=borders)


_OBJECTS_OF_RESPONSE: Final[dict[str, Callable[[dict[str, Any]], object]]] = {
    "error": lambda fields: ResponseError(**fields["error"]),
    "choice_scores": lambda fields: tuple(map(_choice_score, fields["choice_scores"])),
    "tool_calls": lambda fields: tuple(ToolCall(**call) for call in fields["tool_calls"]),
    "native": read_native,
}


def encode_outcome(outcome: Outcome) -> str:
    """Return an outcome as JSON text."""
    state, names, values_of = _NAMES_OF_STATES[type(outcome)]
    fields = dict(zip(names, values_of(outcome), strict=True), state=state)
    if "metrics" in fields:  # in order: the first number may be the reward
        fields["metrics"] = list(fields["metrics"].items())
    return dumps(fields)


def decode_outcome(text: str) -> Outcome:
    """Return the outcome that `encode_outcome` wrote."""
    try:
        fields = loads(text)
        if "metrics" in fields:
            fields["metrics"] = dict(fields["metrics"])
        return _STATES[fields.pop("state")](**fields)
    except DAMAGE as error:
        raise damage_of(error) from error
