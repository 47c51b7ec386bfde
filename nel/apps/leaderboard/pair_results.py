"""Reads the results of all scheduled pairs, those of the judging run and those without a judge.

A pair without a verdict is left out and counted, never a tie. Depends on the judging run's store
through `nel.engine.store.snapshot`, and on `nel.apps.leaderboard.pairwise` for the statistics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from nel.apps.leaderboard.pairing import Forfeit
from nel.apps.leaderboard.pairwise import (
    LOST,
    TIED,
    WON,
    Comparisons,
    PositionBias,
    comparisons,
    length_difference,
    position_bias,
)
from nel.artifacts.labels.calibration import StoredLabel, response_digest
from nel.artifacts.results import NOT_RUN, Result, read_result
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import Snapshot
from nel.judges.multi_question import BASELINE_FIRST, RESPONSE_FIRST
from nel.judges.record import KEY
from nel.types import JsonObject, ModelFailure, Scored, Unscored

SLOT: Final = "pairwise"
_SCORE_OF_FIRST: Final = {"first": WON, "second": LOST, "tie": TIED}
"""Position that won to the score of the answer shown first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairResult:
    """One pair with its result."""

    question: str
    left: str
    right: str
    score: float
    """Score of the left one."""
    length: float = 0.0
    """`length_difference` of the answers; 0 for a pair without a judge."""
    characters: tuple[int, int] | None = None
    """Of both answers; None for a pair without a judge."""
    label: float | None = None
    """The left one's score by people, where they labelled the pair."""
    orders: tuple[float, float] | None = None
    """The panel's mean score of the left one when it was shown first, and when shown second."""


@dataclass(slots=True, kw_only=True)
class PairResults:
    """The results of all scheduled pairs."""

    judged: list[PairResult] = field(default_factory=list)
    forfeits: list[Forfeit] = field(default_factory=list)
    left_out: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    """Left, right, the cause (a model, or ``judge``) and the reason, to the number of pairs."""
    plan: JsonObject = field(default_factory=dict)
    """The plan of the judging run, as stored in its run.db."""
    complete: bool = True
    """Whether the run reached every pair and ended normally; a resume asks for the others."""

    def pairs(self) -> Iterator[PairResult]:
        """Yield all pairs that count."""
        yield from self.judged
        yield from self.without_judge()

    def without_judge(self) -> Iterator[PairResult]:
        """Yield the pairs that were decided without a judge."""
        for forfeit in self.forfeits:
            yield PairResult(
                question=forfeit.question,
                left=forfeit.left,
                right=forfeit.right,
                score=forfeit.score,
            )


def read_pair_results(
    run_db: Path,
    scheduled: JsonObject,
    *,
    labels: Mapping[tuple[str, int], StoredLabel] | None = None,
) -> PairResults:
    """Return the results of a judging run, with the pairs decided before it.

    Args:
        run_db: Of the judging run.
        scheduled: `pairing_json` of its pairs.
        labels: Of people, by sample id and repeat; one of other answers does not count.

    Raises:
        StoreError: There is no usable run.db.
    """
    paired = PairResults(forfeits=[Forfeit(**entry) for entry in scheduled["forfeits"]])
    for entry in scheduled["left_out"]:
        paired.left_out[entry["left"], entry["right"], entry["of"], entry["reason"]] += entry["n"]
    with Snapshot(run_db) as snapshot:
        sessions, why = snapshot.sessions(), snapshot.meta("not_run")
        not_run = Unscored(**why) if why else NOT_RUN
        paired.complete = bool(sessions) and sessions[-1]["ended"] == "done"
        key, paired.plan = next(
            (key, plan) for key, slot, _, plan in snapshot.benchmarks() if slot == SLOT
        )
        for row in results(snapshot, key, 1):
            result = read_result(row, not_run=not_run)
            paired.complete &= result.was_run
            _add_result(paired, result, labels or {})
    return paired


def _add_result(
    results: PairResults, result: Result, labels: Mapping[tuple[str, int], StoredLabel]
) -> None:
    outcome = result.outcome
    row = {} if result.sample is None else result.sample.metadata
    if isinstance(outcome, Unscored) or result.sample is None:
        reason = "bad_row:unusable"
        if isinstance(outcome, Unscored):
            reason = f"{outcome.cause}:{outcome.kind}"
        sides = row.get("model_response", ""), row.get("model_baseline", "")
        results.left_out[*sides, "judge", reason] += 1
        return
    label = labels.get((result.sample_id, result.repeat))
    if label is not None and label.response_sha256 != response_digest(result):
        label = None
    results.judged.append(_pair_result(row, outcome, None if label is None else label.score))


def _pair_result(
    row: JsonObject, outcome: Scored | ModelFailure, label: float | None
) -> PairResult:
    reward = outcome.reward if isinstance(outcome, Scored) else LOST
    return PairResult(
        question=row["question_id"],
        left=row["model_response"],
        right=row["model_baseline"],
        score=min(max(reward, LOST), WON),
        length=length_difference(len(row["response"]), len(row["baseline"])),
        characters=(len(row["response"]), len(row["baseline"])),
        label=label,
        orders=orders_of(outcome.details.get(KEY) or []),
    )


def orders_of(records: Sequence[JsonObject]) -> tuple[float, float] | None:
    """Return the response's mean score over the panel when shown first and when shown second.

    Args:
        records: The judgements of one pair, as `nel.judges.record` writes them.
    """
    when_first: list[float] = []
    when_second: list[float] = []
    for opinion in records[0]["opinions"] if records else ():
        for label, grade in opinion["questions"]:
            if grade not in _SCORE_OF_FIRST:
                continue
            if label == RESPONSE_FIRST:
                when_first.append(_SCORE_OF_FIRST[grade])
            elif label == BASELINE_FIRST:  # the response was shown second, so it has the rest
                when_second.append(WON - _SCORE_OF_FIRST[grade])
    if not when_first or not when_second:
        return None
    return sum(when_first) / len(when_first), sum(when_second) / len(when_second)


def as_comparisons(pairs: Sequence[PairResult], models: Sequence[str]) -> Comparisons:
    """Return pairs as arrays, with models and questions as numbers."""
    number_of = {name: number for number, name in enumerate(models)}
    questions: dict[str, int] = {}
    rows = [
        (
            number_of[pair.left],
            number_of[pair.right],
            pair.score,
            questions.setdefault(pair.question, len(questions)),
        )
        for pair in pairs
    ]
    return comparisons(models, rows, [pair.length for pair in pairs])


def position_bias_of(pairs: Sequence[PairResult]) -> PositionBias:
    """Return how the verdicts on these pairs depend on the order of the answers."""
    complete = [pair for pair in pairs if pair.orders is not None]
    questions: dict[str, int] = {}
    # Each question by its number in the order in which they come.
    numbers = [questions.setdefault(pair.question, len(questions)) for pair in complete]
    scores = np.array([pair.orders for pair in complete], dtype=np.float64).reshape(-1, 2)
    return position_bias(scores, np.array(numbers, dtype=np.int64))
