"""Scorers' faults stay with their own sample, in time."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from nel.benchmarks.base import Benchmark
from nel.engine.scoring import ToScore, score_all
from nel.prompts import compile_template
from nel.types import Response, Sample, Scored, ScorerInput, Unscored


def _items(scorer: Any, n: int) -> list[ToScore]:
    benchmark = Benchmark(
        name="b", description="", dataset="x", prompt=compile_template("{q}", name="prompt"), scorer=scorer
    )
    return [
        ToScore(
            1, idx, 0, Sample(id=str(idx), input="q", target=idx, metadata={"n": idx}), Response(text="x"), benchmark
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


async def test_a_scorer_that_hangs_loses_its_own_sample_only() -> None:
    """A scorer stuck on one sample is left behind; the next samples are scored by a new thread."""
    gate = threading.Event()

    def stuck_on_one(sample: ScorerInput) -> bool:
        if sample.target == 1:
            gate.wait(30)
        return True

    outcomes = await score_all(_items(stuck_on_one, 4), timeout_seconds=0.1)
    gate.set()
    assert [type(outcome).__name__ for outcome in outcomes] == ["Scored", "Unscored", "Scored", "Scored"]
    assert isinstance(outcomes[1], Unscored)
    assert (outcomes[1].cause, outcomes[1].kind) == ("scorer", "timeout")


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
    """SystemExit, a cancellation of its own, anything: one sample is unscored, the others are scored, nobody exits."""

    async def raises_on_one(sample: ScorerInput) -> bool:
        if sample.target == 1:
            raise error
        return True

    outcomes = await score_all(_items(raises_on_one, 3), timeout_seconds=5)
    assert [type(outcome).__name__ for outcome in outcomes] == ["Scored", "Unscored", "Scored"]


async def test_an_async_scorer_that_blocks_or_swallows_its_cancellation_is_left_behind() -> None:
    """Neither a blocking call nor a loop that ignores cancellation can hold the run."""
    gate = threading.Event()

    async def blocks(_: ScorerInput) -> bool:
        gate.wait(30)
        return True

    outcomes = await score_all(_items(blocks, 2), timeout_seconds=0.05)
    gate.set()
    assert {outcome.kind for outcome in outcomes if isinstance(outcome, Unscored)} == {"timeout"}


async def test_a_thread_that_was_left_behind_scores_nothing_more() -> None:
    """After a hang each later sample is scored once, by the new thread alone."""
    gate = threading.Event()
    seen: list[int] = []

    def slow_on_first(sample: ScorerInput) -> bool:
        if sample.target == 0:
            gate.wait(30)
        else:
            seen.append(sample.target)
        return True

    await score_all(_items(slow_on_first, 20), timeout_seconds=0.05)
    gate.set()
    await score_all(_items(lambda _: True, 5), timeout_seconds=5)
    assert seen == list(range(1, 20))
