"""The process that forks one process for each episode, in which its tools run.

It is forked before the run has threads, with every benchmark loaded, as the workers of scorers are;
so a tool that hangs, exits or crashes costs its own sample. Depends on ``fork`` and Unix sockets.
Frames are JSON: nothing that a tool returns is unpickled in the run's process.
"""

from __future__ import annotations

import asyncio
import itertools
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from nel.authoring.benchmark import Benchmark
from nel.core.strict_json import dumps_bytes, loads
from nel.engine.episodes.tool_process import FRAME_BYTES_MAX, serve_tools
from nel.engine.scorers.fork_server import ForkServer
from nel.episodes.endings import EnvironmentFault
from nel.tools import EnvironmentMaker

_SIZE: Final = struct.Struct("<I")
DIED: Final = "tool_died"


def _release(benchmarks: Sequence[Benchmark]) -> None:
    for benchmark in benchmarks:
        if isinstance(benchmark.environment, EnvironmentMaker):
            benchmark.environment.release()


class ToolServer(ForkServer):
    """Forks the processes of episodes; make it before the run starts threads."""

    def __init__(self, benchmarks: Sequence[Benchmark]) -> None:
        self._numbers = {id(benchmark): number for number, benchmark in enumerate(benchmarks)}
        super().__init__(
            lambda number, connection: serve_tools(connection, benchmarks[number]),
            {name for benchmark in benchmarks for name in benchmark.env},
            at_end=lambda: _release(benchmarks),
        )

    async def open(self, benchmark: Benchmark) -> ToolProcess:
        """Return a new process for the tools of a benchmark.

        Raises:
            EnvironmentFault: None could be forked.
        """
        try:
            pid, connection = self.fork(self._numbers[id(benchmark)])
        except OSError as error:
            raise EnvironmentFault(DIED, f"no process for tools can be forked: {error}") from error
        connection.setblocking(False)
        reader, writer = await asyncio.open_connection(sock=connection, limit=FRAME_BYTES_MAX)
        return ToolProcess(self, pid, reader, writer)


class ToolProcess:
    """The process of one episode's tools, seen from the run."""

    def __init__(
        self,
        server: ToolServer,
        pid: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._server = server
        self._pid = pid
        self._reader = reader
        self._writer = writer
        self._numbers = itertools.count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._reading = asyncio.create_task(self._read())

    def close(self) -> None:
        """Kill the process and all that it started; return once they are gone."""
        self._reading.cancel()
        self._writer.close()
        with suppress(OSError):
            self._server.kill(self._pid)

    async def request(self, what: str, seconds: float | None, **fields: object) -> Any:
        """Return what the process answers.

        Raises:
            TimeoutError: It takes longer than that.
            EnvironmentFault: It died, or its own code raised.
        """
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        frame = dumps_bytes({"number": number, "what": what, **fields})
        self._writer.write(_SIZE.pack(len(frame)) + frame)
        try:
            async with asyncio.timeout(seconds):
                # Looked at after `answer` is registered: what ends later resolves it in `_read`.
                if self._reading.done():
                    raise EnvironmentFault(DIED, "the process of the episode's tools is gone")
                return _answer_of(await answer)
        finally:
            del self._waiting[number]

    async def _read(self) -> None:
        try:
            while True:
                (size,) = _SIZE.unpack(await self._reader.readexactly(_SIZE.size))
                if size > FRAME_BYTES_MAX:
                    raise ValueError(size)
                message = loads(await self._reader.readexactly(size))
                waiting = self._waiting.get(message["number"])
                if waiting is not None and not waiting.done():
                    waiting.set_result(message)
        except (OSError, asyncio.IncompleteReadError):
            detail = "a tool ended its process"
        except (ValueError, KeyError, TypeError):
            detail = "a tool wrote to the connection of its process"
        for future in self._waiting.values():
            if not future.done():
                future.set_result({"fault": DIED, "detail": detail})


def _answer_of(message: Mapping[str, Any]) -> Any:
    if "fault" in message:
        raise EnvironmentFault(str(message["fault"]), str(message.get("detail", "")))
    return message["answer"]
