"""One step of a job: runs its processes to their end, or to the breach of a limit."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from nel.sandbox.isolation.agent.processes import SWEEP_SECONDS_MAX, WORK, Processes
from nel.sandbox.isolation.agent.watch import Watch

if TYPE_CHECKING:
    from nel.sandbox.isolation.agent import channel

READ_BYTES = 1 << 16
_LOOK_SECONDS = 0.05
_KEEP_BYTES = 8 << 10
"""Of the head and of the tail of an output that is not kept as a whole."""
_TESTS_PROCESSES = 64


class Output:
    """What a program writes to one descriptor: all of it up to a limit, or its head and tail."""

    def __init__(self, handle: int, *, keep_all: bool) -> None:
        self.handle = handle
        self.size = 0
        self._keep_all = keep_all
        self._head = bytearray()
        self._tail = b""

    def take(self) -> bool:
        """Read what is there; return False at its end."""
        try:
            data = os.read(self.handle, READ_BYTES)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        self.size += len(data)
        if self._keep_all:
            self._head += data
        else:
            room = _KEEP_BYTES - len(self._head)
            self._head += data[:room]
            if len(data) > room:
                self._tail = (self._tail + data[room:])[-_KEEP_BYTES:]
        return bool(data)

    def clip(self, limit: int) -> str | bytes:
        """Return what was kept: all of it as it came, or head and tail as text."""
        if self._keep_all:
            return bytes(self._head[:limit])
        data = bytes(self._head[:limit])
        if self._tail:
            left_out = self.size - len(self._head) - len(self._tail)
            data += (b"\n[... %d bytes ...]\n" % left_out if left_out else b"") + self._tail
        return data.decode("utf-8", "backslashreplace")


class Run:
    """The processes of one step, from their start to their end or the breach of a limit."""

    def __init__(self, processes: Processes, job: channel.Message, limits: channel.Message) -> None:
        self.processes = processes
        self.limits = limits
        self.reason: str | None = None
        self.tests_pid: int | None = None
        self._oom_before = processes.counters.out_of_memory()
        self._poll = select.poll()
        self._readers: dict[int, Callable[[], bool]] = {}
        self.watch = Watch(processes.counters, processes.known)
        with processes.as_user(processes.program_user):
            out, self.out_handle = os.pipe()
            err, self.err_handle = os.pipe()
        self.out = Output(out, keep_all=bool(job.get("keep_output")))
        self.err = Output(err, keep_all=False)
        for output in (self.out, self.err):
            os.set_blocking(output.handle, False)
            self.read(output.handle, output.take)
        self._poll.register(0, select.POLLIN | select.POLLHUP)

    def request(
        self, what: str, *, is_tests: bool = False, command: list[str] | None = None
    ) -> channel.Message:
        """Return the message that makes a zygote start a process."""
        user, limits = self.processes.program_user, self.limits
        if is_tests:
            user = self.processes.tests_user
            limits = {
                "files": 256,
                "file_bytes": self.limits["file_bytes"],
                "processes": _TESTS_PROCESSES,
            }
        return {
            "do": what,
            "is_tests": is_tests,
            "user": user,
            "limits": limits,
            "directory": WORK,
            "environment": self.limits.get("environment", {}),
            "command": command,
        }

    def read(self, handle: int, take: Callable[[], bool]) -> None:
        """Call `take` whenever there is something to read, until it returns False."""
        self._readers[handle] = take
        self._poll.register(handle, select.POLLIN | select.POLLHUP)

    def forget(self, handle: int) -> None:
        """Stop reading; the opener closes it."""
        if self._readers.pop(handle, None) is not None:
            self._poll.unregister(handle)

    def until(self, is_done: Callable[[], bool]) -> None:
        """Wait until the predicate holds or a limit is exceeded."""
        for owner in (self.processes.programs, self.processes.tests):
            self._poll.register(owner.socket.fileno(), select.POLLIN | select.POLLHUP)
        looked_at = time.monotonic()
        while not is_done() and self.reason is None:
            for handle, _ in self._poll.poll(int(_LOOK_SECONDS * 1000)):
                self._take(handle)
            if time.monotonic() - looked_at >= _LOOK_SECONDS:
                looked_at = time.monotonic()
                self._look()

    def _take(self, handle: int) -> None:
        if handle == 0:
            # The host sends nothing during a step: what can be read here is the end of its pipe.
            if not os.read(0, 1):
                os._exit(0)  # the host is gone
            raise SystemExit("the host spoke out of turn")
        for owner in (self.processes.programs, self.processes.tests):
            if handle == owner.socket.fileno():
                owner.take()
                return
        if not self._readers[handle]():
            self._poll.unregister(handle)
            del self._readers[handle]
        if self.out.size + self.err.size > self.limits["output_bytes"]:
            self.reason = "output"

    def _look(self) -> None:
        self.watch.look()
        cpu = self.watch.cpu_seconds(without=self.tests_pid)
        if cpu > self.limits["cpu_seconds"]:
            self.reason = "cpu"
        elif self.watch.idle_seconds > self.limits["idle_seconds"]:
            self.reason = "idle"
        elif self.watch.wall_seconds > self.limits["wall_seconds_max"]:
            self.reason = "overloaded"
        elif self.watch.tests_cpu_seconds > 2 * self.limits["cpu_seconds"] + 5:
            # The tests hang on the program's answer; twice its limit and a start of Python.
            self.reason = "cpu"

    def facts(self) -> channel.Message:
        """Kill the program if it still runs, and return the facts that its verdict is made from."""
        programs = self.processes.programs
        self.watch.note_tests(
            (self.processes.tests.ending or {}).get("cpu_seconds", 0.0) if self.tests_pid else 0.0
        )
        cpu = self.watch.cpu_seconds(without=self.tests_pid)
        self.processes.kill(self.processes.program_user)
        self._drain()
        oom = self.processes.counters.out_of_memory() - self._oom_before
        limit = self.limits["output_bytes"]
        return {
            "reason": self.reason,
            "ending": programs.ending,
            "cpu_seconds": max(cpu, (programs.ending or {}).get("cpu_seconds", 0.0)),
            "idle_seconds": self.watch.idle_seconds,
            "wall_seconds": self.watch.wall_seconds,
            "out_of_memory": oom,
            "stdout": self.out.clip(limit),
            "stderr": self.err.clip(limit),
            "output_bytes": self.out.size + self.err.size,
        }

    def _drain(self) -> None:
        programs = self.processes.programs
        if programs.child is not None:
            if not select.select([programs.socket], [], [], SWEEP_SECONDS_MAX)[0]:
                raise SystemExit("a killed process does not end")
            programs.take()
        for output in (self.out, self.err):
            if output.handle in self._readers:
                with suppress(OSError):
                    while output.take() and select.select([output.handle], [], [], 0)[0]:
                        if output.size > self.limits["output_bytes"] + (1 << 20):
                            break
            os.close(output.handle)
        if self.reason is None and self.out.size + self.err.size > self.limits["output_bytes"]:
            self.reason = "output"
