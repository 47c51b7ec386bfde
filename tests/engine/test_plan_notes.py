"""What a plan notes for the user before anything is sent."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nel.authoring.registry import hold_object
from nel.benchmarks.mathematics.gsm8k import gsm8k
from nel.config.schema import BenchmarkConfig, EndpointConfig, GenerationConfig, RunConfig
from nel.engine.planning.resolution import make_plans
from nel.errors import ConfigError


@pytest.mark.parametrize(("limit", "of_run", "noted"), [(256, None, True), (256, 256, False), (4096, None, False)])
def test_a_short_limit_of_the_benchmarks_is_noted_once(
    tmp_path: Path, limit: int, of_run: int | None, noted: bool
) -> None:
    """Two benchmarks that end an answer after 256 tokens give one note; a limit that the run sets gives none."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"question": "2+2?", "answer": "#### 4"}))
    short = [replace(gsm8k, name=name, generation={"max_tokens": limit}) for name in ("one", "two")]
    config = RunConfig(
        benchmarks=[BenchmarkConfig(name=hold_object(each), dataset=str(rows)) for each in short],
        endpoint=EndpointConfig(url="http://127.0.0.1:1/v1", model="m"),
        generation=GenerationConfig(max_tokens=of_run),
    )
    notes = {note for plan in make_plans(config) for note in plan.notes}
    assert len(notes) == noted
    assert all("after 256 tokens" in note for note in notes)


def test_a_source_of_examples_without_a_number_is_refused(tmp_path: Path) -> None:
    """A benchmark that is asked without examples would leave the file unread; the number 0 says that it is meant."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"question": "2+2?", "answer": "#### 4"}))
    plain = BenchmarkConfig(
        name=hold_object(replace(gsm8k, num_fewshot=0)), dataset=str(rows), fewshot_dataset=str(rows)
    )
    endpoint = EndpointConfig(url="http://127.0.0.1:1/v1", model="m")
    with pytest.raises(ConfigError, match="asked without few-shot examples, so --fewshot-dataset changes nothing"):
        list(make_plans(RunConfig(benchmarks=[plain], endpoint=endpoint)))
    zero = plain.model_copy(update={"num_fewshot": 0})
    assert list(make_plans(RunConfig(benchmarks=[zero], endpoint=endpoint)))


def test_limits_of_episodes_are_refused_where_there_are_none(tmp_path: Path) -> None:
    """A plain benchmark has no steps to limit; beside one with episodes it may stand under the flag for both."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps({"question": "2+2?", "answer": "#### 4"}))
    plain = BenchmarkConfig(name=hold_object(gsm8k), dataset=str(rows), max_steps=3)
    agent = BenchmarkConfig(
        name=hold_object(replace(gsm8k, name="agent", solver="react")), dataset=str(rows), max_steps=3
    )
    endpoint = EndpointConfig(url="http://127.0.0.1:1/v1", model="m")
    with pytest.raises(ConfigError, match="gsm8k is answered in one request, so --max-steps would limit nothing"):
        make_plans(RunConfig(benchmarks=[plain], endpoint=endpoint))
    assert len(make_plans(RunConfig(benchmarks=[plain, agent], endpoint=endpoint))) == 2
    limited = plain.model_copy(update={"max_steps": None, "limits": {"tokens": 9}})
    with pytest.raises(ConfigError, match="so limits: tokens would limit nothing"):
        make_plans(RunConfig(benchmarks=[limited, agent], endpoint=endpoint))
