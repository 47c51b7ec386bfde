"""What comes back: a response or the error in its place. Depends on the types of questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

from nel.types.questions import (
    FailureKind,
    JsonObject,
    Message,
    Native,
    ToolCall,
    UnscoredCause,
    value_class,
)


@value_class(kw_only=True)
class Usage:
    """Token counts as the endpoint reports them; None where it does not."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    """A subset of `completion_tokens`."""
    cached_tokens: int | None = None
    """Prompt tokens served from the vendor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseError:
    """Why an endpoint returned no usable answer."""

    kind: str
    """A short stable word: ``auth``, ``rate_limit``, ``timeout``, ``connection``, ``server_error``
    …
    """
    message: str
    """One line, without secrets."""
    status: int | None = None
    """The HTTP status, where there was one."""
    model_failure: FailureKind | None = None
    """Set when the model is at fault (e.g. ``context_exceeded``), not the endpoint."""
    cause: UnscoredCause = "infra"
    """Which component is at fault where it is not the model."""


@dataclass(frozen=True, slots=True)
class Border:
    """The log-likelihood of a text from the start of one of its tokens on."""

    characters: int
    """Of the context, that the text begins with."""
    logprob: float
    is_greedy: bool
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceScore:
    """The log-likelihood that the model gives one continuation of a context."""

    text: str
    """The continuation, with the whitespace that separates it from the context."""
    logprob: float
    """The sum over the continuation's tokens, natural logarithm."""
    is_greedy: bool
    """Whether each of its tokens is a most likely one; ties count."""
    tokens: int
    borders: tuple[Border, ...] = field(default=(), compare=False, repr=False)
    """Where it may be counted from so that a token that reaches over from the context is in it; the
    nearest first. Only of a choice by itself: the choices of a sample are counted from one border,
    and have none left.
    """


@value_class(kw_only=True)
class Response:
    """The answer to one request, or why there is none."""

    text: str = ""
    """The answer, without reasoning."""
    reasoning: str | None = None
    """The model's reasoning; it is never scored as the answer."""
    received: str | None = field(default=None, repr=False)
    """The text as received, where its reasoning was split from it; None where it is the answer."""
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    """The model's name in the server's response."""
    system_fingerprint: str | None = None
    """The server's own name of its configuration, where it gives one."""
    fallback: str | None = None
    """What a gateway says that it asked instead of the requested model; it may say so in a header
    alone.
    """
    latency_seconds: float | None = None
    """From sending the successful attempt to its last byte; backoff between attempts is
    excluded.
    """
    first_token_seconds: float | None = None
    """From sending to the first text or reasoning; None unless streamed."""
    inter_token_seconds: float | None = None
    """Mean time between two chunks of a streamed answer."""
    attempts: int = 0
    """HTTP attempts made; 0 for a recorded or cached response."""
    cached: bool = False
    """Whether it came from the response cache."""
    error: ResponseError | None = None
    first_token: Mapping[str, float] = field(default_factory=dict)
    """Log-probability of each alternative for the first token, natural logarithm; empty where none
    was requested.
    """
    tool_calls: tuple[ToolCall, ...] = ()
    """The model's calls of the tools that the request offered; empty where it offered none."""
    choice_scores: tuple[ChoiceScore, ...] = ()
    """The log-likelihood of each choice, in the sample's order; empty where none was requested."""
    episode: JsonObject | None = None
    """Of a sample that was answered in many steps: what they came to; None for one answer."""
    native: Native | None = None
    """What the vendor wants back with the answer; None where text and calls say it all, or the
    request offered no tools.
    """

    @property
    def endpoint_error(self) -> ResponseError | None:
        """Return its error where the endpoint is at fault, or the model; None otherwise."""
        return self.error if self.error is not None and self.error.cause == "infra" else None

    def set_measurements(
        self,
        *,
        latency_seconds: float,
        fallback: str | None,
        first_token_seconds: float | None,
        inter_token_seconds: float | None,
    ) -> Response:
        """Set what one attempt measured in an answer that its protocol has just made, and return
        it: a copy would set all fields for these.
        """
        # At run time a value class can be set; it is the type checker that takes it for frozen.
        self.latency_seconds = latency_seconds  # type: ignore[misc]
        self.attempts = 1  # type: ignore[misc]
        self.fallback = fallback  # type: ignore[misc]
        self.first_token_seconds = first_token_seconds  # type: ignore[misc]
        self.inter_token_seconds = inter_token_seconds  # type: ignore[misc]
        return self

    @property
    def message(self) -> Message:
        """Return the answer as the next request has it; a call without an id is named by its place,
        so that its result can name it.

        >>> Response(tool_calls=(ToolCall(id="", name="add", arguments="{}"),)).message.tool_calls[0].id
        'call_0'
        """
        calls = self.tool_calls
        # Checked first, since nearly all servers name their calls.
        if not all(call.id for call in calls):
            calls = tuple(
                call if call.id else dataclasses.replace(call, id=f"call_{position}")
                for position, call in enumerate(calls)
            )
        return Message(role="assistant", content=self.text, tool_calls=calls, native=self.native)
