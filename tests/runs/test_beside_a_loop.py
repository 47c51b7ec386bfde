"""Runs that are awaited leave the caller's loop free, and a cancelled one can be resumed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import nel
from tests.support.endpoint import Turnstile, answer, scripted
from tests.support.runs import run_config, sums


def settings(tmp_path: Path, url: str, **engine: Any) -> dict[str, Any]:
    """Return the configuration of a run of twelve sums."""
    return run_config(
        url, [{"name": "gsm8k", "dataset": str(sums(tmp_path / "rows.jsonl", 12))}], tmp_path / "runs", engine=engine
    )


async def test_a_cancelled_run_can_be_resumed(tmp_path: Path) -> None:
    """The cancellation passes once the answers so far are stored; none of them is asked again."""
    turnstile = Turnstile(lambda *_: answer("#### 4"))
    turnstile.hold_after(6)
    with scripted(turnstile, models=["m"]) as endpoint:
        config = settings(tmp_path, endpoint.url, concurrency=1, drain_seconds=0)
        run = asyncio.create_task(nel.evaluate_async(config, on_progress=lambda live: live.done >= 5 and run.cancel()))
        with pytest.raises(asyncio.CancelledError):
            await run
        turnstile.open()
        result = await nel.evaluate_async(config, resume=True)
        assert endpoint.resent() == 1  # the one in flight
    assert (result.exit_code, result.benchmarks[0].accounting["n_scored"]) == (0, 12)


async def test_runs_that_wait_for_each_other_end(tmp_path: Path) -> None:
    """Two at once: the second is let through by what the caller does when the first has ended."""
    turnstile = Turnstile(lambda *_: answer("#### 4"))
    turnstile.hold_after(3)
    with scripted(turnstile, models=["m"]) as held, scripted(lambda *_: answer("#### 4"), models=["m"]) as free:
        slow = asyncio.create_task(nel.evaluate_async(settings(tmp_path, held.url)))
        quick = await nel.evaluate_async(settings(tmp_path, free.url))
        assert not slow.done()
        turnstile.open()
        results = [quick, await slow]
    assert [result.exit_code for result in results] == [0, 0]
