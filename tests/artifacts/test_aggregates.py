"""Means over several benchmarks of a run: what they come to, and that every output has them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nel import evaluate
from nel.benchmarks.mathematics.gsm8k import gsm8k
from nel.config.load import build_config
from nel.errors import ConfigError
from nel.reports.summary_tables import json_summary
from nel.reports.tables.results import results_table, summary_rows
from nel.runs.rebuilding import rebuild
from nel.runs.result import RunResult
from tests.support.endpoint import Endpoint, Reply, answer, scripted
from tests.support.runs import run_config

FEW = [{"question": f"{number}?", "answer": "#### 2" if number else "#### 3"} for number in range(2)]
MANY = [{"question": f"{number}!", "answer": "#### 2" if number < 5 else "#### 3"} for number in range(6)]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Serve a model that always answers 2."""
    with scripted(lambda call, number: answer("2"), models=["m"]) as served:
        yield served


def _run(tmp_path: Path, endpoint: Endpoint, *aggregates: dict[str, Any], **more: Any) -> RunResult:
    entries = [
        {"name": replace(gsm8k, name=name), "dataset": rows, **more} for name, rows in (("few", FEW), ("many", MANY))
    ]
    named = [{"benchmarks": ["object:few", "object:many"], **aggregate} for aggregate in aggregates]
    return evaluate(run_config(endpoint.url, entries, tmp_path / "out", aggregates=named))


def test_a_mean_weighs_benchmarks_by_their_questions_or_alike(tmp_path: Path, endpoint: Endpoint) -> None:
    """1 of 2 and 5 of 6 are 6 of 8 by size, and two thirds alike; each has an interval around it."""
    result = _run(
        tmp_path,
        endpoint,
        {"name": "sums", "metric": "accuracy"},
        {"name": "alike", "metric": "accuracy", "weight_by_size": False},
    )
    by_size, alike = result.aggregates
    assert (by_size["value"], by_size["weights"]) == (0.75, {"few": 0.25, "many": 0.75})
    assert alike["value"] == pytest.approx((1 / 2 + 5 / 6) / 2)
    assert all(row["ci_lower"] < row["value"] < row["ci_upper"] for row in result.aggregates)
    assert (by_size["n"], by_size["accounting"]["n_total"], by_size["complete"]) == (8, 8, True)


def test_a_mean_says_why_its_benchmark_has_no_interval(tmp_path: Path, endpoint: Endpoint) -> None:
    """The first rows of a benchmark are no sample of it: the mean has the words of the benchmark's own score."""
    (row,) = _run(tmp_path, endpoint, {"name": "sums", "metric": "accuracy"}, max_problems=1).aggregates
    assert (row["ci_lower"], row["reason"]) == (None, "accuracy of few: the first 1 of 2; not a sample")


def test_every_output_has_the_means(tmp_path: Path, endpoint: Endpoint) -> None:
    """The terminal's table, the summaries, the page, and the artifacts made again have the same row."""
    result = _run(tmp_path, endpoint, {"name": "sums", "metric": "accuracy"})
    named = {item.slot: item.metrics for item in result.benchmarks}
    assert results_table(named, result.aggregates).texts()[-1][:3] == ["sums", "accuracy", "75.00\u202f%"]
    assert "sums: accuracy 75.00\u202f%" in repr(result)
    rows = json.loads(json_summary(summary_rows(result.run_dir)))["rows"]
    assert [row["value"] for row in rows if row["benchmark"] == "sums"] == [0.75]
    assert "sums" in result.report.read_text(encoding="utf-8")
    before = (result.run_dir / "aggregates.json").read_bytes()
    rebuild(result.run_dir)
    assert (result.run_dir / "aggregates.json").read_bytes() == before


def test_a_mean_without_one_of_its_benchmarks_has_no_value(tmp_path: Path, endpoint: Endpoint) -> None:
    """A metric that one of them does not give is named with the benchmark, and nothing stands for the rest."""
    result = _run(tmp_path, endpoint, {"name": "sums", "metric": "f1"})
    (row,) = result.aggregates
    assert (row["value"], row["weights"], row["reason"]) == (None, {}, "no value of f1: few, many")
    assert "no value of f1: few, many" in results_table({}, result.aggregates).below[-1]


def test_the_unscored_bound_a_mean(tmp_path: Path) -> None:
    """A benchmark weighs what it has questions, whether they were scored or not."""

    def script(call: Any, number: int) -> Any:
        return Reply(status=400) if "0!" in json.dumps(call.body) else answer("2")

    with scripted(script, models=["m"]) as endpoint:
        result = _run(tmp_path, endpoint, {"name": "sums", "metric": "accuracy"})
    (row,) = result.aggregates
    assert row["accounting"]["n_unscored"] == 1
    assert row["weights"] == {"few": 0.25, "many": 0.75}
    assert row["bounds"] == pytest.approx({"lower": 5 / 8, "upper": 6 / 8})


@pytest.mark.parametrize(
    ("benchmarks", "message"),
    [
        (["gsm8k", "mmlu"], 'none of them is called "mmlu"; there are gsm8k'),
        (["aime"], 'several of the benchmarks are called "aime"'),
    ],
)
def test_an_aggregate_names_benchmarks_of_the_run(benchmarks: list[str], message: str) -> None:
    """Each once, since a mean of another set is another number."""
    aggregate = {"name": "sums", "metric": "accuracy", "benchmarks": benchmarks}
    with pytest.raises(ConfigError, match=message):
        build_config({"benchmarks": ["gsm8k", "aime", "aime"], "aggregates": [aggregate]})
