"""A run whose answers a judge scored, made with the real store; outcomes carry what `nel.judges.record` writes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nel.engine.store.codec import encode_outcome, encode_sample, seal_text
from nel.engine.store.log import Log
from nel.engine.store.rows import answer_row, verdict_row
from nel.engine.store.snapshot import FILE_NAME, StoredSample
from nel.judges.record import KEY, judgement_json
from nel.judges.types import Grade, Judgement, Opinion
from nel.types import ModelFailure, Outcome, Response, Sample, Scored, Unscored

JUDGE = {
    "panel": [{"name": "strict", "model": "judge-7b", "url": "http://127.0.0.1:9/v1"}],
    "template": "binary_qa", "criteria": None, "aggregate": "majority", "quorum": 1, "repeats": 1, "swap": True,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One (sample, repeat) and what came of it."""

    sample_id: str
    response: str = "an answer"
    score: float | None = 1.0
    """None: the judge gave no verdict."""
    grade: str | None = None
    repeat: int = 0
    question: str = ""
    target: Any = "gold"
    category: str | None = None
    failure: str | None = None
    """The kind of a model failure; such an answer was never judged."""
    is_judged: bool = True
    template: str = "binary_qa"
    baseline: str | None = None
    """The other answer of a pair."""


def outcome_of(answer: Answer) -> Outcome:
    """Return the outcome of an answer with its judgement among the details."""
    if answer.failure is not None:
        return ModelFailure(kind=answer.failure)  # type: ignore[arg-type]
    if answer.score is None:
        return Unscored(cause="judge", kind="no_verdict", details={KEY: [{"grade": None, "score": None}]})
    if not answer.is_judged:
        return Scored(reward=answer.score, metrics={"correct": answer.score})
    grade = Grade(label=answer.grade or ("C" if answer.score == 1 else "I"), score=answer.score)
    opinion = Opinion(judge="strict", grade=grade, reply=f"GRADE: {grade.label}")
    record = judgement_json(
        Judgement(template=answer.template, grade=grade, aggregate="majority", quorum=1, opinions=(opinion,))
    )
    return Scored(reward=answer.score, metrics={"correct": answer.score}, details={KEY: [record]})


def build_judged_run(
    run_dir: Path,
    answers: Sequence[Answer],
    *,
    slot: str = "qa",
    judge: dict[str, Any] | None = JUDGE,
    run_id: str = "run-1",
) -> Path:
    """Write a run.db with one benchmark, or add a benchmark to the one that is there, and return the directory."""
    run_dir.mkdir(parents=True, exist_ok=True)
    asyncio.run(_build(run_dir, list(answers), slot, judge, run_id))
    return run_dir


async def _build(run_dir: Path, answers: list[Answer], slot: str, judge: dict[str, Any] | None, run_id: str) -> None:
    store = Log(run_dir / FILE_NAME)
    store.set_meta("config", {"endpoint": None, "benchmarks": [{"name": slot}]})
    store.set_meta("run_id", run_id)
    repeats = 1 + max(answer.repeat for answer in answers)
    key = store.put_benchmark(slot, slot, _plan(slot, repeats, judge))
    places = {name: idx for idx, name in enumerate(dict.fromkeys(answer.sample_id for answer in answers))}
    first = {answer.sample_id: answer for answer in reversed(answers)}
    store.samples_of(key).add((_sample(idx, first[name]) for name, idx in places.items()))
    store.begin_session()
    store.begin_round(key)
    store.start_writer()
    writes = []
    for answer in answers:
        at = key, places[answer.sample_id], answer.repeat
        outcome = encode_outcome(outcome_of(answer))
        rows = [answer_row(at, None, Response(text=answer.response)), verdict_row(at, outcome)]
        writes.append(store.append(rows, instead=True))
    await asyncio.gather(*writes)
    await store.stop_writer()
    store.end_session(elapsed=1.0, ended="done", attempts=len(answers), retries=0)
    store.close()


def _sample(idx: int, answer: Answer) -> StoredSample:
    sample = Sample(
        id=answer.sample_id,
        input=answer.question or f"Question {answer.sample_id}?",
        target=answer.target,
        subset=answer.category,
        metadata={} if answer.baseline is None else {"baseline": answer.baseline},
    )
    return StoredSample(idx, answer.sample_id, idx + 1, seal_text(encode_sample(sample)), None)


def _plan(slot: str, repeats: int, judge: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "repeats": repeats, "max_problems": None, "digest": "sha256:" + "ab" * 32, "identity": {}, "eval_only": True,
        "model": None, "protocol": None, "generation": {}, "system_prompt": None, "fewshot": None,
        "dataset": {"uri": "rows.jsonl", "revision": None, "sha256": "cd" * 32, "rows": 1, "bad_rows": 0},
        "scorer": {"name": slot, "sha256": "ef" * 32, "rule": None, "reading": {}}, "lower_is_better": [],
        "metrics": [], "reducers": [], "judge": judge,
    }  # fmt: skip
