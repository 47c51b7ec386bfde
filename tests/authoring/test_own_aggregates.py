"""What an adapter's own `aggregate_scores` gives stands beside the means, and reads what each answer's score says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel import TaskConfig, evaluate, run_task
from nel.authoring.registry import find_benchmark
from nel.benchmarks import AggScore
from nel.compat.evalscope.own_aggregates import OwnAggregates
from nel.errors import UndefinedMetric
from nel.runs.evaluation import rescore
from tests.support.endpoint import answer, scripted
from tests.support.runs import write_jsonl

ADAPTER = """
from evalscope.api.benchmark import BenchmarkMeta, DefaultDataAdapter
from evalscope.api.dataset import Sample
from evalscope.api.metric import AggScore, Score
from evalscope.api.registry import register_benchmark


@register_benchmark(BenchmarkMeta(
    name="spam", dataset_id="rows", subset_list=SUBSETS, metric_list=["f1"], aggregation="f1", eval_split="test"))
class Spam(DefaultDataAdapter):
    def record_to_sample(self, record):
        return Sample(input=record["q"], target=record["a"], metadata={"gold": record["a"]})

    def extract_answer(self, prediction, task_state):
        return prediction if prediction in ("YES", "NO") else ""

    def match_score(self, original_prediction, filtered_prediction, reference, task_state):
        missed = reference == "YES" and filtered_prediction != "YES"
        right = float(filtered_prediction == reference)
        read = filtered_prediction
        return Score(value={"acc": right}, extracted_prediction=read, metadata={"counts": {"fn": missed}})

    def aggregate_scores(self, sample_scores):
        yes = [one for one in sample_scores if one.score.extracted_prediction == "YES"]
        tp = sum(one.sample_metadata["gold"] == "YES" for one in yes)
        fn = sum(one.score.metadata["counts"]["fn"] for one in sample_scores)
        f1 = 2 * tp / (tp + len(yes) + fn)
        return [AggScore(metric_name="f1", score=f1, num=len(sample_scores)),
                AggScore(metric_name="n", score=len(sample_scores), dimensions={"level": "all"})]
"""
REPLIES = {"a": "YES", "b": "YES", "c": "NO", "d": "", "e": "hm", "f": "NO"}
GOLDS = {"a": "YES", "b": "NO", "c": "YES", "d": "YES", "e": "YES", "f": "NO"}
F1 = 2 * 1 / (1 + 2 + 3)


def adapter(tmp_path: Path, subsets: str) -> Path:
    (tmp_path / "rows").mkdir()
    rows = [{"q": name, "a": gold} for name, gold in GOLDS.items()]
    write_jsonl(tmp_path / "rows" / "default_test.jsonl", rows)
    write_jsonl(tmp_path / "rows" / "x_test.jsonl", rows[:3])
    write_jsonl(tmp_path / "rows" / "y_test.jsonl", rows[3:])
    path = tmp_path / "spam.py"
    path.write_text(ADAPTER.replace("SUBSETS", subsets), encoding="utf-8")
    return path


def aggregates(run_dir: Path) -> dict[str, Any]:
    metrics = json.loads((run_dir / "spam" / "metrics.json").read_text("utf-8"))
    return {row["name"]: row["value"] for row in metrics["metrics"] if row["name"].startswith("aggregated")}


def test_a_rule_of_its_own_over_all_answers(tmp_path: Path) -> None:
    """F1 over all answers, empty and unread ones among them; rescored the same; equal in the report of a task."""
    path = adapter(tmp_path, '["default"]')
    with scripted(lambda call, _: answer(REPLIES[call.text]), models=["m"]) as endpoint:
        endpoint_settings = {"url": endpoint.url, "model": "m"}
        settings = {"benchmarks": [str(path)], "endpoint": endpoint_settings, "output": {"dir": str(tmp_path / "out")}}
        result = evaluate(settings)
        report = run_task(
            TaskConfig(model="m", api_url=endpoint.url, datasets=[f"{path}:spam"], work_dir=str(tmp_path / "w"))
        )
    wanted = {"aggregated/f1": pytest.approx(F1), "aggregated/n[level=all]": 6}
    assert aggregates(result.run_dir) == wanted
    assert aggregates(rescore(result.run_dir).run_dir) == wanted
    assert [row.score for row in report[f"{path}:spam"].rows] == [pytest.approx(F1), 6]


def test_nothing_scored_has_no_aggregate(tmp_path: Path) -> None:
    benchmark = find_benchmark(str(adapter(tmp_path, '["default"]')))
    with pytest.raises(UndefinedMetric):
        OwnAggregates(benchmark.adapter)([])  # type: ignore[attr-defined]  # of an adapter
    assert AggScore(metric_name="n", score=1.0, dimensions={"k": 2}).dimensions == {"k": 2}
