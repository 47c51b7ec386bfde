"""What counts as idle: doing nothing, and not waiting for a CPU or a disk that others keep busy."""

from __future__ import annotations

import pytest

from nel.sandbox.agent import watch as module
from nel.sandbox.agent.watch import Counters, Watch


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(module, "running", lambda: [7])
    return now


def _looked(clock: list[float], monkeypatch: pytest.MonkeyPatch, state: str, seconds: int) -> Watch:
    monkeypatch.setattr(module, "_tasks", lambda pid: [(pid, state, 0, 0)])
    watch = Watch(Counters(), frozenset())
    for _ in range(seconds):
        clock[0] += 1.0
        watch.look()
    return watch


@pytest.mark.parametrize(("state", "idle"), [("R", 0.0), ("S", 10.0), ("D", 0.0), ("Z", 10.0)])
def test_only_who_waits_for_nothing_of_the_machine_is_idle(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, state: str, idle: float
) -> None:
    """Ten seconds in one state: sleeping is idle, running and waiting for the disk are not."""
    assert _looked(clock, monkeypatch, state, 10).idle_seconds == idle


def test_nobody_waits_for_the_disk_for_ever(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A parent that has called vfork looks as if it waited for the disk: after thirty seconds it is idle."""
    watch = _looked(clock, monkeypatch, "D", 40)
    assert (watch.disk_seconds, watch.idle_seconds) == (30.0, 10.0)
