"""What happens at each real server: answers, streams, refusals, a restart, and more requests than slots."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.servers.running import KEY, MODEL, Server, end, is_installed, nel, started
from tests.support.runs import read_json, read_results

pytestmark = pytest.mark.slow
NAMES = ("llamacpp", "vllm", "litellm")
BENCH = """
from nel import ScorerInput, benchmark, scorer
from nel.byob.scorers import multiple_choice_acc

@benchmark(name="facts", dataset="rows.jsonl", prompt="{question}", target_field="answer")
@scorer
def facts(sample: ScorerInput) -> bool:
    return sample.target in sample.response
"""
RANKED = """
from nel import ScorerInput, benchmark, scorer
from nel.byob.scorers import multiple_choice_acc

@benchmark(name="ranked", dataset="ranked.jsonl", prompt="{question}", target_field="answer",
           endpoint_type="completions_logprob", choices_field="choices")
@scorer
def ranked(sample: ScorerInput) -> dict:
    sums = {f"sum_{place}": value for place, value in enumerate(sample.metadata["_choices_logprobs"])}
    return {**multiple_choice_acc(sample), **sums}
"""
FACTS = [
    ("The capital of France is", "Paris", "Lyon"),
    ("Monday, Tuesday, Wednesday, Thursday,", "Friday", "Sunday"),
    ("Water freezes at zero degrees", "Celsius", "Kelvin"),
    ("The opposite of hot is", "cold", "warm"),
    ("One, two, three,", "four", "nine"),
    ("Grüße aus 東京 🙂: the city is", "Tokyo", "Oslo"),
    ("The sun rises in the", "east", "west"),
    ("A week has", "seven", "eleven"),
]


def write(home: Path, n: int = len(FACTS)) -> None:
    (home / "facts.py").write_text(BENCH)
    (home / "ranked.py").write_text(RANKED)
    rows = [{"question": f"{ask}", "answer": right} for ask, right, _ in FACTS[:n]]
    (home / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ranked = [
        {"question": ask, "choices": [f" {wrong}", f" {right}"], "answer": "B"} for ask, right, wrong in FACTS[:n]
    ]
    (home / "ranked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ranked))


@pytest.fixture(scope="module", params=NAMES)
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run one server for all tests; LiteLLM stands in front of llama.cpp."""
    name = request.param
    if not is_installed(name):
        pytest.skip(f"{name} is not installed; run: make test-servers")
    folder = tmp_path_factory.mktemp(name)
    with ExitStack() as stack:
        behind = stack.enter_context(started("llamacpp", folder)).url if name == "litellm" else ""
        yield stack.enter_context(started(name, folder, behind=behind))


def asked(server: Server, home: Path, *more: object, bench: str = "facts.py", out: str = "out") -> Any:
    """Run a benchmark at a server."""
    return nel(
        "eval", "run", "--bench", bench, "--model-url", server.url, "--model-id", MODEL, "--api-key-env", "SERVER_KEY",
        "-o", out, "-O", "output.run_id=r", "--temperature", "0", "--max-tokens", "12", "-O",
        "benchmarks.0.truncated=score", *more, cwd=home,
    )  # fmt: skip


def texts(home: Path, out: str = "out") -> dict[str, str]:
    """Return the answers of a run by sample."""
    return {row["sample_id"]: row["model_response"] for row in read_results(home / out / "r", "facts")}


@pytest.mark.parametrize("protocol", ["chat", "completions"])
def test_answers_are_equal_in_a_stream_and_with_more_requests_than_slots(
    server: Server, tmp_path: Path, protocol: str
) -> None:
    """All are answered, one at a time and sixteen at a time for four slots; a stream has the same text and usage."""
    write(tmp_path)
    one = asked(server, tmp_path, "--protocol", protocol, "--concurrency", "1")
    assert one.returncode == 0, one.stderr
    streamed = asked(server, tmp_path, "--protocol", protocol, "--concurrency", "1", "--stream", out="streamed")
    assert streamed.returncode == 0, streamed.stderr
    many = asked(server, tmp_path, "--protocol", protocol, "--concurrency", "16", "--repeats", "3", out="many")
    assert many.returncode == 0, many.stderr
    assert texts(tmp_path) == texts(tmp_path, "streamed")
    assert len(texts(tmp_path)) == len(FACTS)
    usages = [
        [row["tokens"]["completion"] for row in read_results(tmp_path / out / "r", "facts")]
        for out in ("out", "streamed")
    ]
    assert all(count and count <= 12 for count in usages[0])
    assert usages[0] == usages[1]
    assert len(read_results(tmp_path / "many" / "r", "facts")) == 3 * len(FACTS)


