"""Chooses the protocol of a benchmark's requests, and refuses what it cannot do.

Nothing is sent before that. Notes a token limit that is short for a model that thinks.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.config.schema import JudgeConfig, ModelConfig, RunConfig
from nel.errors import ConfigError
from nel.models.wire.registry import check_settings
from nel.types import Generation, Protocol

_WITH_LOGPROBS = (None, "chat", "completions")
_THINKING_TOKENS: Final = 2048
"""A model that thinks often writes more before its answer; lm-evaluation-harness ends an answer after
256 where a task says nothing."""


def protocol_asked(config: RunConfig, benchmark: Benchmark) -> Protocol:
    """Return the run's protocol, else the benchmark's, else chat.

    A benchmark of log-likelihoods brings none of its own.
    """
    protocol = config.endpoint.protocol if config.endpoint else None
    return protocol or (None if benchmark.loglikelihood else benchmark.protocol) or "chat"


def protocol_of(benchmark: Benchmark, asked: Protocol) -> Protocol:
    """Return how a benchmark's requests are sent at an endpoint of a protocol.

    Raises:
        ConfigError: The endpoint's protocol cannot do what the benchmark needs.
    """
    if benchmark.response_field is not None:
        return asked
    if benchmark.loglikelihood:
        if asked not in _WITH_LOGPROBS:
            raise ConfigError(
                f"{benchmark.name} ranks choices by log-likelihood, which the {asked} protocol does"
                " not return; ask an endpoint with completions and echo, or another benchmark"
            )
        return "completions"
    has_messages = asked != "completions"
    if benchmark.protocol is not None and has_messages != (benchmark.protocol != "completions"):
        raise ConfigError(
            f"{benchmark.name} needs the {benchmark.protocol} protocol and the endpoint is set to"
            f" {asked}; set endpoint.protocol: {benchmark.protocol}"
        )
    return asked


def protocol_notes(benchmark: Benchmark, protocol: Protocol) -> list[str]:
    """Return that a benchmark of messages is asked by texts, which has other answers."""
    by_text = protocol == "completions" and benchmark.protocol != protocol
    if not by_text or benchmark.loglikelihood or benchmark.response_field is not None:
        return []
    note = (
        f"{benchmark.name} is asked over the protocol completions: messages are one text, without"
        " the model's chat template (--protocol, or the end of --model-url)"
    )
    return [note]


def short_limit_notes(asked: int | None, limit: int | None) -> list[str]:
    """Return a note where a benchmark's own token limit is short for a model that thinks.

    Args:
        asked: The limit that the run sets.
        limit: The limit that is sent.
    """
    if asked is not None or limit is None or limit >= _THINKING_TOKENS:
        return []
    note = (
        f"answers end after {limit:,} tokens, the benchmark's own limit, in which a model that thinks"
        " seldom comes to its answer; --max-tokens sets another"
    )
    return [note]


def check_protocols(
    benchmark: Benchmark,
    protocol: Protocol,
    generation: Generation,
    judge: JudgeConfig | None,
    roles: Iterable[ModelConfig],
) -> None:
    """Refuse settings of the evaluated model or of a judge that its protocol cannot send.

    Raises:
        ConfigError: It names each, and what to do.
    """
    if benchmark.response_field is None and not benchmark.loglikelihood:
        check_settings(benchmark.name, protocol, generation)
    panel = [] if judge is None else judge.panel
    for member in (*panel, *roles):
        check_settings(
            f"{benchmark.name}: the judge {member.label}", member.spoken, member.generation
        )
    for member in panel if judge is not None and judge.grade_logprobs else ():
        if member.protocol not in _WITH_LOGPROBS:
            raise ConfigError(
                f"{benchmark.name}: judge.grade_logprobs needs log-probabilities, which the"
                f" {member.protocol} protocol of the judge {member.label} does not return; leave it"
                " out, or ask the judge over chat"
            )
