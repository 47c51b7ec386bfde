"""Ranks the choices of a sample by log-likelihood, with one echo request for each or for all.

The score of each choice is stored before the next one is asked, so that a kill pays for no choice
twice; the server's payload is not stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from nel.core.strict_json import dumps_bytes
from nel.episodes.solvers.generate import build_request
from nel.errors import LogprobFault
from nel.models.budget import sum_usages
from nel.models.echo_probe import UNPROBED, EchoSupport
from nel.models.faults import Fault, fault_of_error_object
from nel.models.loglikelihood import (
    argmax_choice,
    build_echo_body,
    on_one_border,
    score_batch,
    split_context,
)
from nel.models.wire.base import name_in, usage_in
from nel.types import (
    Generation,
    JsonObject,
    Request,
    Response,
    ResponseError,
    Sample,
)

Pairs: TypeAlias = "tuple[tuple[str, str], ...]"
AskEcho: TypeAlias = (
    "Callable[[int, Request, bytes, Callable[[object], Response | Fault]], Awaitable[Response]]"
)
"""Sends one body under a number of its own; returns the answer once it is stored."""


async def rank(
    sample: Sample,
    *,
    model: str,
    delimiter: str,
    repeat: int,
    benchmark: int,
    generation: Generation,
    echo: EchoSupport | None,
    ask: AskEcho,
) -> tuple[bytes, Response]:
    """Return the body sent last, and the response that holds every choice's log-likelihood; its
    text is the best one.

    Args:
        delimiter: Stands between the prompt and each choice, or between each choice and the
            continuation.
        echo: What the server supports; None where it was not probed.
        ask: Sends and stores.
    """
    request = build_request(
        sample,
        repeat=repeat,
        benchmark=benchmark,
        model=model,
        protocol="completions",
        generation=generation,
        system_prompt=None,
    )
    choices = sample.choices or ()
    pairs = _pairs(sample, request.prompt or "", delimiter)
    echo = echo or UNPROBED
    parts = [pairs] if echo.batched else [(pair,) for pair in pairs]
    answers: list[Response] = []
    body = b""
    # One after the other: a kill then loses one request, and a stop has one to wait for.
    for number, batch in enumerate(parts):
        body = dumps_bytes(_body(model, batch, echo, generation))
        batch_request = replace(request, generation=Generation(max_tokens=len(batch)))
        answer = await ask(number, batch_request, body, partial(_parse, batch, echo.max_tokens))
        if answer.error is not None:
            return body, answer
        answers.append(answer)
    choice_scores = [score for answer in answers for score in answer.choice_scores]
    try:
        scores = on_one_border(choice_scores, [context for context, _ in pairs])
    except LogprobFault as error:
        why = ResponseError(kind=f"logprob_{error.kind}", message=str(error), status=200)
        return body, replace(_join(answers), choice_scores=(), error=why)
    return body, replace(_join(answers), text=choices[argmax_choice(scores)], choice_scores=scores)


def first_choice_body(
    sample: Sample, *, model: str, delimiter: str, generation: Generation
) -> JsonObject:
    """Return the JSON body for a sample's first choice, for a server with unknown abilities."""
    request = build_request(
        sample,
        repeat=0,
        model=model,
        protocol="completions",
        generation=generation,
        system_prompt=None,
    )
    pairs = _pairs(sample, request.prompt or "", delimiter)[:1]
    return _body(model, pairs, UNPROBED, generation)


def _pairs(sample: Sample, prompt: str, delimiter: str) -> Pairs:
    """Return context and continuation of each choice; choices as contexts share the latter."""
    choices = sample.choices or ()
    if sample.continuation is None:
        return tuple(split_context(prompt, delimiter + choice) for choice in choices)
    return tuple(
        split_context(prompt + choice, delimiter + sample.continuation) for choice in choices
    )


def _body(model: str, pairs: Pairs, echo: EchoSupport, generation: Generation) -> JsonObject:
    prompts = [context + continuation for context, continuation in pairs]
    extra = dict(generation.extra)
    if generation.seed is not None:
        extra["seed"] = generation.seed
    return build_echo_body(model, prompts, max_tokens=echo.max_tokens, extra=extra)


def _parse(pairs: Pairs, generated: int, payload: Any) -> Response | Fault:
    if isinstance(payload, dict) and payload.get("error"):
        return fault_of_error_object(payload["error"])
    try:
        scores = score_batch(payload, pairs, generated=generated)
    except LogprobFault as error:
        return Fault(
            kind=f"logprob_{error.kind}",
            message=str(error),
            retryable=error.kind == "malformed",
            status=200,
        )
    return Response(
        text=scores[argmax_choice(scores)].text,
        usage=usage_in(payload.get("usage")),
        model=name_in(payload, "model"),
        system_fingerprint=name_in(payload, "system_fingerprint"),
        choice_scores=scores,
    )


def _join(answers: Sequence[Response]) -> Response:
    """Return one response for all choices; the log has the rows of their requests."""
    return replace(
        answers[-1],
        usage=sum_usages([answer.usage for answer in answers], partly=False),
        latency_seconds=None,
        attempts=0,
        cached=all(answer.cached for answer in answers),
    )
