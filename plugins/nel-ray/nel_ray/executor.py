"""The executor of a Ray cluster: hosts are actors of Ray, on every node that has a CPU for them.

Ray itself runs in a process of its own (`nel_ray.gateway`), since it ends its
process when the head of the cluster is gone; here that is the end of a pipe. Does not import Ray.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import partial
from typing import IO, Any, Final, TypeAlias

from nel.config.process_environment import variables_passed_on
from nel.core.json_values import is_number
from nel.engine.executors.fleet import Event, FleetLost, Joined, Left, Packet
from nel.engine.executors.leased import LeasedExecutor
from nel.engine.executors.pipes import PipeProcess
from nel.engine.executors.wire import HostKind
from nel.errors import ConfigError, MissingExtra, PreflightError
from nel_ray.gateway import HEAD, last_line, read_frame

_Frame: TypeAlias = tuple[bytes, int, bytes]
_CONNECT_SECONDS: Final = 60.0
_WORKERS_MAX: Final = 10_000


def ray(
    address: str | None = None,
    workers: int | None = None,
    connect_seconds: float = _CONNECT_SECONDS,
) -> Any:
    """Score answers and run programs on a Ray cluster.

    Args:
        address: ``ray://HOST:PORT``, ``HOST:PORT``, ``auto`` (the cluster that this machine belongs
            to) or ``local`` (a new one on this machine); None: RAY_ADDRESS, else the cluster that
            this machine belongs to, else a new one.
        workers: At most so many hosts that score; None: one for each CPU of the cluster.
        connect_seconds: How long to wait for the cluster.

    Raises:
        MissingExtra: Ray is not installed.
        ConfigError: An option is wrong.
    """
    if importlib.util.find_spec("ray") is None:
        raise MissingExtra("the executor ray needs Ray: pip install './plugins/nel-ray'")
    if workers is not None and (type(workers) is not int or not 1 <= workers <= _WORKERS_MAX):
        raise ConfigError(
            f"the executor ray takes workers=N from 1 to {_WORKERS_MAX}, not {workers}"
        )
    if not is_number(connect_seconds) or connect_seconds <= 0:
        raise ConfigError(
            f"the executor ray takes connect_seconds=N above 0, not {connect_seconds}"
        )
    if address is not None and not isinstance(address, str):
        raise ConfigError(
            "the executor ray takes address=ray://HOST:PORT, HOST:PORT, auto or local, not"
            f" {address}"
        )
    return LeasedExecutor(
        "ray", RayFleet(address, workers=workers, connect_seconds=connect_seconds)
    )


class RayFleet:
    """Hosts that are actors of Ray; `nel.engine.executors.fleet.Fleet`."""

    def __init__(self, address: str | None, *, workers: int | None, connect_seconds: float) -> None:
        """Prepare; nothing is started before `open`."""
        self._address = address
        self._workers = workers
        self._connect_seconds = connect_seconds
        self._process: PipeProcess[_Frame] | None = None
        self._frames: asyncio.Queue[_Frame | None] = asyncio.Queue()
        self._errors: IO[bytes] | None = None
        self._facts: dict[str, Any] = {}

    async def open(self, starts: Mapping[HostKind, bytes]) -> int:
        """Connect with the cluster, and return how many hosts its nodes have room for.

        Raises:
            PreflightError: It does not answer in time, or no node runs programs.
        """
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        command = (sys.executable, "-m", "nel_ray.gateway")
        take = partial(self._take, asyncio.get_running_loop())
        variables = (name for name in os.environ if name.startswith("RAY_"))
        env = variables_passed_on(*variables)  # a cluster started here hands them to its workers
        self._process = PipeProcess(
            command, read=read_frame, take=take, errors=self._errors, env=env
        )
        options = {"address": self._address, "workers": self._workers}
        self._put(b"O", 0, json.dumps(options).encode())
        for kind, start in starts.items():
            self._put(b"W", 0, kind.encode() + b"\n" + start)
        self._put(b"G", 0, b"")
        try:
            frame = await asyncio.wait_for(self._frames.get(), self._connect_seconds)
            problem = f"refuses: {self._last_error()}"
        except TimeoutError:
            frame, problem = None, f"does not answer within {self._connect_seconds:g} s"
        if frame is None:
            self.close()
            raise PreflightError(
                f"the Ray cluster at {self._where} {problem}; {self._advice()}, or leave"
                " --executor out",
                endpoint_kind=None,
            )
        reply = json.loads(frame[2])
        if frame[0] != b"C":
            raise PreflightError(f"{reply['reason']}", endpoint_kind=None)
        self._facts = {"address": self._where, "ray": reply["ray"]}
        return int(reply["planned"])

    def _advice(self) -> str:
        advice = "see whether ray status works there"
        if self._where.startswith("ray://"):
            advice += ", and whether ray start and nel were given the same RAY_AUTH_MODE and token"
        return advice

    async def events(self) -> AsyncIterator[Event]:
        """Yield what happens, until the cluster is gone."""
        reason = None
        while reason is None and (frame := await self._frames.get()) is not None:
            kind, number, data = frame
            host = f"actor-{number}"
            if kind == b"P":
                yield Packet(host, data)
            elif kind == b"J":
                facts = json.loads(data)
                yield Joined(host, facts["kind"], facts["node"])
            elif kind == b"L":
                facts = json.loads(data)
                yield Left(host, facts["reason"], facts["is_own_fault"])
            else:
                reason = str(json.loads(data)["reason"])
        raise FleetLost(f"the Ray cluster at {self._where} is lost: {reason or self._last_error()}")

    def send(self, host: str, packet: bytes) -> None:
        """Send a packet to a host."""
        self._put(b"S", int(host.rpartition("-")[2]), packet)

    def end(self, host: str) -> None:
        """Kill a host's actor."""
        self._put(b"E", int(host.rpartition("-")[2]), b"")

    def facts(self) -> Mapping[str, Any]:
        """Return the address and the version of Ray."""
        return self._facts

    def close(self) -> None:
        """End the gateway, and with it every actor and a cluster that it started."""
        if self._process is not None:
            self._process.end(signal.SIGTERM)

    @property
    def _where(self) -> str:
        return self._address or os.environ.get("RAY_ADDRESS") or "this machine"

    def _last_error(self) -> str:
        """Return the last line that the gateway wrote."""
        if self._errors is None:
            return ""
        return last_line(self._errors) or "its connection ended"

    def _put(self, kind: bytes, number: int, data: bytes) -> None:
        if self._process is not None:
            self._process.put(HEAD.pack(kind, number, len(data)) + data)

    def _take(self, loop: asyncio.AbstractEventLoop, frame: _Frame | None) -> None:
        """Pass on what the gateway wrote; called in its thread."""
        with suppress(RuntimeError):  # the event loop has ended
            loop.call_soon_threadsafe(self._frames.put_nowait, frame)
