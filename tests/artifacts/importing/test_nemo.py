"""Result folders of NeMo Evaluator become runs; a reward that is not there is no 0."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nel.artifacts.importing.writers import import_results
from nel.comparison.foreign import read_nemo
from nel.comparison.lines import SCORED, UNSCORED
from nel.reports.run_warnings import texts_of
from tests.support.runs import read_json, read_results

BUNDLE: dict[str, Any] = {
    "timestamp": "2026-01-02T03:04:05+00:00", "config": {"model": "m", "temperature": 0.5, "scorers": ["exact"]},
    "benchmark": {"name": "quiz", "scores": {"pass@1": {"value": 0.5}}},
}  # fmt: skip
LINES: list[dict[str, Any]] = [
    {"problem_idx": 0, "repeat": 0, "reward": 1.0, "prompt": "q", "model_response": "a", "expected_answer": "a",
     "metadata": {"category": "law"}, "tokens": 7, "latency_ms": 1500},
    {"problem_idx": 1, "repeat": 0, "reward": None, "prompt": "r"},
    {"problem_idx": 2, "repeat": 0, "reward": 0.0, "prompt": "s", "model_response": "b", "expected_answer": "a"},
]  # fmt: skip


def folder(path: Path, lines: list[str]) -> Path:
    (path / "quiz").mkdir(parents=True)
    (path / "quiz" / "eval-1-quiz.json").write_text(json.dumps(BUNDLE), encoding="utf-8")
    (path / "quiz" / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_folder_is_read(tmp_path: Path) -> None:
    """Rewards, answers, categories and times are kept, and the source's own metric is named."""
    found = import_results(folder(tmp_path / "in", [json.dumps(one) for one in LINES]), tmp_path / "run")
    metrics = read_json(tmp_path / "run" / "quiz" / "metrics.json")
    results = read_results(tmp_path / "run", "quiz")
    assert found.format == "nemo"
    assert [one["reward"] for one in results] == [1.0, None, 0.0]
    assert (results[0]["timing"]["latency_seconds"], results[0]["tokens"]["completion"]) == (1.5, 7)
    assert results[0]["metadata"]["category"] == "law"
    assert (metrics["accounting"]["n_scored"], metrics["accounting"]["n_unscored"]) == (2, 1)
    assert "imported from nemo: pass@1 is 0.5 in the source" in texts_of(metrics)


def test_what_the_source_calls_unscored_is_no_zero(tmp_path: Path) -> None:
    """NeMo Evaluator writes the reward 0 beside ``unscored``, in its details, for what it could not score."""
    left = {**LINES[2], "scoring_details": {"unscored": True, "unscored_reason": "judge_error"}}
    source = folder(tmp_path / "in", [json.dumps(LINES[0]), json.dumps(left)])
    import_results(source, tmp_path / "run")
    metrics = read_json(tmp_path / "run" / "quiz" / "metrics.json")
    assert (metrics["accounting"]["n_scored"], metrics["accounting"]["n_unscored"]) == (1, 1)
    assert metrics["headline"]["value"] == 1.0
    side = read_nemo(source, "a").benchmarks["quiz"]
    assert list(side.columns().states) == [SCORED, UNSCORED]