def test_a_prompt_that_is_too_long_is_the_models_failure(server: Server, tmp_path: Path) -> None:
    """It costs its own sample, counts 0 and is told apart from faults of the server."""
    write(tmp_path, 2)
    with (tmp_path / "rows.jsonl").open("a") as rows:
        rows.write(json.dumps({"question": "long " * 3000, "answer": "x"}) + "\n")
    done = asked(server, tmp_path)
    assert done.returncode == 0, done.stderr
    accounting = read_json(tmp_path / "out" / "r" / "facts" / "metrics.json")["accounting"]
    assert accounting["model_failures"] == {"context_exceeded": 1}, done.stderr
    assert accounting["n_scored"] == 2


def test_a_wrong_key_and_an_unknown_model_end_the_command(server: Server, tmp_path: Path) -> None:
    """Each is named before anything is paid for."""
    write(tmp_path, 2)
    refused = asked(server, tmp_path, "--api-key-env", "WRONG_KEY")
    assert refused.returncode == 2, refused.stderr
    assert "the key in WRONG_KEY was refused" in refused.stderr
    unknown = asked(server, tmp_path, "--model-id", "smollm2-136m", out="other")
    assert unknown.returncode == 2, unknown.stderr
    assert f'did you mean "{MODEL}"?' in unknown.stderr


def test_log_likelihoods_are_right_or_refused(server: Server, tmp_path: Path) -> None:
    """vLLM ranks the right word first; a server that ignores echo is refused by name before a sample is asked."""
    write(tmp_path)
    done = nel(
        "eval", "run", "--bench", "ranked.py", "--model-url", server.url, "--model-id", MODEL, "--api-key-env",
        "SERVER_KEY", "-o", "out", "-O", "output.run_id=r", cwd=tmp_path,
    )  # fmt: skip
    if server.name == "vllm":
        assert done.returncode == 0, done.stderr
        rewards = [row["reward"] for row in read_results(tmp_path / "out" / "r", "ranked")]
        assert sum(rewards) >= 6, rewards
    else:
        assert done.returncode == 2, done.stderr
        assert "cannot be used for log-likelihoods" in done.stderr


@pytest.mark.parametrize("name", ["llamacpp", "vllm"])
def test_a_server_that_is_killed_in_the_middle_and_comes_back(name: str, tmp_path: Path) -> None:
    """The run waits, goes on when the server answers again, and has every answer once."""
    if not is_installed(name):
        pytest.skip(f"{name} is not installed; run: make test-servers")
    write(tmp_path)
    with started(name, tmp_path) as first:
        command = [
            sys.executable, "-m", "nel", "eval", "run", "--bench", "facts.py", "--model-url", first.url, "--model-id",
            MODEL, "--api-key-env", "SERVER_KEY", "-o", "out", "-O", "output.run_id=r", "--repeats", "20",
            "--max-tokens", "24", "--concurrency", "4", "-O", "benchmarks.0.truncated=score",
            "-O", "endpoint.backoff_seconds=0.05", "-O", "endpoint.outage_probe_seconds=0.5",
        ]  # fmt: skip
        with (tmp_path / "nel.log").open("wb") as log:
            run = subprocess.Popen(command, cwd=tmp_path, env=_with_key(), stdout=log, stderr=subprocess.STDOUT)
        try:
            while _answered(tmp_path) < 20:
                assert run.poll() is None, (tmp_path / "nel.log").read_text()
                time.sleep(0.05)
            first.process.kill()
            first.process.wait()
            before = _answered(tmp_path)
            with started(name, tmp_path, port=first.port):
                assert run.wait(900) == 0, (tmp_path / "nel.log").read_text()
        finally:
            end(run)
    assert before < 160
    assert len(read_results(tmp_path / "out" / "r", "facts")) == 160
    accounting = read_json(tmp_path / "out" / "r" / "facts" / "metrics.json")["accounting"]
    assert accounting["n_scored"] == 160


def _with_key() -> dict[str, str]:
    return {**os.environ, "SERVER_KEY": KEY}


def _answered(home: Path) -> int:
    path = home / "out" / "r" / "run.db"
    if not path.exists():
        return 0
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return int(connection.execute("SELECT count(*) FROM steps WHERE role = 0").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error:
        return 0
