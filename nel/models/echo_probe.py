"""Finds out, before a run, whether a server's log-probabilities can be trusted. Sends only through
what it is given.

Responsible for the probes, their judge (pure) and the order they are asked in.

A server may never answer ``max_tokens: 0``. llama-cpp-python takes it for "no limit", writes until
its context is full, and keeps its only worker busy with that after the caller has gone: the next
two requests had no answer in 480 s. So 1 is asked first, and 0 only of a server that refused 1.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from nel.errors import LogprobFault
from nel.models.echo_reading import has_leading_token
from nel.models.faults import Fault
from nel.models.loglikelihood import build_echo_body, order_choices, score_choice
from nel.types import ChoiceScore

Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[Any]]
"""Sends one body to ``/completions`` and returns the decoded answer, or a `Fault`."""

PROBE_TIMEOUT_SECONDS: Final = 60.0
"""For one probe; a small model's first answer took 12 s on a CPU, one of llama-cpp-python's 3 s."""
MAX_TOKENS_TRIED: Final = (1, 0)
_BATCH_DIFFERENCE_MAX: Final = 0.5
"""Most that a probe's sum may differ when asked among others; bfloat16 moves it by 0.1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoProbe:
    """One prompt with a known property."""

    context: str
    continuation: str
    likelier_than: int | None = None
    """Index of the probe of the same context whose continuation any model finds less likely."""


PROBES: Final = (
    EchoProbe(context="The capital of France is", continuation=" Paris", likelier_than=1),
    EchoProbe(context="The capital of France is", continuation=" xylophone"),
    # Shifted by one token, a value says how likely the word is to come twice, which " very" is and
    # " Friday" is not: SmolLM2-135M gives -0.1 and -16.3, shifted -8.1 and -5.5.
    EchoProbe(
        context="Monday, Tuesday, Wednesday, Thursday,", continuation=" Friday", likelier_than=3
    ),
    EchoProbe(context="Monday, Tuesday, Wednesday, Thursday,", continuation=" very"),
    EchoProbe(context="Grüße aus 東京 🙂🧬: naïve", continuation=" café 🧪 again"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoSupport:
    """What a server that can be trusted wants to be asked."""

    max_tokens: int
    """0 or 1; tokens generated after the prompt are dropped."""
    batched: bool
    """Whether several prompts in one request are answered as they are alone."""
    leading_bos: bool
    """Whether a special token is shown in front of the prompt."""


UNPROBED: Final = EchoSupport(max_tokens=1, batched=False, leading_bos=False)
"""What every server that supports echo at all can do."""


async def probe_echo(send: Send, model: str) -> EchoSupport | Fault:
    """Ask the probes one by one, then all in one request, and judge the answers.

    Returns:
        What the server supports; or the fault that kept it from answering a single prompt.

    Raises:
        LogprobFault: It answers, but not with log-probabilities that may be scored; see
            `judge_probe`.
    """
    fault: Fault = _late()
    for max_tokens in MAX_TOKENS_TRIED:
        answers: list[object] = []
        for probe in PROBES:
            body = build_echo_body(
                model, [probe.context + probe.continuation], max_tokens=max_tokens
            )
            answer = await _ask(send, body)
            if isinstance(answer, Fault):
                fault = answer
                break
            answers.append(answer)
        else:
            judge_probe(answers, max_tokens=max_tokens)
            prompts = [probe.context + probe.continuation for probe in PROBES]
            body = build_echo_body(model, prompts, max_tokens=max_tokens)
            batch = await _ask(send, body)
            return judge_probe(
                answers, max_tokens=max_tokens, batch=None if isinstance(batch, Fault) else batch
            )
        if fault.kind != "bad_request":
            break
    return fault


def judge_probe(
    payloads: Sequence[object], *, max_tokens: int, batch: object = None
) -> EchoSupport:
    """Return what the answers to `PROBES` say of the server.

    Args:
        payloads: The decoded answer to each probe asked alone, in order.
        max_tokens: What was asked with.
        batch: The answer to all of them in one request; None where it was refused.

    Raises:
        LogprobFault: The server must not be used for log-likelihoods; the message says what is
            wrong with it. The kinds are those of `score_choice`, and ``shifted`` where the likely
            continuations are not the likelier ones.
    """
    choices = [order_choices(payload, 1)[0] for payload in payloads]
    scores = [
        _score(choice, probe, max_tokens) for choice, probe in zip(choices, PROBES, strict=True)
    ]
    for probe, score in zip(PROBES, scores, strict=True):
        likelier_score = None if probe.likelier_than is None else scores[probe.likelier_than]
        if likelier_score is not None and score.logprob <= likelier_score.logprob:
            raise LogprobFault(
                "shifted",
                "the server's log-probabilities do not belong to the tokens beside them: after"
                f" {probe.context!r} it holds {likelier_score.text!r} ({likelier_score.logprob:.2f}) for likelier"
                f" than {score.text!r} ({score.logprob:.2f})",
            )
    prompt = PROBES[0].context + PROBES[0].continuation
    return EchoSupport(
        max_tokens=max_tokens,
        batched=batch is not None and _same_in_batch(batch, scores, max_tokens),
        leading_bos=has_leading_token(choices[0], prompt, generated=max_tokens),
    )


def _score(choice: Mapping[str, object], probe: EchoProbe, max_tokens: int) -> ChoiceScore:
    return score_choice(
        choice, context=probe.context, continuation=probe.continuation, generated=max_tokens
    )


def _same_in_batch(batch: object, alone: Sequence[ChoiceScore], max_tokens: int) -> bool:
    try:
        choices = order_choices(batch, len(alone))
        together = [
            _score(choice, probe, max_tokens) for choice, probe in zip(choices, PROBES, strict=True)
        ]
    except LogprobFault:
        return False
    return all(
        abs(single.logprob - other.logprob) <= _BATCH_DIFFERENCE_MAX
        for single, other in zip(alone, together, strict=True)
    )


async def _ask(send: Send, body: dict[str, object]) -> Any:
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
            return await send(body)
    except TimeoutError:
        return _late()


def _late() -> Fault:
    return Fault(
        kind="timeout",
        message=(
            f"no answer to a prompt with echo within {PROBE_TIMEOUT_SECONDS:g} s; "
            "log-likelihoods need a server that returns prompt log-probabilities"
        ),
        retryable=False,
    )
