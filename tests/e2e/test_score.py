"""Scoring, cost and truncation of a run that is paid already: `nel eval score`, prices, and the probe of the first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_json, read_results, sums, sums_command
from tests.support.tiers import representatives


def _right(call: Call, _: int) -> Reply:
    return answer(f"So it is {2 * call.number}, certainly. Answer: {2 * call.number}")


def _run(tmp_path: Path, url: str, *more: str, n: int = 6, env: dict[str, str] | None = None) -> Any:
    sums(tmp_path / "data.jsonl", n)
    return nel(*sums_command(url, *more), cwd=tmp_path, env=env)


def test_stored_answers_are_scored_again_without_a_request(tmp_path: Path) -> None:
    """Another scorer gives another score from the same answers; nothing is sent, no key and no endpoint are needed."""
    env = {"TEST_KEY": "sk-a-key-of-this-test"}
    with scripted(_right, models=["m"], key=env["TEST_KEY"]) as endpoint:
        assert _run(tmp_path, endpoint.url, "--api-key-env", "TEST_KEY", env=env).returncode == 0
    run_dir = only_run(tmp_path / "out")
    before = read_json(run_dir / "gsm8k" / "metrics.json")["headline"]["value"]
    done = nel("eval", "score", str(run_dir), "--scorer", "exact_match", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert before == 1.0
    assert read_json(run_dir / "gsm8k" / "metrics.json")["headline"]["value"] == 0.0
    assert len(read_results(run_dir, "gsm8k")) == 6
    again = nel("eval", "score", str(run_dir), "--scorer", "gsm8k_answer", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert read_json(run_dir / "gsm8k" / "metrics.json")["headline"]["value"] == 1.0


def test_scoring_leaves_what_was_never_answered(tmp_path: Path) -> None:
    """A sample that the endpoint refused stays unscored, exit 3; the others are scored, and a resume still asks it."""
    broken = True

    def script(call: Call, number: int) -> Reply:
        return Reply(status=400, body={}) if broken and "What is 3 " in call.text else _right(call, number)

    with scripted(script, models=["m"]) as endpoint:
        assert _run(tmp_path, endpoint.url).returncode == 3
        run_dir = only_run(tmp_path / "out")
        sent, broken = len(endpoint.calls), False
        scored = nel("eval", "score", str(run_dir), cwd=tmp_path)
        assert (scored.returncode, len(endpoint.calls)) == (3, sent)
        assert read_json(run_dir / "gsm8k" / "metrics.json")["accounting"]["n_scored"] == 5
        assert nel("eval", "resume", str(run_dir), cwd=tmp_path).returncode == 0
        assert len(endpoint.calls) == sent + 1


def _priced(tmp_path: Path, url: str, **budget: Any) -> Path:
    data = sums(tmp_path / "data.jsonl", 6)
    config = {
        "endpoint": {"url": url, "model": "m"},
        "benchmarks": [{"name": "gsm8k", "dataset": str(data)}],
        "generation": {"max_tokens": 10},
        "budget": {"prices": {"m": {"input": 10.0, "output": 100.0, "cached_input": 1.0}}, **budget},
        "output": {"dir": "out"},
    }
    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


def test_cost_stands_in_the_artifacts(tmp_path: Path) -> None:
    """Seven prompt and three completion tokens at 10 and 100 a million: 0.00037 an answer, six answers, all right."""
    with scripted(_right, models=["m"]) as endpoint:
        assert nel("eval", "run", str(_priced(tmp_path, endpoint.url)), cwd=tmp_path).returncode == 0
    stats = read_json(only_run(tmp_path / "out") / "gsm8k" / "runtime_stats.json")
    assert round(stats["cost"]["total"], 9) == 0.00222
    assert round(stats["cost"]["per_correct"], 9) == 0.00037
    assert stats["cost"]["unknown"] == 0
    assert (stats["run"]["requests"], stats["run"]["tokens"]) == (6, 60)


def test_completed_answers_stand_beside_the_score(tmp_path: Path) -> None:
    """Two of six are cut off: 4/6 counts, the completed ones are all right, and both are said."""

    def script(call: Call, number: int) -> Reply:
        cut = any(f"What is {i} " in call.text for i in (1, 2))
        return answer("It beg", finish="length") if cut else _right(call, number)

    with scripted(script, models=["m"]) as endpoint:
        done = _run(tmp_path, endpoint.url)
    metrics = read_json(only_run(tmp_path / "out") / "gsm8k" / "metrics.json")
    assert metrics["completed"] == {"n": 4, "value": 1.0}
    assert round(metrics["rates"]["truncated"], 6) == round(2 / 6, 6)
    assert "on the 4 completed answers: 100.00 %" in done.stderr


_LISTED = """
import json
from pathlib import Path
from nel import benchmark, scorer

