"""Measures the CPU time of a program, and its idle time: neither running nor waiting for a CPU.

A program must not time out because its machine is busy, so waiting for a CPU counts neither as work
nor as idleness. Waiting for the disk does not either, up to a bound, since a program can keep a
thread in that state on purpose. Sources: cgroup counters (cpuacct.usage or cpu.stat,
memory.oom_control or memory.events) and, of each process, ``/proc/<pid>/task/*/stat`` and
``schedstat`` (nanoseconds run, nanoseconds waited for a CPU).
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

_NANO = 1e-9
_CPU_FILES = (
    "/sys/fs/cgroup/cpuacct/cpuacct.usage",
    "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage",
    "/sys/fs/cgroup/cpu.stat",
)
_MEMORY_FILES = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")

_UNCONFIRMED_SECONDS_MAX = 30.0
"""The longest wait for the disk or a CPU that counts before the kernel's counters confirm it."""
_APART_SECONDS_MAX = 1.0
"""If looks are farther apart, this process did not run either: the container was paused."""


class Counters:
    """The container's counters of CPU time and of processes killed for lack of memory."""

    def __init__(self) -> None:
        self._cpu = _open_first(_CPU_FILES)
        self._memory = _open_first(_MEMORY_FILES)

    def cpu_seconds(self) -> float | None:
        """Return the CPU time of the whole container, None where the engine does not show it."""
        if self._cpu is None:
            return None
        text = os.pread(self._cpu, 4096, 0).decode()
        if text.startswith("usage_usec"):
            return int(text.split()[1]) * 1e-6
        return int(text) * _NANO

    def out_of_memory(self) -> int:
        """Return how many processes were killed for lack of memory."""
        if self._memory is None:
            return 0
        for line in os.pread(self._memory, 4096, 0).decode().splitlines():
            word, _, number = line.partition(" ")
            if word == "oom_kill":
                return int(number)
        return 0


class ThreadState(NamedTuple):
    """One thread as the kernel shows it."""

    number: int
    state: str
    run: int
    """Nanoseconds."""
    waited: int
    """Nanoseconds that it waited for a CPU; the kernel adds a wait once it is over."""


class Watch:
    """Sums up the time of the processes of one run; call `look` every few dozen milliseconds."""

    def __init__(self, counters: Counters, known: frozenset[int]) -> None:
        """Start to count.

        Args:
            known: Processes that are not the run's: supervisor and zygotes.
        """
        self._counters = counters
        self._known = known
        self._start = self._last = time.monotonic()
        self._cpu = counters.cpu_seconds()
        self._own = time.process_time()
        self._counted = (self._cpu or 0.0) - self._own
        self._seen: dict[tuple[int, int], ThreadState] = {}
        self._runs: dict[tuple[int, int], int] = {}
        """Nanoseconds run, by all threads ever seen."""
        self._unconfirmed_seconds = 0.0
        self.tests_cpu_seconds = 0.0
        self.idle_seconds = 0.0

    @property
    def wall_seconds(self) -> float:
        """Return the time since the start."""
        return time.monotonic() - self._start

    def look(self) -> None:
        """Add the time since the last look in which nothing ran or waited for a CPU.

        The kernel counts a wait once the thread gets a CPU. Until then a thread that is ready or in
        a disk wait counts as waiting, within a bound, since a program can look so on purpose.
        """
        now = time.monotonic()
        passed, self._last = now - self._last, now
        tasks = self._tasks()
        unseen_seconds = passed - self._busy(tasks)
        is_waiting = any(task.state in "RD" for task in tasks.values())
        if passed > _APART_SECONDS_MAX:
            unseen_seconds = min(unseen_seconds, 0.0)
        if unseen_seconds < 0 or (
            is_waiting and self._unconfirmed_seconds < _UNCONFIRMED_SECONDS_MAX
        ):
            # Negative: a wait that began before the last look is over, and the kernel confirms it.
            self._unconfirmed_seconds = max(0.0, self._unconfirmed_seconds + unseen_seconds)
        else:
            self.idle_seconds += unseen_seconds
        self._seen = tasks
        self._runs.update((key, task.run) for key, task in tasks.items())

    def note_tests(self, seconds: float) -> None:
        """Note the CPU time of the tests' process, which is not charged to the program."""
        self.tests_cpu_seconds = max(self.tests_cpu_seconds, seconds)

    def cpu_seconds(self, *, without: int | None = None) -> float:
        """Return the CPU time of the run's processes, ended ones included.

        Args:
            without: A process whose time does not count: the one of the tests.
        """
        if without is not None:
            self.tests_cpu_seconds = max(self.tests_cpu_seconds, _run_seconds(without))
        total = self._counters.cpu_seconds()
        if total is None or self._cpu is None:
            return sum(run for (pid, _), run in self._runs.items() if pid != without) * _NANO
        own_seconds = time.process_time() - self._own
        return max(0.0, total - self._cpu - own_seconds - self.tests_cpu_seconds)

    def _tasks(self) -> dict[tuple[int, int], ThreadState]:
        """Return the threads of the run's processes as they are now."""
        return {
            (pid, task.number): task
            for pid in running()
            if pid not in self._known
            for task in _tasks(pid)
        }

    def _busy(self, tasks: dict[tuple[int, int], ThreadState]) -> float:
        """Return the seconds in which a thread ran, or waited for a CPU that other programs had.

        Threads of one program also wait for each other. A second of running can make each of the
        other n - 1 waiting threads wait one second, so that much is subtracted from the sum.
        """
        nothing = ThreadState(0, "", 0, 0)
        pairs = [(self._seen.get(key, nothing), task) for key, task in tasks.items()]
        run = sum(max(0, now.run - before.run) for before, now in pairs)
        waits = [wait for before, now in pairs if (wait := now.waited - before.waited) > 0]
        waited = max([0, *waits, sum(waits) - (len(waits) - 1) * run])
        return (self._run_by_all(run) + waited) * _NANO

    def _run_by_all(self, run: int) -> int:
        """Return the CPU time since the last look, that of ended processes included."""
        total = self._counters.cpu_seconds()
        if total is None:
            return run
        own_seconds = time.process_time()
        since, self._counted = total - own_seconds - self._counted, total - own_seconds
        return max(run, int(since / _NANO))


def running() -> list[int]:
    """Return the processes of the container."""
    return [int(name) for name in os.listdir("/proc") if name[0] in "123456789"]


def _tasks(pid: int) -> list[ThreadState]:
    tasks = []
    try:
        for name in os.listdir(f"/proc/{pid}/task"):
            # "17 (python3) S 1 …": the name, which may hold any bytes, ends at the last bracket.
            stat = _read(f"/proc/{pid}/task/{name}/stat")
            state = stat.rpartition(b")")[2][1:2].decode()
            tasks.append(
                ThreadState(int(name), state, *_schedule(f"/proc/{pid}/task/{name}/schedstat"))
            )
    except OSError:
        return tasks  # it has just ended
    return tasks


def _schedule(path: str) -> tuple[int, int]:
    try:
        run, waited = _read(path).split()[:2]
    except (OSError, ValueError):
        return 0, 0
    return int(run), int(waited)


def _run_seconds(pid: int) -> float:
    return _schedule(f"/proc/{pid}/schedstat")[0] * _NANO


def _read(path: str) -> bytes:
    handle = os.open(path, os.O_RDONLY)
    try:
        return os.read(handle, 1024)
    finally:
        os.close(handle)


def _open_first(paths: tuple[str, ...]) -> int | None:
    for path in paths:
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
    return None
