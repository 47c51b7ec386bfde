"""Sends the requests of a sample: one, or one for each turn of a conversation; and those that
scorers make.

Every answer but the last of a sample is stored in the table of calls before the next request is
sent, so that a resume or a new scorer never pays for it again. A call is identified by its sample,
its body and how often that body was sent
before for this sample: a scorer that asks the same thing twice gets two answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypedDict

from nel.core.sent_messages import messages_in
from nel.core.strict_json import dumps_bytes, loads
from nel.engine.loglikelihood import rank
from nel.engine.plan import Plan
from nel.engine.response_outcomes import verdict_before_scoring
from nel.engine.scorers.call import ScoringTask
from nel.engine.store.codec import decode_response, encode_response
from nel.engine.store.database import Store
from nel.engine.store.snapshot import Snapshot
from nel.engine.work import Job
from nel.errors import EndpointError, ScorerError, did_you_mean
from nel.models.adaptation import Changes, changed
from nel.models.budget import BudgetSpent
from nel.models.client import Client, Parse
from nel.models.echo_probe import UNPROBED, EchoSupport
from nel.models.pacing import EndpointDown, GateClosed
from nel.models.protocols import read_text
from nel.models.wire.base import NotInProtocol
from nel.models.wire.registry import build_body, wire_of
from nel.solvers.generate import build_request
from nel.types import Generation, Message, Request, Response, ResponseError, Sample

_OPTIONS = ("max_tokens", "temperature", "top_p", "stop", "seed")

Place = tuple[int, int, int]
"""``(benchmark, idx, repeat)`` in the store."""

Commit = Callable[[bytes | None, Response], Awaitable[None]]
"""Stores a sample's last body and answer; returns once they are on disk."""

STOP_ERRORS = (GateClosed, EndpointDown, BudgetSpent)
"""What a request raises when no further one will be sent in this session."""


class ScorerPrompt(TypedDict):
    """What a scorer asks the model; it comes from plugin code, and is checked where a request is
    made of it.
    """

    prompt: str | Sequence[Mapping[str, str]]
    """Text, or messages with ``role`` and ``content``."""
    options: Mapping[str, Any]
    """Generation settings of this request."""


@dataclass(slots=True)
class SampleRunner:
    """Sends the requests of samples and scorers, through one client and one store."""

    client: Client | None
    store: Store
    snapshot: Snapshot
    echo: EchoSupport = UNPROBED
    """What the server supports for log-likelihoods, once it was probed."""
    changes: Changes = field(default_factory=dict)
    """What of the settings the model takes otherwise, found out in this session."""

    async def run(
        self, plan: Plan, sample: Sample, place: Place, commit: Commit
    ) -> tuple[bytes | None, Response]:
        """Return the body sent last and the answer to it, after both are committed; for recorded
        answers no body.

        Raises:
            GateClosed: The run is stopping; nothing was committed, as with the following.
            EndpointDown: The endpoint was down for longer than configured.
            BudgetSpent: The next request might exceed a cap.
        """
        if plan.eval_only or self.client is None:
            recorded = recorded_answer(sample)
            await commit(None, recorded)
            return None, recorded
        if plan.benchmark.loglikelihood:
            return await self._rank(plan, sample, place, commit)
        request = build_request(
            sample,
            repeat=place[2],
            model=plan.model or "",
            protocol=plan.protocol,
            generation=self.generation_of(plan),
            system_prompt=plan.config.system_prompt,
        )
        request = replace(request, benchmark=place[0])
        try:
            body = self._body(request)
        except NotInProtocol as error:
            unsent = Response(error=ResponseError(kind="unsupported", message=str(error)))
            await commit(None, unsent)
            return None, unsent
        for turn, following in enumerate(sample.turns):
            response = await self._stored_or_sent(
                place, f"turn-{turn}", request, body, truncated=plan.config.truncated
            )
            if response.error or verdict_before_scoring(
                response, truncated=plan.config.truncated, sample=sample
            ):
                await commit(body, response)
                return body, response
            answer = Message(role="assistant", content=response.text)
            request = replace(
                request,
                messages=(*request.messages, answer, Message(role="user", content=following)),
            )
            body = self._body(request)
        response = await self.client.complete(request, body, keep=partial(commit, body))
        if response.error is not None:  # `keep` was called for an answer only
            await commit(body, response)
        return body, response

    def generation_of(self, plan: Plan) -> Generation:
        """Return the settings of a benchmark as they are sent."""
        return self._as_taken(plan, plan.generation)

    def _as_taken(self, plan: Plan, generation: Generation) -> Generation:
        changes = {**plan.adapted, **self.changes}
        return (
            changed(generation, changes)
            if changes and plan.protocol != "completions"
            else generation
        )

    async def stored_answer(
        self, plan: Plan, sample: Sample, place: Place, encoded: str
    ) -> Response:
        """Return the stored answer of a sample; a recorded one that an older rule split is split
        and stored again.
        """
        if plan.eval_only:
            recorded = recorded_answer(sample)
            if (now := encode_response(recorded)) != encoded:
                await self.store.put_response(*place, None, now)
            return recorded
        return decode_response(encoded)

    async def _rank(
        self, plan: Plan, sample: Sample, place: Place, commit: Commit
    ) -> tuple[bytes | None, Response]:
        """Return the choices' log-likelihoods; each is stored when it arrives, and the whole
        committed at the end.
        """
        body, response = await rank(
            sample,
            model=plan.model or "",
            delimiter=plan.benchmark.target_delimiter,
            repeat=place[2],
            generation=plan.generation,
            echo=self.echo,
            ask=partial(self._stored_or_sent, place),
        )
        await commit(body, response)
        return body, response

    async def answer_scorer(self, plan: Plan, item: ScoringTask, payload: ScorerPrompt) -> str:
        """Return the model's answer to what a scorer asks.

        Raises:
            EndpointError: There is no endpoint, or it gave no usable answer; the sample is unscored
                by ``infra``.
            ScorerError: The prompt is neither text nor messages, or an option is unknown.
        """
        request = _request(plan, item, payload)
        request = replace(request, generation=self._as_taken(plan, request.generation))
        if problems := wire_of(request.protocol).problems(request.generation):
            raise ScorerError(
                f"model_call_fn over the {request.protocol} protocol: {'; '.join(problems)}"
            )
        body = self._body(request)
        digest = hashlib.sha256(body).hexdigest()
        counts = item.context.request_counts
        counts[digest] += 1
        key = f"call-{digest}-{counts[digest]}"
        place = (item.job, item.idx, item.repeat)
        try:
            async with item.context.single_flight(key):
                response = await self._stored_or_sent(place, key, request, body)
        except STOP_ERRORS as ending:
            raise EndpointError(f"the model was not asked for the scorer: {ending}") from ending
        if response.error is not None:
            raise EndpointError(f"the model did not answer the scorer: {response.error.message}")
        return response.text

    async def _stored_or_sent(
        self,
        place: Place,
        key: str,
        request: Request,
        body: bytes,
        parse: Parse | None = None,
        *,
        truncated: Literal["failure", "score"] | None = None,
    ) -> Response:
        """Return the stored answer, or send the request and store its answer before it counts.

        Args:
            truncated: Of a turn of a conversation: an answer that ends the sample is not stored as
                a call.
        """
        known = self.snapshot.call(*place, key)
        if known is not None:
            return decode_response(known)
        if self.client is None:
            raise EndpointError("there is no endpoint in this session to ask")
        request = replace(request, benchmark=place[0])

        async def keep(response: Response) -> None:
            if truncated is None or verdict_before_scoring(response, truncated=truncated) is None:
                await self.store.put_call(*place, key, body.decode(), encode_response(response))

        return await self.client.complete(request, body, call=key, keep=keep, parse=parse)

    def _body(self, request: Request) -> bytes:
        return dumps_bytes(
            build_body(request, stream=self.client is not None and self.client.endpoint.stream)
        )


