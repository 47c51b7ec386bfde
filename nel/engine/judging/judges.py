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
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
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
from nel.engine.scorers.call import (
    Delegated,
    ScoringTask,
    scorer_inputs,
    unscored_by,
)
from nel.engine.stopping.exit_status import ExitStatus, exit_status_of
from nel.engine.store.rows import DIGEST_BYTES, JUDGE, Asked, Row, exchange_row
from nel.errors import DatasetError, JudgeError, JudgePreflightError, ScorerError
from nel.judges.panel import aggregate_opinions, aggregate_repeats
from nel.judges.record import KEY, JudgementJson, record_json
from nel.judges.types import (
    Aggregate,
    Case,
    Grade,
    Judge,
    Judgement,
    Opinion,
    Question,
    check_case,
)
from nel.models.budget import BudgetSpent
from nel.models.wire.base import NotInProtocol
from nel.models.wire.openai import logprob_settings
from nel.models.wire.registry import build_body
from nel.scoring.result import JudgeWanted, mean_of_turns
from nel.types import (
    Generation,
    Message,
    Outcome,
    Request,
    Response,
    Scored,
    Unscored,
)

T = TypeVar("T")


@dataclass(slots=True)
class JudgedSample:
    """A sample that is judged."""

    item: ScoringTask
    response_format: Mapping[str, object] | None
    """Sent with its questions, where the scorer wants structured replies."""


