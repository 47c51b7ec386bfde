"""Puts cases to the judges of a run: asks, asks again, keeps every reply, and lets a panel come to its grade.

Each judge is a model behind a client of its own kind: the same limiter, retries, budget, cache and store as the
evaluated one. A judge that is down parks what waits for it: whoever is under way goes on trying, everybody else is
turned away at once, so that answers go on being made; so is whoever finds all seats taken by those that a silent one
keeps waiting. Trap: a reply that cannot be read is kept and used in no later
session; a resume asks anew.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from nel.byob.judge import RESPONSE_FORMAT
from nel.config.schema import EndpointConfig, JudgeConfig, ModelConfig
from nel.core.observer import Place
from nel.core.strict_json import dumps_bytes
from nel.engine.judging.cases import completed, generation_of, members_of
from nel.engine.judging.endpoints import PARKED, JudgeEndpoint, parked, share_slots
from nel.engine.judging.plugin_threads import PluginThreads
from nel.engine.judging.replies import (
    ASKED_AGAIN,
    Reply,
    fault_of_panel,
    messages_again,
    questions_of,
    read_reply,
    said_by,
    settled,
)
from nel.engine.plan import Plan
from nel.engine.scorers.call import ScoringContext
from nel.engine.store.codec import decode_response, encode_response
from nel.engine.store.database import Store
from nel.engine.store.snapshot import Snapshot
from nel.errors import JudgeError, JudgePreflightError, PreflightError, StoppedEarly
from nel.judges.panel import aggregate_opinions, aggregate_repeats
from nel.judges.record import TRANSIENT_FAULTS, JudgementJson, record_json
from nel.judges.registry import judge_for
from nel.judges.types import Case, Grade, Judge, Judgement, Opinion, Question, check_case
from nel.models.faults import Fault
from nel.models.pacing import EndpointDown, GateClosed
from nel.models.preflight import JUDGE_FLAGS, check_endpoint, raise_if_hopeless
from nel.models.protocols import build_body
from nel.types import Generation, Message, Request, Response, ScorerInput

T = TypeVar("T")

KEY_PREFIX: Final = "judge-"
"""Calls of judges in the store are called ``judge-LABEL:DIGEST-N``."""
_LOOK_SECONDS: Final = 0.1
_HOPELESS: Final = frozenset({"auth", "not_found", "tls"})
_MEMBERS_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asks for a judgement: a sample, and what its scorer was given."""

    plan: Plan
    place: Place
    sample_id: str
    given: ScorerInput
    talk: ScoringContext
    response_format: Mapping[str, Any] | None = None
    """Sent with its questions, where the scorer wants replies of a form."""


