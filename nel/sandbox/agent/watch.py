"""How much of its time a program has used: CPU time, and time in which it did nothing at all.

A busy machine makes a program wait, not time out: waiting for a CPU counts neither as work nor as idleness, nor does
waiting for the disk, up to a bound, since a program can look so on purpose. Sources:
cgroup counters (cpuacct.usage or cpu.stat, memory.oom_control or memory.events) and, of each process,
``/proc/<pid>/task/*/stat`` and ``schedstat`` (nanoseconds run, nanoseconds waited for a CPU).
"""

from __future__ import annotations

import os
import time

_NANO = 1e-9
_CPU_FILES = (
    "/sys/fs/cgroup/cpuacct/cpuacct.usage",
    "/sys/fs/cgroup/cpu,cpuacct/cpuacct.usage",
    "/sys/fs/cgroup/cpu.stat",
)
_MEMORY_FILES = ("/sys/fs/cgroup/memory/memory.oom_control", "/sys/fs/cgroup/memory.events")

_DISK_SECONDS_MAX = 30.0
"""So long a program may wait for the disk without being idle; a parent that has called vfork looks the same."""


class Counters:
    """The container's own counters of CPU time and of processes ended for lack of memory."""

    def __init__(self) -> None:
        """Open them."""
        self._cpu = _opened(_CPU_FILES)
        self._memory = _opened(_MEMORY_FILES)

    @property
    def are_there(self) -> tuple[bool, bool]:
        """Return whether CPU time and memory ends can be read."""
        return self._cpu is not None, self._memory is not None

    def cpu_seconds(self) -> float | None:
        """Return the CPU time of the whole container, None where the engine does not show it."""
        if self._cpu is None:
            return None
        text = os.pread(self._cpu, 4096, 0).decode()
        if text.startswith("usage_usec"):
            return int(text.split()[1]) * 1e-6
        return int(text) * _NANO

    def out_of_memory(self) -> int:
        """Return how many processes were ended for lack of memory."""
        if self._memory is None:
            return 0
        for line in os.pread(self._memory, 4096, 0).decode().splitlines():
            word, _, number = line.partition(" ")
            if word == "oom_kill":
                return int(number)
        return 0


class Watch:
    """Adds up what the processes of one run do; call `look` every few dozen milliseconds."""

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
        self._seen: dict[tuple[int, int], tuple[int, int]] = {}
        self.tests_cpu_seconds = 0.0
        self.idle_seconds = 0.0
        self.disk_seconds = 0.0

    @property
    def wall_seconds(self) -> float:
        """Return the time since the start."""
        return time.monotonic() - self._start

    def look(self) -> None:
        """Note how long nothing ran and nothing wanted to."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        busy, states = self._busy()
        if "R" in states:
            return
        unused = max(0.0, passed - busy)
        if "D" in states and self.disk_seconds < _DISK_SECONDS_MAX:
            self.disk_seconds += unused
        else:
            self.idle_seconds += unused

    def note_tests(self, seconds: float) -> None:
        """Note the CPU time of the tests' process, which is charged to no program."""
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
            return sum(run for (pid, _), (run, _) in self._seen.items() if pid != without) * _NANO
        own = time.process_time() - self._own
        return max(0.0, total - self._cpu - own - self.tests_cpu_seconds)

    def _busy(self) -> tuple[float, set[str]]:
        """Return seconds run or waited for a CPU since the last look, and the states of all threads now."""
        busy, states = 0, set()
        for pid in running():
            if pid in self._known:
                continue
            for task, state, run, waited in _tasks(pid):
                before = self._seen.get((pid, task), (0, 0))
                busy += max(0, run - before[0]) + max(0, waited - before[1])
                self._seen[pid, task] = (run, waited)
                states.add(state)
        return busy * _NANO, states


def running() -> list[int]:
    """Return the processes of the container."""
    return [int(name) for name in os.listdir("/proc") if name[0] in "123456789"]


def _tasks(pid: int) -> list[tuple[int, str, int, int]]:
    found = []
    try:
        for name in os.listdir(f"/proc/{pid}/task"):
            state = _read(f"/proc/{pid}/task/{name}/stat").rpartition(b")")[2][1:2].decode()
            run, waited = _schedule(f"/proc/{pid}/task/{name}/schedstat")
            found.append((int(name), state, run, waited))
    except OSError:
        return found  # it has just ended
    return found


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


def _opened(paths: tuple[str, ...]) -> int | None:
    for path in paths:
        try:
            return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
    return None
