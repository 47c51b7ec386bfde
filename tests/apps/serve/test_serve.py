"""A served benchmark gives the rewards of a run; what has no score is an error, and who may ask is checked."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import nel
from nel.apps.http_server import LOOPBACK, running
from nel.apps.serve.app import Service, serving_app
from nel.apps.serve.samples import read_samples
from nel.apps.serve.scoring import AnswerScorer
from nel.apps.serve.start import ServeOptions, start
from nel.errors import ConfigError, UsageError
from nel.sandbox import Sandbox
from nel.sandbox.verdict.types import ProgramVerdict
from tests.support.endpoint import answer, scripted
from tests.support.processes import started_nel
from tests.support.runs import read_results, write_jsonl

BENCH = """
from nel import ScorerInput, benchmark, scorer

@benchmark(name="served", dataset="rows.jsonl", prompt="{q}", system_prompt="Be brief.", target_field="gold")
@scorer
def served(sample: ScorerInput) -> dict:
    if sample.response == "raise":
        raise RuntimeError("no")
    if sample.response == "ask":
        return {"correct": sample.model_call_fn("?") == "x"}
    return {"correct": sample.response == sample.target, "extracted": sample.response, "row": sample.metadata["n"]}
"""
PROGRAMS = """
from nel import benchmark, code_sandbox, scorer

@benchmark(name="served", dataset="rows.jsonl", prompt="{q}", target_field="tests", sandbox="python")
@scorer
def served(sample):
    return code_sandbox(sample)
"""
ROWS = [
    {"q": "1+1?", "gold": "2", "n": 1, "id": "a", "tests": "assert x == 1"},
    {"q": "2+2?", "gold": "4", "n": 2, "id": "b"},
    {"gold": "9"},
]


def bench(folder: Path, source: str = BENCH) -> str:
    """Return the path of a benchmark's file that was written beside its rows."""
    (folder / "bench.py").write_text(source, encoding="utf-8")
    write_jsonl(folder / "rows.jsonl", ROWS)
    return str(folder / "bench.py")


@asynccontextmanager
async def serving(name: str, sandbox: Any = None, settings: Sequence[str] = (), **more: Any) -> AsyncIterator[Any]:
    """Serve a benchmark; yields a function that posts a body (or gets, without one) and returns status and answer."""
    served = read_samples(name, dataset=None, samples_max=None, overrides=settings)
    sandbox = sandbox or Sandbox(served.sandbox)
    scorer = AnswerScorer(served, sandbox=sandbox, timeout_seconds=30)
    hosts = LOOPBACK
    try:
        async with (
            scorer.running(),
            running(serving_app(Service(served=served, scorer=scorer, hosts=hosts, **more))) as url,
            aiohttp.ClientSession() as session,
        ):

            async def call(path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
                given = {name.replace("_", "-"): value for name, value in headers.items()}
                method = "GET" if body is None else "POST"
                data = None if body is None else json.dumps(body).encode()
                kind = {} if body is None else {"Content-Type": "application/json"}
                address = f"{url.removesuffix('/v1')}{path}"
                async with session.request(method, address, data=data, headers={**kind, **given}) as reply:
                    return reply.status, await reply.json()

            yield call
    finally:
        scorer.close()
        sandbox.close()


async def test_rewards_are_those_of_a_run(tmp_path: Path) -> None:
    """What is handed out is what a run asks, and each answer gets the reward and the details that a run gives it."""
    path = bench(tmp_path)
    with scripted(lambda call, _: answer("2" if "1+1" in call.text else ""), models=["m"]) as endpoint:
        settings: dict[str, Any] = {"endpoint": {"url": endpoint.url, "model": "m"}, "output": {"dir": str(tmp_path)}}
        result = await nel.evaluate_async({"benchmarks": [path], **settings})
    rows = {row["sample_id"]: row for row in read_results(result.run_dir, "served") if row["reward"] is not None}
    async with serving(path) as call:
        assert await call("/dataset_size") == (200, {"size": 2})
        for idx, given in enumerate(["2", ""]):
            _, seed = await call("/seed_session", {"idx": idx})
            body = {"response": given, "expected": seed["expected_answer"], "metadata": seed["metadata"]}
            status, scored = await call("/verify", body)
            row = rows[seed["metadata"]["sample_id"]]
            assert (status, scored["reward"], scored["extracted_answer"]) == (
                200,
                row["reward"],
                row["extracted_answer"],
            )
            asked = next(sent for sent in endpoint.calls if seed["prompt"] in sent.text)
            assert seed["messages"] == asked.body["messages"]
    assert seed["system"] == "Be brief."
    assert scored["scoring_details"] == {"outcome": "model_failure", "kind": "empty", "detail": ""}


async def test_what_has_no_score_is_an_error_and_never_a_reward(tmp_path: Path) -> None:
    """A scorer that raises or asks for a model fails its own answer; the next one is scored."""
    async with serving(bench(tmp_path)) as call:
        metadata = {"sample_id": "a"}
        for given, cause in (("raise", "scorer"), ("ask", "infra")):
            status, said = await call("/verify", {"response": given, "expected": "2", "metadata": metadata})
            assert (status >= 500, "reward" in said, said["error"]["cause"]) == (True, False, cause)
        status, said = await call("/verify", {"response": "2", "expected": "2", "metadata": metadata})
        assert (status, said["reward"], said["scoring_details"]["row"]) == (200, 1.0, 1.0)


async def test_a_body_of_nemo_gym_is_answered_in_kind(tmp_path: Path) -> None:
    """The answer is in its output or choices; the request is sent back with the reward."""
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "2"}]}
    async with serving(bench(tmp_path)) as call:
        for response in ({"output": [said]}, {"choices": [{"message": {"content": "2"}}]}):
            body = {"response": response, "expected_answer": "2", "metadata": {"sample_id": "a"}}
            status, found = await call("/verify", body)
            assert (status, found["reward"], found["expected_answer"], found["response"]) == (200, 1.0, "2", response)


