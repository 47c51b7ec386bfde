"""The main job by flags, by YAML and from Python: what is sent, what is written, what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import nel as nel_package
from nel.artifacts.schema import load_schema
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run, read_json, read_results, run_config, sums


def _right(call: Call, _: int) -> Reply:
    return answer(f"Answer: {2 * int(call.text.split('What is ')[1].split()[0])}")


def _validate(run_dir: Path, benchmark: str) -> None:
    from jsonschema import Draft202012Validator

    for name, schema in (
        (f"eval-{benchmark}.json", "bundle"),
        ("metrics.json", "metrics"),
        ("failure_analysis.json", "failure_analysis"),
        ("runtime_stats.json", "runtime_stats"),
    ):
        Draft202012Validator(load_schema(schema)).validate(read_json(run_dir / benchmark / name))
    validator = Draft202012Validator(load_schema("result"))
    for row in read_results(run_dir, benchmark):
        validator.validate(row)


def test_flags_reach_the_endpoint(tmp_path: Path) -> None:
    """Every sampling flag is sent as given, the system prompt replaces the benchmark's, and nothing else is sent."""
    sums(tmp_path / "data.jsonl", 3)
    with scripted(_right, models=["m"]) as endpoint:
        done = nel(
            "eval", "run", "--bench", "gsm8k", "--dataset", "data.jsonl",
            "--model-url", endpoint.url, "--model-id", "m",
            "--temperature", "0.5", "--top-p", "0.9", "--max-tokens", "64", "--stop", "END", "--stop", "\n\n",
            "--seed", "3", "--system-prompt", "Be brief.", "--max-problems", "2", "--repeats", "2", "-o", "out",
            "--json", cwd=tmp_path,
        )  # fmt: skip
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
    _validate(only_run(tmp_path / "out"), "gsm8k")


def test_the_completions_path_speaks_completions(tmp_path: Path) -> None:
    """A URL that ends in /v1/completions sends prompts, not messages."""

    def script(call: Call, _: int) -> Reply:
        assert call.path == "/v1/completions"
        return Reply(body={"choices": [{"text": "Answer: 0", "finish_reason": "stop"}]})

    sums(tmp_path / "data.jsonl", 1)
    with scripted(script, models=["m"]) as endpoint:
        url = f"{endpoint.url}/completions"
        arguments = ("--bench", "gsm8k", "--dataset", "data.jsonl", "--model-url", url, "--model-id", "m", "-o", "out")
        done = nel("eval", "run", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "What is 0 plus 0?" in endpoint.calls[0].body["prompt"]


def test_yaml_with_several_benchmarks(tmp_path: Path) -> None:
    """One file, three entries, one of them twice: each has a directory of its own."""
    sums(tmp_path / "data.jsonl", 3)
    with scripted(_right) as endpoint:
        config = {
            "endpoint": {"url": endpoint.url, "model": "m"},
            "generation": {"temperature": 0.0},
            "benchmarks": [
                {"name": "gsm8k", "dataset": "data.jsonl"},
                {"name": "gsm8k", "dataset": "data.jsonl", "max_problems": 1, "generation": {"temperature": 1.0}},
                {"name": "example-capitals", "max_problems": 2},
            ],
            "output": {"dir": "out"},
        }
        (tmp_path / "config.yaml").write_text(json.dumps(config))

        def script_capitals(call: Call, number: int) -> Reply:
            return answer("Answer: Paris") if "capital" in call.text else _right(call, number)

        with scripted(script_capitals) as both:
            (tmp_path / "config.yaml").write_text(json.dumps({**config, "endpoint": {"url": both.url, "model": "m"}}))
            done = nel("eval", "run", "config.yaml", cwd=tmp_path)
            assert sorted(call.body["temperature"] for call in both.calls) == [0.0] * 5 + [1.0]
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    for slot in ("gsm8k", "gsm8k@2", "example-capitals"):
        assert (run_dir / slot / "metrics.json").is_file()
    _validate(run_dir, "example-capitals")


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    """--dry-run shows plan, counts and a token estimate; the endpoint hears nothing and nothing is written."""
    sums(tmp_path / "data.jsonl", 10)
    with scripted(_right) as endpoint:
        arguments = ("--bench", "gsm8k", "--dataset", "data.jsonl", "--model-url", endpoint.url, "--model-id", "m")
        done = nel("eval", "run", *arguments, "--repeats", "3", "--max-tokens", "100", "--dry-run", cwd=tmp_path)
        as_json = nel("eval", "run", *arguments, "--dry-run", "--json", cwd=tmp_path)
        assert endpoint.calls == []
    assert done.returncode == 0
    assert "dry run: nothing was sent" in done.stdout
    assert "≤ 3,000" in done.stdout
    planned = json.loads(as_json.stdout)["benchmarks"][0]
    assert (planned["samples"], planned["requests"]) == (10, 10)
    assert 200 < planned["prompt_tokens"] < 600
    assert not (tmp_path / "eval_results").exists()


def test_from_python(tmp_path: Path) -> None:
    """nel.evaluate gives what the artifacts hold."""
    data = sums(tmp_path / "data.jsonl", 4)
    with scripted(_right) as endpoint:
        result = nel_package.evaluate(
            run_config(endpoint.url, [{"name": "gsm8k", "dataset": str(data)}], tmp_path / "out")
        )
    assert result.exit_code == 0
    assert result.benchmarks[0].metrics == read_json(result.run_dir / "gsm8k" / "metrics.json")
    assert result.benchmarks[0].headline["value"] == 1.0