def recorded_answer(sample: Sample) -> Response:
    """Return the recorded answer of a sample, read as a live one: without its reasoning, and
    truncated or not.
    """
    return read_text(sample.recorded_response or "")


def conversation_of(
    sample: Sample, body: str | bytes | None, response: Response, *, even_one: bool = False
) -> tuple[dict[str, object], ...]:
    """Return all messages of a sample with several turns, the last answer included; empty for any
    other sample.

    Args:
        sample: The sample.
        body: What was sent last; None where nothing was.
        response: The answer to it.
        even_one: Whether its benchmark has turns, so that one turn is a conversation too.
    """
    if not (sample.turns or even_one) or body is None:
        return ()
    return (*(messages_in(loads(body)) or ()), {"role": "assistant", "content": response.text})


def scoring_task(
    job: Job, idx: int, repeat: int, sample: Sample, sent: str | None, response: Response
) -> ScoringTask:
    """Return what a scorer is given of an answer."""
    benchmark = job.plan.benchmark
    conversation = conversation_of(
        sample, sent, response, even_one=benchmark.turns_field is not None
    )
    return ScoringTask(job.key, idx, repeat, sample, response, benchmark, conversation)


def _request(plan: Plan, item: ScoringTask, payload: ScorerPrompt) -> Request:
    prompt, options = payload["prompt"], payload["options"]
    for name in options:
        if name not in _OPTIONS:
            hint = did_you_mean(name, _OPTIONS) or f"; it takes: {', '.join(_OPTIONS)}"
            raise ScorerError(f'model_call_fn has no option "{name}"{hint}')
    if plan.eval_only or plan.model is None:
        raise EndpointError(
            "recorded answers are scored: there is no model to ask; give the run an endpoint"
        )
    generation: Generation = replace(plan.generation, **options)
    sample = replace(item.sample, input=_input(prompt), turns=(), tools=(), tool_choice=None)
    return build_request(
        sample,
        repeat=item.repeat,
        model=plan.model,
        protocol=plan.protocol,
        generation=generation,
        system_prompt=None,
    )


def _input(prompt: str | Sequence[Mapping[str, str]]) -> str | tuple[Message, ...]:
    if isinstance(prompt, str):
        return prompt
    try:
        return tuple(
            Message(role=message["role"], content=message["content"]) for message in prompt
        )
    except (TypeError, KeyError) as error:
        raise ScorerError(
            'model_call_fn takes text, or messages like {"role": "user", "content": "..."}; it'
            f" was given {str(prompt)[:80]}"
        ) from error
