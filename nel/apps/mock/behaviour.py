"""What the demo model and the demo judge have in common: options, latency, faults, and the seed.

The faults of a prompt restart with the server; what else is drawn from the seed and a prompt never
changes.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from abc import abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from nel.apps.mock.openai_json import MockReply
from nel.apps.mock.request_parsing import EndpointFault, Query
from nel.apps.mock.routes import Answerer
from nel.apps.mock.tokens import cut_at_stop, cut_to_tokens

_JITTER: Final = 0.25
"""Latencies lie this share below and above the one asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How an embedded endpoint behaves."""

    seed: int = 0
    latency_ms: float = 0.0
    """Wait before each answer, give or take a quarter."""
    rate_limit_rate: float = 0.0
    """Chance that an attempt is turned away with 429."""
    error_rate: float = 0.0
    """Chance that an attempt ends in 500."""
    api_key: str | None = field(default=None, repr=False)
    """Asked of every client where set."""
    model: str = "demo"
    """The one model name that is served."""


class EmbeddedAnswerer(Answerer):
    """Answers after a latency and with faults, as a behaviour has it."""

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._seen: Counter[bytes] = Counter()

    async def answer(self, query: Query) -> MockReply:
        """Return the reply, after the latency.

        Raises:
            EndpointFault: 429 or 500, at the chosen rates.
        """
        draw = self._draw("reply", query.text, query.seed)
        spread = draw.uniform(1 - _JITTER, 1 + _JITTER)
        if self._behaviour.latency_ms:
            await asyncio.sleep(self._behaviour.latency_ms * spread / 1000)
        self._perhaps_fail(query.text)
        text, is_cut = self._text(query, draw)
        before_stop = cut_at_stop(text, query.stop)
        within_limit, is_too_long = cut_to_tokens(before_stop, query.max_tokens)
        # A text that a stop sequence ended first was never cut.
        is_cut = is_too_long or (is_cut and before_stop == text)
        return MockReply(text=within_limit, finish_reason="length" if is_cut else "stop")

    @abstractmethod
    def _text(self, query: Query, draw: random.Random) -> tuple[str, bool]:
        """Return what is said, and whether it is cut."""

    def _draw(self, purpose: str, text: str, number: int | None = None) -> random.Random:
        """Return a generator that only the server's seed, a purpose, a text and a number decide."""
        key = _bytes(f"{self._behaviour.seed}\0{purpose}\0{number}\0{text}")
        digest = hashlib.blake2b(key, digest_size=16)
        return random.Random(digest.digest())  # noqa: S311 - a rehearsal must repeat itself

    def _times_seen(self, purpose: str, text: str) -> int:
        """Return how often a text was seen before for this purpose, and count it."""
        key = hashlib.blake2b(_bytes(f"{purpose}\0{text}"), digest_size=16).digest()
        times, self._seen[key] = self._seen[key], self._seen[key] + 1
        return times

    def _perhaps_fail(self, text: str) -> None:
        """Turn an attempt away at the chosen rates.

        Raises:
            EndpointFault: 429 or 500.
        """
        behaviour = self._behaviour
        if not behaviour.rate_limit_rate and not behaviour.error_rate:
            return
        chance = self._draw("fault", text, self._times_seen("fault", text)).random()
        if chance < behaviour.rate_limit_rate:
            wait = {"Retry-After": "0.05"}
            message = f"the {behaviour.model} model turns this attempt away; try again"
            raise EndpointFault(429, "rate_limit_exceeded", message, wait)
        if chance < behaviour.rate_limit_rate + behaviour.error_rate:
            raise EndpointFault(
                500, "internal_error", f"the {behaviour.model} model fails on purpose; try again"
            )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
