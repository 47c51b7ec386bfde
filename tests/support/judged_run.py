"""A run whose answers a judge scored, made with the real store; outcomes carry what `nel.judges.record` writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nel.engine.store.codec import encode_outcome
from nel.engine.store.rows import Row, answer_row, verdict_row
from nel.judges.record import KEY, judgement_json
from nel.judges.types import Grade, Judgement, Opinion
from nel.types import ModelFailure, Outcome, Response, Sample, Scored, Unscored
from tests.support.stores import stored_plan, write_run_db

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
    places = {name: idx for idx, name in enumerate(dict.fromkeys(answer.sample_id for answer in answers))}
    first = {answer.sample_id: answer for answer in reversed(answers)}
    repeats = 1 + max(answer.repeat for answer in answers)
    plan = stored_plan(slot, 1, repeats=repeats, judge=judge, eval_only=True, model=None, protocol=None)

    def rows(key: int) -> Iterator[Row]:
        for answer in answers:
            at = key, places[answer.sample_id], answer.repeat
            yield answer_row(at, None, Response(text=answer.response))
            yield verdict_row(at, encode_outcome(outcome_of(answer)))

    return write_run_db(
        run_dir,
        slot,
        [_sample(first[name]) for name in places],
        rows,
        plan=plan,
        config={"endpoint": None, "benchmarks": [{"name": slot}]},
        run_id=run_id,
        ended={"ended": "done", "elapsed": 1.0, "attempts": len(answers)},
    )


def _sample(answer: Answer) -> Sample:
    return Sample(
        id=answer.sample_id,
        input=answer.question or f"Question {answer.sample_id}?",
        target=answer.target,
        subset=answer.category,
        metadata={} if answer.baseline is None else {"baseline": answer.baseline},
    )
