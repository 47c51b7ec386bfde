"""Sandboxes on hosts elsewhere: leases programs to the Docker engines of a fleet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from itertools import count
from typing import Any, Final

from nel.engine.executors.leases import Leases
from nel.engine.executors.wire import Ran, RunProgram, ToRun, pack
from nel.errors import SandboxError
from nel.sandbox import Program, ProgramVerdict
from nel.sandbox.isolation.engine import EngineInfo

_ATTEMPTS_MAX: Final = 3


class LeasedSandbox:
    """The sandboxes of a run, on hosts."""

    def __init__(self, send: Callable[[str, bytes], None]) -> None:
        """Begin without hosts.

        Args:
            send: Sends a packet to a host.
        """
        self.loop: asyncio.AbstractEventLoop | None = None
        """Of the session; set before a program is submitted."""
        self.n_again = 0
        """Programs that were run again because their host was lost."""
        self._send = send
        self._engine: EngineInfo | None = None
        self._programs: dict[int, tuple[Program, Future[ProgramVerdict]]] = {}
        self._leases = Leases(attempts_max=_ATTEMPTS_MAX)
        self._numbers = count(1)

    def check(self, wanted: Sequence[str]) -> EngineInfo:
        """Return the engine of the first host; each host has checked its own before it joined.

        Raises:
            SandboxError: There is no host.
        """
        if self._engine is None:
            raise SandboxError("no node of the cluster runs programs", kind="no_engine")
        return self._engine

    def submit(self, program: Program) -> Future[ProgramVerdict]:
        """Queue a program; the future is done on the event loop."""
        future: Future[ProgramVerdict] = Future()
        if self.loop is None:
            raise SandboxError("the cluster is not there yet", kind="closed")
        self.loop.call_soon_threadsafe(self._put, program, future)
        return future

    def close(self) -> None:
        """Give up what waits; the fleet ends its hosts."""
        for _, future in self._programs.values():
            if not future.done():
                future.set_exception(SandboxError("the sandbox was closed", kind="closed"))
        self._programs.clear()

    def join(self, host: str, hello: Mapping[str, Any]) -> None:
        """Use a host from now on."""
        info = EngineInfo(
            **{
                **hello["engine"],
                **{key: tuple(hello["engine"][key]) for key in ("runtimes", "lacks")},
            }
        )
        self._engine = self._engine or info
        self._leases.join(host, capacity=int(hello["capacity"]))
        self._flush()

    def lose(self, host: str) -> None:
        """Run again what a lost host had; a program that was lost too often has no verdict."""
        retries, given_up = self._leases.lose(host)
        self.n_again += len(retries)
        for number in given_up:
            detail = f"the workers that ran the program were lost {_ATTEMPTS_MAX} times"
            self._settle(number, SandboxError(detail, kind="worker_lost"))
        self._flush()

    def on_messages(self, host: str, messages: Sequence[ToRun]) -> None:
        """Take what a host says."""
        for message in messages:
            if not isinstance(message, Ran) or not self._leases.finish(host, message.number):
                continue
            self._settle(message.number, message.value)
        self._flush()

    def _settle(self, number: int, value: ProgramVerdict | Exception) -> None:
        _, future = self._programs.pop(number)
        if not future.set_running_or_notify_cancel():
            return
        if isinstance(value, Exception):
            future.set_exception(value)
        else:
            future.set_result(value)

    def _put(self, program: Program, future: Future[ProgramVerdict]) -> None:
        number = next(self._numbers)
        self._programs[number] = program, future
        self._leases.put(number)
        self._flush()

    def _flush(self) -> None:
        for host, numbers in self._leases.assign().items():
            self._send(
                host, pack([RunProgram(number, self._programs[number][0]) for number in numbers])
            )
