"""What counts as idle: doing nothing, and not waiting for a CPU or a disk that others keep busy."""

from __future__ import annotations

import pytest

from nel.sandbox.isolation.agent import watch as module
from nel.sandbox.isolation.agent.watch import Counters, ThreadState, Watch


class _Uncounted(Counters):
    """A container whose engine shows no counters."""

    def cpu_seconds(self) -> None:
        return None


NO_COUNTERS = _Uncounted()
SECOND = 1_000_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(module, "running", lambda: [7])
    return now


def _looked(clock: list[float], monkeypatch: pytest.MonkeyPatch, state: str, seconds: int) -> Watch:
    monkeypatch.setattr(module, "_tasks", lambda pid: [ThreadState(pid, state, 0, 0)])
    watch = Watch(NO_COUNTERS, frozenset())
    for _ in range(seconds):
        clock[0] += 1.0
        watch.look()
    return watch


@pytest.mark.parametrize(("state", "idle"), [("R", 0.0), ("S", 10.0), ("D", 0.0), ("Z", 10.0)])
def test_only_what_waits_for_nothing_of_the_machine_is_idle(
    clock: list[float], monkeypatch: pytest.MonkeyPatch, state: str, idle: float
) -> None:
    """Ten seconds in one state: sleeping is idle, running and waiting for the disk are not."""
    assert _looked(clock, monkeypatch, state, 10).idle_seconds == idle


def test_a_container_that_is_paused_is_not_idle(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the program nor what looks at it ran for a minute."""
    watch = _looked(clock, monkeypatch, "S", 2)
    clock[0] += 60.0
    watch.look()
    assert watch.idle_seconds == 2.0


def test_no_wait_for_the_disk_lasts_for_ever(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A parent that has called vfork looks as if it waited for the disk: after thirty seconds it is idle."""
    watch = _looked(clock, monkeypatch, "D", 40)
    assert watch.idle_seconds == 10.0


def _looked_at(clock: list[float], monkeypatch: pytest.MonkeyPatch, *looks: list[ThreadState]) -> Watch:
    """Look once a second, at these threads in turn."""
    watch = Watch(NO_COUNTERS, frozenset())
    for tasks in looks:
        monkeypatch.setattr(module, "_tasks", lambda _, tasks=tasks: tasks)
        clock[0] += 1.0
        watch.look()
    return watch


def test_ready_only_at_each_look_is_idle(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that wakes up to be seen and sleeps again waits for nothing: thirty seconds are believed."""
    looks = [[ThreadState(7, "R", turn, 0)] for turn in range(43)]
    assert _looked_at(clock, monkeypatch, *looks).idle_seconds == pytest.approx(12.0)


def test_a_long_wait_that_shows_late_is_not_idle(clock: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that gets no turn for ten seconds has waited for them, which the kernel says when it gets one."""
    waits = [[ThreadState(7, "R", 0, 0)]] * 10
    watch = _looked_at(clock, monkeypatch, *waits, [ThreadState(7, "S", 0, 11 * SECOND)])
    assert watch.idle_seconds == pytest.approx(0.0)


def test_threads_that_wait_for_each_other_do_not_wait_for_the_machine(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 64 threads that all wake up and run for 10 ms in turn, each waits for its siblings."""
    looks = [
        [ThreadState(n, "S", turn * SECOND // 100, turn * n * SECOND // 100) for n in range(64)] for turn in range(11)
    ]
    monkeypatch.setattr(module, "running", lambda: [7])
    short = [[task._replace(run=task.run // 100, waited=task.waited // 100) for task in look] for look in looks]
    assert _looked_at(clock, monkeypatch, *short).idle_seconds > 9.0


def test_threads_that_end_unseen_may_have_waited_for_so_long(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long a thread waited that has ended is not known; thirty seconds of that are forgiven, and no more."""
    looks = [[ThreadState(n, "R", 0, 0)] for n in range(42)]
    assert _looked_at(clock, monkeypatch, *looks).idle_seconds == pytest.approx(12.0)
