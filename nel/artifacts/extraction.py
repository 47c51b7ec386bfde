"""The audit of reading: extraction_audit.json, and ``extraction`` of metrics.json.

Reading each answer in several ways takes up to a millisecond, too much for every run. So a run is
audited only once `nel scorer audit` has created its extraction_audit.json; from then on the file is
computed again whenever artifacts are written, so it is never of older answers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from nel.artifacts.answer_readers import UnreadAnswer
from nel.artifacts.files import AUDIT_NAME, benchmark_dir
from nel.artifacts.model_readings import load_model_readings, unread_answer
from nel.artifacts.readings import (
    MODEL,
    AnswerReadings,
    NeverRead,
    read_again,
    reading_json,
)
from nel.artifacts.results import Result, read_result, reward_of
from nel.core.atomic_files import write_file
from nel.core.strict_json import pretty
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import UsageError
from nel.reading.types import LENIENT, OFFICIAL, SCORED, STRICT
from nel.types import JsonObject, ModelFailure, Unscored

DIFFERENCES_MAX: Final = 1_000
"""Differing answers that are listed; all are counted."""
_NOT_BINARY: Final = "a score between 0 and 1 is not that of one right answer"


class Auditing:
    """Reads answers in several ways while the artifacts of a benchmark are written."""

    def __init__(self, directory: Path, benchmark: str, plan: JsonObject) -> None:
        self._path = directory / AUDIT_NAME
        self._benchmark, self._plan = benchmark, plan
        self._by_model = load_model_readings(directory)
        self._n = 0
        self._is_binary = True
        self._sums: defaultdict[str, float] = defaultdict(float)
        """Rewards by way of reading, over the answers that it applies to."""
        self._unread = 0.0
        """Sum of the rewards of answers that no reading applies to."""
        self._n_read: Counter[str] = Counter()
        self._n_of: Counter[str] = Counter()
        self._scored_of: defaultdict[str, float] = defaultdict(float)
        self._kinds: Counter[str] = Counter()
        self._without: Counter[str] = Counter()
        self._n_ran_on = 0
        self._n_differ = 0
        self._differences: list[dict[str, object]] = []

    def add(self, result: Result) -> None:
        """Add one result."""
        reward = reward_of(result.outcome)
        self._is_binary = self._is_binary and reward in (None, 0.0, 1.0)
        self._n += not isinstance(result.outcome, Unscored)
        readings = read_again(result, self._benchmark, self._plan, self._by_model)
        if isinstance(readings, str):
            self._without[str(readings)] += 1
            self._unread += reward or 0.0
            return
        self._kinds[readings.ways.gold.kind] += 1
        self._n_ran_on += readings.ways.cut_at is not None
        rewards = readings.rewards()
        for name, value in readings.values.items():
            self._n_of[name] += 1
            self._n_read[name] += value is not None
            self._sums[name] += rewards[name]
            self._scored_of[name] += rewards[SCORED]
        if readings.differs:
            self._n_differ += 1
            if len(self._differences) < DIFFERENCES_MAX:
                self._differences.append(_difference(result, readings, rewards))

    def write(self, head: Mapping[str, object]) -> dict[str, Any]:
        """Write extraction_audit.json and return the part ``extraction`` of metrics.json."""
        summary = self._summary()
        write_file(self._path, [pretty({**head, **summary, "differences": self._differences})])
        return {"extraction": summary}

    def _summary(self) -> dict[str, Any]:
        ways = (SCORED, STRICT, LENIENT, OFFICIAL, MODEL)
        readings = {name: self._reading(name) for name in ways if self._n_of[name]}
        # A model's readings have an error of their own: they are shown, but not part of the band.
        scores = []
        for name, reading in readings.items():
            if name != MODEL and reading["score"] is not None:
                scores.append(reading["score"])
        band = reason = None
        if scores:
            band = {"lower": min(scores), "upper": max(scores)}
        else:
            reason = _NOT_BINARY if readings else "no reading applies to any answer"
        return {
            "n_answers": self._n_of[SCORED],
            "n_differ": self._n_differ,
            "n_ran_on": self._n_ran_on,
            "kinds": dict(sorted(self._kinds.items())),
            "without_reading": dict(sorted(self._without.items())),
            "readings": readings,
            "reader": None if self._by_model is None else asdict(self._by_model.made_by),
            "band": band,
            "reason": reason,
        }

    def _reading(self, name: str) -> dict[str, Any]:
        """Return how often a way finds an answer, and the score of the run by it.

        For answers that the way does not apply to, the score has the rewards of the run's scorer.
        """
        score = None
        if self._is_binary and self._n:
            # The scorer's rewards where no way applies, and where another way does but not this.
            elsewhere = self._unread + self._sums[SCORED] - self._scored_of[name]
            score = (elsewhere + self._sums[name]) / self._n
        return {"n": self._n_of[name], "n_found": self._n_read[name], "score": score}


def _difference(
    result: Result, readings: AnswerReadings, rewards: Mapping[str, float]
) -> dict[str, object]:
    ways: dict[str, object] = {SCORED: {"value": readings.scored, "reward": rewards[SCORED]}}
    for name, reading in readings.ways.read.items():
        ways[name] = {**reading_json(reading, readings.response), "reward": rewards[name]}
    return {
        "problem_idx": result.idx,
        "sample_id": result.sample_id,
        "repeat": result.repeat,
        "kind": readings.ways.gold.kind,
        "expected": list(readings.ways.gold.accepted),
        "readings": ways,
    }


def request_audit(run_dir: Path) -> dict[str, str]:
    """Have a run's benchmarks audited when artifacts are written; return why others cannot be.

    Raises:
        StoreError: There is no usable run.db.
        UsageError: No benchmark of the run has answers to read.
    """
    refused: dict[str, str] = {}
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        benchmarks = [benchmark for benchmark in snapshot.benchmarks() if benchmark[-1]]
        for key, slot, name, plan in benchmarks:
            why = _why_not(snapshot, key, name, plan)
            if why is not None:
                refused[slot] = why
                continue
            path = benchmark_dir(run_dir, slot) / AUDIT_NAME
            if not path.is_file():
                write_file(path, [pretty({})])
    if len(refused) == len(benchmarks):
        what = (
            "; ".join(f"{slot}: {why}" for slot, why in refused.items()) or "the run has not begun"
        )
        raise UsageError(f"nothing to audit in {run_dir}: {what}")
    return refused


def unread_answers(run_dir: Path, slot: str, name: str) -> Iterator[UnreadAnswer]:
    """Yield a benchmark's responses of readable kinds in which the run's scorer found no answer.

    Raises:
        StoreError: There is no usable run.db.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        benchmarks = {title: (key, plan) for key, title, _, plan in snapshot.benchmarks()}
        key, plan = benchmarks[slot]
        for stored_result in results(snapshot, key, plan["repeats"]):
            result = read_result(stored_result)
            if not isinstance(result.outcome, ModelFailure) or result.outcome.kind != "no_answer":
                continue
            readings = read_again(result, name, plan)
            if not isinstance(readings, str) and readings.scored is None:
                yield unread_answer(result, readings.ways.gold)


def _why_not(snapshot: Snapshot, key: int, name: str, plan: JsonObject) -> str | None:
    """Return why no answer of a benchmark can be read; None as soon as one can."""
    reasons: Counter[str] = Counter()
    for stored_result in results(snapshot, key, plan["repeats"]):
        readings = read_again(read_result(stored_result), name, plan)
        if not isinstance(readings, str):
            return None
        if readings is NeverRead.PROGRAMS:
            return readings
        reasons[readings] += 1
    return ", ".join(f"{why} ({n:,})" for why, n in reasons.most_common()) or "there are no answers"
