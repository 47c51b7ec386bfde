"""Records of Every Eval Ever become runs: every line is a result, and what has no line is not known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.exporting.writers import export_run
from nel.artifacts.importing.writers import import_results
from nel.errors import OutputError
from nel.reports.run_warnings import texts_of
from tests.artifacts.exporting.test_tables import storable, stored
from tests.support.runs import read_json, read_results
from tests.support.viewed_run import build_viewed_run

NAME = "3e1770e8-ea25-4efd-ade3-70b2f9d6c3d4"
RECORD: dict[str, Any] = {
    "schema_version": "0.3.0", "evaluation_id": "quiz/maker/m/1", "evaluation_timestamp": "1700000000.5",
    "model_info": {"id": "maker/m"},
    "evaluation_results": [
        {"evaluation_name": "quiz", "evaluation_result_id": "acc", "metric_config": {"lower_is_better": False},
         "source_data": {"source_type": "hf_dataset", "hf_repo": "maker/quiz"}, "score_details": {"score": 0.5}},
    ],
}  # fmt: skip


def line(number: int, score: Any, result: str = "acc", **more: Any) -> str:
    found = {
        "evaluation_name": "quiz", "evaluation_result_id": result, "sample_id": f"s{number}",
        "interaction_type": "single_turn", "input": {"raw": f"q{number}", "reference": ["a"], "choices": ["a", "b"]},
        "output": {"raw": ["it is a"]}, "answer_attribution": [], "evaluation": {"score": score, "is_correct": True},
    }  # fmt: skip
    return json.dumps({**found, **more})


def record(path: Path, *lines: str) -> Path:
    path.mkdir(parents=True)
    (path / f"{NAME}.json").write_text(json.dumps(RECORD), encoding="utf-8")
    if lines:
        (path / f"{NAME}_samples.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_runs_own_export_comes_back(tmp_path: Path) -> None:
    """Every result with a score is equal, repeats keep their numbers, and the count of the others is said."""
    source = build_viewed_run(tmp_path / "source", repeats=2, is_complete=True)
    export_run("every-eval-ever", source, tmp_path / "out")
    import_results(tmp_path / "out", tmp_path / "run")
    known = ("sample_id", "repeat", "reward", "extracted_answer", "expected_answer", "reasoning", "outcome", "tokens")
    found = [one for one in read_results(tmp_path / "run", "quiz") if one["reward"] is not None]
    expected = [one for one in stored(source) if one["reward"] is not None]
    assert [[one[name] for name in known] for one in found] == [[one[name] for name in known] for one in expected]
    assert [one["model_response"] for one in found] == [storable(one["model_response"]) for one in expected]
    metrics = [read_json(one / "quiz" / "metrics.json") for one in (source, tmp_path / "run")]
    assert metrics[0]["headline"]["value"] == metrics[1]["headline"]["value"]
    assert any("the record of quiz says that 6 results have no score" in one for one in texts_of(metrics[1]))


def test_each_result_of_a_record_is_a_benchmark(tmp_path: Path) -> None:
    """Lines of two metrics are kept apart, and two lines of one sample are its repeats."""
    import_results(
        record(tmp_path / "in", line(1, 1.0), line(1, 0.0), line(2, 0.5), line(1, 7.0, "other")), tmp_path / "run"
    )
    assert [(one["sample_id"], one["repeat"], one["reward"]) for one in read_results(tmp_path / "run", "quiz,acc")] == [
        ("s1", 0, 1.0), ("s1", 1, 0.0), ("s2", 0, 0.5), ("s2", 1, None)
    ]  # fmt: skip
    assert [one["reward"] for one in read_results(tmp_path / "run", "quiz,other")] == [7.0]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], r"_samples\.jsonl beside it; scores without samples cannot be imported"),
        ([line(1, 1.0), "{"], r"_samples\.jsonl, line 2 is not JSON"),
        ([line(1, None)], r'line 1: "score" is missing or no number'),
        ([line(1, 1.0, input=["q"])], r'line 1: "input" is missing or no object'),
        ([line(1, 1.0, performance=["x"])], r"quiz, result 1 of the source, is not of the form"),
    ],
)
def test_a_bad_record_is_named(tmp_path: Path, lines: list[str], message: str) -> None:
    """The message has the file and the line, and there is no run."""
    with pytest.raises(OutputError, match=message):
        import_results(record(tmp_path / "in", *lines), tmp_path / "run")
    assert not (tmp_path / "run").exists()
