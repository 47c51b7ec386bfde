"""Code of judges' plugins that blocks, hangs or ends the process, against real HTTP servers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import web

from nel.engine.judging.plugin_threads import HUNG_CALLS_MAX, PLUGIN_TIMEOUT, PluginThreads
from nel.errors import JudgeError
from nel.runs.evaluation import evaluate
from tests.engine.judging.test_judges import WAYS, adds, bench, config, honest
from tests.support import distributions
from tests.support.endpoint import Call, Reply, scripted
from tests.support.runs import nel as run_nel
from tests.support.runs import read_results
from tests.support.serving import serve_in_thread
from tests.support.tiers import first_rows

PLUGIN = """
import sys, time
from pathlib import Path
from nel.judges.types import Case, Grade, Judge, Question

ANSWERED = Path(__file__).with_name("answered")

def wait_for_answers(case):
    for _ in range(10_000):
        if ANSWERED.exists() or "plus" not in case.question:
            return
        time.sleep(0.01)
    raise TimeoutError("the model was not asked while the judge computed")

def hang(case):
    if "What is 3 plus" in case.question:
        time.sleep(10_000)

def leave(case):
    if "What is 3 plus" in case.question:
        sys.exit("enough")

def grade(reply):
    return Grade(label=reply[-1], score=float(reply.endswith("C")))

def judge(at, do):
    def ask(case):
        at == "ask" and do(case)
        def read(reply):
            at == "read" and do(case)
            return grade(reply)
        text = f"{case.question}\\n{case.response}"
        return (Question(prompt=text, read=read) for _ in range(1))
    def settle(case, grades):
        at == "settle" and do(case)
        return grades[0]
    return Judge(name="theirs", description="Of a plugin", ask=ask, settle=settle, example_reply="GRADE: C")

"""


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, made: str) -> None:
    """Put a distribution with one judge on the path."""
    entries = {"nel.judges": {name: f"{name}_judge:{name}"}}
    distributions.install(tmp_path / "site", name, entries, modules={f"{name}_judge": f"{PLUGIN}{name} = {made}\n"})
    monkeypatch.syspath_prepend(tmp_path / "site")


@pytest.mark.parametrize("at", ["ask", "read", "settle"])
def test_a_judge_that_blocks_holds_up_no_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """Its first call comes back only when the model has answered everything."""
    name = f"blocks-{at}".replace("-", "_")
    install(tmp_path, monkeypatch, name, f"judge({at!r}, wait_for_answers)")
    path = bench(tmp_path, WAYS["handed over"], n=8)
    seen: list[int] = []

    def answers(call: Call, _: int) -> Reply:
        seen.append(1)
        if len(seen) == 8:
            (tmp_path / "site" / "answered").touch()
        return adds(call, 0)

    with scripted(answers) as model, scripted(honest) as judge:
        settings = config(path, tmp_path, model.url, judge.url, judge={"template": name}, engine={"concurrency": 2})
        settings["engine"]["scorer_timeout_seconds"] = 200
        result = evaluate(settings)
    assert (result.exit_code, result.benchmarks[0].accounting["n_scored"]) == (0, 8)


@pytest.mark.parametrize("at", first_rows(1, ["ask", "read", "settle"]))
def test_a_judge_that_hangs_costs_its_own_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str) -> None:
    """Unscored by judge, the limit named; the others are judged, and the process ends though a thread still hangs."""
    install(tmp_path, monkeypatch, "hangs", f"judge({at!r}, hang)")
    path = bench(tmp_path, WAYS["asked"])
    with scripted(adds) as model, scripted(honest) as judge:
        flags = ("--model-url", model.url, "--model-id", "m", "--judge-url", judge.url, "--judge-id", "j")
        more = ("-O", "judge.template=hangs", "-O", "engine.scorer_timeout_seconds=3", "-o", "out")
        env = distributions.path_with(tmp_path / "site")
        done = run_nel("eval", "run", "--bench", path, *flags, *more, cwd=tmp_path, env=env)
    assert (done.returncode, "unscored by judge (plugin_timeout 1)" in done.stderr) == (3, True), done.stderr
    rows = read_results(next((tmp_path / "out").iterdir()), "judged")
    assert [row["reward"] for row in rows] == [1, 1, 0, None, 1, 1]
    told = rows[3]["outcome"]["detail"]
    assert "took longer than 3 s" in told
    assert "engine.scorer_timeout_seconds" in told


async def test_when_too_many_calls_hang_no_more_are_begun() -> None:
    """Threads that cannot be ended do not grow without bound; once they come back there is room again."""
    threads, come_back, begun = PluginThreads(timeout_seconds=0.05), threading.Event(), []

    def hang() -> None:
        begun.append(1)
        come_back.wait(200)

    calls = [threads.call("a judge", hang) for _ in range(HUNG_CALLS_MAX)]
    try:
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert {one.kind for one in found if isinstance(one, JudgeError)} == {PLUGIN_TIMEOUT}
        with pytest.raises(JudgeError, match=f"not called, since {HUNG_CALLS_MAX} calls of judges still hang"):
            await threads.call("a judge", hang)
        async with asyncio.timeout(60):
            while len(begun) < HUNG_CALLS_MAX:  # noqa: ASYNC110 - threads set no asyncio event
                await asyncio.sleep(0.01)
    finally:
        come_back.set()
    async with asyncio.timeout(60):
        while threads.n_hung:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert len(begun) == HUNG_CALLS_MAX
    threads._timeout_seconds = 60.0  # what works has time
    assert await threads.call("a judge", lambda: 7) == 7


@contextmanager
def crowded(n: int) -> Iterator[str]:
    """Serve a judge that answers only once n questions wait for it; yields its URL."""
    full = asyncio.Event()
    waiting: list[int] = []

    async def reply(request: web.Request) -> web.Response:
        await request.read()
        waiting.append(1)
        if len(waiting) == n:
            full.set()
        await full.wait()
        choice = {"index": 0, "message": {"role": "assistant", "content": "GRADE: C"}, "finish_reason": "stop"}
        return web.json_response({"model": "j", "choices": [choice]})

    app = web.Application()
    app.router.add_post("/v1/chat/completions", reply)
    with serve_in_thread(app) as port:
        yield f"http://127.0.0.1:{port}/v1"


@pytest.mark.slow
def test_hundreds_of_scorers_may_wait_for_their_judge_at_once(tmp_path: Path) -> None:
    """Each blocks a thread of the scorers' process, whose stacks are not the memory that a scorer may take."""
    path = bench(tmp_path, WAYS["asked"], n=700)
    with scripted(adds) as model, crowded(700) as judge:
        settings = config(path, tmp_path, model.url, judge, engine={"preflight": False})
        settings["judge"]["panel"][0]["concurrency"] = 700
        result = evaluate(settings)
    assert (result.exit_code, result.benchmarks[0].accounting["n_scored"]) == (0, 700)
