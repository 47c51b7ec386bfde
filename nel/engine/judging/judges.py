"""Asks the judges of a run: sends questions, retries unreadable replies, stores all, and votes.

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
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from nel.config.schema import EndpointConfig, JudgeConfig, ModelConfig
from nel.core.strict_json import dumps_bytes
from nel.engine.asking.exchange import Sent, exchange
from nel.engine.judging.adaptation import JudgeAdaptation, JudgeSettings
from nel.engine.judging.cases import complete_case, generation_of, panel_for
from nel.engine.judging.endpoint_set import JudgeEndpoints
from nel.engine.judging.endpoints import PARKED, JudgeEndpoint
from nel.engine.judging.kept import KeptReplies, ReplyStore
from nel.engine.judging.plugin_threads import PluginThreads
from nel.engine.judging.replies import (
    REASKED_KINDS,
    JudgeReply,
    make_questions,
    panel_fault,
    read_reply,
    reask_messages,
    settle_round,
    shown_reply,
    text_of_reply,
)
from nel.engine.planning.plan import Plan
from nel.engine.scorers.call import ScoringContext
from nel.engine.store.rows import DIGEST_BYTES, JUDGE, Asked, Row, exchange_row
from nel.errors import JudgeError
from nel.judges.panel import aggregate_opinions, aggregate_repeats
from nel.judges.record import JudgementJson, record_json
from nel.judges.types import Case, Grade, Judge, Judgement, Opinion, Question, check_case
from nel.models.wire.base import NotInProtocol
from nel.models.wire.openai import logprob_settings
from nel.models.wire.registry import build_body
from nel.types import Generation, Message, Request, Response, SampleKey, ScorerInput

T = TypeVar("T")


@dataclass(slots=True)
class JudgedSample:
    """A sample that is judged, and what its scorer was given."""

    plan: Plan
    sample_key: SampleKey
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
    asked: Asked
    """Names its reply in the store."""
    question: Question
    settings: JudgeSettings
    version: int
    """Of the settings that it is sent with."""

    @property
    def is_outdated(self) -> bool:
        """Return whether the settings have been changed since."""
        return self.settings.version != self.version


class Judges(JudgeEndpoints):
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
        super().__init__(judge_endpoints, panels)
        self._store = store
        self._snapshot = snapshot
        self._endpoint = endpoint
        self._plugin_threads = PluginThreads(timeout_seconds=plugin_timeout_seconds)
        self._adaptation = adaptation

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
        sample.response_format = case.values.get(RESPONSE_FORMAT)
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
            self._reply(sample, member, question, number, config.reasks)
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

    async def _reply(
        self,
        sample: JudgedSample,
        member: ModelConfig,
        question: Question,
        number: int,
        reasks: int,
    ) -> JudgeReply:
        """Ask one question, again with other settings where the judge's server asks for them, and
        again while the reply cannot be read; a fault is returned in the reply, not raised.
        """
        messages = list(question.messages) or [Message(role="user", content=question.prompt)]
        reasked = 0
        while True:
            try:
                call = self._call(sample, member, messages, question, number)
                async with sample.context.single_flight(call.asked.label):
                    response, read = await self._exchange(sample, member, call)
                if call.is_outdated or await self._adaptation.adapt(
                    sample.sample_key.benchmark, member, call.request.generation, response.error
                ):
                    continue
            except JudgeError as error:
                read = error
            if not isinstance(read, JudgeError):
                return JudgeReply(text_of_reply(question, response), read, reasked)
            if read.kind == PARKED:
                raise read
            if read.kind not in REASKED_KINDS or reasked == reasks:
                return JudgeReply(read.reply, read, reasked)
            messages = reask_messages(messages, read.reply, question.again)
            reasked += 1

    def _call(
        self,
        sample: JudgedSample,
        member: ModelConfig,
        messages: Sequence[Message],
        question: Question,
        number: int,
    ) -> _Call:
        settings = self._adaptation.of(sample.sample_key.benchmark, member)
        request = _request(sample, member, messages, question, number, settings)
        try:
            body = dumps_bytes(build_body(request, stream=member.stream))
        except NotInProtocol as error:
            raise JudgeError(
                f"{member.label} cannot be asked: {error}", kind="unsupported"
            ) from error
        digest = hashlib.sha256(body).digest()[:DIGEST_BYTES]
        counts, counted = sample.context.request_counts, f"{member.label}:{digest.hex()}"
        counts[counted] = counts.get(counted, 0) + 1
        asked = Asked(JUDGE, counts[counted], member.label, digest)
        return _Call(request, body, asked, question, settings, settings.version)

    async def _exchange(
        self, sample: JudgedSample, member: ModelConfig, call: _Call
    ) -> tuple[Response, Grade | JudgeError]:
        """Return a judge's reply and its grade; only a reply with a grade enters the cache.

        Raises:
            JudgeError: There is no reply.
            JudgePreflightError: There has never been one, and the fault holds for every further
                question.
        """
        read: Grade | JudgeError | None = None

        async def may_reuse(row: Row, response: Response) -> bool:
            # An unreadable reply of this session is final: its re-asks are paid for. One of an
            # earlier session is not.
            nonlocal read
            stored = await read_reply(call.question, response, self._plugin_threads)
            is_new = row.session == self._store.session
            if isinstance(stored, Grade) or is_new or not self._judge_endpoints:
                read = stored
            return read is not None

        async def keep(response: Response) -> None:
            if response.error is None and not call.is_outdated:
                call.settings.has_replied = True
                body = call.body.decode()
                row = exchange_row(sample.sample_key, call.asked, body, response)
                await self._store.append([row])

        response = await exchange(
            partial(self.complete, member),
            Sent(call.request, call.body, call.asked.label),
            keep,
            stored=self._snapshot.reply(sample.sample_key, call.asked),
            may_reuse=may_reuse,
            remembers=False,
        )
        if read is not None:
            return response, read
        read = await read_reply(call.question, response, self._plugin_threads)
        endpoint = self.endpoint_of(member)
        if isinstance(read, Grade) and endpoint is not None:
            endpoint.client.remember(call.request, call.body, call.asked.label, response)
        return response, read


async def _gather(work: Sequence[Coroutine[object, object, T]]) -> list[T]:
    """Return all results; raise a fault only when all are done, since they are paid for."""
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
    taken: JudgeSettings,
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
        repeat=sample.sample_key.repeat,
        benchmark=sample.sample_key.benchmark,
        messages=tuple(messages) if is_chat else (),
        prompt=None if is_chat else prompt,
        tools=question.tools,
        tool_choice=question.tool_choice,
        generation=taken.as_taken(generation),
    )
