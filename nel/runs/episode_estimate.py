"""Estimates the requests, tokens and cost of episodes, from an earlier run or a number of steps."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nel.artifacts.files import directory_name
from nel.config.schema import Price
from nel.core.strict_json import loads
from nel.errors import UsageError
from nel.models.budget import cost_of
from nel.types import JsonObject, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeUse:
    """The average use of one episode."""

    source: str
    """The earlier run, or the stated number of steps."""
    episodes: int
    """Of the earlier run; 0 for a number of steps, whose tokens are a lower bound."""
    steps: float
    prompt_tokens: float | None
    """None where the endpoint reported none."""
    completion_tokens: float | None
    """Likewise."""

    def of(self, episodes: int, price: Price | None) -> JsonObject:
        """Return the estimate for so many episodes, as a dry run prints it."""
        prompt, completion = (
            None if tokens is None else round(tokens * episodes)
            for tokens in (self.prompt_tokens, self.completion_tokens)
        )
        usage = Usage(prompt_tokens=prompt, completion_tokens=completion)
        return {
            "source": self.source,
            "episodes_measured": self.episodes,
            "steps": round(self.steps, 2),
            "requests": round(self.steps * episodes),
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "cost": cost_of(usage, price),
        }


def read_use(pilot: str, slot: str, prompt_tokens: float) -> EpisodeUse:
    """Return the average use of an episode of a benchmark.

    Args:
        pilot: The directory of a run, or a number of steps.
        slot: The benchmark.
        prompt_tokens: Of the first request.

    Raises:
        UsageError: It is neither, or the run has no finished episode of the benchmark.
    """
    if pilot.isdecimal() and int(pilot):
        steps = int(pilot)
        return EpisodeUse(
            source=f"{steps} steps",
            episodes=0,
            steps=steps,
            prompt_tokens=prompt_tokens * steps,
            completion_tokens=0,
        )
    path = Path(pilot, directory_name(slot), "results.jsonl")
    try:
        lines = [loads(line) for line in path.read_bytes().splitlines()]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"--pilot takes a number of steps or the directory of a run that has {slot}; {path}"
            f" cannot be read: {error}"
        ) from error
    ended = [line for line in lines if "episode" in line and line["reward"] is not None]
    if not ended:
        raise UsageError(f"--pilot {pilot}: {path} has no finished episode")
    return EpisodeUse(
        source=pilot,
        episodes=len(ended),
        steps=sum(line["episode"]["steps"] for line in ended) / len(ended),
        prompt_tokens=_mean_tokens(ended, "prompt"),
        completion_tokens=_mean_tokens(ended, "completion"),
    )


def _mean_tokens(lines: list[Any], name: str) -> float | None:
    """Return the mean over the episodes whose tokens the endpoint reported."""
    reported = [line["tokens"][name] for line in lines if line["tokens"][name] is not None]
    return sum(reported) / len(reported) if reported else None