class Judges:
    """All judges of a run; use it on one event loop."""

    def __init__(
        self,
        *,
        store: Store,
        snapshot: Snapshot,
        endpoint: EndpointConfig | None,
        judge_endpoints: Mapping[str, JudgeEndpoint],
        plugin_seconds: float,
    ) -> None:
        """Prepare the judges.

        Args:
            store: Keeps every reply.
            snapshot: Has those of earlier sessions.
            endpoint: Of the evaluated model.
            benches: By `bench_key`; empty where nothing is to be asked.
            plugin_seconds: So long a judge's own code may take for one question or reply.
        """
        self._store = store
        self._snapshot = snapshot
        self._endpoint = endpoint
        self._judge_endpoints = judge_endpoints
        self._endpoint_by_member: dict[int, tuple[ModelConfig, JudgeEndpoint | None]] = {}
        self._beside = PluginThreads(seconds=plugin_seconds)
        self._is_patient = False
        share_slots(judge_endpoints.values())

    async def watch(self) -> None:
        """Turn away who waits for a judge that is down, until cancelled."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for bench in self._judge_endpoints.values():
                if self._refuses_all(bench):
                    bench.slots.turn_away()

    def _refuses_all(self, bench: JudgeEndpoint) -> bool:
        return bench.is_out or (bench.is_stalled and not self._is_patient)

    def be_patient(self) -> None:
        """Wait for judges that keep everybody waiting, from now on: nothing but judging is left to do."""
        self._is_patient = True

    async def back(self) -> None:
        """Return when no judge is down, or none is tried any more."""
        while any(bench.is_out for bench in self._judge_endpoints.values()):  # noqa: ASYNC110 - a gate does not tell
            await asyncio.sleep(_LOOK_SECONDS)

    async def check(self) -> list[str]:
        """Ask each judge for its models before anything is paid for; return what is to be noted.

        Raises:
            JudgePreflightError: A key is refused, a certificate not trusted, or a model not served.
        """
        notes = []
        for bench in self._judge_endpoints.values():
            endpoint = bench.client.endpoint
            if not isinstance(endpoint, ModelConfig):
                continue  # the evaluated model was looked at before
            try:
                await check_endpoint(bench.client, flags=JUDGE_FLAGS)
            except StoppedEarly as error:
                bench.unreachable = str(error)
                notes.append(f"judge {endpoint.label}: {error}; answers are kept, and judged once it answers")
            except PreflightError as error:
                raise _of_judge(endpoint, error) from error
        return notes

    @property
    def places(self) -> int:
        """Return how many samples may be with judges that are no evaluated model, waiting for another try or not."""
        judge_endpoints = [bench for bench in self._judge_endpoints.values() if not bench.is_evaluated]
        return sum(bench.slots.free + bench.inside for bench in judge_endpoints)

    @property
    def down_seconds(self) -> float | None:
        """Return for how long a judge has answered nobody, None while all answer."""
        found = [bench.client.gate.down_seconds for bench in self._judge_endpoints.values()]
        return max((one for one in found if one is not None), default=None)

    @property
    def troubles(self) -> list[str]:
        """Return of each judge that judges nobody now, where it is served and why; from any thread."""
        found = [bench.trouble for bench in self._judge_endpoints.values() if not bench.is_evaluated]
        return [trouble for trouble in found if trouble is not None]

    def close(self) -> None:
        """Put nothing to any judge any more; what is under way may finish."""
        for bench in self._judge_endpoints.values():
            bench.client.gate.close()
            bench.slots.turn_away()

    def end(self) -> None:
        """Give back what is held; called once, when nothing is under way any more."""
        self._beside.close()

    @property
    def down(self) -> str | None:
        """Return why a judge is not asked any more, None while all are."""
        return next((bench.down for bench in self._judge_endpoints.values() if bench.down is not None), None)

    async def judge(self, asked: Asked, case: Case, records: list[JudgementJson | None]) -> Judgement:
        """Return what the panel makes of a case.

        Args:
            asked: Who asks.
            case: What the scorer said of it.
            records: Gets a record of the judgement, or of what there is of one.

        Raises:
            JudgeError: There is no grade; ``parked`` where it is not known whether there would be.
            BudgetSpent: The next request might pass a cap.
            StoppedEarly: A reply cannot be kept.
        """
        slot = len(records)
        records.append(None)
        check_case(case)
        config = asked.plan.judge or JudgeConfig()
        case = completed(case, asked.given, asked.plan)
        asked = replace(asked, response_format=case.values.get(RESPONSE_FORMAT))
        members = members_of(case, asked.plan, self._endpoint)
        judge = judge_for(case)
        questions = await questions_of(judge, case, self._beside)
        aggregate = case.aggregate or config.aggregate
        quorum = min(config.quorum or len(members) // 2 + 1, len(members))
        name = judge.name
        opinions = await _all([self._opinion(asked, member, judge, case, questions, config) for member in members])
        grade: Grade | None = None
        try:
            grade = aggregate_opinions(opinions, aggregate, quorum)
        except JudgeError as error:
            raise fault_of_panel(error, opinions) from error
        finally:
            records[slot] = record_json(name, grade, opinions, aggregate=aggregate, quorum=quorum, level=judge.level)
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
        asked: Asked,
        member: ModelConfig,
        judge: Judge,
        case: Case,
        questions: Sequence[Question],
        config: JudgeConfig,
    ) -> Opinion:
        puts = [
            self._put(asked, member, question, number, config.reasks)
            for number in range(config.repeats)
            for question in questions
        ]
        replies = await _all(puts)
        size = len(questions)
        rounds = [replies[start : start + size] for start in range(0, len(replies), size)]
        grades = [await settled(judge, case, one, self._beside) for one in rounds]
        fault = next((one for one in grades if isinstance(one, JudgeError)), None)
        grade: Grade | None = None
        try:
            grade = aggregate_repeats([one if isinstance(one, Grade) else None for one in grades])
        except JudgeError as error:
            fault = fault or error
        asked_for = zip(questions, rounds[0], strict=True)
        return Opinion(
            judge=member.label,
            grade=grade,
            repeats=tuple(one if isinstance(one, Grade) else None for one in grades) if config.repeats > 1 else (),
            questions=tuple((one.label, reply.label) for one, reply in asked_for) if size > 1 else (),
            reasked=sum(reply.reasked for reply in replies),
            fault=None if grade is not None or fault is None else fault.kind,
            reply=said_by(grade, fault, replies),
        )

    async def _put(self, asked: Asked, member: ModelConfig, question: Question, number: int, reasks: int) -> Reply:
        """Put one question, again when its reply cannot be read; the fault is in what comes back."""
        messages = list(question.messages) or [Message(role="user", content=question.prompt)]
        text, fault = "", JudgeError("it was not asked")
        for tried in range(reasks + 1):
            try:
                text, grade = await self._ask(asked, member, question, messages, number)
                return Reply(text, grade, tried)
            except JudgeError as error:
                if error.kind == PARKED:
                    raise
                fault = error
                asked.talk.is_short |= error.kind in TRANSIENT_FAULTS
                if error.kind not in ASKED_AGAIN:
                    return Reply(error.reply, error, tried)
            messages = messages_again(messages, fault.reply, question.again)
        return Reply(fault.reply, fault, reasks)

    async def _ask(
        self, asked: Asked, member: ModelConfig, question: Question, messages: Sequence[Message], number: int
    ) -> tuple[str, Grade]:
        """Return a reply and its grade.

        Raises:
            JudgeError: There is none.
        """
        request = _request(asked, member, messages, question.settings, number)
        body = dumps_bytes(build_body(request, stream=member.stream))
        digest = hashlib.sha256(body).hexdigest()
        counted = f"{member.label}:{digest}"
        asked.talk.counts[counted] += 1
        key = f"{KEY_PREFIX}{counted}-{asked.talk.counts[counted]}"
        async with asked.talk.asking(key):
            response, read = await self._kept(asked, member, request, body, key, question)
        if isinstance(read, JudgeError):
            raise read
        return response.text, read

    async def _kept(
        self, asked: Asked, member: ModelConfig, request: Request, body: bytes, key: str, question: Question
    ) -> tuple[Response, Grade | JudgeError]:
        """Return the reply that the store has, where it can be read or is of this session; else ask for it."""
        known = self._snapshot.call(*asked.place, key)
        if known is not None:
            response = decode_response(known)
            read = await read_reply(question, response, self._beside)
            is_new = self._snapshot.session_of_call(*asked.place, key) == self._store.session
            if isinstance(read, Grade) or is_new or not self._judge_endpoints:
                return response, read
        return await self._complete(asked, member, request, body, key, question)

    async def _complete(
        self, asked: Asked, member: ModelConfig, request: Request, body: bytes, key: str, question: Question
    ) -> tuple[Response, Grade | JudgeError]:
        """Return a judge's reply, kept, and its grade; only one that has a grade is put into the cache.

        Raises:
            JudgeError: There is no reply.
            JudgePreflightError: There has never been one, and what is wrong will meet every further question.
        """
        bench = self._endpoint_of(member)
        if bench is None:
            raise JudgeError(f"{member.label} is not asked in this session; resume to have it judge", kind="not_asked")
        if bench.down is not None:
            raise JudgeError(bench.down, kind="outage")
        if self._refuses_all(bench):
            raise parked()
        await bench.slots.take()

        async def keep(response: Response) -> None:
            await self._store.put_call(*asked.place, key, body.decode(), encode_response(response))

        with bench.slot():
            try:
                response = await bench.client.complete(request, body, call=key, keep=keep, remembers=False)
            except GateClosed as closed:
                raise parked() from closed
            except EndpointDown as down:
                bench.down = f"{member.label}: {down} ({bench.client.trouble})"
                raise JudgeError(bench.down, kind="outage") from down
        bench.n_refused = bench.n_refused + 1 if _is_hopeless(response) else 0
        _raise_if_hopeless(bench, member, response)
        read = await read_reply(question, response, self._beside)
        if isinstance(read, Grade):
            bench.client.remember(request, body, key, response)
        return response, read

    def _endpoint_of(self, member: ModelConfig) -> JudgeEndpoint | None:
        """Return where a model is asked, None where it is not; those of a panel are looked up once."""
        known = self._endpoint_by_member.get(id(member))
        if known is not None and known[0] is member:
            return known[1]
        bench = self._judge_endpoints.get(endpoint_key(member))
        if len(self._endpoint_by_member) < _MEMBERS_MAX:
            self._endpoint_by_member[id(member)] = (member, bench)
        return bench


def endpoint_key(member: EndpointConfig) -> str:
    """Return what tells one endpoint's client from another's; a key is in it by the name of its variable."""
    own = member.model_dump(mode="json", include=set(EndpointConfig.model_fields))
    concurrency = member.concurrency if isinstance(member, ModelConfig) else None
    return dumps_bytes({**own, "concurrency": concurrency}).decode()


async def _all(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Return what all come to; when some fail, the others are waited for, since what they ask for is paid."""
    if len(work) == 1:
        return [await work[0]]
    found = await asyncio.gather(*work, return_exceptions=True)
    faults = [one for one in found if isinstance(one, BaseException)]
    if faults:
        raise next((one for one in faults if not isinstance(one, JudgeError)), faults[0])
    return [one for one in found if not isinstance(one, BaseException)]


