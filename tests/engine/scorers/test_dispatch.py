"""Scorers' faults stay with their own sample, in time."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import threading
import time
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import ScoringTask
from nel.engine.scorers.dispatch import Scorers
from nel.engine.scorers.supervisor import WorkerSupervisor
from nel.prompts import compile_template
from nel.scorers import f1, match, multi_scorer
from nel.scoring import any_of, exact_match, numeric_match, scorer
from nel.scoring.declarations import runs_in_process
from nel.types import Response, Sample, SampleKey, Scored, ScorerInput, Unscored
from tests.support.scoring import score_all


def _items(scorer: Any, n: int) -> list[ScoringTask]:
    benchmark = Benchmark(
        name="b", description="", dataset="x", prompt=compile_template("{q}", name="prompt"), scorer=scorer
    )
    return [
        ScoringTask(
            SampleKey(1, idx, 0),
            Sample(id=str(idx), input="q", target=idx, metadata={"n": idx}),
            Response(text="x"),
            benchmark,
        )
        for idx in range(n)
    ]


async def test_order_is_kept_and_sync_and_async_mix() -> None:
    """Outcomes come in the order of the items, whichever kind of scorer made them."""

    async def later(sample: ScorerInput) -> dict[str, Any]:
        return {"score": sample.target / 10}

    def now(sample: ScorerInput) -> dict[str, Any]:
        return {"score": sample.target}

    batch = [*_items(now, 2), *_items(later, 2)]
    outcomes = await score_all(batch, timeout_seconds=5)
    assert [outcome.reward for outcome in outcomes if isinstance(outcome, Scored)] == [0.0, 1.0, 0.0, 0.1]


async def test_a_row_that_a_scorer_changes_is_its_own_copy() -> None:
    """A scorer that writes into the metadata changes no other sample's."""

    def vandal(sample: ScorerInput) -> dict[str, Any]:
        seen = dict(sample.metadata)
        sample.metadata.clear()
        return {"correct": seen == {"n": sample.target}}

    items = _items(vandal, 3)
    for _ in range(2):
        outcomes = await score_all(items, timeout_seconds=5)
        assert [outcome.reward for outcome in outcomes if isinstance(outcome, Scored)] == [1.0, 1.0, 1.0]


async def test_what_a_scorer_raises_is_kept() -> None:
    """The traceback of a scorer's own bug is in the outcome, SystemExit included."""

    def broken(_: ScorerInput) -> bool:
        raise SystemExit(0)

    (outcome,) = await score_all(_items(broken, 1), timeout_seconds=5)
    assert isinstance(outcome, Unscored)
    assert (outcome.cause, outcome.kind) == ("scorer", "raised")
    assert "SystemExit" in outcome.detail


@pytest.mark.parametrize("error", [SystemExit(0), asyncio.CancelledError(), ValueError("mine"), KeyboardInterrupt()])
async def test_what_an_async_scorer_raises_stays_with_its_sample(error: BaseException) -> None:
    """SystemExit, a cancellation of its own, anything: one sample is unscored, the others are scored, none exits."""

    async def raises_on_one(sample: ScorerInput) -> bool:
        if sample.target == 1:
            raise error
        return True

    outcomes = await score_all(_items(raises_on_one, 3), timeout_seconds=5)
    assert [type(outcome).__name__ for outcome in outcomes] == ["Scored", "Unscored", "Scored"]


def _exits(sample: ScorerInput) -> bool:
    if sample.target == 1:
        os._exit(0)
    return True


def _holds_the_interpreter(sample: ScorerInput) -> bool:
    if sample.target == 1:
        re.match(r"(a+)+$", "a" * 40 + "b")
    return True


def _takes_all_memory(sample: ScorerInput) -> bool:
    if sample.target == 1:
        bytearray(10 << 30)
    return True


async def _exits_async(sample: ScorerInput) -> bool:
    await asyncio.sleep(0.01)
    return _exits(sample)


async def _blocks_the_loop(sample: ScorerInput) -> bool:
    if sample.target == 1:
        time.sleep(1000)  # noqa: ASYNC251 - what the test is about
    return True


@pytest.mark.parametrize(
    ("scorer", "kind"),
    [
        (_holds_the_interpreter, "timeout"),
        (_takes_all_memory, "raised"),
        (_exits_async, "died"),
        (_blocks_the_loop, "timeout"),
    ],
)
async def test_a_scorer_that_ends_or_blocks_its_process_loses_its_own_sample_only(scorer: Any, kind: str) -> None:
    """Exit, crash, a runaway regular expression and greed cost one sample; all others are scored."""
    outcomes = await score_all(_items(scorer, 6), timeout_seconds=3)
    assert [type(outcome).__name__ for outcome in outcomes] == ["Scored", "Unscored", *["Scored"] * 4]
    assert isinstance(outcomes[1], Unscored)
    assert (outcomes[1].cause, outcomes[1].kind) == ("scorer", kind)


