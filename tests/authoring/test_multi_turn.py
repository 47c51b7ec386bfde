"""The strategy ``multi_turn`` of NeMo Evaluator: turns are asked one by one, and the conversation is scored once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.authoring.registry import find_benchmark
from nel.engine.scorers.identity import scorer_digest
from nel.errors import PluginError
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_results, write_jsonl

BENCH = """
from {module} import ScorerInput, benchmark, scorer

@benchmark(
    name="mt", dataset="rows.jsonl", prompt="{{prompt}}", target_field="reference", endpoint_type="chat",
    extra={{"strategy": "multi_turn", "turns_field": "prompt"}},
)
@scorer
def mt(sample: ScorerInput) -> dict:
    said = [message["content"] for message in sample.conversation]
    return {{"correct": said == sample.target, "last": sample.response == said[-1], "turn": float(sample.turn_index)}}
"""
ROWS = [
    {"prompt": ["Name a {colour}.", "Another?"], "reference": ["Name a {colour}.", "1", "Another?", "3"]},
    {"prompt": ["2+2?"], "reference": ["2+2?", "1"]},
]


def counting(call: Call, _: int) -> Reply:
    """Answer with the number of messages."""
    return answer(str(len(call.body["messages"])))


def bench(tmp_path: Path, source: str) -> str:
    """Return the path of a benchmark's file that was written beside its rows."""
    (tmp_path / "bench.py").write_text(source, encoding="utf-8")
    write_jsonl(tmp_path / "rows.jsonl", ROWS)
    return str(tmp_path / "bench.py")


@pytest.mark.parametrize("module", ["nemo_evaluator.byob", "nel.byob"])
def test_a_conversation_is_asked_turn_by_turn_and_scored_once(tmp_path: Path, module: str) -> None:
    """Each row is one score, of all its messages; a row with one turn is a conversation too; no turn is a list."""
    path = bench(tmp_path, BENCH.format(module=module))
    with scripted(counting, models=["m"]) as endpoint:
        settings: dict[str, Any] = {"endpoint": {"url": endpoint.url, "model": "m"}, "output": {"dir": str(tmp_path)}}
        result = nel.evaluate({"benchmarks": [path], **settings})
    assert result.exit_code == 0
    rows = read_results(result.run_dir, "mt")
    assert [row["scoring_details"]["metrics"] for row in rows] == [
        {"correct": 1.0, "last": 1.0, "turn": 1.0},
        {"correct": 1.0, "last": 1.0, "turn": 0.0},
    ]
    assert sorted(call.body["messages"][-1]["content"] for call in endpoint.calls) == [
        "2+2?",
        "Another?",
        "Name a {colour}.",
    ]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"multi_turn"', '"agentic"', "the strategy 'agentic', which nel does not have"),
        (', "turns_field": "prompt"', "", "needs turns_field"),
        ('endpoint_type="chat"', 'endpoint_type="completions"', "need a chat endpoint"),
        ('endpoint_type="chat"', 'response_field="reference"', "response_field holds one answer"),
    ],
)
def test_what_cannot_be_asked_in_turns_is_refused_when_the_file_is_read(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    """An unknown strategy, no field, a protocol without turns, or one recorded answer."""
    source = BENCH.format(module="nel.byob")
    assert old in source
    with pytest.raises(PluginError, match=problem):
        find_benchmark(bench(tmp_path, source.replace(old, new)))


def test_examples_shown_as_turns_are_no_answers_of_the_model(tmp_path: Path) -> None:
    """The scorer is called for each answer of the model, in order, and with its own turn's target."""
    source = """
from nel import ScorerInput, benchmark, scorer

@benchmark(name="mt", dataset="rows.jsonl", prompt="{turn}", target_field="gold", turns_field="prompt",
           num_fewshot=1, fewshot_as_turns=True, fewshot_dataset=[{"prompt": ["1+1?"], "gold": "2"}])
@scorer
def mt(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target}
"""
    path = bench(tmp_path, source)
    write_jsonl(tmp_path / "rows.jsonl", [{"prompt": ["3+3?", "And 4+4?"], "gold": ["3", "5"]}])
    with scripted(counting, models=["m"]) as endpoint:
        settings: dict[str, Any] = {"endpoint": {"url": endpoint.url, "model": "m"}, "output": {"dir": str(tmp_path)}}
        result = nel.evaluate({"benchmarks": [path], **settings})
    (row,) = read_results(result.run_dir, "mt")
    assert [message["content"] for message in row["prompt"]] == ["1+1?", "2", "3+3?", "3", "And 4+4?"]
    assert row["reward"] == 1.0
    assert set(row["scoring_details"]["metrics"]) == {"correct", "correct_turn_1", "correct_turn_2"}


def test_how_a_conversation_is_scored_is_part_of_a_runs_identity(tmp_path: Path) -> None:
    """A resume scores again where the same scorer is called for the whole instead of for each turn."""
    whole = find_benchmark(bench(tmp_path, BENCH.format(module="nel.byob")))
    assert whole.scores_conversation
    assert scorer_digest(whole) != scorer_digest(replace(whole, scores_conversation=False))
