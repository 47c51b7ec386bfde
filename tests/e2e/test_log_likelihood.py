"""Multiple choice by log-likelihood, end to end: requests, sums, resume, and servers that only seem to support it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.endpoint import Call, Reply, scripted
from tests.support.runs import nel, only_run, read_json, read_results

BENCH = """
from nel import ScorerInput, benchmark, scorer
from nel.byob.scorers import multiple_choice_acc

@benchmark(name="capitals", dataset="data.jsonl", prompt="Question: {question}\\nAnswer:", target_field="answer",
           endpoint_type="completions_logprob", choices=[" A", " B", " C"])
@scorer
def capitals(sample: ScorerInput) -> dict:
    return multiple_choice_acc(sample)
"""


def _write(tmp_path: Path, n: int = 4) -> None:
    (tmp_path / "bench.py").write_text(BENCH)
    rows = [json.dumps({"question": f"number {i}?", "answer": "ABC"[i % 3]}) for i in range(n)]
    (tmp_path / "data.jsonl").write_text("\n".join(rows) + "\n")


def _tokens(prompt: str) -> list[str]:
    """Cut a prompt before each space: " A" is one token."""
    parts = prompt.split(" ")
    return [parts[0], *(f" {part}" for part in parts[1:])]


def _likelihood(prompt: str, index: int, token: str) -> float:
    """Return a log-probability that makes the row's own letter the likeliest, and known words likelier than others."""
    if "number" in prompt and token in (" A", " B", " C"):
        right = "ABC"[int(prompt.split("number ")[1].split("?", maxsplit=1)[0]) % 3]
        return -0.25 if token.strip() == right else -2.5
    return -0.5 if token.strip() in ("Friday", "Paris") else -6.0 - 0.01 * index


def _echoed(prompt: str, generated: int) -> dict[str, Any]:
    tokens = _tokens(prompt) + [" x"] * generated
    values = [None, *(_likelihood(prompt, index, token) for index, token in enumerate(tokens[1:], 1))]
    offsets = [sum(len(one) for one in tokens[:index]) for index in range(len(tokens))]
    tops = [None, *({token: value} for token, value in zip(tokens[1:], values[1:], strict=True))]
    return {
        "text": prompt + " x" * generated,
        "finish_reason": "length",
        "logprobs": {"tokens": tokens, "token_logprobs": values, "top_logprobs": tops, "text_offset": offsets},
    }


def _echo(call: Call, _: int) -> Reply:
    prompts = call.body["prompt"] if isinstance(call.body["prompt"], list) else [call.body["prompt"]]
    choices = [{**_echoed(prompt, call.body["max_tokens"]), "index": i} for i, prompt in enumerate(prompts)]
    usage = {"prompt_tokens": 5 * len(prompts), "completion_tokens": len(prompts)}
    return Reply(body={"model": "m", "choices": list(reversed(choices)), "usage": usage})


def _alone(call: Call, number: int) -> Reply:
    return Reply(status=500, body={}) if isinstance(call.body["prompt"], list) else _echo(call, number)


def _run(tmp_path: Path, url: str, *more: str) -> Any:
    model = ("--model-url", url, "--model-id", "m", "-o", "out")
    return nel("eval", "run", "--bench", "bench.py", *model, *more, cwd=tmp_path)


@pytest.mark.parametrize(("script", "requests"), [(_echo, 4), (_alone, 12)], ids=["batched", "one by one"])
def test_choices_are_ranked(tmp_path: Path, script: Any, requests: int) -> None:
    """The likeliest choice is the answer; all choices go out together where the server allows it, else one by one."""
    _write(tmp_path)
    with scripted(script, models=["m"]) as endpoint:
        done = _run(tmp_path, endpoint.url)
        asked = [call for call in endpoint.calls if "Question" in str(call.body["prompt"])]
    assert done.returncode == 0, done.stderr
    assert len(asked) == requests
    assert {call.path for call in asked} == {"/v1/completions"}
    assert asked[0].body.items() >= {"model": "m", "echo": True, "logprobs": 1, "temperature": 0}.items()
    run_dir = only_run(tmp_path / "out")
    metrics = {row["name"]: row["value"] for row in read_json(run_dir / "capitals" / "metrics.json")["metrics"]}
    assert (metrics["acc"], metrics["acc_norm"]) == (1.0, 1.0)
    assert [row["model_response"] for row in read_results(run_dir, "capitals")] == [" A", " B", " C", " A"]
    assert read_json(run_dir / "capitals" / "runtime_stats.json")["requests"]["completed"] == requests


def test_a_choice_that_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    """The third choice fails for good: the sample is unscored, and a resume asks for that choice alone."""
    _write(tmp_path, n=1)
    broken = True

    def script(call: Call, number: int) -> Reply:
        failing = broken and str(call.body["prompt"]).endswith("Answer: C")
        return Reply(status=501, body={}) if failing else _alone(call, number)

    with scripted(script, models=["m"]) as endpoint:
        assert _run(tmp_path, endpoint.url, "-O", "engine.faults_in_a_row_max=50").returncode == 3
        broken, before = False, len(endpoint.calls)
        again = nel("eval", "resume", str(only_run(tmp_path / "out")), cwd=tmp_path)
        asked = [str(call.body["prompt"]) for call in endpoint.calls[before:] if "Question" in str(call.body["prompt"])]
    assert again.returncode == 0, again.stderr
    assert asked == ["Question: number 0?\nAnswer: C"]


def test_a_server_that_ignores_echo_is_refused(tmp_path: Path) -> None:
    """Without prompt log-probabilities scores would be chance: exit 2, no sample asked, and the reason."""
    _write(tmp_path)
    fixture = Path(__file__).parents[1] / "models" / "loglikelihood_fixtures" / "llama_cpp.json"
    payload = next(iter(_payloads(json.loads(fixture.read_text()))))
    with scripted(lambda *_: Reply(body=payload), models=["m"]) as endpoint:
        done = _run(tmp_path, endpoint.url)
        assert not any("Question" in str(call.body["prompt"]) for call in endpoint.calls)
    assert done.returncode == 2
    assert "cannot be used for log-likelihoods" in done.stderr
    assert "echo" in done.stderr


def _payloads(value: Any) -> Any:
    if isinstance(value, dict):
        if "choices" in value:
            yield value
        for inner in value.values():
            yield from _payloads(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _payloads(inner)
