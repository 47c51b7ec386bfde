"""One attempt at an episode: sends requests, runs tools in their process, and stores each step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from nel.core.failpoints import reach
from nel.core.strict_json import dumps_bytes
from nel.engine.asking.exchange import Sent, exchange
from nel.engine.episodes.step_rows import StepWriter
from nel.engine.episodes.tool_server import ToolProcess, ToolServer
from nel.engine.planning.plan import Plan
from nel.engine.progress import Progress
from nel.engine.store.codec import encode_sample, seal_text
from nel.engine.store.log import Log
from nel.episodes.endings import EndpointLost, EnvironmentFault
from nel.episodes.steps import MessageDigests, Step, ToolFacts, digest_of
from nel.models.client import Client
from nel.models.wire.registry import build_body, native_note
from nel.tools import SNAPSHOT, EnvironmentMaker, StepAddress, ToolsetFault
from nel.tools.results import ToolResult
from nel.types import (
    Generation,
    JsonObject,
    Message,
    Request,
    Response,
    Sample,
    SampleKey,
    ToolCall,
)

_CLOSE_SECONDS = 10.0
_DEFAULT_MAKER = EnvironmentMaker()
"""Has the time limits that hold where the benchmark's environment declares none."""


@dataclass(slots=True, kw_only=True)
class Attempt:
    """The backend of a `nel.episodes.Episode`: endpoint, tools and store."""

    number: int
    sample_key: SampleKey
    sample: Sample
    """Without its gold answer."""
    plan: Plan
    generation: Generation
    client: Client
    store: Log
    tools: ToolServer | None
    steps: Mapping[int, Step]
    """Stored by earlier sessions."""
    progress: Progress
    digests: MessageDigests = field(default_factory=MessageDigests)
    body: bytes | None = None
    """The last request body of this session."""
    _writer: StepWriter = field(init=False)
    _process: ToolProcess | None = None
    _replacement_lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._writer = StepWriter(self.sample_key, self.number, self.digests)

    async def close(self, *, is_over: bool) -> None:
        """Have the environment release what it holds, and kill the process of the tools.

        Args:
            is_over: Whether no session goes on from the stored steps.
        """
        if self._process is not None and self.plan.benchmark.environment is not None:
            with suppress(EnvironmentFault, TimeoutError):  # the outcome is already decided
                await self._process.request("close", _CLOSE_SECONDS)
        self._kill()
        results = [step.result for step in self.steps.values() if step.result is not None]
        may_have_snapshots = self._maker.resume == "snapshot" or any(
            result.snapshot for result in results
        )
        if is_over and may_have_snapshots:
            await asyncio.to_thread(self._maker.forget, StepAddress(**self._address(0)))

    def _kill(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.close()

    def stored_step(self, number: int) -> Step | None:
        """Return a step that an earlier session stored."""
        return self.steps.get(number)

    def digest(
        self, messages: Sequence[Message], tools: Sequence[JsonObject], options: JsonObject
    ) -> str:
        """Return the digest of a request."""
        return digest_of(
            [self._settings(tools, options), [self.digests.of(message) for message in messages]]
        )

    async def send(
        self,
        step: Step,
        messages: Sequence[Message],
        tools: Sequence[JsonObject],
        options: JsonObject,
        wall_seconds: Any,
    ) -> Step:
        """Send a request, and store the step before the request's permit is released."""
        request = self._request(messages, tools, options)
        body = dumps_bytes(build_body(request, stream=self.client.endpoint.stream))
        # A solver runs in this process and can read its environment, keys included.
        if self.store.redactor.finds(body):
            body = self.store.redactor.json_text(body.decode()).encode()
        self.body = body
        if note := native_note(request):
            step = replace(step, asked={"note": note})

        async def keep(response: Response) -> None:
            # Runs inside `exchange`, so that a kill loses no more answers than requests in flight.
            nonlocal step
            if response.error is not None and response.error.model_failure is None:
                raise EndpointLost(response, body)
            step = step.with_end(wall_seconds(), response=response)
            await self._append(self._writer.row(step, messages, self._settings(tools, options)))

        sent = Sent(request, body, f"step-{self.number}-{step.number}")
        response = await exchange(self.client.complete, sent, keep)
        self.progress.steps += 1
        self.progress.completion_tokens += response.usage.completion_tokens or 0
        self._writer.note_message(step)
        return step

    async def commit(self, step: Step) -> None:
        """Store a step."""
        await self._append(self._writer.row(step))
        self._writer.note_message(step)

    def note(self, step: Step) -> None:
        """Queue a step; the store writes in order, so it is on disk before any later one."""
        row, pool = self._writer.row(step)
        self.store.append([row], pool).add_done_callback(_retrieve_error)

    def note_replay(self, step: Step, messages: Sequence[Message]) -> None:
        """Note a stored step, so that later ones refer to it."""
        self._writer.note_replay(step, messages)

    async def begin_turn(self, turn: int) -> Mapping[str, ToolFacts]:
        """Return the tools of a turn; turn 0 sets up the environment."""
        benchmark = self.plan.benchmark
        if self.tools is None or not (benchmark.tools or benchmark.environment):
            return {}
        maker = self._maker
        try:
            maker.check(self.sample)
        except ToolsetFault as fault:
            raise EnvironmentFault(fault.kind, fault.detail) from fault
        if self._process is None:
            self._process = await self.tools.open(benchmark)
        fields = {}
        if turn == 0:
            fields = {
                "sample_id": self.sample.id,
                "sample": seal_text(encode_sample(self.sample)),
                "snapshot": self._last_snapshot(),
            }
        tools = await self._ask_process("turn", "setup", maker.setup_seconds, turn=turn, **fields)
        return {facts["json"]["function"]["name"]: ToolFacts(**facts) for facts in tools}

    def _last_snapshot(self) -> dict[str, Any]:
        """Return the snapshot that the environment is restored from, if any, and its step.

        Raises:
            EnvironmentFault: The state after the last stored call is in no snapshot.
        """
        name, unsaved, number = None, None, 0
        for step in self.steps.values():
            result = step.result
            if step.kind == "verify":
                # The evidence of a stage is stored, so the next one begins without its snapshot.
                name = unsaved = None
            elif result is not None and (result.snapshot or result.unsaved):
                # A call that changed nothing repeats the last name; the snapshot is of the earlier.
                if result.snapshot is None or result.snapshot != name:
                    number = step.number
                name, unsaved = result.snapshot, result.unsaved
        if unsaved is not None:
            detail = f"the state after step {number + 1} is in no snapshot: {unsaved}"
            raise EnvironmentFault(SNAPSHOT, detail)
        return {"name": name, "step": self._address(number)}

    def _address(self, number: int) -> JsonObject:
        """Return the fields of a `nel.tools.toolset.StepAddress`."""
        return {
            "log": str(self.store.path.resolve()),
            "episode": "/".join(map(str, self.sample_key)),
            "attempt": self.number,
            "number": number,
        }

    async def run_tool(
        self, number: int, call: ToolCall, seconds: float | None, *, facts: ToolFacts
    ) -> ToolResult:
        """Run a call. A timeout is reported to the model, unless the environment's state is lost.

        Raises:
            EnvironmentFault: There is no environment, or it hung.
        """
        process = self._process
        if process is None:
            detail = f"{call.name} was called before the environment was set up"
            raise EnvironmentFault("setup", detail)
        began = time.monotonic()
        reach("before_tool")
        try:
            answer = await process.request(
                "call",
                None if seconds is None else seconds + self._maker.grace_seconds,
                name=call.name,
                arguments=call.values or {},
                is_parallel=facts.parallel,
                call_seconds=seconds,
                step=self._address(number),
            )
        except TimeoutError as error:
            if self.plan.benchmark.environment is not None:
                self._kill()
                text = f"{call.name} took longer than {seconds:g} s, and the state is lost with it"
                raise EnvironmentFault("tool_hung", text) from error
            # Calls run in parallel in one process: the first that times out replaces it for all.
            async with self._replacement_lock:
                if self._process is process:
                    self._kill()
                    await self.begin_turn(0)
            text = f"{call.name} took longer than {seconds:g} s and was stopped."
            return ToolResult(text=text, error="timeout", seconds=time.monotonic() - began)
        reach("after_tool")
        return ToolResult(
            text=self.store.redactor.text(str(answer["text"])),
            error=answer["error"],
            n_cut=answer["n_cut"],
            seconds=time.monotonic() - began - answer.get("snapshot_seconds", 0.0),
            snapshot=answer.get("snapshot"),
            unsaved=answer.get("unsaved"),
        )

    async def run_program(self, program: JsonObject, seconds: float) -> JsonObject:
        """Run a third-party agent to its end; the tools' process serves requests meanwhile."""
        assert self._process is not None  # noqa: S101 - an agent has an environment
        try:
            ended: JsonObject = await self._process.request(
                "program",
                seconds + self._maker.grace_seconds,
                program={**program, "seconds": seconds},
                is_parallel=True,
            )
        except TimeoutError as error:
            raise EnvironmentFault("agent_hung", "the agent cannot be stopped") from error
        output = self.store.redactor.text(str(ended["output"]))
        return {**ended, "output": output}

    async def stop_program(self) -> None:
        """Kill the agent."""
        if self._process is not None:
            await self._ask_process("stop", "agent_hung", _CLOSE_SECONDS)

    async def next_stage(self) -> JsonObject | None:
        """Begin the next stage of the environment; return None after the last."""
        environment = self.plan.benchmark.environment
        if self._process is None or not isinstance(environment, EnvironmentMaker):
            return None
        seconds = environment.evidence_seconds
        stage: JsonObject | None = await self._ask_process("stage", "verifier_timeout", seconds)
        if stage is None:
            return None
        bounds = (stage["work_seconds"], self.plan.limits.work_seconds)
        # The tighter one; None where neither is set.
        return {**stage, "work_seconds": min(filter(None, bounds), default=None)}

    async def evidence(self) -> Any:
        """Return the environment's account of its final state."""
        if self.plan.benchmark.environment is None or self._process is None:
            return None
        seconds = self._maker.evidence_seconds
        answer = await self._ask_process("evidence", "verifier_timeout", seconds)
        return self.store.redactor.json(answer)

    @property
    def _maker(self) -> EnvironmentMaker:
        environment = self.plan.benchmark.environment
        return environment if isinstance(environment, EnvironmentMaker) else _DEFAULT_MAKER

    async def _append(self, row_and_pool: tuple[Any, Any]) -> None:
        reach("before_step")
        row, pool = row_and_pool
        await self.store.append([row], pool)
        reach("after_step")

    async def _ask_process(
        self, what: str, timeout_kind: str, seconds: float, **fields: object
    ) -> Any:
        assert self._process is not None  # noqa: S101 - the callers open it
        try:
            return await self._process.request(what, seconds, **fields)
        except TimeoutError as error:
            detail = f"the environment took longer than {seconds:g} s"
            raise EnvironmentFault(timeout_kind, detail) from error

    def references(self, messages: Sequence[Message]) -> tuple[list[str], list[tuple[str, str]]]:
        """Return the digest that stands for each message, and the texts to store for them."""
        pool: dict[str, str] = {}
        return self._writer.references(messages, pool), list(pool.items())

    def _request(
        self, messages: Sequence[Message], tools: Sequence[JsonObject], options: JsonObject
    ) -> Request:
        try:
            generation = replace(self.generation, **options) if options else self.generation
        except TypeError as error:
            raise EnvironmentFault("solver_raised", f"ask() was given {error}") from error
        return Request(
            protocol=self.plan.protocol,
            model=self.plan.model or "",
            sample_id=self.sample.id,
            repeat=self.sample_key.repeat,
            benchmark=self.sample_key.benchmark,
            messages=tuple(messages),
            tools=tuple(tools),
            generation=generation,
        )

    def _settings(self, tools: Sequence[JsonObject], options: JsonObject) -> dict[str, Any]:
        return {"model": self.plan.model, "tools": list(tools), "options": dict(options)}


def _retrieve_error(stored: asyncio.Future[None]) -> None:
    """Retrieve the error of a note, which asyncio would log; the next step raises the same one."""
    if not stored.cancelled():
        stored.exception()
