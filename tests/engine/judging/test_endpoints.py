"""How many samples may wait for judges, and what is reported of a judge that is down."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from nel.config.schema import EndpointConfig, ModelConfig
from nel.engine.judging.endpoints import SLOTS_WITHOUT_JUDGE, JudgeEndpoint, share_slots
from nel.engine.progress import Progress
from nel.engine.scorers.call import SLOTS
from nel.errors import JudgeError
from nel.models.client import Client
from nel.runs.evaluation import evaluate
from tests.engine.judging.test_judges import WAYS, adds, bench, config
from tests.simulation.loop import Clock, run_virtually
from tests.support.endpoint import Call, Reply, scripted
from tests.support.runs import nel as run_nel


def judge_endpoints(*concurrencies: int) -> list[JudgeEndpoint]:
    """Return an endpoint for each judge."""
    found = []
    for number, concurrency in enumerate(concurrencies):
        member = ModelConfig(url=f"http://judge-{number}/v1", model=f"j{number}", concurrency=concurrency)
        found.append(JudgeEndpoint.of(Client(member, api_key=None, connections=concurrency), concurrency))
    return found


@pytest.mark.parametrize("concurrencies", [(4096,), (4096, 4096, 4096), (1, 4096)])
def test_all_judges_together_leave_room_for_answers(concurrencies: tuple[int, ...]) -> None:
    """However many judges go down, slots stay free for other samples, and each judge has enough to be seen down."""
    found = judge_endpoints(*concurrencies)
    share_slots(found)
    assert min(one.slots.free for one in found) >= 3
    assert sum(one.slots.free for one in found) <= SLOTS - SLOTS_WITHOUT_JUDGE


async def test_waiters_for_a_slot_can_be_rejected() -> None:
    """Slots are given in the order of arrival; a rejected waiter is parked and takes no slot."""
    (one,) = judge_endpoints(1)
    one.slots.free = 1
    await one.slots.acquire()
    waiting = [asyncio.ensure_future(one.slots.acquire()) for _ in range(3)]
    await asyncio.sleep(0)
    one.slots.release()
    await waiting[0]
    one.slots.reject_waiters()
    for task in waiting[1:]:
        with pytest.raises(JudgeError, match="judged later"):
            await task
    one.slots.release()
    assert one.slots.free == 1


def test_a_judge_that_does_not_answer_is_stalled() -> None:
    """Once all slots are taken and no request has ended for a while; not before, and not the evaluated model."""

    async def look() -> list[bool]:
        found = []
        for one in (*judge_endpoints(1), itself):
            one.slots.free = 1
            await one.slots.acquire()
            with one.request_in_flight():
                await asyncio.sleep(9)
                found.append(one.is_stalled)
                await asyncio.sleep(2)
                found.append(one.is_stalled)
            found.append(one.is_stalled)
        return found

    itself = JudgeEndpoint.of(Client(EndpointConfig(url="http://m/v1", model="m"), api_key=None, connections=1), 1)
    found = run_virtually(look(), Clock(), started=lambda loop: None, died=lambda: None)
    assert found == [False, True, False, False, False, False]


def down(call: Call, _: int) -> Reply:
    """Answer no request."""
    return Reply(status=503, body={"error": {"message": "no GPU left, key sk-not-to-be-shown"}})


def test_a_judge_that_is_down_is_named_when_it_happens(tmp_path: Path) -> None:
    """With its URL and its error, on stderr and in run.log, before the run ends; the key is in neither."""
    path = bench(tmp_path, WAYS["asked"], n=20)
    with scripted(adds) as model, scripted(down) as judge:
        flags = ("--model-url", model.url, "--model-id", "m", "--judge-url", judge.url, "--judge-id", "j")
        judged = ("--judge-api-key-env", "KEY", "-O", "judge.panel.0.outage_seconds_max=4", "-o", "out")
        env = {"KEY": "sk-not-to-be-shown"}
        done = run_nel("eval", "run", "--bench", path, *flags, *judged, cwd=tmp_path, env=env)
    assert done.returncode == 75, done.stderr
    (line,) = [
        line for line in done.stderr.splitlines() if "judge j is down" in line and "answers are kept, and" in line
    ]
    assert f"{judge.url}: " in line
    assert "no GPU left" in line
    assert done.stderr.index(line) < done.stderr.index("unscored by judge")
    log = next((tmp_path / "out").iterdir()).joinpath("run.log").read_text()
    (told,) = [line for line in log.splitlines() if "outage_started" in line]
    assert judge.url in told
    assert "no GPU left" in told
    assert "sk-not-to-be-shown" not in done.stderr + log


def test_a_judge_that_is_no_longer_served_is_named(tmp_path: Path) -> None:
    """One that has judged and then knows its model no more refuses every question: that is said with what it says."""
    path = bench(tmp_path, WAYS["asked"], n=40)

    def unloaded(call: Call, _: int) -> Reply:
        if len(judge.calls) < 5:
            return Reply(body={"choices": [{"message": {"content": "GRADE: C"}, "finish_reason": "stop"}]})
        return Reply(status=404, body={"error": {"message": "the model j is not loaded"}})

    progress = Progress()
    with scripted(adds) as model, scripted(unloaded) as judge:
        settings = config(path, tmp_path, model.url, judge.url, engine={"preflight": False, "concurrency": 2})
        settings["judge"]["panel"][0]["concurrency"] = 1  # else an early verdict may be read after the last refusal
        evaluate(settings, progress=progress)
    assert progress.judges is not None
    assert progress.judges.problems == [
        f"judge judge-0 refuses every question: {judge.url}: HTTP 404: the model j is not loaded"
    ]
