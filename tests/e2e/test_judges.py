"""A panel of two judges, each asked twice, one of which errs on known samples: every number is known beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel.reports.run_warnings import texts_of
from tests.support.endpoint import Call, Reply, Script, answer, scripted
from tests.support.runs import nel, read_json, read_results, write_jsonl

BENCH = """
from nel import ScorerInput, benchmark, needs_judge, scorer

@benchmark(name="sums", dataset="rows.jsonl", prompt="What is {n} plus {n}?", target_field="sum")
@scorer
def judged(sample: ScorerInput) -> dict:
    return needs_judge(sample)
"""
DISAGREES, WAVERS, SILENT = (4, 7), 5, 8
QUICK = {"backoff_seconds": 0.01, "backoff_seconds_max": 0.05, "attempts_max": 2}


def adds(call: Call, _: int) -> Reply:
    """Answer right, but for 2 plus 2."""
    n = call.number
    return answer(f"It is {2 * n if n != 2 else 5}.")


def judge(name: str, *, is_mild: bool = False) -> Script:
    """Return a judge that knows sums; the mild one errs where this page says so."""

    def reply(call: Call, seen_before: int) -> Reply:
        n = call.number
        is_right = n != 2
        if is_mild:
            is_right = is_right and n not in DISAGREES and not (n == WAVERS and seen_before)
        said = answer(
            "I would rather not say." if is_mild and n == SILENT else f"Fine.\nGRADE: {'C' if is_right else 'I'}"
        )
        return Reply(body={**said.body, "model": name})

    return reply


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Return the run's directory and what the command printed."""
    home = tmp_path_factory.mktemp("judged")
    write_jsonl(home / "rows.jsonl", ({"id": n, "n": n, "sum": str(2 * n)} for n in range(10)))
    (home / "sums.py").write_text(BENCH)
    with scripted(adds) as model, scripted(judge("llama-3-70b")) as strict, scripted(judge("o3", is_mild=True)) as mild:
        panel = [
            {"name": "strict", "url": strict.url, "model": "llama-3-70b", **QUICK},
            {"name": "mild", "url": mild.url, "model": "o3", **QUICK},
        ]
        config = {
            "endpoint": {"url": model.url, "model": "served-model", **QUICK},
            "benchmarks": ["sums.py"],
            "judge": {"panel": panel, "repeats": 2, "aggregate": "mean"},
            "budget": {"prices": {"o3": {"input": 10, "output": 50}, "served-model": {"input": 1, "output": 1}}},
            "output": {"dir": "out", "run_id": "r"},
        }
        (home / "config.yaml").write_text(json.dumps(config))
        done = nel("eval", "run", "config.yaml", cwd=home)
    assert done.returncode == 3, done.stderr
    return home / "out" / "r", done


def metrics_of(run_dir: Path) -> Any:
    return read_json(run_dir / "sums" / "metrics.json")


def test_the_score_leaves_out_what_the_panel_could_not_grade(run: tuple[Path, Any]) -> None:
    """Five right by both, one wrong by both, two by half; the wavering and the silent one are no verdict."""
    rewards = [row["reward"] for row in read_results(run[0], "sums")]
    assert rewards == [1, 1, 0, 1, 0.5, None, 1, 0.5, None, 1]
    metrics = metrics_of(run[0])
    assert metrics["headline"]["value"] == pytest.approx(6 / 8)
    judging = metrics["judging"]
    assert judging["n_without_grade"] == metrics["accounting"]["unscored"]["judge"] == {
        "n": 2, "kinds": {"no_quorum": 2},
    }  # fmt: skip
    assert (judging["n_judged"], judging["n_cases"], judging["n_cases_without_grade"]) == (10, 10, 2)


def test_requests_tokens_and_cost_of_judges_stand_apart(run: tuple[Path, Any]) -> None:
    """Ten requests to the model, two a sample to each judge, two more to the one that was asked again."""
    runtime = read_json(run[0] / "sums" / "runtime_stats.json")
    strict, mild = runtime["judges"]["strict"], runtime["judges"]["mild"]
    assert [part["requests"]["completed"] for part in (runtime, strict, mild)] == [10, 20, 22]
    assert ("failed" in runtime["requests"], "failed" in strict["requests"]) == (True, False)
    assert [part["tokens"]["prompt"] for part in (runtime, strict, mild)] == [70, 140, 154]
    assert runtime["cost"]["total"] == pytest.approx(10 * 10 / 1e6)
    assert (strict["cost"]["total"], mild["cost"]["total"]) == (None, pytest.approx(22 * (7 * 10 + 3 * 50) / 1e6))
    assert (runtime["run"]["requests"], runtime["run"]["tokens"]) == (52, 520)
    assert (runtime["models"], mild["models"]) == ({"served-model": 10}, {"o3": 22})


def test_the_terminal_says_who_judged_and_what_to_doubt(run: tuple[Path, Any]) -> None:
    """Who judged is part of the answer on stdout; each warning is a line on stderr."""
    run_dir, done = run
    line = "sums: judged by strict=llama-3-70b and mild=o3 (binary_qa); 2 of 10 without verdict (no_quorum 2)"
    assert line in done.stdout.splitlines()
    warnings = texts_of(metrics_of(run_dir), ("judging",))
    assert [warning.split(":")[0] for warning in warnings] == [
        "2 of 10 judged samples have no verdict, more than 5 %",
        "mild gave no verdict in 2 of 10 cases",
        "the judges disagree",
        "mild contradicts itself",
    ]
    assert all(f"nel: sums: {warning}" in done.stderr.splitlines() for warning in warnings)
