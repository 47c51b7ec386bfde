"""Reads a stored answer in every way that applies to it, or says why none does.

Shared by the audit of a run and the explanation of one answer. Depends on `nel.scoring.readings`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from nel.artifacts.model_readings import ModelReadings, unread_answer
from nel.artifacts.results import Result, reward_of
from nel.benchmarks.official_readings import official_reading
from nel.judges.record import is_judged
from nel.reading.types import SCORED, Reading
from nel.scoring.readings import Readings, read_in_every_way, same_answer
from nel.types import JsonObject, ModelFailure, Scored, ScorerInput, Unscored

MODEL: Final = "model"
"""The way of a model, which reads answers in which the run's own scorer found nothing."""


class NeverRead(StrEnum):
    """Reasons for which no reader applies to an answer, whatever it says, as reports give them."""

    PROGRAMS = "the answers are programs"
    NO_KIND = "the gold answer is not a letter, number, yes or no, or short text"
    RANKED = "the choices were ranked by log-likelihood"
    JUDGED = "a judge decided"
    SEVERAL_TURNS = "each of several turns has a gold answer of its own"


_SCORER_FOUND_NOTHING: Final = frozenset({"no_answer", "refusal"})
"""Model failures by the scorer's reading: another way may find an answer."""
_EXCERPT: Final = 60
"""Characters on each side of the answer in an excerpt."""


@dataclass(frozen=True, slots=True)
class AnswerReadings:
    """One answer as every way reads it, and as its scorer did."""

    ways: Readings
    response: str
    scored: str | None
    """The answer that the run's scorer extracted; the whole response where it extracts none."""
    reward: float

    @property
    def values(self) -> dict[str, str | None]:
        """The value that each way reads, the run's scorer first."""
        values = {name: reading.value for name, reading in self.ways.read.items()}
        return {SCORED: self.scored, **values}

    @property
    def differs(self) -> bool:
        """Whether two ways read different answers, or one reads an answer and another none."""
        kind, value = self.ways.gold.kind, self.scored
        return any(not _same(kind, value, reading.value) for reading in self.ways.read.values())

    def rewards(self) -> dict[str, float]:
        """Return the reward by each way; a way that reads the scorer's answer has its reward."""
        kind = self.ways.gold.kind
        rewards_by_way = {SCORED: self.reward}
        for name, reading in self.ways.read.items():
            if reading.value is not None and _same(kind, self.scored, reading.value):
                rewards_by_way[name] = self.reward
            else:
                rewards_by_way[name] = float(self.ways.is_right(reading.value))
        return rewards_by_way


def read_again(
    result: Result, benchmark: str, plan: JsonObject, by_model: ModelReadings | None = None
) -> AnswerReadings | str:
    """Return the readings of a stored answer, or why it has none.

    Args:
        result: The answer.
        benchmark: Its name, which selects the official rule.
        plan: The plan in run.db.
        by_model: Readings of a model, which are added where the run's scorer found no answer.
    """
    why = _without_reading(result, plan)
    if why is not None:
        return why
    assert result.sample is not None  # noqa: S101 - _without_reading has looked
    assert result.response is not None  # noqa: S101
    sample = ScorerInput(
        response=result.response.text,
        target=result.sample.target,
        metadata=dict(result.sample.metadata),
        sample=result.sample,
        repeat=result.repeat,
    )
    ways = read_in_every_way(sample, official_reading(benchmark, sample))
    if ways is None:
        return NeverRead.NO_KIND
    scored = _scored_answer(result, sample.response)
    if by_model is not None and scored is None:
        model_reading = by_model.of(unread_answer(result, ways.gold))
        if model_reading is not None:
            ways = replace(ways, read={**ways.read, MODEL: model_reading})
    return AnswerReadings(ways, sample.response, scored, reward_of(result.outcome) or 0.0)


def _scored_answer(result: Result, response: str) -> str | None:
    if isinstance(result.outcome, Unscored):
        return None
    if isinstance(result.outcome, Scored) and result.outcome.answer is None:
        return response.strip()
    return result.outcome.answer


def _without_reading(result: Result, plan: JsonObject) -> str | None:
    outcome = result.outcome
    if "sandbox.limits" in (plan.get("identity") or {}):
        return NeverRead.PROGRAMS
    if isinstance(outcome, Unscored):
        return f"unscored ({outcome.cause}: {outcome.kind})"
    if result.sample is None or result.response is None or result.response.error is not None:
        return "there is no answer"
    if isinstance(outcome, ModelFailure) and outcome.kind not in _SCORER_FOUND_NOTHING:
        return f"model failure ({outcome.kind})"
    if result.sample.turns:
        return NeverRead.SEVERAL_TURNS
    if result.response.choice_scores:
        return NeverRead.RANKED
    return NeverRead.JUDGED if is_judged(outcome.details) else None


def _same(kind: Any, value: str | None, other_value: str | None) -> bool:
    if value is None or other_value is None:
        return value is other_value
    return same_answer(kind, value, other_value)


def reading_json(reading: Reading, response: str) -> dict[str, object]:
    """Return a reading with its span, an excerpt, and the candidates that it rejected."""
    span: dict[str, object] = {"start": None, "end": None, "excerpt": None}
    if reading.value is not None:
        span = _span(reading.start, reading.end, response)
    rejected = [
        {"why": candidate.why, **_span(candidate.start, candidate.end, response)}
        for candidate in reading.rejected
    ]
    return {"value": reading.value, "form": reading.form.value, **span, "rejected": rejected}


def _span(start: int, end: int, response: str) -> dict[str, object]:
    return {"start": start, "end": end, "excerpt": excerpt(response, start, end)}


def excerpt(text: str, start: int, end: int) -> str:
    """Return a span of a text between ``⟦`` and ``⟧`` with some context, on one line.

    >>> excerpt("The answer is B.", 14, 15)
    'The answer is ⟦B⟧.'
    """
    before, inside, after = text[:start], text[start:end], text[end:]
    if len(before) > _EXCERPT:
        before = f"…{before[-_EXCERPT:]}"
    if len(inside) > 2 * _EXCERPT:
        inside = f"{inside[:_EXCERPT]}…"
    if len(after) > _EXCERPT:
        after = f"{after[:_EXCERPT]}…"
    return " ".join(f"{before}⟦{inside}⟧{after}".split())