@dataclass(slots=True)
class _Call:
    """One question as it is sent, and what is known of its reply."""

    sent: Sent
    asked: Asked
    """Names its reply in the store."""
    question: Question
    settings: JudgeSettings
    version: int
    """Of the settings that it is sent with."""
    read: Grade | JudgeError | None = None
    """What a stored reply says, where it is taken."""

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
        plans: Mapping[int, Plan],
    ) -> None:
        """Share the slots among the endpoints; nothing is sent yet.

        Args:
            store: Keeps every reply.
            snapshot: Has the replies of earlier sessions.
            endpoint: Of the evaluated model.
            judge_endpoints: By `endpoint_key`; empty where no judge may be asked.
            plugin_timeout_seconds: For the own code of a judge, for one question or reply.
            adaptation: Changes the settings that a reasoning model refuses.
            plans: By the benchmark's number in the store. A member of a panel that the others can
                do without is disabled where it refuses every question, instead of ending the run.
        """
        panels = [plan.judge for plan in plans.values() if plan.judge is not None]
        super().__init__(judge_endpoints, panels)
        self._store = store
        self.on_end: Callable[[ExitStatus], object] = lambda status: None
        """Called when the budget is spent, or a judge refuses every question."""
        self._plans = plans
        self._snapshot = snapshot
        self._endpoint = endpoint
        self._plugin_threads = PluginThreads(timeout_seconds=plugin_timeout_seconds)
        self._adaptation = adaptation

    async def verdict(self, item: ScoringTask, delegated: Delegated) -> Outcome:
        """Return the outcome of an answer whose scorer leaves it to the judges."""
        graders = [
            self.judge(item, number, turn)
            for number, turn in enumerate(delegated.turns)
            if isinstance(turn, JudgeWanted)
        ]
        # One for each turn that is judged, in their order.
        judged = iter(await asyncio.gather(*graders, return_exceptions=True))
        return mean_of_turns(
            [
                _judged_turn(turn, next(judged)) if isinstance(turn, JudgeWanted) else turn
                for turn in delegated.turns
            ]
        )

    async def judge(self, item: ScoringTask, turn: int, case: Case | JudgeWanted) -> Judgement:
        """Return the panel's judgement on a case of a scorer.

        Args:
            item: The scoring; its context gets a record of the judgement, even without a grade.
            turn: The number of the scorer's input.
            case: The question, or a wish of the scorer to be judged.

        Raises:
            JudgeError: There is no grade; ``parked`` if a later session may get one.
            ScorerError: The result that the scorer returned with its wish is not valid.
            StoppedEarly: A reply cannot be stored.
        """
        from nel.judges.registry import judge_for  # noqa: PLC0415 - of a run with a judge alone
        from nel.scoring.judge import RESPONSE_FORMAT  # noqa: PLC0415 - as above

        if isinstance(case, JudgeWanted):
            case = case.case()
        context = item.context
        # Reserved before the first await, so that records keep the order of the scorer's requests.
        position = len(context.records)
        context.records.append(None)
        try:
            check_case(case)
            plan = self._plans[item.key.benchmark]
            config = plan.judge or JudgeConfig()
            case = complete_case(case, scorer_inputs(item)[turn], plan)
            sample = JudgedSample(item, case.values.get(RESPONSE_FORMAT))
            members = panel_for(case, plan, self._endpoint)
            judge = judge_for(case)
            questions = await make_questions(judge, case, self._plugin_threads)
            opinions = await _gather(
                [self._opinion(sample, model, judge, case, questions, config) for model in members]
            )
            return _decide(judge, opinions, case.aggregate, config, context.records, position)
        except JudgeError as error:
            # The scorer may catch it and return a number: `fault` makes the sample unscored.
            if context.fault is None or error.kind == PARKED:
                context.fault = error
            raise
        except (BudgetSpent, JudgePreflightError) as end:
            self.on_end(exit_status_of(end))
            context.fault = JudgeError(str(end), kind=PARKED)
            raise context.fault from end

    def finalize(self, item: ScoringTask, outcome: Outcome) -> Outcome | None:
        """Return the outcome with its judgements; None where it waits for a judge that is down."""
        fault = item.context.fault
        if fault is not None:
            if fault.kind == PARKED:
                return None
            if not isinstance(outcome, Unscored):
                outcome = unscored_by(fault)
        records = [record for record in item.context.records if record is not None]
        return replace(outcome, details={**outcome.details, KEY: records}) if records else outcome

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
        sample.item.context.has_missing_grades |= fault is not None
        by_round = [entry if isinstance(entry, Grade) else None for entry in grades]
        grade: Grade | None = None
        try:
            grade = aggregate_repeats(by_round)
        except JudgeError as error:
            fault = fault or error
        labels: list[tuple[str, str]] = []
        if size > 1:
            first_round = zip(questions, rounds[0], strict=True)
            labels = [(entry.label, reply.label) for entry, reply in first_round]
        return Opinion(
            judge=member.label,
            grade=grade,
            repeats=tuple(by_round) if config.repeats > 1 else (),
            questions=tuple(labels),
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
        # Each round ends with a reply, with the same question under other settings, or with a
        # re-ask that shows the judge its unreadable reply.
        while True:
            try:
                call = self._call(sample, member, messages, question, number)
                async with sample.item.context.single_flight(call.sent.call):
                    response = await exchange(
                        partial(self.complete, member),
                        call.sent,
                        partial(self._keep, sample, call),
                        stored_row=self._snapshot.reply(sample.item.key, call.asked),
                        may_reuse=partial(self._may_reuse, call),
                        remembers=False,
                    )
                    reading = call.read
                    if reading is None:
                        reading = await read_reply(question, response, self._plugin_threads)
                        endpoint = self.endpoint_of(member)
                        if isinstance(reading, Grade) and endpoint is not None:
                            endpoint.client.remember(*call.sent, response)
                # A setting was refused, here or meanwhile elsewhere: ask without it, as no re-ask.
                if call.is_outdated or await self._adaptation.adapt(
                    sample.item.key.benchmark,
                    member,
                    call.sent.request.generation,
                    response.error,
                ):
                    continue
            except JudgeError as error:
                reading = error
            if not isinstance(reading, JudgeError):
                return JudgeReply(text_of_reply(question, response), reading, reasked)
            if reading.kind == PARKED:
                raise reading
            if reading.kind not in REASKED_KINDS or reasked == reasks:
                return JudgeReply(reading.reply, reading, reasked)
            messages = reask_messages(messages, reading.reply, question.again)
            reasked += 1

    def _call(
        self,
        sample: JudgedSample,
        member: ModelConfig,
        messages: Sequence[Message],
        question: Question,
        number: int,
    ) -> _Call:
        settings = self._adaptation.of(sample.item.key.benchmark, member)
        request = _request(sample, member, messages, question, number, settings)
        try:
            body = dumps_bytes(build_body(request, stream=member.stream))
        except NotInProtocol as error:
            raise JudgeError(
                f"{member.label} cannot be asked: {error}", kind="unsupported"
            ) from error
        digest = hashlib.sha256(body).digest()[:DIGEST_BYTES]
        # A request that a sample makes twice is two rows, told apart by its number.
        counts, call_digest = sample.item.context.request_counts, f"{member.label}:{digest.hex()}"
        counts[call_digest] = counts.get(call_digest, 0) + 1
        address = Asked(JUDGE, counts[call_digest], member.label, digest)
        sent = Sent(request, body, address.label)
        return _Call(sent, address, question, settings, settings.version)

    async def _may_reuse(self, call: _Call, row: Row, response: Response) -> bool:
        """Return whether a stored reply is taken.

        An unreadable reply of this session is final: its re-asks are paid for. One of an earlier
        session is not.
        """
        reading = await read_reply(call.question, response, self._plugin_threads)
        is_final = row.session == self._store.session or not self._judge_endpoints
        call.read = reading if isinstance(reading, Grade) or is_final else None
        return call.read is not None

    async def _keep(self, sample: JudgedSample, call: _Call, response: Response) -> None:
        if response.error is None and not call.is_outdated:
            call.settings.has_replied = True
            body = call.sent.body.decode()
            row = exchange_row(sample.item.key, call.asked, body, response)
            await self._store.append([row])


def _judged_turn(turn: JudgeWanted, judged: Judgement | BaseException) -> Outcome:
    """Return the outcome of an answer, or of one turn of it, that was judged.

    Raises:
        BaseException: What is neither a judge's fault nor that of a row or scorer.
    """
    if isinstance(judged, (DatasetError, JudgeError, ScorerError)):
        return unscored_by(judged)
    if isinstance(judged, BaseException):
        raise judged
    grade, (metrics, details, answer) = judged.grade, turn.own_values()
    return Scored(
        reward=grade.score,
        metrics={"correct": grade.score, **grade.metrics, **metrics},
        answer=answer,
        details={**details, "judge_grade": grade.label},
    )


def _decide(
    judge: Judge,
    opinions: Sequence[Opinion],
    aggregate: Aggregate | None,
    config: JudgeConfig,
    records: list[JudgementJson | None],
    position: int,
) -> Judgement:
    """Return the judgement of a panel, and record it; a panel without a grade has a record too."""
    aggregate = aggregate or config.aggregate
    quorum = min(config.quorum or len(opinions) // 2 + 1, len(opinions))
    grade: Grade | None = None
    try:
        grade = aggregate_opinions(opinions, aggregate, quorum, config.weights)
    except JudgeError as error:
        raise panel_fault(error, opinions) from error
    finally:
        records[position] = record_json(
            judge.name, grade, opinions, aggregate=aggregate, quorum=quorum, level=judge.level
        )
    return Judgement(
        template=judge.name,
        grade=grade,
        aggregate=aggregate,
        quorum=quorum,
        opinions=tuple(opinions),
        level=judge.level,
    )


async def _gather(work: Sequence[Coroutine[object, object, T]]) -> list[T]:
    """Return all results; raise a fault only when all are done, since they are paid for."""
    if len(work) == 1:
        return [await work[0]]
    results = await asyncio.gather(*work, return_exceptions=True)
    faults = [result for result in results if isinstance(result, BaseException)]
    # An error that is not a judge's, such as a spent budget, ends the run: it goes first.
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
        sample_id=sample.item.sample.id,
        repeat=sample.item.key.repeat,
        benchmark=sample.item.key.benchmark,
        messages=tuple(messages) if is_chat else (),
        prompt=None if is_chat else prompt,
        tools=question.tools,
        tool_choice=question.tool_choice,
        generation=taken.as_taken(generation),
    )
