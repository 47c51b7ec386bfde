"""Sums over the rows of one sample: the steps of an episode, or the choices that were ranked.

Does no I/O. Sums are computed when they are needed and never stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, NamedTuple

from nel.config.schema import Price
from nel.core.intervals import union_length
from nel.engine.store.rows import CHOICE, MODEL, TOOL
from nel.models.budget import cost_of, sum_usages
from nel.types import Response, Usage


class Part(NamedTuple):
    """The numbers of a row that a sum is made of."""

    role: int
    attempt: int
    fault: str | None
    requests: int | None
    prompt: int | None
    completion: int | None
    reasoning: int | None
    cached: int | None
    seconds: float | None
    """None for a tool call that has begun and not ended."""
    wall: float | None
    """Seconds since the episode began, at the end of the step."""
    n_cut: int | None
    ended: float | None

    @property
    def usage(self) -> Usage:
        """The tokens of the row."""
        return Usage(
            prompt_tokens=self.prompt,
            completion_tokens=self.completion,
            reasoning_tokens=self.reasoning,
            cached_tokens=self.cached,
        )


PART_COLUMNS: Final = (
    "role, attempt, fault, requests, prompt, completion, reasoning, cached, seconds, wall,"
    " CASE WHEN role = 5 AND json_valid(response) THEN json_extract(response, '$.n_cut') END, ended"
)


def last_attempt(parts: Sequence[Part]) -> list[Part]:
    """Return the rows of the last attempt at an episode; the only one at choices is the first."""
    latest = max(
        (part.attempt for part in parts if part.requests is not None or part.role == TOOL),
        default=-1,
    )
    return [part for part in parts if part.attempt == latest]


def episode_sum(parts: Iterable[Part], price: Price | None) -> dict[str, Any]:
    """Return the totals of an episode; steps, tokens and cost are those of its last attempt."""
    parts = [part for part in parts if part.role != CHOICE]
    last = last_attempt(parts)
    requests = [part for part in last if part.role == MODEL]
    calls = [part for part in last if part.role == TOOL and part.seconds is not None]
    # Calls of tools run in parallel: overlapping spans count once.
    spans = [
        (part.wall - part.seconds, part.wall)
        for part in (*requests, *calls)
        if part.wall is not None and part.seconds is not None
    ]
    errors = Counter(part.fault for part in calls if part.fault is not None)
    cost = sum(cost_of(part.usage, price) or 0.0 for part in requests)
    n_attempts = max((part.attempt for part in parts), default=-1) + 1
    wall_seconds = max((part.wall or 0.0 for part in last), default=0.0)
    return {
        "steps": len(requests),
        "tool_calls": len(calls),
        "tool_errors": dict(sorted(errors.items())),
        "bytes_cut": sum(part.n_cut or 0 for part in calls),
        "usage": asdict(sum_usages([part.usage for part in requests])),
        "cost": round(cost, 9) if price else None,
        "attempts": n_attempts,
        "timing": {
            "work_seconds": round(union_length(spans), 6),
            "wall_seconds": wall_seconds,
        },
    }


def with_sum(response: Response, parts: Sequence[Part], price: Price | None) -> Response:
    """Return an answer that sums up other rows, with their counts.

    Usage and requests are those of all attempts, since all of them were paid for.
    """
    if response.episode is not None:
        requests = [part for part in parts if part.role == MODEL]
        return replace(
            response,
            usage=sum_usages([part.usage for part in requests]),
            attempts=sum(part.requests or 0 for part in requests),
            episode={**episode_sum(parts, price), **response.episode},
        )
    choices = [part for part in parts if part.role == CHOICE]
    seconds = [part.seconds for part in choices if part.seconds is not None]
    return replace(
        response,
        usage=sum_usages([part.usage for part in choices], partly=False),
        latency_seconds=sum(seconds) if len(seconds) == len(choices) else None,
    )
