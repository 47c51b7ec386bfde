"""Every finished run can be decided on, whatever its scores, metrics and samples are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from tests.support.runs import nel, only_run, read_json, write_jsonl

PLAIN = """
import json
from nel import benchmark, scorer

@benchmark(name="mine", dataset="rows.jsonl", prompt="{q}", target_field="a", response_field="r")
@scorer
def score(sample):
    return json.loads(sample.response)
"""
DECLARED = """
import json
from nel import benchmark
from nel.scorers import Score, metric, scorer

@metric
def correct():
    return len

@metric
def mean_reward():
    return lambda scores: 77.0

@benchmark(name="mine", dataset="rows.jsonl", prompt="{q}", target_field="a", response_field="r")
@scorer(metrics=[correct(), mean_reward()])
def mine():
    async def score(state, target):
        return Score(value=json.loads(state.output.completion))
    return score
"""
N = 12
SCORES: dict[str, tuple[str, list[object]]] = {
    "a value called like the headline": (PLAIN, [{"correct": i % 3 == 0, "accuracy": i / N} for i in range(N)]),
    "metrics called like values": (DECLARED, [{"correct": i % 3 == 0, "f1": i / N} for i in range(N)]),
}


def _run(folder: Path, script: str, scores: list[object], ids: list[str] | None = None) -> Path:
    rows = [{"q": f"{place}?", "a": "x", "r": json.dumps(score)} for place, score in enumerate(scores)]
    for row, name in zip(rows, ids or (), strict=ids is not None):
        row["id"] = name
    write_jsonl(folder / "rows.jsonl", rows)
    (folder / "bench.py").write_text(script, encoding="utf-8")
    done = nel("eval", "run", "--bench", "bench.py", "--output-dir", "out", cwd=folder)
    assert done.returncode in (0, 3), done.stderr
    return only_run(folder / "out")


def _decided(*arguments: object) -> int:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code in (0, 5), done.stderr
    return done.exit_code


def _floors_not_held(run_dir: Path, folder: Path) -> list[str]:
    """Compare, gate, list and hold a run; return the metrics that a floor below them did not decide on as it must."""
    (folder / "policy.yaml").write_text("defaults: {max_drop: 0.1}\n", encoding="utf-8")
    assert _decided("compare", run_dir, run_dir) == 0
    assert _decided("leaderboard", run_dir, f"second={run_dir}", f"third={run_dir}") == 0
    _decided("gate", run_dir, run_dir, "--policy", folder / "policy.yaml", "-o", folder / "decided")
    rows = read_json(run_dir / "mine" / "metrics.json")["metrics"]
    wrong = []
    for row in rows:
        floor = 0.0 if row["bounds"] else -1e300
        code = _decided("gate", run_dir, "--fail-under", f"{row['name']}={floor}", "-o", folder / "decided")
        if (code == 0) != (row["ci_lower"] is not None):
            wrong.append(row["name"])
    return wrong


@pytest.mark.parametrize("what", SCORES)
def test_any_names_of_scores_and_metrics_are_decided_on(tmp_path: Path, what: str) -> None:
    """Two that are called alike are not taken for each other, nor for files that do not agree."""
    assert _floors_not_held(_run(tmp_path, *SCORES[what]), tmp_path) == []


def test_a_policy_takes_a_metric_by_its_own_name(tmp_path: Path) -> None:
    """A scorer's number called reward beside the headline is gated as itself; mean_reward is the headline."""
    sides = []
    for name, reward in (("before", 1.0), ("after", 0.0)):
        (tmp_path / name).mkdir()
        scores: list[object] = [{"correct": i % 2, "reward": reward} for i in range(N)]
        sides.append(_run(tmp_path / name, PLAIN, scores))
    means = {}
    for metric in ("reward", "mean_reward"):
        (tmp_path / "policy.yaml").write_text(f"defaults: {{max_drop: 0.1, metric: {metric}}}\n", encoding="utf-8")
        arguments = ["gate", *map(str, sides), "--policy", str(tmp_path / "policy.yaml"), "--json"]
        (gated,) = json.loads(CliRunner().invoke(app, arguments).stdout)["benchmarks"]
        means[metric] = gated["measure"]["baseline"], gated["measure"]["candidate"]
    assert means == {"reward": (1.0, 0.0), "mean_reward": (0.5, 0.5)}
