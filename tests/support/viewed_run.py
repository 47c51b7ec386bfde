"""A run of the real store with what `nel view` shows: repeats, categories, reasoning, failures, hostile texts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nel.artifacts.write import write_artifacts
from nel.config.identity import Identity
from nel.core.strict_json import dumps
from nel.engine.store.codec import encode_outcome
from nel.engine.store.rows import Row, answer_row, verdict_row
from nel.types import Message, ModelFailure, Outcome, Response, Sample, Scored, Unscored, Usage
from tests.reports.run_fixture import HOSTILE
from tests.support.stores import stored_plan, write_run_db

CATEGORIES = ("law", "physics", "<b>bold</b>")
PRICE = {"m": {"input": 1.0, "output": 2.0}}


def build_viewed_run(
    run_dir: Path,
    *,
    n: int = 30,
    repeats: int = 1,
    model: str = "m",
    right_every: int = 2,
    slot: str = "quiz",
    texts: Sequence[str] = HOSTILE,
    ended: str | None = "done",
    answered: int | None = None,
    is_complete: bool = False,
    has_choices: bool = False,
    started: float | None = None,
) -> Path:
    """Write a run.db of one benchmark, and its artifacts where the run ended; return the directory.

    Args:
        texts: Answers of every third sample; the others end in "The answer is X.".
        ended: None for a run that goes on or was killed.
        answered: So many samples have an answer; all but the last without it.
        is_complete: Whether the last sample has an answer too.
        has_choices: Whether "red" and "blue" are options A and B of each question.
        started: When its session began, in seconds since 1970; now without it.
    """
    upto = answered if answered is not None else n if is_complete else n - 1
    samples = [sample_of(idx) for idx in range(n)]
    if has_choices:
        samples = [replace(sample, choices=("red", "blue"), target="B") for sample in samples]

    def rows(key: int) -> Iterator[Row]:
        for idx, sample in enumerate(samples[:upto]):
            for repeat in range(repeats):
                response, outcome = answer_of(idx, repeat, sample, right_every, texts)
                if has_choices and isinstance(outcome, Scored):
                    outcome = replace(outcome, answer="B" if outcome.answer == "blue" else "A")
                yield answer_row((key, idx, repeat), _request(sample, model), response)
                yield verdict_row((key, idx, repeat), encode_outcome(outcome))

    digest = hashlib.sha256(slot.encode()).hexdigest()
    identity = {"benchmark": slot, "dataset.sha256": digest, "mode": "generation"}
    dataset = {"uri": "x", "revision": None, "sha256": digest, "rows": n}
    plan = stored_plan(
        "s",
        n,
        identity=identity,
        digest=Identity(fields=identity).digest,
        dataset=dataset,
        repeats=repeats,
        model=model,
    )
    spent = {"requests": n, "tokens": 30 * n, "cost": 0.01 * n}
    endpoint = {"model": model, "url": "http://127.0.0.1:9/v1"}
    write_run_db(
        run_dir,
        slot,
        samples,
        rows,
        plan=plan,
        config={"endpoint": endpoint, "benchmarks": [{"name": slot}], "budget": {"prices": PRICE}},
        run_id=run_dir.name,
        ended=None if ended is None else {"ended": ended, "elapsed": 12.5, "attempts": n, "spent": spent},
        started=started,
    )
    if ended is not None:
        write_artifacts(run_dir)
    return run_dir


def sample_of(idx: int) -> Sample:
    """Return a question, some of them hostile."""
    question = HOSTILE[idx % len(HOSTILE)] if idx % 7 == 3 else f"What is the colour of thing {idx}?"
    return Sample(
        id=f"quiz/{idx:04d}",
        input=(Message(role="system", content="Answer."), Message(role="user", content=f"Say it.\n{question}")),
        target="blue",
        metadata={"question": question, "source": "fixture"},
        subset=CATEGORIES[idx % len(CATEGORIES)],
    )


def answer_of(
    idx: int, repeat: int, sample: Sample, right_every: int, texts: Sequence[str]
) -> tuple[Response, Outcome]:
    """Return an answer and what came of it."""
    said = "blue" if (idx + repeat) % right_every == 0 else "red"
    text = texts[idx % len(texts)] if texts and idx % 3 == 1 else f"Step {idx}: look at it.\n\nThe answer is {said}."
    response = Response(
        text=text,
        reasoning=f"hidden thought {idx} {HOSTILE[0]}" if idx % 4 == 0 else None,
        finish_reason="stop",
        usage=Usage(prompt_tokens=20 + idx, completion_tokens=10 + idx % 9),
        model="served",
        latency_seconds=0.5 + idx % 5 / 10,
        attempts=1,
    )
    if idx % 10 == 8:
        return response, Unscored(cause="infra", kind="timeout", detail=f"no answer {HOSTILE[1]}")
    if idx % 10 == 9:
        return response, ModelFailure(kind="no_answer", detail="nothing found")
    details: dict[str, Any] = {"stderr": f"Traceback {HOSTILE[2]}", "verdict": "wrong"} if idx % 6 == 5 else {}
    reward = float(said == "blue")
    return response, Scored(reward=reward, metrics={"correct": reward}, answer=said, details=details)


def _request(sample: Sample, model: str) -> str:
    assert not isinstance(sample.input, str)
    return dumps({"model": model, "messages": [{"role": one.role, "content": one.content} for one in sample.input]})
