"""Sends the requests of a sample, one for each turn of a conversation, and those of scorers.

Every answer but the last of a sample is a row of its own before the next request is sent, so that a
resume or a new scorer never pays for it again. What a scorer asks is identified by its sample, its
body and how often that body was sent before for this sample: a scorer that asks the same thing
twice gets two answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict

from nel.core.message_json import messages_in
from nel.core.strict_json import dumps_bytes, loads
from nel.engine.asking.exchange import Complete, Sent, exchange
from nel.engine.asking.response_outcomes import verdict_before_scoring
from nel.engine.asking.work import Job
from nel.engine.planning.plan import Plan
from nel.engine.scorers.call import ScoringTask
from nel.engine.store.log import Log
from nel.engine.store.projections.replies import reply
from nel.engine.store.rows import (
    CHOICE,
    DIGEST_BYTES,
    SCORER,
    TURN,
    Asked,
    Row,
    answer_row,
    exchange_row,
    response_in,
)
from nel.engine.store.snapshot import Snapshot
from nel.episodes.solvers.generate import build_request
from nel.errors import EndpointError, ScorerError, did_you_mean
from nel.models.adaptation import Changes, change_settings
from nel.models.budget import BudgetSpent
from nel.models.client import Client
from nel.models.pacing import EndpointDown, GateClosed
from nel.models.payloads import Parse
from nel.models.wire.base import NotInProtocol, read_text
from nel.models.wire.registry import build_body, wire_of
from nel.types import (
    Generation,
    Message,
    ModelFailure,
    Request,
    Response,
    ResponseError,
    Sample,
    SampleKey,
    Unscored,
)

if TYPE_CHECKING:
    from nel.engine.episodes.runner import EpisodeRunner
    from nel.models.echo_probe import EchoSupport

_OPTIONS = ("max_tokens", "temperature", "top_p", "stop", "seed")

NO_RESPONSE: Final = Response()
STOP_ERRORS = (GateClosed, EndpointDown, BudgetSpent)
"""What a request raises when no further one will be sent in this session."""


class ScorerPrompt(TypedDict):
    """What a scorer asks the model; comes from plugin code and is checked before it is sent."""

    prompt: str | Sequence[Mapping[str, str]]
    """Text, or messages with ``role`` and ``content``."""
    options: Mapping[str, Any]
    """Generation settings of this request."""


@dataclass(slots=True)
class Exchange:
    """What was sent last for a sample, and the answer to it."""

    body: bytes | None
    """None for a recorded answer."""
    response: Response
    settings: int = 0
    """The version of `SampleRunner.changes` that it was asked with."""
    verdict: ModelFailure | Unscored | None = None
    """The outcome of an answer that no scorer needs to see."""
    is_stored: bool = False

    @property
    def sent(self) -> str | None:
        """Return the body as text, as it is stored with the response."""
        if self.body is None or self.response.episode is not None:
            return None  # of an episode its steps hold what was sent
        return self.body.decode()


KeepLast: TypeAlias = Callable[[Exchange], Awaitable[None]]
"""Stores what was sent last for a sample, with its answer."""


@dataclass(slots=True)
class SampleRunner:
    """Sends the requests of samples and scorers, through one client and one store."""

    client: Client | None
    store: Log
    snapshot: Snapshot
    echo: EchoSupport | None = None
    """What the server supports for log-likelihoods, once it was probed."""
    changes: Changes = field(default_factory=dict)
    """What of the settings the model takes otherwise, learned in this session."""
    episodes: EpisodeRunner | None = None
    """Answers the samples of plans with a solver."""
    version: int = 0
    """Counts the changes; an answer to settings of an older version is not stored."""

    async def ask(self, plan: Plan, sample: Sample, key: SampleKey, keep: KeepLast) -> Exchange:
        """Send a sample's requests, have the last one kept with its answer, and return both.

        Raises:
            GateClosed: The run is stopping; nothing is to be stored, as with the following.
            EndpointDown: The endpoint was down for longer than configured.
            BudgetSpent: The next request might exceed a cap.
        """
        answer_exchange = Exchange(None, NO_RESPONSE, self.version)
        if plan.eval_only or self.client is None:
            answer_exchange.response = recorded_answer(sample)
        elif plan.benchmark.loglikelihood:
            answer_exchange.body, answer_exchange.response = await self._rank(plan, sample, key)
        else:
            request = self._request(plan, sample, key)
            if plan.solver is not None and self.episodes is not None:
                answer_exchange.body, answer_exchange.response = await self.episodes.answer(
                    plan, sample, key, request.messages, request.generation
                )
            else:
                try:
                    answer_exchange.body = self._body(request)
                except NotInProtocol as error:
                    unsent = ResponseError(kind="unsupported", message=str(error))
                    answer_exchange.response = Response(error=unsent)
                else:
                    return await self._converse(plan, sample, key, request, answer_exchange, keep)
        await keep(answer_exchange)
        return answer_exchange

    async def _converse(
        self,
        plan: Plan,
        sample: Sample,
        key: SampleKey,
        request: Request,
        last: Exchange,
        keep: KeepLast,
    ) -> Exchange:

        def ends_sample(response: Response) -> bool:
            verdict = verdict_before_scoring(
                response, truncated=plan.config.truncated, sample=sample
            )
            return verdict is not None

        body = last.body or b""
        for turn, following in enumerate(sample.turns):
            response = last.response = await self._further(
                key, Asked(TURN, turn), request, body, ends_sample=ends_sample
            )
            if ends_sample(response):
                await keep(last)
                return last
            answer = Message(role="assistant", content=response.text)
            request = replace(
                request,
                messages=(*request.messages, answer, Message(role="user", content=following)),
            )
            last.body = body = self._body(request)

        def keep_last(response: Response) -> Awaitable[None]:
            last.response = response
            return keep(last)

        await exchange(self._complete, Sent(request, body), keep_last)
        return last

    def generation_of(self, plan: Plan, generation: Generation | None = None) -> Generation:
        """Return the settings of a benchmark, or others, as they are sent."""
        requested = plan.generation if generation is None else generation
        if plan.protocol == "completions" or not (plan.adapted or self.changes):
            return requested
        return change_settings(requested, {**plan.adapted, **self.changes})

    async def stored_answer(
        self, plan: Plan, sample: Sample, sample_key: SampleKey, row: Row
    ) -> Response:
        """Return the stored answer of a sample; a recorded one is read again.

        It is stored again where an older rule split it otherwise.
        """
        if plan.eval_only:
            recorded = recorded_answer(sample)
            now = answer_row(sample_key, None, recorded)
            if now.response != row.response:
                await self.store.append([now], instead=True)
            return recorded
        return response_in(row)

    def _request(self, plan: Plan, sample: Sample, sample_key: SampleKey) -> Request:
        return build_request(
            sample,
            repeat=sample_key.repeat,
            benchmark=sample_key.benchmark,
            model=plan.model or "",
            protocol=plan.protocol,
            generation=self.generation_of(plan),
            system_prompt=plan.config.system_prompt,
        )

    async def _rank(
        self, plan: Plan, sample: Sample, sample_key: SampleKey
    ) -> tuple[bytes, Response]:
        from nel.engine.asking.loglikelihood import rank  # noqa: PLC0415 - few benchmarks rank choices

        return await rank(
            sample,
            model=plan.model or "",
            delimiter=plan.benchmark.target_delimiter,
            repeat=sample_key.repeat,
            benchmark=sample_key.benchmark,
            generation=plan.generation,
            echo=self.echo,
            ask=lambda number, *sent: self._further(sample_key, Asked(CHOICE, number), *sent),
        )

    async def answer_scorer(self, plan: Plan, item: ScoringTask, payload: ScorerPrompt) -> str:
        """Return the model's answer to what a scorer asks.

        Raises:
            EndpointError: There is no endpoint, or it gave no usable answer; the sample is unscored
                by ``infra``.
            ScorerError: The prompt is neither text nor messages, or an option is unknown.
        """
        request = _scorer_request(plan, item, payload)
        request = replace(request, generation=self.generation_of(plan, request.generation))
        if problems := wire_of(request.protocol).problems(request.generation):
            raise ScorerError(
                f"model_call_fn over the {request.protocol} protocol: {'; '.join(problems)}"
            )
        body = self._body(request)
        digest = hashlib.sha256(body).digest()[:DIGEST_BYTES]
        # How often this body was asked: asking twice gets two answers, and the same two when the
        # scorer is run again.
        counts, call_digest = item.context.request_counts, digest.hex()
        counts[call_digest] = counts.get(call_digest, 0) + 1
        address = Asked(SCORER, counts[call_digest], digest=digest)
        try:
            async with item.context.single_flight(address.label):
                response = await self._further(item.key, address, request, body)
        except STOP_ERRORS as ending:
            raise EndpointError(f"the model was not asked for the scorer: {ending}") from ending
        if response.error is not None:
            raise EndpointError(f"the model did not answer the scorer: {response.error.message}")
        return response.text

    async def _further(
        self,
        key: SampleKey,
        asked: Asked,
        request: Request,
        body: bytes,
        parse: Parse | None = None,
        *,
        ends_sample: Callable[[Response], bool] | None = None,
    ) -> Response:
        """Return the answer to a request other than a sample's last; it has its own row.

        Args:
            ends_sample: Of a turn of a conversation: an answer that ends the sample is stored as
                its last one.
        """

        async def keep(response: Response) -> None:
            is_last = ends_sample is not None and ends_sample(response)
            if response.error is None and not is_last:
                await self.store.append([exchange_row(key, asked, body.decode(), response)])

        sent = Sent(request, body, asked.label)
        return await exchange(
            self._complete, sent, keep, stored_row=reply(self.snapshot, key, asked), parse=parse
        )

    @property
    def _complete(self) -> Complete | None:
        return None if self.client is None else self.client.complete

    def _body(self, request: Request) -> bytes:
        return dumps_bytes(
            build_body(request, stream=self.client is not None and self.client.endpoint.stream)
        )


def recorded_answer(sample: Sample) -> Response:
    """Return the recorded answer of a sample, read by the rules for a live one."""
    return read_text(sample.recorded_response or "")


def conversation_of(
    sample: Sample, body: str | bytes | None, response: Response, *, even_one: bool = False
) -> tuple[dict[str, object], ...]:
    """Return all messages of a sample with several turns, answers included, else none.

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
    job: Job,
    key: SampleKey,
    sample: Sample,
    sent: str | bytes | None,
    response: Response,
    snapshot: Snapshot,
) -> ScoringTask:
    """Return what a scorer is given of an answer.

    Args:
        snapshot: Holds the steps of an episode.
    """
    benchmark = job.plan.benchmark
    if response.episode is not None:
        from nel.engine.episodes.transcript import (  # noqa: PLC0415 - few runs have any
            conversation_of_episode,
        )

        messages = conversation_of_episode(snapshot, key, response.episode)
        return ScoringTask(key, sample, response, benchmark, messages)
    is_dialogue = bool(sample.turns) or benchmark.turns_field is not None
    conversation = conversation_of(sample, sent, response, even_one=True) if is_dialogue else ()
    return ScoringTask(key, sample, response, benchmark, conversation)


def _scorer_request(plan: Plan, item: ScoringTask, payload: ScorerPrompt) -> Request:
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
        repeat=item.key.repeat,
        benchmark=item.key.benchmark,
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
