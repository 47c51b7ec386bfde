"""What a solver works with: it can `ask` the model and `call` tools; each step is stored.

A resume runs the solver again from its start; stored steps answer it until it asks for something
that is not stored. So a solver must depend on nothing but the sample, the answers and what the
episode gives it: `Episode.random` and `Episode.now` instead of a clock and random numbers.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NoReturn

from nel.config.schema import Price
from nel.core.message_json import call_json
from nel.episodes.accounts import Accounts
from nel.episodes.endings import (
    AttemptOver,
    EpisodeEnding,
    LimitReached,
    ModelFailed,
    SessionOver,
    leave_suspended,
)
from nel.episodes.limits import Limits
from nel.episodes.replies import Reply, reply_of
from nel.episodes.steps import Backend, Step, StepKind, ToolFacts, digest_of
from nel.tools.declaration import ANY_NAME, OnInterrupt
from nel.tools.results import INTERRUPTED, OUTPUT_BYTES_MAX, ToolResult, cut_output, not_finite
from nel.types import Generation, Json, JsonObject, Message, Response, Sample, ToolCall

_AFTER_END_MAX: Final = 100
"""Times that a solver may go on after its episode's end, which is raised again each time."""


class Episode:
    """One attempt of one sample in one repeat."""

    def __init__(
        self,
        sample: Sample,
        messages: Sequence[Message],
        *,
        repeat: int,
        seed: int | None,
        limits: Limits,
        backend: Backend,
        model: str = "",
        protocol: str = "chat",
        has_cache: bool = False,
        generation: Generation | None = None,
        price: Price | None = None,
    ) -> None:
        """Begin with the messages of the sample's prompt; `start` sets up the environment."""
        self.sample = sample
        self.messages = list(messages)
        """The conversation so far: `ask`, `call`, `call_all` and `user` append to it."""
        self._system = [message for message in messages if message.role == "system"]
        self.repeat = repeat
        self.random = random.Random(f"{seed}/{sample.id}/{repeat}")  # noqa: S311 - reproducible on purpose
        """Random numbers that depend on the run's seed, the sample and the repeat alone."""
        self.limits = limits
        self.model = model
        """The name of the evaluated model."""
        self.protocol = protocol
        """That its endpoint speaks."""
        self.has_cache = has_cache
        """Whether equal requests of all episodes are answered once, by a response cache."""
        self.generation = generation or Generation()
        """The run's own settings."""
        self.accounts = Accounts(limits, price)
        self.last_response: Response | None = None
        """The last answer to `ask` that continued the conversation."""
        self.ending: EpisodeEnding | None = None
        """What ended the episode, even where the solver went on."""
        self.ended_by: str | None = None
        """A solver's own word for how it ended, in results; None: that it returned."""
        self._backend = backend
        self._tools: Mapping[str, ToolFacts] = {}
        self._number = 0
        self._turn = 0
        self._spans: list[str] = []
        self._n_after_end = 0
        self.abandoned = asyncio.Event()
        """Set once the solver is left suspended."""

    async def start(self) -> None:
        """Set up the environment and its tools."""
        self._tools = await self._backend.begin_turn(0)

    @property
    def tools(self) -> tuple[JsonObject, ...]:
        """Return the tools that the model is offered, in the OpenAI shape."""
        return tuple(facts.json for name, facts in self._tools.items() if name != ANY_NAME)

    def left(self) -> dict[str, float]:
        """Return what is left of each limit that is set, such as ``steps`` or ``tokens``."""
        return self.accounts.left()

    async def ask(
        self,
        messages: Sequence[Message] | None = None,
        *,
        tools: Sequence[JsonObject] | None = None,
        becomes_conversation: bool = False,
        **options: Json,
    ) -> Reply:
        """Ask the model, and append its answer to `messages`.

        Args:
            messages: Asked instead of the conversation, which the answer is then not appended to.
            tools: Offered instead of all; an empty list offers none.
            becomes_conversation: Whether the messages given here and the answer are `messages`
                from now on.
            options: Generation settings of this request: ``temperature``, ``max_tokens``,
                ``top_p``, ``stop``, ``seed``.

        Raises:
            EpisodeEnding: A limit is reached, the endpoint is lost, or the model's context is full.
        """
        await self._ensure_open()
        prompt = self.messages if messages is None else list(messages)
        offer = self.tools if tools is None else tuple(tools)
        number = self._next_number()
        digest = self._backend.digest(prompt, offer, options)
        step = self._stored_step(number, "model", digest)
        if step is None:  # a stored one was within the limits when it was made
            limit = self.accounts.limit_reached()
            if limit is not None:
                self._end(limit)
            step = Step(number=number, kind="model", digest=digest, span=self._span)
            with self._noting_ending():
                step = await self._backend.send(
                    step, prompt, offer, options, self.accounts.wall_seconds
                )
        else:
            self._backend.note_replay(step, prompt)
        response = step.response
        assert response is not None  # noqa: S101 - a model step has one
        self.accounts.count_answer(response, step.wall_seconds)
        if response.error is not None:
            self._end(ModelFailed(response))
        reply = reply_of(response)
        if becomes_conversation:
            self.messages = list(prompt)
        if messages is None or becomes_conversation:
            self.last_response = response
            self.messages.append(reply.message)
        return reply

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call of the model, and append its result to `messages`.

        What the model did wrong (an unknown tool, arguments that cannot be read or do not fit the
        schema) and a `ToolError` are the result's text.

        Raises:
            EpisodeEnding: The tool's own code failed, or a limit is reached.
        """
        return (await self.call_all([call]))[0]

    async def call_all(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run calls and append their results in the order of the calls.

        They run one after the other, unless every tool among them is declared ``parallel``.
        """
        await self._ensure_open()
        # Before any call runs: numbers of calls at once must not depend on which ends first.
        numbers = [self._next_number() for _ in calls]
        tools = [self._facts(call) for call in calls]
        if len(calls) > 1 and all(facts is not None and facts.parallel for facts in tools):
            results = await self._at_once(calls, numbers)
        else:
            results = [
                await self._result(call, number)
                for call, number in zip(calls, numbers, strict=True)
            ]
        for call, result in zip(calls, results, strict=True):
            self.messages.append(Message(role="tool", content=result.text, tool_call_id=call.id))
            self.accounts.count_call(call, result)
        limit = self.accounts.stuck()
        if limit is not None:
            self._end(limit)
        return results

    async def user(self, text: str) -> None:
        """Append a message of the user, which begins the next turn of the environment."""
        await self._ensure_open()
        number, digest = self._next_number(), digest_of({"user": text})
        if self._stored_step(number, "user", digest) is None:
            with self._noting_ending():
                await self._backend.commit(self._new_step(number, "user", digest, {"text": text}))
        self._turn += 1
        with self._noting_ending():
            self._tools = await self._backend.begin_turn(self._turn)
        self.messages.append(Message(role="user", content=text))

    async def next_stage(self) -> bool:
        """Begin the next stage of a task of several, with a new conversation; return whether there
        is one. Where the time of a stage is over the next one has its own; any other end is final.
        """
        ending = self.ending
        is_late = isinstance(ending, LimitReached) and ending.name == "work_seconds"
        if self.abandoned.is_set() or not (ending is None or is_late):
            return False
        self.ending = None  # so that what the next stage begins with is not refused
        stage = await self._backend.next_stage()
        if stage is None:
            self.ending = ending
            return False
        self.ended_by = None
        self.accounts.begin_stage(stage["work_seconds"])
        self.messages = list(self._system)
        await self.user(str(stage["instruction"]))
        return True

    async def run_program(self, program: JsonObject, seconds: float) -> JsonObject:
        """Run an agent of others in the environment to its end, and return what it came to.

        An agent cannot go on from stored steps. One that an earlier session began starts again, in
        an attempt of its own.

        Args:
            program: As the environment's `nel.tools.Toolset.run_program` takes it.
            seconds: After which it is killed.

        Raises:
            EpisodeEnding: It is interrupted, cannot be started, or its world ended.
        """
        self._check_open()
        if self._backend.stored_step(0) is not None:
            self._end(AttemptOver("the agent was interrupted and starts again", is_counted=False))
        with self._noting_ending():
            return await self._backend.run_program(program, seconds)

    async def stop_program(self) -> None:
        """Have the agent killed; `run_program` then returns."""
        await self._backend.stop_program()

    def note(self, kind: str, data: Json = None) -> None:
        """Store a note in the transcript.

        Raises:
            ValueError: The data has a number that JSON has no form for.
        """
        if (where := not_finite(data)) is not None:
            raise ValueError(f'the note "{kind}" has a number that JSON has no form for: {where}')
        self._note({"note": kind, "data": data})

    def now(self) -> float:
        """Return the time in seconds since 1970; a resume returns the stored one."""
        return float(self._note({"now": True}, {"time": time.time()})["time"])

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Name the steps of a block in the transcript, such as those of a subagent."""
        self._spans.append(name.replace("/", "_"))
        try:
            yield
        finally:
            self._spans.pop()

    async def verify(self) -> Json:
        """Return what the environment says of its final state, stored as a step."""
        number, digest = self._number, digest_of("verify")
        step = self._backend.stored_step(number)
        if step is not None and step.kind == "verify":
            return step.asked["evidence"]
        evidence = await self._backend.evidence()
        step = Step(
            number=number,
            kind="verify",
            digest=digest,
            asked={"evidence": evidence},
            wall_seconds=self.accounts.wall_seconds(),
        )
        await self._backend.commit(step)
        return evidence

    async def _at_once(self, calls: Sequence[ToolCall], numbers: Sequence[int]) -> list[ToolResult]:
        tasks = [
            asyncio.ensure_future(self._result(call, number))
            for call, number in zip(calls, numbers, strict=True)
        ]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            # The first fault ends the episode: calls that still run end with it.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _result(self, call: ToolCall, number: int) -> ToolResult:
        digest = digest_of(call_json(call))
        facts = self._facts(call)
        stored_step = self._stored_step(number, "tool", digest)
        is_interrupted = stored_step is not None and stored_step.result is None
        if is_interrupted and _on_interrupt(facts) == "restart":
            self._end(AttemptOver(f"{call.name} was interrupted, and may not be run twice"))
        if stored_step is not None and stored_step.result is not None:
            await self._restore(number, call, facts, stored_step.result)
            self.accounts.saw(stored_step.wall_seconds)
            self.accounts.note_work(stored_step.wall_seconds, stored_step.result.seconds)
            self._backend.note_replay(stored_step, ())
            return stored_step.result
        step = Step(
            number=number, kind="tool", digest=digest, span=self._span, asked=call_json(call)
        )
        with self._noting_ending():
            # Stored without a result before it runs, so that a resume knows of a call that began.
            if stored_step is None and _on_interrupt(facts) != "again":
                await self._backend.commit(step)
            if is_interrupted and _on_interrupt(facts) == "tell":
                result = ToolResult(text=INTERRUPTED.format(call.name), error="interrupted")
            else:
                result = await self._run(number, call, facts)
            wall = self.accounts.wall_seconds()
            await self._backend.commit(step.with_end(wall, result=result))
        self.accounts.note_work(wall, result.seconds)
        return result

    def _facts(self, call: ToolCall) -> ToolFacts | None:
        return self._tools.get(call.name, self._tools.get(ANY_NAME))

    async def _restore(
        self, number: int, call: ToolCall, facts: ToolFacts | None, result: ToolResult
    ) -> None:
        """Run a stored call again where its result is a part of the environment's state, unless the
        environment was made from a snapshot of it or of a later call.
        """
        if facts is None or not facts.has_state or result.error not in (None, "tool_error"):
            return
        if facts.on_interrupt == "tell" or result.snapshot or result.unsaved:
            return
        if facts.on_interrupt == "restart" or facts.has_snapshots:
            self._end(AttemptOver("the environment cannot be restored from its stored calls"))
        with self._noting_ending():
            again = await self._run(number, call, facts)
        if (again.text, again.error) != (result.text, result.error):
            self._end(AttemptOver(f"{call.name} has another result than the stored one"))

    async def _run(self, number: int, call: ToolCall, facts: ToolFacts | None) -> ToolResult:
        if call.parse_error is not None:
            text = f"The call of {call.name or 'a tool'} cannot be read: {call.parse_error}."
            return ToolResult(text=text, error="bad_json")
        if facts is None:
            names = ", ".join(self._tools) or "none"
            text = f'There is no tool "{call.name}". Tools: {names}.'
            return ToolResult(text=text, error="unknown_tool")
        result = await self._backend.run_tool(
            number, call, self.accounts.tool_seconds(), facts=facts
        )
        # The tool's process has cut what is beyond `OUTPUT_BYTES_MAX` already, and says how much:
        # the model is told the size of the whole.
        bytes_max = self.limits.tool_bytes or OUTPUT_BYTES_MAX
        n_bytes = OUTPUT_BYTES_MAX + result.n_cut if result.n_cut else None
        text, n_cut = cut_output(result.text, bytes_max, n_bytes)
        if (text, n_cut, None) == (result.text, result.n_cut, result.whole):
            return result
        return replace(result, text=text, n_cut=n_cut, whole=result.text if n_cut else None)

    def _note(
        self, fields: dict[str, Json], values: Mapping[str, Json] | None = None
    ) -> JsonObject:
        """Store a note, or return the stored one with the values of then.

        Args:
            fields: Replay compares them.
            values: What differs each time.
        """
        self._check_open()
        number, digest = self._next_number(), digest_of(fields)
        step = self._stored_step(number, "note", digest)
        if step is not None:
            return step.asked
        step = self._new_step(number, "note", digest, {**fields, **(values or {})})
        self._backend.note(step)
        return step.asked

    def _new_step(self, number: int, kind: StepKind, digest: str, asked: JsonObject) -> Step:
        """Return a step without work of its own, which is over when it is stored."""
        return Step(
            number=number,
            kind=kind,
            digest=digest,
            span=self._span,
            asked=asked,
            wall_seconds=self.accounts.wall_seconds(),
        )

    @property
    def _span(self) -> str:
        return "/".join(self._spans)

    def _next_number(self) -> int:
        number = self._number
        self._number += 1
        return number

    def _stored_step(self, number: int, kind: StepKind, digest: str) -> Step | None:
        """Return a stored step; the attempt is over where something else was asked then."""
        step = self._backend.stored_step(number)
        if step is not None and (step.kind, step.digest) != (kind, digest):
            self._end(AttemptOver(f"step {number + 1} asks something else than the stored one"))
        return step

    def _end(self, ending: EpisodeEnding) -> NoReturn:
        self.ending = self.ending or ending
        raise ending

    @contextmanager
    def _noting_ending(self) -> Iterator[None]:
        """Keep what ends the episode, even where the solver goes on; an error of the run ends the
        session, and is not an error that a solver may catch and try again.
        """
        try:
            yield
        except EpisodeEnding as ending:
            self.ending = self.ending or ending
            raise
        except Exception as error:
            self.ending = self.ending or SessionOver(error)
            raise self.ending from error

    async def _ensure_open(self) -> None:
        """Raise what ended the episode; a solver that goes on and on after that is left suspended
        for good, since nothing that is raised ends ``while True`` around a bare ``except``.
        """
        if self.ending is not None:
            self._n_after_end += 1
            if self._n_after_end > _AFTER_END_MAX:
                self.abandoned.set()
                leave_suspended(asyncio.current_task())
                await asyncio.get_running_loop().create_future()  # never done
        self._check_open()

    def _check_open(self) -> None:
        if self.ending is not None:
            raise self.ending


def _on_interrupt(facts: ToolFacts | None) -> OnInterrupt:
    return "again" if facts is None else facts.on_interrupt
