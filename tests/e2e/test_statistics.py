"""Metrics and reducers that a run is asked for, and the scorers that declare their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_json, sums, write_jsonl

DECLARES = """
from nel import benchmark
from nel.scorers import CORRECT, INCORRECT, Score, accuracy, metric, scorer, stderr

@metric
def longest(unit: int = 1):
    return lambda scores: max(len(one.response) for one in scores) / unit

@metric
def broken():
    def compute(scores):
        raise RuntimeError("no")
    return compute

@benchmark(name="mine", dataset="rows.jsonl", prompt="{q}", target_field="a", group_field="g", response_field="r")
@scorer(metrics=[accuracy(), stderr(cluster="g"), longest(2), broken()])
def mine():
    async def score(state, target):
        right = state.output.completion == target.text
        return Score(value=CORRECT if right else INCORRECT, answer=state.output.completion)
    return score
"""

BY_KEY = """
from nel import benchmark
from nel.scorers import Score, mean, scorer, std

@benchmark(name="mine", dataset="rows.jsonl", prompt="{q}", target_field="a", response_field="r")
@scorer(metrics={"length": [mean(), std()], "*": [mean()]})
class Mine:
    def score(self, state, target):
        return Score(value={"right": "C" if state.output.completion == target.text else "I",
                            "length": len(state.output.completion)})
