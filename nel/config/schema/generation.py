"""Sampling settings, which are part of a run's identity."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_validator, model_validator

from nel.config.schema.strict import Flag, Strict

_RESERVED = {
    "model": "that is endpoint.model",
    "messages": "the benchmark makes the prompt",
    "prompt": "the benchmark makes the prompt",
    "n": "use repeats",
    "stream": "that is endpoint.stream",
    **dict.fromkeys(
        ("temperature", "top_p", "max_tokens", "stop", "seed"),
        "it has a key of its own in generation",
    ),
}


class GenerationConfig(Strict):
    """Sampling settings; what is not set is not sent."""

    temperature: Annotated[
        float | None, Field(ge=0, le=10), Flag("--temperature", "Sent when given.")
    ] = None
    """Sent when set, as are the following."""
    top_p: Annotated[float | None, Field(gt=0, le=1), Flag("--top-p", "Sent when given.")] = None
    """Nucleus sampling."""
    max_tokens: Annotated[int | None, Field(ge=1), Flag("--max-tokens", "Sent when given.")] = None
    """Limit of the answer, reasoning included at most endpoints."""
    stop: Annotated[list[str] | None, Flag("--stop", "Stop string; repeatable.")] = None
    """Up to four strings at most endpoints."""
    seed: Annotated[int | None, Flag("--seed", "Sent when given; repeat k sends seed + k.")] = None
    """Base seed; repeat k sends ``seed + k``."""
    reasoning_effort: Annotated[
        str | None,
        Field(pattern="^[a-z]{1,20}$"),
        Flag("--reasoning-effort", "How long a reasoning model may think: low, medium, high …"),
    ] = None
    """How long a reasoning model may think, in its vendor's words, such as ``low`` or ``high``."""
    extra: dict[str, Any] = {}
    """Further body fields, sent as they are."""

    @field_validator("extra")
    @classmethod
    def _no_reserved_fields(cls, extra: dict[str, object]) -> dict[str, object]:
        for key in extra:
            if key in _RESERVED:
                raise ValueError(f'extra may not set "{key}"; {_RESERVED[key]}')
        return extra

    @model_validator(mode="after")
    def _effort_once(self) -> GenerationConfig:
        if self.reasoning_effort is not None and "reasoning_effort" in self.extra:
            raise ValueError("reasoning_effort stands in generation and in its extra; give it once")
        return self

    def as_sent(self) -> dict[str, Any]:
        """Return the settings by name for an identity."""
        # The one setting that is left out where it is not set: most models have none.
        absent = {"reasoning_effort"} if self.reasoning_effort is None else None
        return self.model_dump(exclude=absent)

    @field_validator("stop", mode="before")
    @classmethod
    def _one_stop_is_a_list(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value