async def test_a_body_that_names_no_answer_to_a_sample_is_refused(tmp_path: Path) -> None:
    """Nothing is guessed about what an answer is to."""
    bodies = [
        ({"response": "2", "expected": "2", "metadata": {}}, "names no sample"),
        ({"response": "2", "expected": "3", "metadata": {"sample_id": "a"}}, "of another dataset"),
        ({"response": {"output": []}, "metadata": {"sample_id": "a"}}, "is not an answer"),
        ([], "not a JSON object"),
    ]
    async with serving(bench(tmp_path)) as call:
        for body, words in bodies:
            status, found = await call("/verify", body)
            assert (status, words in found["detail"]) == (400, True)
        assert (await call("/seed_session", {"idx": 2}))[0] == 400


async def test_who_may_ask(tmp_path: Path) -> None:
    """Without the token, by another name, or as a form of a page of another site: refused."""
    async with serving(bench(tmp_path), token="right") as call:
        assert (await call("/health"))[0] == 401
        assert (await call("/health", Authorization="Bearer right"))[0] == 200
        assert (await call("/health", Authorization="Bearer right", Host="evil.example"))[0] == 421
        assert (await call("/health", Authorization="Bearer right", Host="[::1]"))[0] == 200
        form = await call("/verify", {}, Authorization="Bearer right", Content_Type="text/plain")
        assert form[0] == 415


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('prompt="{q}"', 'prompt="{turn}", turns_field="q"', "several turns"),
        ('prompt="{q}"', 'prompt="{q}", response_field="q"', "answers in its own rows"),
        ('prompt="{q}"', 'prompt="{q}", solver="react"', "many steps"),
        ('prompt="{q}"', 'prompt="{q}", choices=["2"], endpoint_type="completions_logprob"', "log-likelihood"),
    ],
)
def test_a_benchmark_that_scores_something_else_is_refused(tmp_path: Path, old: str, new: str, problem: str) -> None:
    """One answer to one question is what can be served."""
    with pytest.raises(UsageError, match=problem):
        read_samples(bench(tmp_path, BENCH.replace(old, new)), dataset=None, samples_max=None)


class ProgramsPass:
    """In place of the sandbox: every program is right, by tests in its own process."""

    def submit(self, program: Any) -> Future[ProgramVerdict]:
        """Return the verdict."""
        verdict: Future[ProgramVerdict] = Future()
        verdict.set_result(ProgramVerdict(verdict="passed", mode="shared"))
        return verdict

    def close(self) -> None:
        """Release nothing."""


@pytest.mark.parametrize(("settings", "status"), [((), 200), (("sandbox.strict_verdicts=true",), 503)])
async def test_a_program_is_trusted_as_the_settings_say(tmp_path: Path, settings: Sequence[str], status: int) -> None:
    """A verdict that the program could have forged is no reward where a run would leave it out."""
    async with serving(bench(tmp_path, PROGRAMS), ProgramsPass(), settings) as call:
        answered, body = await call("/verify", {"response": "```python\nx = 1\n```", "metadata": {"sample_id": "a"}})
    assert (answered, body.get("reward")) == (status, 1.0 if status == 200 else None)


def test_a_judged_benchmark_and_an_open_address_are_refused(tmp_path: Path) -> None:
    """A judge is not asked, and an address that others reach needs a token."""
    with pytest.raises(UsageError, match="--token-env"):
        start(ServeOptions(benchmark=bench(tmp_path), host="0.0.0.0"), say=print)  # noqa: S104 - refused
    with pytest.raises(ConfigError, match="judge"):
        read_samples("simpleqa", dataset=str(tmp_path / "rows.jsonl"), samples_max=None)


def test_the_command_serves_until_it_is_stopped(tmp_path: Path) -> None:
    """It says where, leaves out a bad row and says so, writes the export, and ends with 0."""
    command = ("serve", "-b", bench(tmp_path), "--port", "0", "--export-data", str(tmp_path))
    with started_nel(*command, cwd=tmp_path, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(3)]
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    assert said[0].startswith("1 row without a sample, left out")
    assert said[2].startswith("serving served, 2 samples, on http://127.0.0.1:")
    rows = [json.loads(line) for line in (tmp_path / "served.jsonl").read_text().splitlines()]
    assert [row["uuid"] for row in rows] == ["served-a", "served-b"]
