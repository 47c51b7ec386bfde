"""The executor of several processes on this machine: rules, which are one thread of a local run,
use all its CPUs.

Depends on nothing else than the hosts. A process that ends is replaced, a bounded number of times.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from nel.config.process_environment import variables_passed_on
from nel.engine.executors.fleet import Event, FleetLost, Joined, Left, Packet
from nel.engine.executors.leased import LeasedExecutor
from nel.engine.executors.pipes import PipeProcess
from nel.engine.executors.wire import HostKind, frame_of, read_packet
from nel.errors import ConfigError

_REPLACED_MAX: Final = 8
"""Processes that are started in place of others, for each that there should be."""
_WORKERS_MAX: Final = 1024
_END_SECONDS: Final = 10.0
_OF_ENGINE: Final = ("DOCKER_HOST", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "DOCKER_CONFIG")
"""Variables that a host reads itself; those that benchmarks declare come with its start."""


def processes(workers: int | None = None) -> LeasedExecutor:
    """Score answers in ``workers`` processes of this machine, by default one for each CPU."""
    workers = (os.cpu_count() or 1) if workers is None else workers
    if type(workers) is not int or not 1 <= workers <= _WORKERS_MAX:
        raise ConfigError(
            f"the executor processes takes workers=N from 1 to {_WORKERS_MAX}, not {workers}"
        )
    return LeasedExecutor("processes", ProcessFleet(workers))


class ProcessFleet:
    """Hosts that are child processes; `nel.engine.executors.fleet.Fleet`."""

    def __init__(self, n_scoring: int) -> None:
        """Prepare; nothing is started before `open`.

        Args:
            n_scoring: Hosts that score; where programs are run, one more does.
        """
        self._n_scoring = n_scoring
        self._starts: Mapping[HostKind, bytes] = {}
        self._events: asyncio.Queue[Event] = asyncio.Queue()
        self._processes: dict[str, PipeProcess[bytes]] = {}
        self._n_started = 0
        self._n_left = 0

    async def open(self, starts: Mapping[HostKind, bytes]) -> int:
        """Start all processes."""
        self._starts = starts
        self._loop = asyncio.get_running_loop()
        kinds: list[HostKind] = ["scoring" for _ in range(self._n_scoring)]
        if "sandbox" in starts:
            kinds.append("sandbox")
        self._n_left = _REPLACED_MAX * len(kinds)
        for kind in kinds:
            self._start(kind)
        return len(kinds)

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens; ends when processes end again and again."""
        while self._n_left > 0:
            yield await self._events.get()
        raise FleetLost("the processes that score end again and again; run.log has how")

    def send(self, host: str, packet: bytes) -> None:
        """Send a packet to a process, if it is there."""
        process = self._processes.get(host)
        if process is not None:
            process.put(frame_of(packet))

    def end(self, host: str) -> None:
        """Kill a process."""
        process = self._processes.pop(host, None)
        if process is not None:
            process.end(signal.SIGKILL)

    def facts(self) -> Mapping[str, Any]:
        """Return nothing beside the nodes."""
        return {}

    def close(self) -> None:
        """End every process, which removes its containers; kill those that do not end."""
        self._n_left = 0
        closing, self._processes = list(self._processes.values()), {}
        for process in closing:
            process.hang_up()
        ends = time.monotonic() + _END_SECONDS
        for process in closing:
            process.end_within(max(0.0, ends - time.monotonic()))

    def _start(self, kind: HostKind) -> None:
        self._n_started += 1
        name = f"process-{self._n_started}"
        command = (sys.executable, "-m", "nel.engine.executors.host")
        self._events.put_nowait(Joined(name, kind, os.uname().nodename))
        self._processes[name] = PipeProcess(
            command,
            read=read_packet,
            take=partial(self._take, name, kind),
            env=variables_passed_on(*_OF_ENGINE),
        )
        self.send(name, self._starts[kind])

    def _take(self, name: str, kind: HostKind, packet: bytes | None) -> None:
        with suppress(RuntimeError):  # the event loop has ended
            if packet is not None:
                self._loop.call_soon_threadsafe(self._events.put_nowait, Packet(name, packet))
            else:
                self._loop.call_soon_threadsafe(self._on_end, name, kind)

    def _on_end(self, name: str, kind: HostKind) -> None:
        process = self._processes.pop(name, None)
        ending = "it was given up"
        if process is not None:
            ending = f"its process ended with status {process.status()}"
        self._events.put_nowait(Left(name, ending))
        self._n_left -= 1
        if self._n_left > 0:
            self._start(kind)
