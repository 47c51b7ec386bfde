"""Runs one episode's tools in a process of their own: creates the environment and serves calls."""

from __future__ import annotations

import asyncio
import inspect
import os
import socket
import struct
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from pydantic_core import to_jsonable_python

from nel.authoring.benchmark import Benchmark
from nel.config.process_environment import leave_variables
from nel.core.strict_json import dumps_bytes, loads
from nel.engine.store.codec import decode_sample
from nel.tools import (
    ANY_NAME,
    SNAPSHOT,
    EnvironmentMaker,
    StepAddress,
    Tool,
    ToolError,
    Toolset,
    ToolsetFault,
)
from nel.tools.declaration import OnInterrupt
from nel.tools.results import (
    OUTPUT_BYTES_MAX,
    ToolErrorKind,
    cut_output,
    not_finite,
    result_text,
)
from nel.types import Sample

FRAME_BYTES_MAX: Final = 64 << 20
"""Of one answer of the process; the output of a tool is cut before, evidence is not."""
_SIZE: Final = struct.Struct("<I")
_DETAIL_CHARACTERS_MAX: Final = 4_000
_FAULTS: Final = {
    "turn": "setup",
    "call": "tool_raised",
    "program": "agent_setup",
    "stop": "agent_setup",
    "stage": "verifier_raised",
    "evidence": "verifier_raised",
    "close": "close",
}
"""The kind of fault by request, for an exception of the benchmark's own code."""


def serve_tools(connection: socket.socket, benchmark: Benchmark) -> None:
    """Answer the run's requests until it closes the connection."""
    leave_variables(benchmark.env)
    null = os.open(os.devnull, os.O_RDWR)
    for handle in (0, 1, 2):  # a tool may print, which is not the run's output
        os.dup2(null, handle)
    host = _ToolHost(connection, benchmark)
    stream = connection.makefile("rb")
    while header := stream.read(_SIZE.size):
        (size,) = _SIZE.unpack(header)
        request = loads(stream.read(size))
        if request.get("is_parallel"):
            threading.Thread(target=host.answer, args=(request,), daemon=True).start()
        else:
            host.answer(request)


