"""A served benchmark is judged by the judges of a run; a judge that is down or says nothing gives no reward."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import nel
from nel.apps.http_server import running
from nel.apps.serve.app import Service, serving_app
from nel.apps.serve.judging import open_judges
from nel.apps.serve.samples import read_samples
from nel.apps.serve.scoring import AnswerScorer
from nel.apps.serve.start import scoring_in
from nel.config.load import build_config
from nel.config.settings import flag_assignments
from nel.errors import ConfigError, JudgePreflightError
from nel.sandbox import Sandbox
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_results, write_jsonl

HEAD = """
from nel import ScorerInput, benchmark, scorer
from nel.byob.judge import judge_score

def bench(**more):
    return benchmark(name="judged", dataset="rows.jsonl", prompt="{q}", target_field="a", **more)

"""
SYNC = """
@bench()
@scorer
def judged(sample: ScorerInput) -> dict:
    return {**judge_score(sample), "length": len(sample.response)}
"""
RETURNED = """
@bench()
@scorer
async def judged(sample: ScorerInput) -> dict:
    return judge_score(sample)
"""
GULLIBLE = """
@bench()
@scorer
def judged(sample: ScorerInput) -> dict:
    try:
        return judge_score(sample)
    except Exception:
        return {"correct": 0.0}
"""
ASKED = {"response": "four", "metadata": {"sample_id": "a"}}


def bench(folder: Path, source: str) -> str:
    """Return the path of a benchmark's file that was written beside its row."""
    (folder / "bench.py").write_text(HEAD + source, encoding="utf-8")
    write_jsonl(folder / "rows.jsonl", [{"q": "2+2?", "a": "4", "id": "a"}])
    return str(folder / "bench.py")


@asynccontextmanager
async def judged(name: str, judging: Any, *, timeout_seconds: float = 60) -> AsyncIterator[Any]:
    """Serve a judged benchmark; yields a function that posts to /verify and returns status and answer."""
    served = read_samples(name, dataset=None, samples_max=None, scoring=judging)
    sandbox = Sandbox(build_config({"benchmarks": ["none"]}).sandbox)
    scorer = AnswerScorer(served, sandbox=sandbox, timeout_seconds=30)
    said: list[str] = []
    judges = open_judges(served.plan, timeout_seconds=timeout_seconds, plugin_timeout_seconds=30, say=said.append)
    service = Service(served=served, scorer=scorer, hosts=frozenset({"127.0.0.1"}))
    try:
        async with (
            judges as scorer.judges,
            scorer.running(),
            running(serving_app(service)) as url,
            aiohttp.ClientSession() as session,
        ):

            async def verify(body: Any) -> tuple[int, Any]:
                sent = session.post(f"{url.removesuffix('/v1')}/verify", json=body)
                async with sent as reply:
                    return reply.status, await reply.json()

            yield verify
    finally:
        scorer.close()
        sandbox.close()


@pytest.mark.parametrize("source", [SYNC, RETURNED], ids=["asked", "returned"])
async def test_a_judge_gives_the_reward_that_it_gives_in_a_run(tmp_path: Path, source: str) -> None:
    """The same question is asked, and reward and grade are those of the run."""
    path = bench(tmp_path, source)
    with (
        scripted(lambda *_: answer("four"), models=["m"]) as model,
        scripted(lambda *_: answer("Right.\nGRADE: C"), models=["j"]) as judge,
    ):
        named = {"judge": {"url": judge.url, "model": "j"}}
        settings = {"endpoint": {"url": model.url, "model": "m"}, "output": {"dir": str(tmp_path / "out")}}
        result = await nel.evaluate_async({"benchmarks": [path], **settings, **named})
        (row,) = read_results(result.run_dir, "judged")
        async with judged(path, named) as verify:
            status, said = await verify(ASKED)
        bodies = [call.body for call in judge.of_samples]
    assert (status, said["reward"]) == (200, row["reward"]) == (200, 1.0)
    assert said["scoring_details"]["judge_grade"] == row["scoring_details"]["judge_grade"] == "C"
    assert len(bodies) == 2
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("source", [SYNC, RETURNED, GULLIBLE], ids=["asked", "returned", "caught"])
async def test_a_judge_that_says_no_grade_gives_no_reward(tmp_path: Path, source: str) -> None:
    """An unreadable reply is asked again, then 500; also where the scorer turns the fault into a 0."""
    replies = iter(["Hm.", "Hm.", "GRADE: I"])
    with scripted(lambda *_: answer(next(replies)), models=["j"]) as judge:
        async with judged(bench(tmp_path, source), {"judge": {"url": judge.url, "model": "j"}}) as verify:
            status, said = await verify(ASKED)
            assert (status, "reward" in said, said["error"]["cause"]) == (500, False, "judge")
            status, said = await verify(ASKED)
    assert (status, said["reward"]) == (200, 0.0)


async def test_a_judge_that_is_down_gives_no_reward_until_it_is_back(tmp_path: Path) -> None:
    """503 with the reason, and the same server judges once the judge answers again."""
    down = True

    def script(call: Call, _: int) -> Reply:
        return Reply(status=503, body={"error": {"message": "loading"}}) if down else answer("GRADE: C")

    with scripted(script, models=["j"]) as judge:
        named = {"judge": {"url": judge.url, "model": "j", "outage_probe_seconds": 0.05, "backoff_seconds": 0.01}}
        async with judged(bench(tmp_path, RETURNED), named, timeout_seconds=0.5) as verify:
            status, said = await verify(ASKED)
            assert (status, "reward" in said, said["error"]["cause"]) == (503, False, "judge")
            down = False
            while status != 200:
                status, said = await verify(ASKED)
                assert "reward" in said or status == 503
    assert said["reward"] == 1.0


async def test_a_judge_without_the_model_ends_the_start(tmp_path: Path) -> None:
    """As in a run: before anything is served."""
    with scripted(lambda *_: answer("GRADE: C"), models=["other"]) as judge:
        served = judged(bench(tmp_path, RETURNED), {"judge": {"url": judge.url, "model": "j"}})
        with pytest.raises(JudgePreflightError, match='"j"'):
            await served.__aenter__()


def test_which_judges_are_asked(tmp_path: Path) -> None:
    """A run's configuration, flags in place of its panel, or the benchmark's own judge; else a refusal."""
    (tmp_path / "run.yaml").write_text(
        json.dumps({"judge": {"url": "http://u/v1", "model": "a", "repeats": 3}, "output": {}})
    )
    name = bench(tmp_path, SYNC)
    judging = scoring_in(tmp_path / "run.yaml")
    assert judging == {"judge": {"url": "http://u/v1", "model": "a", "repeats": 3}}
    flags = flag_assignments({"--judge-url": ["http://v/v1"], "--judge-id": ["b", "c"]})
    judge = read_samples(name, dataset=None, samples_max=None, scoring=judging, flags=flags).plan.judge
    assert judge is not None
    assert ([(member.url, member.model) for member in judge.panel], judge.repeats) == (
        [("http://v/v1", "b"), ("http://v/v1", "c")],
        3,
    )
    with pytest.raises(ConfigError, match="give --judge-url and --judge-id"):
        read_samples("simpleqa", dataset=name.replace("bench.py", "rows.jsonl"), samples_max=None)
    own = SYNC.replace("bench()", 'bench(judge={"url": "http://127.0.0.1:1/v1", "model_id": "own"})')
    plan = read_samples(bench(tmp_path, own), dataset=None, samples_max=None).plan
    assert plan.judge is not None
    assert [member.model for member in plan.judge.panel] == ["own"]