{head}

@benchmark(name="mine", dataset="data.jsonl", prompt="{{question}}", target_field="answer")
@scorer({declared})
def mine(sample):
    {body}
    return {{"correct": sample.response in right}}
"""
_OPENS = ("HERE = Path(__file__).parent", 'right = json.loads((HERE / "right.json").read_text())')
_READERS = {
    "declared data": (*_OPENS, 'data="right.json"', True),
    "a module imported inside": ("", "import sys; sys.path.insert(0, '.'); from right_answers import right", "", True),
    "another distribution": ("", "from strange import right", "", True),
    "data that is not declared": (*_OPENS, "", False),
}


def _write_right(tmp_path: Path, right: list[str]) -> None:
    (tmp_path / "right.json").write_text(json.dumps(right), encoding="utf-8")
    module = f"right = {right!r}  # {len(right)} of them\n"
    (tmp_path / "right_answers.py").write_text(module, encoding="utf-8")
    site = tmp_path / "site-packages"
    (site / "strange.dist-info").mkdir(parents=True, exist_ok=True)
    (site / "strange.dist-info" / "METADATA").write_text(f"Name: strange\nVersion: {len(right)}\n")
    (site / "strange.py").write_text(module, encoding="utf-8")


@pytest.mark.parametrize(
    ("head", "body", "declared", "is_seen"),
    representatives(_READERS, "declared data", "data that is not declared"),
)
def test_no_number_mixes_two_rules(tmp_path: Path, head: str, body: str, declared: str, is_seen: bool) -> None:
    """What a scorer reads changes between two sessions: all answers are scored by the new rule, or the resume says what
    it cannot know; `nel eval score` scores all by the new rule in either case.
    """
    sums(tmp_path / "data.jsonl", 12)
    (tmp_path / "bench.py").write_text(_LISTED.format(head=head, body=body, declared=declared), encoding="utf-8")
    env = {"PYTHONPATH": str(tmp_path / "site-packages")}
    answers = [str(2 * number) for number in range(12)]
    broken = True

    def script(call: Call, _: int) -> Reply:
        return Reply(status=400, body={}) if broken and call.number >= 6 else answer(str(2 * call.number))

    _write_right(tmp_path, answers)
    with scripted(script, models=["m"]) as endpoint:
        flags = ("--bench", "bench.py", "--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        first = nel("eval", "run", *flags, cwd=tmp_path, env=env)
        assert (first.returncode, "cannot know" in first.stderr) == (3, False), first.stderr
        run_dir, broken = only_run(tmp_path / "out"), False
        _write_right(tmp_path, answers[:2])
        done = nel("eval", "resume", str(run_dir), cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        n_sent = len(endpoint.calls)
    assert ("nel cannot know whether the scorer still gives them" in done.stderr) is not is_seen
    if is_seen:
        assert read_json(run_dir / "mine" / "metrics.json")["headline"]["value"] == 2 / 12
    scored = nel("eval", "score", str(run_dir), cwd=tmp_path, env=env)
    assert scored.returncode == 0, scored.stderr
    assert read_json(run_dir / "mine" / "metrics.json")["headline"]["value"] == 2 / 12
    assert len(endpoint.calls) == n_sent
