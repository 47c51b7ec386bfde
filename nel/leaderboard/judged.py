"""From a judged run and what was settled without a judge to comparisons: one list for all that is counted.

Trap: a pair that the judge could not settle is left out and counted, never a tie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from nel.artifacts.results import NOT_RUN, read_result
from nel.engine.store.snapshot import Snapshot
from nel.judges.multi_question import BASELINE_FIRST, RESPONSE_FIRST
from nel.judges.record import KEY
from nel.leaderboard.pairing import Forfeit
from nel.leaderboard.pairwise import (
    LOST,
    TIED,
    WON,
    Comparisons,
    PositionBias,
    comparisons,
    length_difference,
    position_bias,
)
from nel.types import ModelFailure, Scored, Unscored

SLOT: Final = "pairwise"
_IS_FIRST: Final = {RESPONSE_FIRST: True, BASELINE_FIRST: False}
"""Labels of the two questions that the template ``pairwise`` asks."""
_SEATS: Final = {"first": WON, "second": LOST, "tie": TIED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One pair with its result."""

    question: str
    left: str
    right: str
    score: float
    """Of the left one."""
    length: float = 0.0
    """`length_difference` of the answers; 0 where no judge saw them."""
    orders: tuple[float, float] | None = None
    """The left one's score when it was shown first, and when it was shown second; the mean over the panel."""


@dataclass(slots=True, kw_only=True)
class Judged:
    """Everything that is known of the scheduled pairs."""

    judged: list[Compared] = field(default_factory=list)
    forfeits: list[Forfeit] = field(default_factory=list)
    left_out: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    """Left, right, whose it is (a model, or ``judge``) and the reason."""
    plan: Mapping[str, Any] = field(default_factory=dict)
    """Of the judging run, as its run.db has it."""
    complete: bool = True
    """Whether the run came to every pair and to its own end; a judge that was down is asked again by a resume."""

    def pairs(self) -> Iterator[Compared]:
        """Yield all pairs that count."""
        yield from self.judged
        for one in self.forfeits:
            yield Compared(question=one.question, left=one.left, right=one.right, score=one.score)


def read_judged(run_db: Path, settled: Mapping[str, Any]) -> Judged:
    """Return what a judging run came to, with what was settled before it.

    Args:
        run_db: Of the judging run.
        settled: `pairing_json` of its pairs.

    Raises:
        StoreError: There is no usable run.db.
    """
    found = Judged(forfeits=[Forfeit(**one) for one in settled["forfeits"]])
    for one in settled["left_out"]:
        found.left_out[one["left"], one["right"], one["of"], one["reason"]] += one["n"]
    with Snapshot(run_db) as snapshot:
        sessions, why = snapshot.sessions(), snapshot.meta("not_run")
        not_run = Unscored(**why) if why else NOT_RUN
        found.complete = bool(sessions) and sessions[-1]["ended"] == "done"
        key, found.plan = next((key, plan) for key, slot, _, plan in snapshot.benchmarks() if slot == SLOT)
        for stored in snapshot.results(key, 1):
            result = read_result(stored, not_run=not_run)
            found.complete &= result.was_run
            row = {} if result.sample is None else result.sample.metadata
            if result.sample is None or isinstance(result.outcome, Unscored):
                outcome = result.outcome
                reason = f"{outcome.cause}:{outcome.kind}" if isinstance(outcome, Unscored) else "bad_row:unusable"
                found.left_out[row.get("model_response", ""), row.get("model_baseline", ""), "judge", reason] += 1
            else:
                found.judged.append(_compared(row, result.outcome))
    return found


def _compared(row: Mapping[str, Any], outcome: Scored | ModelFailure) -> Compared:
    reward = outcome.reward if isinstance(outcome, Scored) else LOST
    return Compared(
        question=row["question_id"],
        left=row["model_response"],
        right=row["model_baseline"],
        score=min(max(reward, LOST), WON),
        length=length_difference(len(row["response"]), len(row["baseline"])),
        orders=orders_of(outcome.details.get(KEY) or []),
    )


def orders_of(records: Sequence[Mapping[str, Any]]) -> tuple[float, float] | None:
    """Return the response's score when it was shown first and when it was shown second, the mean over the panel.

    Args:
        records: `nel.judges.record` of the judgements of one pair.
    """
    shown: dict[bool, list[float]] = {True: [], False: []}
    for opinion in records[0]["opinions"] if records else ():
        for label, grade in opinion["questions"]:
            if label in _IS_FIRST and grade in _SEATS:
                is_first = _IS_FIRST[label]
                shown[is_first].append(_SEATS[grade] if is_first else WON - _SEATS[grade])
    if not shown[True] or not shown[False]:
        return None
    means = [sum(scores) / len(scores) for scores in (shown[True], shown[False])]
    return means[0], means[1]


def as_comparisons(pairs: Sequence[Compared], models: Sequence[str]) -> Comparisons:
    """Return pairs as columns, models and questions by number."""
    place = {name: number for number, name in enumerate(models)}
    questions: dict[str, int] = {}
    rows = [
        (place[one.left], place[one.right], one.score, questions.setdefault(one.question, len(questions)))
        for one in pairs
    ]
    return comparisons(models, rows, [one.length for one in pairs])


def bias_of(pairs: Sequence[Compared]) -> PositionBias:
    """Return what the order of showing did to the verdicts on these pairs."""
    both = [one for one in pairs if one.orders is not None]
    questions: dict[str, int] = {}
    numbers = [questions.setdefault(one.question, len(questions)) for one in both]
    scores = np.array([one.orders for one in both], dtype=np.float64).reshape(-1, 2)
    return position_bias(scores, np.array(numbers, dtype=np.int64))