class _ToolHost:
    def __init__(self, connection: socket.socket, benchmark: Benchmark) -> None:
        self._connection = connection
        self._sending = threading.Lock()
        self._benchmark = benchmark
        self._sample = Sample(id="", input="")
        self._environment: Toolset | None = None
        self._tools: dict[str, Tool] = {}

    def answer(self, request: Mapping[str, Any]) -> None:
        """Answer one request; an exception of the benchmark's code becomes a fault in the answer."""
        what = request["what"]
        try:
            answers: dict[str, Callable[[Mapping[str, Any]], Any]] = {
                "turn": self._turn,
                "call": self._call,
                "program": self._program,
                "stop": self._stop,
                "stage": self._stage,
                "evidence": self._evidence,
                "close": self._close,
            }
            value = answers[what](request)
            message = dumps_bytes({"number": request["number"], "answer": value})
            if len(message) > FRAME_BYTES_MAX:
                raise ValueError(
                    f"{what} has {len(message):,} bytes, more than {FRAME_BYTES_MAX:,}"
                )
        except ToolsetFault as error:
            message = _fault(request["number"], error.kind, error.detail)
        except BaseException as error:  # noqa: BLE001 - the boundary of plugin code, sys.exit included
            detail = "".join(traceback.format_exception(error))
            message = _fault(request["number"], _FAULTS[what], detail)
        with self._sending:
            self._connection.sendall(_SIZE.pack(len(message)) + message)

    def _turn(self, request: Mapping[str, Any]) -> list[dict[str, object]]:
        if request["turn"] == 0:
            self._sample = decode_sample(request["sample_id"], request["sample"])
            self._environment = self._open(**request["snapshot"])
        environment_tools = []
        if self._environment is not None:
            self._environment.on_turn(request["turn"])
            environment_tools = list(self._environment.tools())
        self._tools = {tool.name: tool for tool in (*self._benchmark.tools, *environment_tools)}
        return [
            {
                "json": tool.as_json(),
                "on_interrupt": tool.on_interrupt or self._default_of(tool),
                "parallel": tool.parallel,
                "has_state": tool.owner is not None,
                "has_snapshots": self._has_snapshots(tool),
            }
            for tool in self._tools.values()
        ]

    def _open(self, name: str | None, step: Mapping[str, Any]) -> Toolset | None:
        environment = self._benchmark.environment
        if environment is None:
            return None
        if name is None:
            return environment(self._sample)
        if not isinstance(environment, EnvironmentMaker):
            raise ToolsetFault(SNAPSHOT, "the environment has no snapshots any more")
        return environment.reopen(self._sample, name, StepAddress(**step))

    def _has_snapshots(self, tool: Tool) -> bool:
        environment = self._environment
        return (
            environment is not None
            and tool.owner is environment
            and environment.resume == "snapshot"
        )

    def _default_of(self, tool: Tool) -> OnInterrupt:
        if tool.owner is None:
            return "tell"
        environment = self._environment
        is_restorable = environment is not None and environment.resume != "restart"
        return "again" if tool.owner is environment and is_restorable else "restart"

    def _close(self, _: Mapping[str, Any]) -> None:
        if self._environment is not None:
            self._environment.close()

    def _call(self, request: Mapping[str, Any]) -> dict[str, object]:
        name, arguments = request["name"], request["arguments"]
        tool = self._tools.get(name) or replace(self._tools[ANY_NAME], name=name)
        if problems := tool.problems(arguments):
            text = f"The arguments of {tool.name} do not fit its schema: {'; '.join(problems)}."
            return _result(text, "bad_arguments")
        if self._environment is not None:
            self._environment.call_seconds = request["call_seconds"]
        try:
            result = tool.run(arguments, self._sample)
            if inspect.isawaitable(result):
                result = asyncio.run(_await_value(result))
            answer = _result(result_text(result))
        except ToolError as error:
            answer = _result(str(error), "tool_error")
        if self._has_snapshots(tool):
            answer |= self._snapshot(StepAddress(**request["step"]))
        return answer

    def _snapshot(self, step: StepAddress) -> dict[str, object]:
        """Save the state after a call, and time it apart from the call."""
        assert self._environment is not None  # noqa: S101 - a tool of it was called
        began = time.monotonic()
        saved: dict[str, object]
        try:
            saved = {"snapshot": self._environment.snapshot(step)}
        except ToolsetFault as fault:
            saved = {"unsaved": fault.detail}
        return {**saved, "snapshot_seconds": time.monotonic() - began}

    def _program(self, request: Mapping[str, Any]) -> Any:
        if self._environment is None:
            raise ToolsetFault("agent_setup", "the benchmark has no environment for an agent")
        return self._environment.run_program(request["program"])

    def _stop(self, _: Mapping[str, Any]) -> None:
        if self._environment is not None:
            self._environment.stop_program()

    def _stage(self, _: Mapping[str, Any]) -> Any:
        return None if self._environment is None else self._environment.next_stage()

    def _evidence(self, _: Mapping[str, Any]) -> Any:
        if self._environment is None:
            return None
        evidence = to_jsonable_python(self._environment.evidence())
        if (where := not_finite(evidence)) is not None:
            raise ValueError(f"the evidence has a number that JSON has no form for: {where}")
        return evidence


def _fault(number: int, kind: str, detail: str) -> bytes:
    return dumps_bytes(
        {"number": number, "fault": kind, "detail": detail[-_DETAIL_CHARACTERS_MAX:]}
    )


def _result(text: str, error: ToolErrorKind | None = None) -> dict[str, object]:
    text, n_cut = cut_output(text, OUTPUT_BYTES_MAX)
    return {"text": text, "error": error, "n_cut": n_cut}


async def _await_value(value: Any) -> Any:
    return await value
