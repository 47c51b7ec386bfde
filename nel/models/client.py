"""One client for one endpoint: sends requests, retries what is worth it, returns responses.

A fault of the endpoint is in the response; what ends a run (the endpoint is down, the budget spent,
a stop) is raised. A permit is held from sending until the answer is stored, and never during a
wait; that is what bounds the requests a kill can lose.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from weakref import WeakValueDictionary

from nel.config.redaction import Redactor, redact_url, secrets_in_url
from nel.config.schema import EndpointConfig, Price
from nel.core.failpoints import reach
from nel.core.observer import UNOBSERVED, Observer
from nel.core.strict_json import dumps_bytes
from nel.errors import NelError
from nel.models.attempts import Admission, Attempts, RetryWaits
from nel.models.budget import tokens_max, tokens_of
from nel.models.client_context import ClientContext
from nel.models.doubtful import CarriedRequests, SentRequest
from nel.models.faults import NO_FILES, UNSIGNED, Fault, is_refusal
from nel.models.pacing import Gate, Permit, pace_of
from nel.models.payloads import Parse, PayloadReader
from nel.models.rate_limit_headers import quotas
from nel.models.refusals import NEUTRAL_PROMPT
from nel.models.streams import AnswerStream, is_event_stream
from nel.models.transport import Fetched, proxy_for, transport_for
from nel.models.wire.base import Wire, names_listed, prompt_bytes
from nel.models.wire.registry import (
    neutral_body,
    parse_answer,
    request_headers,
    sample_headers,
    secret_headers,
    wire_of,
)
from nel.types import SECOND_ASKING, Protocol, Request, Response, ResponseError

if TYPE_CHECKING:
    from nel.models.cache import ResponseCache

_LOG = logging.getLogger(__name__)
Keep: TypeAlias = Callable[[Response], Awaitable[None]]
"""Stores a response before it counts."""
_OVERLOADED: Final = 529
"""Anthropic's status for a service that has no capacity left; it slows down as a 429 does."""
_LISTING_SECONDS: Final = 15.0
"""For the list of models; an endpoint that is slower than that is asked without it."""
_NEUTRAL_SECONDS: Final = 60.0
"""For the answer to a neutral prompt."""
_ANSWER_TOKENS: Final = 256
"""Estimate of an answer's tokens before any was seen."""
_BYTES_PER_TOKEN: Final = 4


@dataclass(slots=True, kw_only=True)
class _Call(Attempts):
    """One request as it is sent, with its attempts."""

    body: bytes
    headers: Mapping[str, str]
    key: str
    tokens_max: int
    parse: Parse
    wire: Wire
    url: str
    request: Request
    cache_key: str


async def keep_nothing(response: Response) -> None:
    """Store no response, for a caller that needs none stored."""


