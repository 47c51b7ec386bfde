"""The demo model: answers the quickstart problems with a chosen accuracy, speed and number of faults.

Everything is drawn from (seed, prompt, request seed), faults also from how often the prompt was seen: two servers with
the same options behave the same. It knows no scorer. Trap: the faults of a prompt restart with the server, its answers
never change.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final

import orjson
from aiohttp import web

from nel.errors import ConfigError
from nel.models.endpoints.phrasing import Problem, cut_in_the_middle, phrase, right_answer, unknown, wrong_answer
from nel.models.endpoints.query import EndpointFault, Query
from nel.models.endpoints.shapes import Reply
from nel.models.endpoints.tokens import TokenLogprob, cut_at_stop, cut_to_tokens
from nel.models.endpoints.wire import create_app

LATENCY_MS_MAX: Final = 600_000.0
_JITTER: Final = 0.25
"""Latencies lie this share below and above the one asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """How the demo model behaves; checked when made."""

    accuracy: float = 0.8
    """Chance that a problem is answered right."""
    seed: int = 0
    latency_ms: float = 0.0
    """Wait before each answer, give or take a quarter."""
    rate_limit_rate: float = 0.0
    """Chance that an attempt is turned away with 429."""
    error_rate: float = 0.0
    """Chance that an attempt ends in 500."""
    truncation_rate: float = 0.0
    """Chance that an answer stops in the middle with finish reason ``length``."""
    retry_after_seconds: float = 0.05
    """What a 429 asks clients to wait."""
    api_key: str | None = field(default=None, repr=False)
    """Asked of every client where set."""
    model: str = "demo"
    """The one model name that is served."""

    def __post_init__(self) -> None:
        for name in ("accuracy", "rate_limit_rate", "error_rate", "truncation_rate"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ConfigError(f"{name} is {value}; it is a chance, between 0 and 1")
        if self.rate_limit_rate + self.error_rate > 1:
            raise ConfigError("rate_limit_rate and error_rate together are over 1; lower one of them")
        for name in ("latency_ms", "retry_after_seconds"):
            if not 0 <= getattr(self, name) <= LATENCY_MS_MAX:
                raise ConfigError(f"{name} is {getattr(self, name)}; use 0 to {LATENCY_MS_MAX:.0f}")
        if not self.model:
            raise ConfigError("the model's name is empty; leave it out for the default")
        if self.api_key == "":
            raise ConfigError("the API key is empty; leave it out to serve without one")


class DemoAnswerer:
    """Answers quickstart problems; see `DemoOptions`."""

    def __init__(self, options: DemoOptions) -> None:
        self.options = options
        self._problems = load_problems()
        self._seen: Counter[bytes] = Counter()

    async def answer(self, query: Query) -> Reply:
        """Return the reply, after the latency.

        Raises:
            EndpointFault: 429 or 500, at the chosen rates.
        """
        draw = self._draw("reply", query.text, query.seed)
        await self._wait(draw)
        self._perhaps_fail(query)
        text, cut = self._text(query, draw)
        stopped = cut_at_stop(text, query.stop)
        within, over = cut_to_tokens(stopped, query.max_tokens)
        is_cut = over or (cut and stopped == text)
        return Reply(text=within, finish_reason="length" if is_cut else "stop")

    def logprobs(self, query: Query, prompt: Sequence[str], completion: Sequence[str]) -> list[TokenLogprob]:
        """Return likely tokens where the text is what the model would say, unlikely ones elsewhere."""
        believed = self._believed_tokens(query, prompt)
        first_likely = len(prompt) - believed
        logprobs = [self._unlikely(token, at) for at, token in enumerate(prompt[:first_likely])]
        likely = [*prompt[first_likely:], *completion]
        return logprobs + [TokenLogprob(token=token, logprob=-0.01 * (1 + len(token) % 3)) for token in likely]

    async def _wait(self, draw: random.Random) -> None:
        spread = draw.uniform(1 - _JITTER, 1 + _JITTER)
        if self.options.latency_ms:
            await asyncio.sleep(self.options.latency_ms * spread / 1000)

    def _perhaps_fail(self, query: Query) -> None:
        options = self.options
        if not options.rate_limit_rate and not options.error_rate:
            return
        key = hashlib.blake2b(_bytes(query.text), digest_size=16).digest()
        attempt, self._seen[key] = self._seen[key], self._seen[key] + 1
        chance = self._draw("fault", query.text, attempt).random()
        if chance < options.rate_limit_rate:
            wait = {"Retry-After": f"{options.retry_after_seconds:g}"}
            raise EndpointFault(429, "rate_limit_exceeded", "the demo model turns this attempt away; try again", wait)
        if chance < options.rate_limit_rate + options.error_rate:
            raise EndpointFault(500, "internal_error", "the demo model fails on purpose; try again")

    def _text(self, query: Query, draw: random.Random) -> tuple[str, bool]:
        problem = self._problem_in(query.text)
        if problem is None:
            return unknown(draw), False
        answer, right = self._belief(problem, query)
        text = phrase(problem, answer, right, draw)
        if draw.random() < self.options.truncation_rate:
            return cut_in_the_middle(text, draw), True
        return text, False

    def _belief(self, problem: Problem, query: Query, *, per_problem: bool = False) -> tuple[str, str]:
        draw = self._draw("belief", problem.question if per_problem else query.text, query.seed)
        right = right_answer(problem, query.text)
        if draw.random() < self.options.accuracy:
            return right, right
        others = [other.answer for other in self._problems if other.kind == problem.kind]
        return wrong_answer(problem, right, others, draw), right

    def _problem_in(self, text: str) -> Problem | None:
        """Return the problem asked last, so that worked examples before it do not matter; then the longest."""
        found = [(text.rfind(problem.question), problem) for problem in self._problems]
        ends = [(at + len(problem.question), len(problem.question), problem) for at, problem in found if at >= 0]
        return max(ends, key=lambda end: end[:2])[2] if ends else None

    def _believed_tokens(self, query: Query, prompt: Sequence[str]) -> int:
        """Return how many tokens at the end of the prompt are the answer that the model believes in."""
        problem = self._problem_in(query.text)
        if problem is None:
            return 0
        answer, right = self._belief(problem, query, per_problem=True)
        spellings = [answer]
        if problem.kind == "choice":
            option = problem.answer if answer == right else answer
            spellings.append(problem.choices["ABCDE".index(option)])
        for count in range(1, min(len(prompt), 12) + 1):
            if "".join(prompt[-count:]).strip() in spellings:
                return count
        return 0

    def _unlikely(self, token: str, at: int) -> TokenLogprob:
        draw = self._draw("token", token, at)
        return TokenLogprob(
            token=token,
            logprob=-round(draw.uniform(2.0, 6.0), 4),
            alternative=(" well", -round(draw.uniform(0.2, 1), 4)),
        )

    def _draw(self, purpose: str, text: str, number: int | None) -> random.Random:
        digest = hashlib.blake2b(_bytes(f"{self.options.seed}\0{purpose}\0{number}\0{text}"), digest_size=16)
        return random.Random(digest.digest())  # noqa: S311 - a rehearsal must repeat itself


def demo_app(options: DemoOptions) -> web.Application:
    """Return the application that serves the demo model."""
    return create_app(DemoAnswerer(options), model=options.model, api_key=options.api_key)


def load_problems() -> list[Problem]:
    """Return the quickstart problems that come with nel."""
    text = (files("nel") / "benchmarks" / "data" / "quickstart.jsonl").read_text(encoding="utf-8")
    rows = [orjson.loads(line) for line in text.splitlines() if line]
    return [
        Problem(kind=row["kind"], question=row["question"], answer=row["answer"], choices=tuple(row.get("choices", ())))
        for row in rows
    ]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