"""


def _metrics(folder: Path, benchmark: str) -> dict[str, dict[str, Any]]:
    content = read_json(only_run(folder / "out") / benchmark / "metrics.json")
    return {row["name"]: row for row in content["metrics"]}


def _rows(folder: Path) -> None:
    rows = ({"q": str(i), "a": str(i), "g": f"g{i // 4}", "r": str(i if i % 3 else -i - 1)} for i in range(12))
    write_jsonl(folder / "rows.jsonl", rows)


def test_reducers_look_at_the_repeats_of_a_sample(tmp_path: Path) -> None:
    """pass@k, pass^k, vote@k and a plugin's reducer over four answers, three of them right in each sample."""

    def three_of_four(call: Call, number: int) -> Reply:
        wanted = 2 * call.number
        return answer(f"#### {wanted if number != 1 else wanted + 1}")

    sums(tmp_path / "sums.jsonl", 5)
    with scripted(three_of_four) as endpoint:
        done = nel(
            "eval", "run", "--bench", "gsm8k", "--dataset", "sums.jsonl", "--repeats", "4", "--output-dir", "out",
            "--model-url", endpoint.url, "--model-id", "m", "--concurrency", "1",
            "--reducer", "mean_and_pass_at_k", "--reducer", "pass_k_2", "--reducer", "vote_at_4", "--reducer", "max",
            "--reducer", "example-worst", "--metric", "example-answer-length:unit=words", "--json", cwd=tmp_path,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = _metrics(tmp_path, "gsm8k")
    assert found["accuracy"]["value"] == 0.75
    assert found["accuracy/pass_at_1"]["value"] == pytest.approx(0.75)
    assert found["accuracy/pass_at_2"]["value"] == 1.0
    assert found["accuracy/pass_k_2"]["value"] == pytest.approx(0.5)
    assert found["accuracy/vote_at_4"]["value"] == 1.0
    assert found["accuracy/max"]["value"] == 1.0
    assert found["accuracy/example-worst"]["value"] == 0.0
    assert found["answer_length"]["value"] == 2.0
    bundle = read_json(only_run(tmp_path / "out") / "gsm8k" / "eval-gsm8k.json")
    assert bundle["benchmark"]["scores"]["pass@2"]["value"] == 1.0
    assert json.loads(done.stdout)["benchmarks"]["gsm8k"]["metrics"]["accuracy/pass_at_2"] == 1.0


def test_a_scorer_declares_its_metrics(tmp_path: Path) -> None:
    """Declared metrics stand beside the headline; a broken one is null with its reason; groups cluster the interval."""
    _rows(tmp_path)
    (tmp_path / "bench.py").write_text(DECLARES, encoding="utf-8")
    done = nel("eval", "run", "--bench", "bench.py", "--output-dir", "out", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "nel: mine: the metric broken has no value: it failed: RuntimeError: no" in done.stderr
    assert "fix the metrics, then compute them with: nel eval resume" in done.stderr
    assert read_json(only_run(tmp_path / "out") / "mine" / "metrics.json")["failed_metrics"] == ["broken"]
    found = _metrics(tmp_path, "mine")
    assert found["accuracy"]["value"] == pytest.approx(8 / 12)
    assert found["accuracy"]["ci_method"] == "added_question_groups"
    assert found["stderr"]["value"] == pytest.approx(0.0833333333)
    assert found["longest"]["value"] == 1.5
    assert found["broken"]["value"] is None
    assert "RuntimeError: no" in found["broken"]["reason"]


def test_a_mistyped_key_of_metrics_is_an_error(tmp_path: Path) -> None:
    """No score has a number of that name: the terminal says so and what there is, and the run exits 3."""
    _rows(tmp_path)
    script = BY_KEY.replace('"length": [mean(), std()], "*"', '"lenght": [mean()], "right"')
    (tmp_path / "bench.py").write_text(script, encoding="utf-8")
    done = nel("eval", "run", "--bench", "bench.py", "--output-dir", "out", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert 'gives no number of that name; did you mean "length"?' in done.stderr
    assert len(read_json(only_run(tmp_path / "out") / "mine" / "metrics.json")["failed_metrics"]) == 1


def test_metrics_that_are_none_are_refused_before_the_run(tmp_path: Path) -> None:
    _rows(tmp_path)
    script = BY_KEY.replace("[mean(), std()]", '["mean"]')
    (tmp_path / "bench.py").write_text(script, encoding="utf-8")
    done = nel("eval", "run", "--bench", "bench.py", "--output-dir", "out", cwd=tmp_path)
    assert done.returncode == 2
    assert "which is not a metric; write e.g. mean()" in done.stderr


def test_the_report_is_rebuilt_and_verified_with_what_the_scorer_declares(tmp_path: Path) -> None:
    """Metrics that only the benchmark's code knows are computed with it; without the code that is said."""
    _rows(tmp_path)
    (tmp_path / "bench.py").write_text(BY_KEY)
    assert nel("eval", "run", "--bench", "bench.py", "--output-dir", "out", cwd=tmp_path).returncode == 0
    run_dir = only_run(tmp_path / "out")
    path = run_dir / "mine" / "metrics.json"
    before = path.read_bytes()
    assert "length" in _metrics(tmp_path, "mine")
    verified = nel("verify", str(run_dir), cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout
    assert nel("report", str(run_dir), cwd=tmp_path).returncode == 0
    assert path.read_bytes() == before
    (tmp_path / "bench.py").unlink()
    again = nel("verify", str(run_dir), cwd=tmp_path)
    assert again.returncode != 0
    assert "are not computed: " in again.stdout


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--reducer", "pass_hat_2"], "the reducer pass_hat_2 is called pass_k_2 here"),
        (
            ["--reducer", "pass_at_5"],
            "the reducer pass_at_5 needs 5 answers a sample and the run asks for 2; use --repeats 5",
        ),
        (["--metric", "ci:level"], "write options as key=value, as in ci:level=VALUE"),
    ],
)
def test_what_cannot_be_computed_is_refused_before_anything_is_sent(
    tmp_path: Path, flags: list[str], said: str
) -> None:
    """Exit 2 and one line that says what to do."""
    _rows(tmp_path)
    (tmp_path / "bench.py").write_text(DECLARES, encoding="utf-8")
    done = nel("eval", "run", "--bench", "bench.py", "--repeats", "2", "--output-dir", "out", *flags, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


CLUSTERED = """
from nel import ScorerInput, benchmark, exact_match, scorer

@benchmark(name="mine", dataset="rows.jsonl", prompt="{q}", target_field="a", group_field="g", response_field="r")
@scorer
def mine(sample: ScorerInput) -> dict:
    return {**exact_match(sample), "is_short": False, "is_long": True}
"""


def _clustered(folder: Path) -> None:
    (folder / "bench.py").write_text(CLUSTERED)
    rows = ({"id": str(i), "q": str(i), "a": "1", "g": f"g{i // 10}", "r": "01"[i // 10 % 4 > 0]} for i in range(80))
    write_jsonl(folder / "rows.jsonl", rows)


def test_reducers_are_as_uncertain_as_the_headline_of_clusters(tmp_path: Path) -> None:
    """Ten questions of each passage count as one passage in every row, of merged shards too."""
    _clustered(tmp_path)
    flags = ("--bench", "bench.py", "--reducer", "max", "--reducer", "median", "--reducer", "pass_at_1")
    for number in (1, 2):
        shard = ("--shard", f"{number}/2", "--run-id", f"s{number}", "-o", "shards")
        assert nel("eval", "run", *flags, *shard, cwd=tmp_path).returncode == 0
    assert nel("eval", "merge", "shards/s1", "shards/s2", "-o", "merged", cwd=tmp_path).returncode == 0
    assert nel("eval", "run", *flags, "-o", "out", cwd=tmp_path).returncode == 0
    rows = _metrics(tmp_path, "mine")
    merged = {row["name"]: row for row in read_json(tmp_path / "merged" / "mine" / "metrics.json")["metrics"]}
    assert rows == merged
    names = ("accuracy", "accuracy/max", "accuracy/median", "accuracy/pass_at_1")
    assert {(rows[name]["ci_method"], rows[name]["ci_lower"], rows[name]["ci_upper"]) for name in names} == {
        ("added_question_groups", rows["accuracy"]["ci_lower"], rows["accuracy"]["ci_upper"])
    }
