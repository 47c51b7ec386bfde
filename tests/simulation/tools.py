"""The tools of a world: the real host of an episode's tools, without its process and in virtual time."""

from __future__ import annotations

import asyncio
import random
import socket
from typing import Any, cast

from nel.authoring.benchmark import Benchmark
from nel.core.strict_json import loads
from nel.engine.episodes.tool_process import _SIZE, _ToolHost
from nel.engine.episodes.tool_server import DIED, _answer_of
from nel.episodes.endings import EnvironmentFault
from tests.simulation.acting import Acting, Temper

_FOR_EVER_SECONDS = 1e6


class SimulatedTools:
    """Opens what stands for the processes of episodes' tools; a fault that happens once does so once in a world."""

    def __init__(self, acting: Acting, rng: random.Random) -> None:
        self.acting = acting
        self.rng = rng
        self.happened: set[int] = set()
        """Samples whose fault that happens once is over."""

    async def open(self, benchmark: Benchmark) -> SimulatedProcess:
        await asyncio.sleep(0.02)
        return SimulatedProcess(self, benchmark)

    def temper(self, idx: int) -> Temper:
        """Return how the tools of a sample behave now."""
        temper = self.acting.tempers[idx]
        if temper.endswith("_once"):
            if idx in self.happened:
                return "well"
            self.happened.add(idx)
        return temper


class SimulatedProcess:
    """The tools of one episode."""

    def __init__(self, tools: SimulatedTools, benchmark: Benchmark) -> None:
        self._tools = tools
        self._answers = _Answers()
        self._host = _ToolHost(cast("socket.socket", self._answers), benchmark)
        self._idx = -1
        self._is_gone = False

    def close(self) -> None:
        self._is_gone = True

    async def request(self, what: str, seconds: float | None, **fields: Any) -> Any:
        """Return what the host answers, after the time that the work takes."""
        if "sample_id" in fields:
            self._idx = int(fields["sample_id"].removeprefix("s"))
        async with asyncio.timeout(seconds):
            if what == "call":
                await self._misbehave(self._tools.temper(self._idx))
                await asyncio.sleep(self._tools.acting.tool_seconds * self._tools.rng.uniform(0.2, 2))
            self._refuse_when_gone()
            self._host.answer({"number": 0, "what": what, **fields})
            message = self._answers.newest
            if what == "call":
                await asyncio.sleep(self._tools.acting.tool_seconds * self._tools.rng.uniform(0.2, 2))
            self._refuse_when_gone()
        return _answer_of(message)

    async def _misbehave(self, temper: Temper) -> None:
        if temper.startswith("hangs"):
            await asyncio.sleep(_FOR_EVER_SECONDS)
        if temper.startswith("dies"):
            self._is_gone = True
        if temper == "raises":
            raise EnvironmentFault("tool_raised", "KeyError: no such row")

    def _refuse_when_gone(self) -> None:
        if self._is_gone:
            raise EnvironmentFault(DIED, "a tool ended its process")


class _Answers:
    """The host's end of its connection."""

    newest: dict[str, Any]

    def sendall(self, frame: bytes) -> None:
        self.newest = loads(frame[_SIZE.size :])
