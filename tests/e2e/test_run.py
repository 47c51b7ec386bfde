"""The main job by flags, by YAML and from Python: what is sent, what is written, what is printed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.endpoint import Call, Reply, answer, right_sum, scripted
from tests.support.runs import nel, only_run, run_config, sums, sums_command
from tests.support.schemas import check_schemas


def test_flags_reach_the_endpoint(tmp_path: Path) -> None:
    """Every sampling flag is sent as given, the system prompt replaces the benchmark's, and nothing else is sent."""
    sums(tmp_path / "data.jsonl", 3)
    with scripted(right_sum, models=["m"]) as endpoint:
        sampling = ("--temperature", "0.5", "--top-p", "0.9", "--max-tokens", "64", "--seed", "3")
        stops = ("--stop", "END", "--stop", "\n\n", "--system-prompt", "Be brief.")
        size = ("--max-problems", "2", "--repeats", "2", "--json")
        done = nel(*sums_command(endpoint.url, *sampling, *stops, *size), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    bodies = [call.body for call in endpoint.calls]
    assert len(bodies) == 4
    assert {body["seed"] for body in bodies} == {3, 4}
    for body in bodies:
        assert set(body) == {"model", "messages", "temperature", "top_p", "max_tokens", "stop", "seed"}
        assert (body["temperature"], body["top_p"], body["max_tokens"], body["stop"]) == (0.5, 0.9, 64, ["END", "\n\n"])
        assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    printed = json.loads(done.stdout)
    assert printed["benchmarks"]["gsm8k"]["headline"]["value"] == 1.0
    check_schemas(only_run(tmp_path / "out"), "gsm8k")


def test_yaml_with_several_benchmarks(tmp_path: Path) -> None:
    """One file, three entries, one of them twice: each has a directory of its own."""
    sums(tmp_path / "data.jsonl", 3)
    entries = [
        {"name": "gsm8k", "dataset": "data.jsonl"},
        {"name": "gsm8k", "dataset": "data.jsonl", "max_problems": 1, "generation": {"temperature": 1.0}},
        {"name": "example-capitals", "max_problems": 2},
    ]

    def script(call: Call, number: int) -> Reply:
        return answer("Answer: Paris") if "capital" in call.text else right_sum(call, number)

    with scripted(script) as endpoint:
        config = run_config(endpoint.url, entries, Path("out"), generation={"temperature": 0.0})
        (tmp_path / "config.yaml").write_text(json.dumps(config))
        done = nel("eval", "run", "config.yaml", cwd=tmp_path)
        assert sorted(call.body["temperature"] for call in endpoint.calls) == [0.0] * 5 + [1.0]
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    for slot in ("gsm8k", "gsm8k@2", "example-capitals"):
        assert (run_dir / slot / "metrics.json").is_file()
    check_schemas(run_dir, "example-capitals")


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    """--dry-run shows plan, counts and a token estimate; the endpoint hears nothing and nothing is written."""
    sums(tmp_path / "data.jsonl", 10)
    with scripted(right_sum) as endpoint:
        command = sums_command(endpoint.url, "--dry-run")
        done = nel(*command, "--repeats", "3", "--max-tokens", "100", cwd=tmp_path)
        as_json = nel(*command, "--json", cwd=tmp_path)
        assert endpoint.calls == []
    assert done.returncode == 0
    assert "dry run: nothing was sent" in done.stdout
    assert "≤ 3,000" in done.stdout
    planned = json.loads(as_json.stdout)["benchmarks"][0]
    assert (planned["samples"], planned["requests"]) == (10, 10)
    assert 200 < planned["prompt_tokens"] < 600
    assert not (tmp_path / "out").exists()
