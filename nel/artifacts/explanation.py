"""How the answer to one sample was read, from run.db: spans, rules, and rejections with reasons.

Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from nel.artifacts.files import directory_name
from nel.artifacts.model_readings import load_model_readings
from nel.artifacts.readings import AnswerReadings, NeverRead, read_again, reading_json
from nel.artifacts.results import Result, outcome_json, read_result, reward_of
from nel.engine.store.projections.results import results
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.errors import UsageError, did_you_mean
from nel.types import Unscored

_IDS_MAX: Final = 20_000
"""Ids that an unknown one is compared with."""


def explain(run_dir: Path, sample_id: str) -> list[dict[str, Any]]:
    """Return how each stored answer to a sample was read, in each benchmark that has the id.

    Raises:
        StoreError: There is no usable run.db.
        UsageError: The run has no such sample, or no reading applies to its answers.
    """
    with Snapshot(run_dir / FILE_NAME) as snapshot:
        explanations = list(_explanations(run_dir, snapshot, sample_id))
        if not explanations:
            sample_ids = islice(_sample_ids(snapshot), _IDS_MAX)
            hint = did_you_mean(sample_id, sample_ids) or "; results.jsonl has the ids (sample_id)"
            raise UsageError(f'no sample "{sample_id}" in {run_dir}{hint}')
    if all(isinstance(explanation["without_reading"], NeverRead) for explanation in explanations):
        reasons = [
            f"{explanation['benchmark']}: {explanation['without_reading']}"
            for explanation in explanations
        ]
        why = "; ".join(dict.fromkeys(reasons))  # repeats of a sample have the same reason
        raise UsageError(f'no reading applies to sample "{sample_id}": {why}')
    return explanations


def _explanations(run_dir: Path, snapshot: Snapshot, sample_id: str) -> Iterator[dict[str, Any]]:
    for key, slot, name, plan in snapshot.benchmarks():
        by_model = load_model_readings(run_dir / directory_name(slot))
        idx = snapshot.idx_of(key, sample_id)
        if idx is not None and plan:
            for stored_result in results(snapshot, key, plan["repeats"], first=idx, last=idx):
                result = read_result(stored_result)
                readings = read_again(result, name, plan, by_model)
                yield {"benchmark": slot, **_explanation(result, readings)}


def _sample_ids(snapshot: Snapshot) -> Iterator[str]:
    for key, _, _, _ in snapshot.benchmarks():
        yield from (sample.sample_id for sample in snapshot.samples(key))


def _explanation(result: Result, readings: AnswerReadings | str) -> dict[str, Any]:
    outcome = result.outcome
    head = {
        "sample_id": result.sample_id,
        "problem_idx": result.idx,
        "repeat": result.repeat,
        "expected": None if result.sample is None else result.sample.target,
        "response": None if result.response is None else result.response.text,
        "outcome": outcome_json(outcome),
        "scored": {
            "value": None if isinstance(outcome, Unscored) else outcome.answer,
            "reward": reward_of(outcome),
        },
    }
    if isinstance(readings, str):
        return {**head, "without_reading": readings, "kind": None, "cut_at": None, "readings": {}}
    rewards = readings.rewards()
    return {
        **head,
        "without_reading": None,
        "kind": readings.ways.gold.kind,
        "cut_at": readings.ways.cut_at,
        "accepted": list(readings.ways.gold.accepted),
        "differs": readings.differs,
        "readings": {
            name: {**reading_json(reading, readings.response), "reward": rewards[name]}
            for name, reading in readings.ways.read.items()
        },
    }
