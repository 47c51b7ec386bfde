"""``repeat_check`` of metrics.json: how often an endpoint answers differently when asked twice.

Reads both answers from the store. The second one is not part of a score or its accounting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from nel.artifacts.results import Result, outcome_json, read_result, reward_of
from nel.decide.repeatability import added_half_width, rerun_of
from nel.engine.asking.repeat_check import draw_samples
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import Snapshot
from nel.metrics.intervals import no_interval, wilson_interval
from nel.types import SECOND_ASKING, JsonObject, Response

_EXAMPLES_MAX: Final = 10
_CHARACTERS_MAX: Final = 500


@dataclass(frozen=True, slots=True)
class Pair:
    """Both answers to one sample."""

    first: Result
    second: Result

    @property
    def has_texts(self) -> bool:
        """Whether both are answers of the endpoint."""
        responses = (self.first.response, self.second.response)
        return all(response is not None and response.error is None for response in responses)

    @property
    def texts_differ(self) -> bool:
        """Whether the raw answers differ, in text or in log-probabilities of choices."""
        return _raw(self.first.response) != _raw(self.second.response)

    @property
    def rewards(self) -> tuple[float, float] | None:
        """The rewards of both, None where one has no reward."""
        first, second = reward_of(self.first.outcome), reward_of(self.second.outcome)
        if first is None or second is None:
            return None
        return first, second

    @property
    def differs(self) -> bool:
        """Whether the raw answers or their rewards differ."""
        if self.has_texts and self.texts_differ:
            return True
        rewards = self.rewards
        return rewards is not None and rewards[0] != rewards[1]


def read_pairs(snapshot: Snapshot, benchmark: int, n: int | None) -> Iterator[Pair]:
    """Yield both answers of each sample that was drawn to be asked twice, answered or not.

    Args:
        snapshot: Of the run.
        benchmark: Its number.
        n: How many were drawn; None for none.
    """
    # The second answer is stored as a repeat with a number of its own, beside the first repeat.
    for idx in draw_samples(snapshot, benchmark, n):
        both = results(snapshot, benchmark, (0, SECOND_ASKING), first=idx, last=idx)
        yield Pair(*map(read_result, both))


def repeat_check_json(
    pairs: list[Pair], plan: JsonObject, *, headline: JsonObject, n: int
) -> dict[str, Any]:
    """Return the ``repeat_check`` object.

    Args:
        pairs: Of the samples that were drawn.
        plan: Of the benchmark.
        headline: The run's headline metric, with its interval.
        n: The number of answers in the headline.
    """
    texts = [pair.texts_differ for pair in pairs if pair.has_texts]
    rewards = [pair.rewards for pair in pairs if pair.rewards is not None]
    n_verdicts_differ = sum(first != second for first, second in rewards)
    examples = [_example_json(pair) for pair in pairs if pair.differs]
    generation = plan.get("generation") or {}
    return {
        "n_drawn": len(pairs),
        "n_asked": sum(pair.second.response is not None for pair in pairs),
        "temperature": generation.get("temperature"),
        "seed": generation.get("seed"),
        "text": _rate_json(sum(texts), len(texts)),
        "verdict": _rate_json(n_verdicts_differ, len(rewards)),
        "score": _score_json(rewards, headline, n),
        "examples": examples[:_EXAMPLES_MAX],
    }


def _example_json(pair: Pair) -> dict[str, Any]:
    return {
        "problem_idx": pair.first.idx,
        "sample_id": pair.first.sample_id,
        "first": _answer_json(pair.first),
        "second": _answer_json(pair.second),
    }


def _rate_json(n_differ: int, n: int) -> dict[str, Any]:
    interval = wilson_interval(n_differ, n) if n else no_interval("")
    return {
        "n": n,
        "n_differ": n_differ,
        "rate": n_differ / n if n else None,
        "ci_lower": interval.lower,
        "ci_upper": interval.upper,
        "ci_method": interval.method,
    }


def _score_json(
    rewards: list[tuple[float, float]], headline: JsonObject, n: int
) -> dict[str, Any] | None:
    if not rewards or not n:
        return None
    firsts, seconds = map(list, zip(*rewards, strict=True))
    rerun = rerun_of(firsts, seconds, n_answers=n)
    lower, upper = headline["ci_lower"], headline["ci_upper"]
    half_width = added = None
    if lower is not None and upper is not None:
        half_width = (upper - lower) / 2
        added = added_half_width(half_width, rerun.half_width)
    return {
        "within_variance": rerun.within,
        "rerun_half_width": rerun.half_width,
        "rerun_half_width_lower": rerun.half_width_lower,
        "rerun_half_width_upper": rerun.half_width_upper,
        "interval_half_width": half_width,
        "added_half_width": added,
    }


def _answer_json(result: Result) -> dict[str, Any]:
    text = "" if result.response is None else result.response.text
    return {
        "reward": reward_of(result.outcome),
        "state": outcome_json(result.outcome)["state"],
        "response_preview": text[:_CHARACTERS_MAX],
    }


def _raw(response: Response | None) -> object:
    return None if response is None else (response.text, response.choice_scores)