async def test_an_answer_that_arrives_while_the_process_is_replaced_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for the next process, and does not keep the suspects from being tried."""
    first, ends_it, late = _items(_exits, 3)
    scorers = Scorers([first.benchmark])
    found: dict[int, Any] = {}
    finished = asyncio.Event()

    def deliver(outcomes: list[Any]) -> None:
        found.update((item.key.idx, outcome) for item, outcome in outcomes)
        if len(found) == 3:
            finished.set()

    replace_process = WorkerSupervisor._on_worker_death

    async def put_and_replace(supervisor: WorkerSupervisor) -> None:
        if 2 not in {item.key.idx for _, item in supervisor._items.values()} | set(found):
            asyncio.get_running_loop().call_soon(scorers.put, late)
        await replace_process(supervisor)

    monkeypatch.setattr(WorkerSupervisor, "_on_worker_death", put_and_replace)
    running = asyncio.create_task(scorers.run(timeout_seconds=30, deliver=deliver, answer=_no_answer))
    scorers.put(first)
    scorers.put(ends_it)
    await asyncio.wait_for(finished.wait(), 20)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    scorers.close()
    assert [type(found[idx]).__name__ for idx in range(3)] == ["Scored", "Unscored", "Scored"]


async def test_an_async_scorer_that_is_too_slow_is_cancelled_and_the_others_go_on() -> None:
    """A slow await costs its sample after the limit; concurrent samples keep their results."""

    async def slow_on_one(sample: ScorerInput) -> dict[str, Any]:
        await asyncio.sleep(600 if sample.target == 1 else 0.05)
        return {"score": sample.target}

    outcomes = await score_all(_items(slow_on_one, 20), timeout_seconds=3)
    assert isinstance(outcomes[1], Unscored)
    assert outcomes[1].kind == "timeout"
    assert [outcome.reward for outcome in outcomes if isinstance(outcome, Scored)] == [0, *range(2, 20)]


def test_a_scorer_declares_that_it_needs_no_process() -> None:
    """A rule of nel or a user's, unless a function among its options or a member of it does not."""
    assert runs_in_process(exact_match)
    assert runs_in_process(match(numeric=True))
    assert runs_in_process(any_of(exact_match, numeric_match))
    assert not runs_in_process(f1(answer_fn=str.upper))
    assert not runs_in_process(any_of(exact_match, _exits))
    assert not runs_in_process(multi_scorer([match()], lambda scores: scores[0]))
    assert not runs_in_process(_exits)
    assert runs_in_process(partial(scorer(in_process=True)(lambda sample: True)))
    assert not runs_in_process(scorer(in_process=True, asks_judge=True)(lambda sample: True))


async def test_turns_are_scored_one_by_one_and_averaged() -> None:
    """A conversation is scored turn by turn, with what was said so far; the reward is the mean."""

    def right(sample: ScorerInput) -> dict[str, Any]:
        assert sample.conversation is not None
        assert sample.turn_index is not None
        assert sample.conversation[-1]["content"] == sample.response
        assert len(sample.conversation) == 2 * (sample.turn_index + 1)
        return {"correct": sample.response == sample.target}

    said = [("user", "2?"), ("assistant", "2"), ("user", "3?"), ("assistant", "4")]
    conversation = tuple({"role": role, "content": content} for role, content in said)
    (item,) = _items(right, 1)
    sample = replace(item.sample, target=["2", "3"], turns=("3?",))
    (outcome,) = await score_all([replace(item, sample=sample, conversation=conversation)], timeout_seconds=5)
    assert isinstance(outcome, Scored)
    assert outcome.reward == 0.5
    assert outcome.metrics == {"correct": 0.5, "correct_turn_1": 1.0, "correct_turn_2": 0.0}


async def test_a_run_that_stops_while_its_worker_starts_leaves_nothing_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that starts the worker cannot be cancelled: what it opens is closed with the scorers."""

    def right(sample: ScorerInput) -> bool:
        return True

    (item,) = _items(right, 1)
    scorers = Scorers([item.benchmark])
    server = scorers._fork_server
    assert server is not None
    start, begun, stopped = server.start_worker, threading.Event(), threading.Event()
    opened: list[socket.socket] = []

    def start_slowly() -> socket.socket:
        begun.set()
        stopped.wait()
        opened.append(start())
        return opened[0]

    monkeypatch.setattr(server, "start_worker", start_slowly)
    running = asyncio.create_task(scorers.run(timeout_seconds=5, deliver=lambda _: None, answer=_no_answer))
    scorers.put(item)
    await asyncio.to_thread(begun.wait)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    stopped.set()
    await asyncio.get_running_loop().shutdown_default_executor()
    scorers.close()
    assert [one.fileno() for one in opened] == [-1]


async def test_without_its_process_a_scorer_is_unscored_and_nothing_hangs() -> None:
    """When the process that forks workers is killed, each sample says so."""

    def right(sample: ScorerInput) -> bool:
        return True

    items = _items(right, 3)
    scorers = Scorers([items[0].benchmark])
    assert scorers._fork_server is not None
    os.kill(scorers._fork_server._pid, signal.SIGKILL)
    outcomes = await score_all(items, timeout_seconds=5, scorers=scorers)
    assert [isinstance(one, Unscored) and (one.cause, one.kind) for one in outcomes] == [("scorer", "unavailable")] * 3


async def _no_answer(*_: Any) -> None:
    raise AssertionError("no scorer asks")
