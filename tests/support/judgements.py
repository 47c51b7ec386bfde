"""Judgements as the engine keeps them, for tests that need no judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from nel.engine.store.codec import encode_outcome
from nel.engine.store.rows import Asked, Row, answer_row, exchange_row, verdict_row
from nel.judges.record import record_json
from nel.judges.types import Grade, Level, Opinion
from nel.types import Outcome, Response, Sample
from tests.support.stores import stored_plan, write_run_db

SCORES: Mapping[str, float] = {"C": 1.0, "I": 0.0, "P": 0.5}


def grade(label: str | None) -> Grade | None:
    """Return a grade by its letter, or by its number."""
    if label is None:
        return None
    return Grade(label=label, score=SCORES[label] if label in SCORES else float(label))


def opinion(judge: str, label: str | None, **fields: Any) -> Opinion:
    """Return what a judge came to; without a label it gave no verdict."""
    fault = None if label is not None else fields.pop("fault", "no_verdict")
    reply = f"GRADE: {label}" if label is not None else "I would rather not say."
    return Opinion(judge=judge, grade=grade(label), fault=fault, reply=fields.pop("reply", reply), **fields)


def repeated(judge: str, *labels: str | None, **fields: Any) -> Opinion:
    """Return the opinion of a judge that was asked several times; the first grade is its own."""
    return opinion(judge, labels[0], repeats=tuple(map(grade, labels)), **fields)


def record(
    label: str | None, *opinions: Opinion, template: str = "binary_qa", level: Level = "nominal"
) -> dict[str, Any]:
    """Return one judgement of a panel, without a grade where it came to none."""
    return record_json(template, grade(label), opinions, aggregate="majority", quorum=1, level=level)


def records(cases: Sequence[tuple[str | None, ...]], judges: Sequence[str], **fields: Any) -> list[dict[str, Any]]:
    """Return a judgement a case from the grades of each judge; the first known one is the panel's."""
    return [
        record(
            next((label for label in case if label is not None), None),
            *(opinion(judge, label) for judge, label in zip(judges, case, strict=True)),
            **fields,
        )
        for case in cases
    ]


def write_store(
    run_dir: Path,
    outcomes: Sequence[Outcome],
    *,
    panel: Sequence[tuple[str, str]],
    calls: Sequence[tuple[Asked, Response]] = (),
    model: str = "aurora-7b",
    served: str | None = "aurora-7b",
    config: Mapping[str, Any] | None = None,
) -> Path:
    """Write the run.db of a judged benchmark called ``mine``, one outcome a sample, and return the run's directory.

    Args:
        panel: Name and model of each judge.
        calls: Name and answer of the further requests, all of the first sample.
    """
    judge = {
        "panel": [{"name": name, "model": model, "url": "http://127.0.0.1:1/v1"} for name, model in panel],
        "template": None, "criteria": None, "aggregate": "majority", "quorum": None, "repeats": 1, "swap": True,
    }  # fmt: skip
    plan = stored_plan("mine", len(outcomes), model=model, judge=judge, generation={"temperature": 0.0})
    samples = [Sample(id=f"s{idx}", input=f"Question {idx}?", target="Paris") for idx in range(len(outcomes))]

    def rows(key: int) -> Iterator[Row]:
        for idx, outcome in enumerate(outcomes):
            said = Response(text=f"It is Paris, I think ({idx}).", finish_reason="stop", model=served, attempts=1)
            yield answer_row((key, idx, 0), None, said)
            yield verdict_row((key, idx, 0), encode_outcome(outcome))
        for asked, answer in calls:
            yield exchange_row((key, 0, 0), asked, "{}", answer)

    ended = {"ended": "done", "elapsed": 10.0, "attempts": 1}
    return write_run_db(
        run_dir, "mine", samples, rows, plan=plan, config=config or {}, run_id="20260401-mine", ended=ended
    )