class Client:
    """The evaluated model at its endpoint; use as an async context manager."""

    def __init__(
        self,
        endpoint: EndpointConfig,
        *,
        api_key: str | None,
        connections: int,
        gate: Admission | None = None,
        price: Price | None = None,
        observer: Observer = UNOBSERVED,
        context: ClientContext | None = None,
    ) -> None:
        """Prepare a client; nothing is sent before the first call.

        Args:
            endpoint: Where and how to send.
            api_key: Sent as a bearer token; never logged, never part of an error.
            connections: Upper bound of requests in flight.
            gate: Shared with whatever else asks this endpoint; made from the endpoint's settings
                when not given.
            price: Of the model's tokens.
            observer: Is notified of retries and answers.
            context: Shared with the other clients of a session.

        Raises:
            ConfigError: A header's variable is not set, or a certificate file cannot be used.
        """
        context = context or ClientContext()
        self.endpoint = endpoint
        self.counters = context.counters
        self.ledger = context.ledger
        self.gate: Admission = gate or Gate(pace_of(endpoint, connections), jitter=context.jitter)
        self._price = price
        self.cache = context.cache
        self._in_flight: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """Equal requests wait for the first one's answer, where there is a cache to find it in."""
        self._run_id = context.run_id
        self._observer = observer
        self._carried = CarriedRequests(context.scratch_directory)
        self._wire = wire_of(endpoint.spoken)
        self._address_of = cache(lambda protocol: wire_of(protocol).address(endpoint))
        proxy = endpoint.proxy or proxy_for(endpoint.url)
        own_secrets = (
            api_key,
            *self._wire.secrets(endpoint),
            *secret_headers(endpoint).values(),
            *secrets_in_url(proxy),
        )
        self._reader = PayloadReader(Redactor((*own_secrets, *context.secrets)))
        self._waits = RetryWaits(endpoint, self.gate, context.jitter)
        self._headers = request_headers(endpoint, api_key)
        self._transport = context.transport or transport_for(endpoint, self._headers)
        self._answer_tokens = float(_ANSWER_TOKENS)
        self._last_fault: Fault | None = None
        self._n_probes_failed = 0
        self.better_url: str | None = None
        """A base URL at its host that lists models, unlike this one; set by the pre-flight."""

    async def __aenter__(self) -> Client:
        """Open the connection pool."""
        await self._transport.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection pool."""
        await self._transport.__aexit__(kind, error, trace)
        self._carried.close()

    async def complete(
        self,
        request: Request,
        body: bytes,
        *,
        keep: Keep = keep_nothing,
        call: str = "",
        parse: Parse | None = None,
        remembers: bool = True,
    ) -> Response:
        """Return the answer once it is kept; after all attempts, a response with the last fault.

        The permit of an answer is held until it is kept. Where that fails, all waiters are
        cancelled, so that no further answer is paid for in vain.

        Args:
            request: What the body was made from; names the sample.
            body: What is sent, as `build_body` made it.
            keep: Stores the answer, or the response that carries the fault.
            call: Tells apart the requests that one (sample, repeat) makes.
            parse: Reads the payload; as the request's protocol says when not given.
            remembers: Put the answer into the cache; otherwise that is left to `remember`.

        Raises:
            GateClosed: The run is stopping and nothing is known of this request.
            EndpointDown: The endpoint was waited for as long as it may be.
            BudgetSpent: The request might pass a cap.
        """
        cache = self.cache
        if cache is None:
            return await self._send(self._call(request, body, call, parse, ""), keep)
        cache_key = self._cache_key(cache, request, body, call)
        # The lock is kept as long as a request with this key holds or awaits it, and no longer.
        async with self._in_flight.setdefault(cache_key, asyncio.Lock()):
            cached = cache.get(cache_key)
            if cached is not None:
                answer = replace(cached, attempts=0, cached=True)
                await keep(answer)
                return answer
            sent = self._call(request, body, call, parse, cache_key)
            outcome = await self._send(sent, keep)
            if remembers:
                self.remember(request, body, call, outcome)
            return outcome

    async def _send(self, sent: _Call, keep: Keep) -> Response:
        """Send a request until it is answered or given up, and keep what comes of it."""
        n_tokens = prompt_bytes(sent.request, sent.body) // _BYTES_PER_TOKEN
        began = self.gate.now()
        while True:
            permit = await self.gate.acquire(sent.key, n_tokens + int(self._answer_tokens))
            try:
                outcome = await self._attempt_paid(sent, permit)
                if isinstance(outcome, Response):
                    try:
                        await keep(outcome)
                    except Exception:
                        # A full disk, say: what is asked after this would be lost as well.
                        self.gate.close()
                        raise
                    break
            finally:
                # Before the wait for the next attempt: others use the permit meanwhile.
                self.gate.release(permit)
            if not await self._is_tried_again(sent, outcome):
                outcome = Response(attempts=sent.count, error=self._reader.error_of(outcome))
                await keep(outcome)
                break
        self._observer.request_finished(sent.request, outcome, self.gate.now() - began)
        return outcome

    def remember(self, request: Request, body: bytes, call: str, response: Response) -> None:
        """Put an answer into the cache, once it is known to be worth finding again."""
        if self.cache is None or response.cached or request.repeat == SECOND_ASKING:
            return  # no later check finds a second asking
        self.cache.put(self._cache_key(self.cache, request, body, call), response)

    async def ask_once(
        self, protocol: Protocol, body: bytes, *, seconds: float, stream: AnswerStream | None = None
    ) -> Any | Fault:
        """Send one request outside the samples, e.g. a probe; return its payload or its fault."""
        url = self._address_of(protocol)
        try:
            async with asyncio.timeout(seconds):
                fetched = await self._fetch("POST", url, body, {}, stream)
        except TimeoutError:
            return Fault(kind="timeout", message=f"no answer within {seconds:g} s", retryable=False)
        return self._reader.payload(fetched, stream)

    async def ask_neutral(self, protocol: Protocol, body: bytes) -> ResponseError | None:
        """Send a request's settings with a prompt that nothing objects to; return why it has no
        answer, None if it has.

        Raises:
            BudgetSpent: The request might pass a cap.
        """
        neutral, stream = neutral_body(body, protocol, NEUTRAL_PROMPT), wire_of(protocol).stream()
        reserved = await self.ledger.reserve(len(neutral), _ANSWER_TOKENS, self._price)
        outcome: Response | Fault | None = None
        try:
            payload = await self.ask_once(
                protocol, neutral, seconds=_NEUTRAL_SECONDS, stream=stream
            )
            outcome = payload if isinstance(payload, Fault) else parse_answer(protocol, payload)
        finally:
            self.ledger.settle(reserved, outcome, self._price)
        if isinstance(outcome, Fault) and outcome.model_failure is None:
            return self._reader.error_of(outcome)
        return None

    async def read_listing(self, url: str | None = None) -> Any | Fault | None:
        """Return the decoded list of models at its or another URL, or a fault; None if too slow."""
        address = wire_of(self.endpoint.spoken).listing_address(self.endpoint, url)
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                fetched = await self._fetch("GET", address, None, {})
        except TimeoutError:
            return None
        return self._reader.payload(fetched, None)

    async def list_models(self, url: str | None = None) -> list[str] | Fault | None:
        """Return the model names at its or another URL, or a fault; None without a usable list."""
        listing = await self.read_listing(url)
        if isinstance(listing, Fault):
            return None if listing.kind == "malformed" else listing
        return names_listed(listing) or None

    def forget_doubtful(self) -> list[SentRequest] | None:
        """Drop from the cache, and return, the requests that may have another's response."""
        doubtful = self._carried.doubtful(self._transport)
        for sent_request in doubtful or ():
            if self.cache is not None:
                self.cache.drop(sent_request.cache_key)
        return doubtful

    def describe(self, fault: Fault) -> str:
        """Return a fault's message with every trace of a secret removed."""
        return self._reader.describe(fault)

    @property
    def trouble(self) -> str:
        """Return its URL and the last fault of an attempt, if there was one; without secrets."""
        where = redact_url(self.endpoint.url)
        return where if self._last_fault is None else f"{where}: {self.describe(self._last_fault)}"

    async def _is_tried_again(self, call: _Call, fault: Fault) -> bool:
        """Wait after a failed attempt; return whether there is to be another."""
        if call.is_failed_probe:
            await self._doubt_outage(call)
        wait = self._waits.before_retry(fault, call)
        if wait is None:
            return False
        self._observer.attempt_retried(fault.kind, call.last_seconds, wait)
        n_answered = self.gate.n_answered
        await self.gate.back_off(wait)
        # Others were answered meanwhile, so the endpoint was up: it may be this request's fault.
        call.outlived += self.gate.n_answered > n_answered and not fault.is_of_connection
        self.counters.retries += 1
        return True

    async def _attempt_paid(self, call: _Call, permit: Permit) -> Response | Fault:
        """Return what one attempt came to, with its cost reserved before and settled after it."""
        reserved = await self.ledger.reserve(len(call.body), call.tokens_max, self._price)
        outcome: Response | Fault | None = None
        call.record_request(permit.sent_at)
        reach("request_sent")
        self.counters.attempts += 1
        try:
            outcome = await self._attempt(call, permit)
        finally:
            self.ledger.settle(reserved, outcome, self._price)
        if isinstance(outcome, Response):
            reach("response_received")
            if call.count > 1:
                return replace(outcome, attempts=call.count)
        return outcome

    async def _attempt(self, call: _Call, permit: Permit) -> Response | Fault:
        started = self.gate.now()
        stream = call.wire.stream() if self.endpoint.stream else None
        fetched = await self._fetch("POST", call.url, call.body, call.headers, stream)
        while isinstance(fetched, Fault) and fetched.hung_up and fetched.on_reused:
            # An idle connection that the endpoint had closed already: no attempt was made.
            fetched = await self._fetch("POST", call.url, call.body, call.headers, stream)
        call.last_seconds = self.gate.now() - started
        self._carried.note(fetched, call.request, call.cache_key)
        if stream is None and isinstance(fetched, Fetched) and is_event_stream(fetched.body):
            stream = call.wire.stream()  # some servers stream although they were not asked to
        outcome = self._reader.answer(fetched, stream, call.tokens_max, call.parse)
        if isinstance(outcome, Response):
            self._note_answer(permit, fetched, outcome)
            return outcome
        self._note_fault(call, permit, outcome)
        self._last_fault = outcome
        call.record_failure(
            outcome, is_endpoint_up=self.gate.is_endpoint_up, is_probe=permit.is_probe
        )
        return outcome

    async def _fetch(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        stream: AnswerStream | None = None,
    ) -> Fetched | Fault:
        """Send one request, with the headers of its own that the protocol may give each attempt."""
        wire = self._wire
        if wire.signs:
            every = {**self._headers, **headers}
            try:
                signed = await wire.sign(self.endpoint, method, url, every, body or b"")
                headers = {**headers, **signed}
            except NelError as error:
                return Fault(kind=UNSIGNED, message=str(error), retryable=False)
            except Exception as error:  # noqa: BLE001 - a package's own code
                _LOG.exception("a request could not be signed")
                reason = f"({type(error).__name__}: {error})"
                message = f"the client {wire.name} could not sign a request {reason}"
                return Fault(kind=UNSIGNED, message=message, retryable=False)
        return await self._transport.fetch(method, url, body, headers, stream)

    async def _doubt_outage(self, call: _Call) -> None:
        """Ask a neutral prompt after 2, 4, 8 … failed probes: an answer blames the samples."""
        self._n_probes_failed += 1
        # n & (n - 1) clears the lowest bit that is set: 0 for powers of two alone.
        if self._n_probes_failed < 2 or self._n_probes_failed & (self._n_probes_failed - 1):  # noqa: PLR2004
            return
        error = await self.ask_neutral(call.request.protocol, call.body)
        if error is None or is_refusal(error):
            self._n_probes_failed = 0
            call.outlived += 1
            self.gate.record_answer()

    def _note_answer(self, permit: Permit, fetched: Fetched | Fault, answer: Response) -> None:
        self._waits.record_answer()
        # An exponential mean, in which about the last ten answers count.
        if answer.usage.completion_tokens is not None:
            self._answer_tokens += 0.1 * (answer.usage.completion_tokens - self._answer_tokens)
        self.gate.record_success(
            permit,
            tokens=tokens_of(answer.usage),
            quotas=quotas(fetched.headers) if isinstance(fetched, Fetched) else {},
        )

    def _note_fault(self, attempts: Attempts, permit: Permit, fault: Fault) -> None:
        gate = self.gate
        if (fault.kind == "rate_limit" and fault.retryable) or fault.status == _OVERLOADED:
            gate.record_refusal(permit, fault.wait_seconds)
        elif fault.kind == NO_FILES:
            gate.connection_not_allowed(permit)
        elif fault.is_of_connection:
            gate.record_failure(permit, of_connection=True)
        elif fault.retryable:
            gate.record_failure(permit, of_connection=False, is_suspect=attempts.is_suspect)
        else:  # an error that no retry cures, such as a 400, was an answer all the same
            gate.record_answer()

    def _cache_key(self, cache: ResponseCache, request: Request, body: bytes, call: str) -> str:
        return cache.key(
            url=self._address_of(request.protocol),
            headers=self.endpoint.headers,
            body=body,
            repeat=request.repeat,
            call=call,
        )

    def _call(
        self, request: Request, body: bytes, call: str, parse: Parse | None, cache_key: str
    ) -> _Call:
        protocol = request.protocol
        sample = dumps_bytes(
            [self._run_id, request.benchmark, request.sample_id, request.repeat, call]
        )
        key = hashlib.sha256(sample + body).hexdigest()[:32]
        headers = {"Idempotency-Key": key}
        if self.endpoint.send_sample_id:
            headers |= sample_headers(request)
        self.gate.retries.deposit()
        return _Call(
            body=body,
            headers=headers,
            key=key,
            tokens_max=tokens_max(request.generation) or 0,
            wire=wire_of(protocol),
            url=self._address_of(protocol),
            parse=parse or partial(parse_answer, protocol, offers_tools=bool(request.tools)),
            request=request,
            cache_key=cache_key,
        )