def _request(
    asked: Asked, member: ModelConfig, messages: Sequence[Message], wanted: Mapping[str, Any], number: int
) -> Request:
    settings = generation_of(member, wanted)
    generation = Generation(
        **settings.model_dump(exclude={"stop", "extra", "seed"}),
        stop=None if settings.stop is None else tuple(settings.stop),
        seed=None if settings.seed is None else settings.seed + number,
        extra=settings.extra | ({"response_format": asked.response_format} if asked.response_format else {}),
    )
    prompt = "\n\n".join(str(message.content) for message in messages)
    is_chat = member.protocol == "chat"
    return Request(
        protocol=member.protocol,
        model=member.model,
        sample_id=asked.sample_id,
        repeat=asked.place[2],
        messages=tuple(messages) if is_chat else (),
        prompt=None if is_chat else prompt,
        generation=generation,
    )


def _is_hopeless(response: Response) -> bool:
    return response.error is not None and response.error.kind in _HOPELESS


def _raise_if_hopeless(bench: JudgeEndpoint, member: ModelConfig, response: Response) -> None:
    error = response.error
    if error is None or not _is_hopeless(response) or bench.client.gate.n_answered:
        return
    fault = Fault(kind=error.kind, message=error.message, retryable=False, status=error.status)
    try:
        raise_if_hopeless(bench.client, fault, flags=JUDGE_FLAGS)
    except PreflightError as refused:
        raise _of_judge(member, refused) from refused


def _of_judge(member: ModelConfig, error: PreflightError) -> JudgePreflightError:
    return JudgePreflightError(f"judge {member.label}: {error}", endpoint_kind=error.endpoint_kind)
