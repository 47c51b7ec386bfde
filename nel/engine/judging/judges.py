"""Asks the judges of a run: sends questions, asks again for unreadable replies, stores each reply,
and votes.

Each judge is a model behind a client like that of the evaluated model, with the same limiter,
retries, budget, cache and store. When a judge is down, requests in flight keep retrying and every
further sample is parked at once, so that the run goes on asking the evaluated model; the same holds
when a judge that does not answer has all its slots taken.
Note: an unreadable reply is stored but used in no later session; a resume asks for it once more.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, TypeVar

from nel.config.schema import EndpointConfig, JudgeConfig, ModelConfig
from nel.core.observer import Place
from nel.core.strict_json import dumps_bytes
from nel.engine.judging.adaptation import KEY_PREFIX, JudgeAdaptation, JudgeSettings
from nel.engine.judging.cases import complete_case, generation_of, panel_for
from nel.engine.judging.endpoints import PARKED, JudgeEndpoint, parked_error, share_slots
from nel.engine.judging.kept import KeptReplies, ReplyStore
from nel.engine.judging.plugin_threads import PluginThreads
from nel.engine.judging.replies import (
    REASKED_KINDS,
    Reply,
    make_questions,
    panel_fault,
    read_reply,
    reask_messages,
    settle_round,
    shown_reply,
    text_of_reply,
)
from nel.engine.plan import Plan
from nel.engine.scorers.call import ScoringContext
from nel.engine.store.codec import decode_response, encode_response
from nel.errors import JudgeError, JudgePreflightError, PreflightError, StoppedEarly
from nel.judges.panel import aggregate_opinions, aggregate_repeats
from nel.judges.record import JudgementJson, record_json
from nel.judges.types import Case, Grade, Judge, Judgement, Opinion, Question, check_case
from nel.models.client import Client
from nel.models.faults import Fault
from nel.models.pacing import EndpointDown, GateClosed
from nel.models.preflight import JUDGE_FLAGS, check_endpoint, raise_if_hopeless
from nel.models.protocols import logprob_settings
from nel.models.wire.base import NotInProtocol
from nel.models.wire.registry import build_body
from nel.types import Generation, Message, Request, Response, ScorerInput

T = TypeVar("T")

_POLL_SECONDS: Final = 0.1
_FATAL_KINDS: Final = frozenset({"auth", "not_found", "tls"})
_MEMBERS_MAX: Final = 64
"""Models whose endpoint is remembered by identity; looking one up by its configuration serializes
all of it.
"""


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """A sample that is judged, and what its scorer was given."""

    plan: Plan
    sample_key: Place
    sample_id: str
    scorer_input: ScorerInput
    context: ScoringContext
    response_format: Mapping[str, object] | None = None
    """Sent with its questions, where the scorer wants structured replies."""


@dataclass(frozen=True, slots=True)
class _Call:
    """One question as it is sent."""

    request: Request
    body: bytes
    key: str
    """Of its reply in the store."""
    question: Question
    settings: JudgeSettings
    version: int
    """Of the settings that it is sent with."""

    @property
    def is_outdated(self) -> bool:
        """Return whether the settings have been changed since."""
        return self.settings.version != self.version


class Judges:
    """All judges of a run; use it on one event loop."""

    def __init__(
        self,
        *,
        store: ReplyStore,
        snapshot: KeptReplies,
        endpoint: EndpointConfig | None,
        judge_endpoints: Mapping[str, JudgeEndpoint],
        plugin_timeout_seconds: float,
        adaptation: JudgeAdaptation,
        panels: Sequence[JudgeConfig] = (),
    ) -> None:
        """Share the slots among the endpoints; nothing is sent yet.

        Args:
            store: Keeps every reply.
            snapshot: Has the replies of earlier sessions.
            endpoint: Of the evaluated model.
            judge_endpoints: By `endpoint_key`; empty where no judge may be asked.
            plugin_timeout_seconds: For the own code of a judge, for one question or reply.
            adaptation: Changes the settings that a reasoning model refuses.
            panels: Of the benchmarks; a member that the others can do without is disabled where it
                refuses every question, instead of ending the run.
        """
        self._store = store
        self._snapshot = snapshot
        self._endpoint = endpoint
        self._judge_endpoints = judge_endpoints
        self._endpoint_by_member: dict[int, tuple[ModelConfig, JudgeEndpoint | None]] = {}
        self._plugin_threads = PluginThreads(timeout_seconds=plugin_timeout_seconds)
        self._adaptation = adaptation
        self._panels = panels
        self._waits_for_stalled = False
        share_slots(judge_endpoints.values())

    async def watch(self) -> None:
        """Park the samples that wait for a slot of a judge that is down or stalled, until
        cancelled.
        """
        while True:
            await asyncio.sleep(_POLL_SECONDS)
            for endpoint in self._judge_endpoints.values():
                if self._parks(endpoint):
                    endpoint.slots.reject_waiters()

    def _parks(self, endpoint: JudgeEndpoint) -> bool:
        """Return whether samples for an endpoint are parked instead of waiting for a slot."""
        return endpoint.is_down or (endpoint.is_stalled and not self._waits_for_stalled)

    def wait_for_stalled(self) -> None:
        """From now on let samples wait for stalled judges, since nothing but judging is left to
        do.
        """
        self._waits_for_stalled = True

    async def wait_until_up(self) -> None:
        """Return when no judge is down, or none is being probed any more."""
        while any(endpoint.is_down for endpoint in self._judge_endpoints.values()):  # noqa: ASYNC110 - a gate has no event for it
            await asyncio.sleep(_POLL_SECONDS)

    async def check(self) -> list[str]:
        """Ask each judge for its models before anything is paid for; return notes for the user.

        Raises:
            JudgePreflightError: A key is refused, a certificate not trusted, or a model not served;
                and the others of its panel are too few without it.
        """
        notes = []
        for endpoint in self._judge_endpoints.values():
            member = endpoint.client.endpoint
            if not isinstance(member, ModelConfig):
                continue  # the pre-flight of the evaluated model has checked it
            try:
                await check_endpoint(endpoint.client, flags=JUDGE_FLAGS)
            except StoppedEarly as error:
                endpoint.unreachable = str(error)
                notes.append(
                    f"judge {member.label}: {error}; answers are kept, and judged once it answers"
                )
            except PreflightError as error:
                if not self._can_spare(endpoint):
                    judges = [judge for panel in self._panels for judge in panel.panel]
                    is_alone = {judge.label for judge in judges} == {member.label}
                    raise _of_judge(member, error, is_alone=is_alone) from error
                endpoint.disabled = f"{member.label}: {error}"
                notes.append(
                    f"judge {member.label}: {error}; the others judge without it, resume to have it"
                    " asked too"
                )
        return notes

    def _can_spare(self, endpoint: JudgeEndpoint) -> bool:
        """Return whether every panel can still decide without an endpoint and those that are
        disabled already.
        """
        lost = {
            id(other) for other in self._judge_endpoints.values() if other.disabled is not None
        } | {id(endpoint)}
        is_member = False
        for panel in self._panels:
            members = [self._judge_endpoints.get(endpoint_key(member)) for member in panel.panel]
            left = sum(other is not None and id(other) not in lost for other in members)
            is_member |= any(other is endpoint for other in members)
            if len(members) > left < min(panel.quorum or len(members) // 2 + 1, len(members)):
                return False
        return is_member

    @property
    def n_slots(self) -> int:
        """Return how many samples may hold slots of judges other than the evaluated model,
        including for retries.
        """
        others = [
            endpoint for endpoint in self._judge_endpoints.values() if not endpoint.is_evaluated
        ]
        return sum(endpoint.slots.free + endpoint.in_flight for endpoint in others)

    @property
    def down_seconds(self) -> float | None:
        """Return for how many seconds a judge has been down, the longest where several are; None
        while all are up.

        The evaluated model, which may be asked to judge itself, is not among them: that is the
        endpoint's outage.
        """
        others = [
            endpoint for endpoint in self._judge_endpoints.values() if not endpoint.is_evaluated
        ]
        seconds = [endpoint.client.gate.down_seconds for endpoint in others]
        return max((value for value in seconds if value is not None), default=None)

    @property
    def problems(self) -> list[str]:
        """Return for each judge that judges nothing now its name, its address and why; safe from
        any thread.
        """
        known = [
            endpoint.problem
            for endpoint in self._judge_endpoints.values()
            if not endpoint.is_evaluated
        ]
        return [problem for problem in known if problem is not None]

    def clients(self) -> list[tuple[str, Client]]:
        """Return the name and the client of each judge."""
        return [(endpoint.name, endpoint.client) for endpoint in self._judge_endpoints.values()]

    def stop_asking(self) -> None:
        """Send no further question; requests in flight may finish."""
        for endpoint in self._judge_endpoints.values():
            endpoint.client.gate.close()
            endpoint.slots.reject_waiters()

    @property
    def disabled(self) -> str | None:
        """Return why a judge gets no further question in this session, None while each of them
        does.
        """
        return next(
            (
                endpoint.disabled
                for endpoint in self._judge_endpoints.values()
                if endpoint.disabled is not None
            ),
            None,
        )

    async def judge(
        self, sample: JudgedSample, case: Case, records: list[JudgementJson | None]
    ) -> Judgement:
        """Return the panel's judgement of a case.

        Args:
            sample: What is judged.
            case: What the scorer asks about it.
            records: A record of the judgement is appended, also of one without a grade.

        Raises:
            JudgeError: There is no grade; ``parked`` where it is not known whether there would be.
            BudgetSpent: The next request might pass a cap.
            StoppedEarly: A reply cannot be kept.
        """
        from nel.byob.judge import (  # noqa: PLC0415 - a run without a judge reads no reply
            RESPONSE_FORMAT,
        )
        from nel.judges.registry import judge_for  # noqa: PLC0415

        position = len(
            records
        )  # before the first await, so that records keep the order of the scorer's requests
        records.append(None)
        check_case(case)
        config = sample.plan.judge or JudgeConfig()
        case = complete_case(case, sample.scorer_input, sample.plan)
        sample = replace(sample, response_format=case.values.get(RESPONSE_FORMAT))
        members = panel_for(case, sample.plan, self._endpoint)
        judge = judge_for(case)
        questions = await make_questions(judge, case, self._plugin_threads)
        aggregate = case.aggregate or config.aggregate
        quorum = min(config.quorum or len(members) // 2 + 1, len(members))
        name = judge.name
        opinions = await _gather(
            [self._opinion(sample, member, judge, case, questions, config) for member in members]
        )
        grade: Grade | None = None
        try:
            grade = aggregate_opinions(opinions, aggregate, quorum, config.weights)
        except JudgeError as error:
            raise panel_fault(error, opinions) from error
        finally:
            records[position] = record_json(
                name, grade, opinions, aggregate=aggregate, quorum=quorum, level=judge.level
            )
        return Judgement(
            template=name,
            grade=grade,
            aggregate=aggregate,
            quorum=quorum,
            opinions=tuple(opinions),
            level=judge.level,
        )

    async def _opinion(
        self,
        sample: JudgedSample,
        member: ModelConfig,
        judge: Judge,
        case: Case,
        questions: Sequence[Question],
        config: JudgeConfig,
    ) -> Opinion:
        asks = [
            self._ask_with_reasks(sample, member, question, number, config.reasks)
            for number in range(config.repeats)
            for question in questions
        ]
        replies = await _gather(asks)
        # Replies are in the order of `asks`: all questions of the first round, then all of the
        # second.
        size = len(questions)
        rounds = [replies[start : start + size] for start in range(0, len(replies), size)]
        grades = [await settle_round(judge, case, entry, self._plugin_threads) for entry in rounds]
        fault = next((entry for entry in grades if isinstance(entry, JudgeError)), None)
        sample.context.has_missing_grades |= fault is not None
        grade: Grade | None = None
        try:
            grade = aggregate_repeats(
                [entry if isinstance(entry, Grade) else None for entry in grades]
            )
        except JudgeError as error:
            fault = fault or error
        first_round = zip(questions, rounds[0], strict=True)
        return Opinion(
            judge=member.label,
            grade=grade,
            repeats=(
                tuple(entry if isinstance(entry, Grade) else None for entry in grades)
                if config.repeats > 1
                else ()
            ),
            questions=(
                tuple((entry.label, reply.label) for entry, reply in first_round)
                if size > 1
                else ()
            ),
            reasked=sum(reply.reasked for reply in replies),
            fault=None if grade is not None or fault is None else fault.kind,
            reply=shown_reply(grade, fault, replies),
        )

    async def _ask_with_reasks(
        self,
        sample: JudgedSample,
        member: ModelConfig,
        question: Question,
        number: int,
        reasks: int,
    ) -> Reply:
        """Ask one question, and again while its reply cannot be read; a fault is returned in the
        reply, not raised.
        """
        messages = list(question.messages) or [Message(role="user", content=question.prompt)]
        text, fault = "", JudgeError("it was not asked")
        for attempt in range(reasks + 1):
            try:
                text, grade = await self._ask(sample, member, question, messages, number)
                return Reply(text, grade, attempt)
            except JudgeError as error:
                if error.kind == PARKED:
                    raise
                fault = error
                if error.kind not in REASKED_KINDS:
                    return Reply(error.reply, error, attempt)
            messages = reask_messages(messages, fault.reply, question.again)
        return Reply(fault.reply, fault, reasks)

    async def _ask(
        self,
        sample: JudgedSample,
        member: ModelConfig,
        question: Question,
        messages: Sequence[Message],
        number: int,
    ) -> tuple[str, Grade]:
        """Return a reply and its grade.

        Raises:
            JudgeError: There is none.
        """
        while True:
            call = self._call(sample, member, messages, question, number)
            async with sample.context.single_flight(call.key):
                response, read = await self._stored_or_asked(sample, member, call)
            if call.is_outdated:
                continue
            if not await self._adaptation.adapt(
                sample.sample_key[0], member, call.request.generation, response.error
            ):
                break
        if isinstance(read, JudgeError):
            raise read
        return text_of_reply(question, response), read

    def _call(
        self,
        sample: JudgedSample,
        member: ModelConfig,
        messages: Sequence[Message],
        question: Question,
        number: int,
    ) -> _Call:
        settings = self._adaptation.of(sample.sample_key[0], member)
        request = _request(sample, member, messages, question, number)
        request = replace(request, generation=settings.as_taken(request.generation))
        try:
            body = dumps_bytes(build_body(request, stream=member.stream))
        except NotInProtocol as error:
            raise JudgeError(
                f"{member.label} cannot be asked: {error}", kind="unsupported"
            ) from error
        counted = f"{member.label}:{hashlib.sha256(body).hexdigest()}"
        sample.context.request_counts[counted] += 1
        key = f"{KEY_PREFIX}{counted}-{sample.context.request_counts[counted]}"
        return _Call(request, body, key, question, settings, settings.version)

    async def _stored_or_asked(
        self, sample: JudgedSample, member: ModelConfig, call: _Call
    ) -> tuple[Response, Grade | JudgeError]:
        """Return the stored reply if it can be read or is of this session, else ask for it."""
        known = self._snapshot.call(*sample.sample_key, call.key)
        if known is not None:
            response = decode_response(known)
            read = await read_reply(call.question, response, self._plugin_threads)
            # An unreadable reply of this session is final: its re-asks are paid for. One of an
            # earlier session is not.
            is_new = (
                self._snapshot.session_of_call(*sample.sample_key, call.key) == self._store.session
            )
            if isinstance(read, Grade) or is_new or not self._judge_endpoints:
                return response, read
        return await self._complete(sample, member, call)

    async def _complete(
        self, sample: JudgedSample, member: ModelConfig, call: _Call
    ) -> tuple[Response, Grade | JudgeError]:
        """Return a judge's reply, stored, and its grade; only a reply with a grade enters the
        cache.

        Raises:
            JudgeError: There is no reply.
            JudgePreflightError: There has never been one, and the fault holds for every further
                question.
        """
        endpoint = self._endpoint_of(member)
        if endpoint is None:
            raise JudgeError(
                f"{member.label} is not asked in this session; resume to have it judge",
                kind="not_asked",
            )
        if endpoint.disabled is not None:
            raise JudgeError(endpoint.disabled, kind="outage")
        if self._parks(endpoint):
            raise parked_error()
        await endpoint.slots.acquire()

        with endpoint.request_in_flight():
            try:
                async with endpoint.client.answering(
                    call.request, call.body, call=call.key, remembers=False
                ) as response:
                    if response.error is None and not call.is_outdated:
                        call.settings.has_replied = True
                        await self._store.put_call(
                            *sample.sample_key,
                            call.key,
                            call.body.decode(),
                            encode_response(response),
                        )
            except GateClosed as closed:
                raise parked_error() from closed
            except EndpointDown as down:
                endpoint.disabled = f"{member.label}: {down} ({endpoint.client.trouble})"
                raise JudgeError(endpoint.disabled, kind="outage") from down
        endpoint.n_refused = endpoint.n_refused + 1 if _is_fatal(response) else 0
        try:
            _raise_if_fatal(endpoint, member, response)
        except JudgePreflightError as error:
            if not self._can_spare(endpoint):
                raise
            endpoint.disabled = str(error).removeprefix("judge ")
            raise JudgeError(endpoint.disabled, kind=error.endpoint_kind or "outage") from error
        read = await read_reply(call.question, response, self._plugin_threads)
        if isinstance(read, Grade):
            endpoint.client.remember(call.request, call.body, call.key, response)
        return response, read

    def _endpoint_of(self, member: ModelConfig) -> JudgeEndpoint | None:
        """Return where a model is asked, None where it is not; those of a panel are looked up
        once.
        """
        known = self._endpoint_by_member.get(id(member))
        if known is not None and known[0] is member:
            return known[1]
        endpoint = self._judge_endpoints.get(endpoint_key(member))
        if len(self._endpoint_by_member) < _MEMBERS_MAX:
            self._endpoint_by_member[id(member)] = (member, endpoint)
        return endpoint


def endpoint_key(member: EndpointConfig) -> str:
    """Return a key that is equal for models that share a client; of an API key it holds the
    variable's name alone.
    """
    own = member.model_dump(mode="json", include=set(EndpointConfig.model_fields))
    concurrency = member.concurrency if isinstance(member, ModelConfig) else None
    return dumps_bytes({**own, "concurrency": concurrency}).decode()


async def _gather(work: Sequence[Coroutine[object, object, T]]) -> list[T]:
    """Return all results; when some fail, wait for the others before raising, since their requests
    are paid for.
    """
    if len(work) == 1:
        return [await work[0]]
    results = await asyncio.gather(*work, return_exceptions=True)
    faults = [result for result in results if isinstance(result, BaseException)]
    # An error that is not a judge's, such as a spent budget, ends the run: it goes before the
    # others.
    if faults:
        raise next((result for result in faults if not isinstance(result, JudgeError)), faults[0])
    return [result for result in results if not isinstance(result, BaseException)]


def _request(
    sample: JudgedSample,
    member: ModelConfig,
    messages: Sequence[Message],
    question: Question,
    number: int,
) -> Request:
    settings = generation_of(member, question.settings)
    protocol = member.protocol or "chat"
    extra = logprob_settings(protocol, question.top_logprobs) | settings.extra
    if sample.response_format:
        extra["response_format"] = sample.response_format
    generation = Generation(
        **settings.model_dump(exclude={"stop", "extra", "seed"}),
        stop=None if settings.stop is None else tuple(settings.stop),
        seed=None if settings.seed is None else settings.seed + number,
        extra=extra,
    )
    prompt = "\n\n".join(str(message.content) for message in messages)
    is_chat = protocol != "completions"
    return Request(
        protocol=protocol,
        model=member.model,
        sample_id=sample.sample_id,
        repeat=sample.sample_key[2],
        benchmark=sample.sample_key[0],
        messages=tuple(messages) if is_chat else (),
        prompt=None if is_chat else prompt,
        tools=question.tools,
        tool_choice=question.tool_choice,
        generation=generation,
    )


def _is_fatal(response: Response) -> bool:
    return response.error is not None and response.error.kind in _FATAL_KINDS


def _raise_if_fatal(endpoint: JudgeEndpoint, member: ModelConfig, response: Response) -> None:
    error = response.error
    if error is None or not _is_fatal(response) or endpoint.client.gate.n_answered:
        return
    fault = Fault(kind=error.kind, message=error.message, retryable=False, status=error.status)
    try:
        raise_if_hopeless(endpoint.client, fault, flags=JUDGE_FLAGS)
    except PreflightError as refused:
        raise _of_judge(member, refused) from refused


def _of_judge(
    member: ModelConfig, error: PreflightError, *, is_alone: bool = False
) -> JudgePreflightError:
    """Return the error as one of a judge; the options that correct it replace the whole panel, so
    there are none where the panel has others.
    """
    changes = dict(zip(error.fix[::2], error.fix[1::2], strict=True))
    own = {JUDGE_FLAGS.url: member.url, JUDGE_FLAGS.model: member.model}
    if member.api_key_env:
        own[JUDGE_FLAGS.key] = member.api_key_env
    fix = chain.from_iterable((own | changes).items()) if changes and is_alone else ()
    return JudgePreflightError(
        f"judge {member.label}: {error}", endpoint_kind=error.endpoint_kind, fix=tuple(fix)
    )
