"""One client for one endpoint: sends requests, retries what is worth it, returns a `Response` for
each.

A fault of the endpoint is in the response; what ends a run (the endpoint is down, the budget spent,
a stop) is raised. A permit is held from sending until the answer is kept, and never during a wait;
that is what bounds the requests a kill can lose.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from nel.config.redaction import Redactor, redact_url, secrets_in_url
from nel.config.schema import BudgetConfig, EndpointConfig, Price
from nel.core.failpoints import reached
from nel.core.observer import UNOBSERVED, Observer
from nel.core.strict_json import dumps_bytes
from nel.models.adaptation import tokens_max
from nel.models.answer_json import answer_of
from nel.models.budget import Ledger, tokens_of
from nel.models.cache import ResponseCache
from nel.models.doubtful import Asked, CarriedRequests
from nel.models.fallbacks import fallback_of
from nel.models.faults import (
    ANSWERED,
    NO_FILES,
    UNREADABLE,
    Fault,
    fault_of_status,
    not_json,
    unreadable,
)
from nel.models.image_sizes import prompt_bytes
from nel.models.pacing import Admission, EndpointDown, Gate, Permit
from nel.models.pacing.configured import pace_of
from nel.models.protocols import names_listed
from nel.models.rate_limit_headers import quotas
from nel.models.refusals import NEUTRAL_PROMPT, is_refusal
from nel.models.request_headers import request_headers, sample_headers, secret_headers
from nel.models.streams import AnswerStream, is_event_stream
from nel.models.transport import Fetched, Transport, proxy_for, transport_for
from nel.models.wire.registry import neutral_body, parse_answer, wire_of
from nel.types import SECOND_ASKING, Protocol, Request, Response, ResponseError

_OVERLOADED: Final = 529
_LISTING_SECONDS: Final = 15.0
"""For the list of models; an endpoint that is slower than that is asked without it."""
_NEUTRAL_SECONDS: Final = 60.0
"""For the answer to a neutral prompt."""
_ANSWER_TOKENS: Final = 256
"""Estimate of an answer's tokens before any was seen."""
_BYTES_PER_TOKEN: Final = 4
_GROWTH: Final = 1.2
"""Each wait is longer than the one before by this factor at least, whatever the jitter says."""
_OUTLIVED_MAX: Final = 2
_HINT_JITTER: Final = 0.25

Parse = Callable[[Any], Response | Fault]
"""Reads a decoded HTTP 200 body."""
Keep = Callable[[Response], Awaitable[None]]
"""Puts an answer where a kill cannot lose it."""


@dataclass(slots=True)
class ClientCounters:
    """What the progress line shows; counts attempts, not samples."""

    attempts: int = 0
    retries: int = 0


@dataclass(slots=True)
class _Call:
    """One request and what its attempts came to so far."""

    body: bytes
    headers: dict[str, str]
    key: str
    tokens_max: int
    prompt_bytes: int = 0
    attempts: int = 0
    charged: int = 0
    """Attempts that count against the limit."""
    seconds: float = 0.0
    last_seconds: float = 0.0
    wait: float = 0.0
    """From the last failure without a hint until the next attempt was sent, the gate and the retry
    budget included.
    """
    failed_at: float | None = None
    """When the last attempt failed, on the event loop's clock, where the endpoint did not say how
    long to wait.
    """
    outlived: int = 0
    """Failures after which others were answered."""
    is_failed_probe: bool = False
    """Whether the last attempt was the circuit breaker's probe of an endpoint that takes
    connections.
    """
    url: str = ""
    asked: Asked | None = None
    protocol: Protocol = "chat"
    parse: Parse | None = None

    @property
    def is_suspect(self) -> bool:
        """Return whether it fails while the endpoint works, so that its failures say nothing of the
        endpoint.
        """
        return self.outlived >= _OUTLIVED_MAX


class Client:
    """The evaluated model behind its endpoint; use as an async context manager."""

    def __init__(
        self,
        endpoint: EndpointConfig,
        *,
        api_key: str | None,
        connections: int,
        counters: ClientCounters | None = None,
        jitter: Callable[[], float] = random.random,
        gate: Admission | None = None,
        ledger: Ledger | None = None,
        price: Price | None = None,
        cache: ResponseCache | None = None,
        transport: Transport | None = None,
        run_id: str = "",
        observer: Observer = UNOBSERVED,
        secrets: Iterable[str | None] = (),
        scratch_directory: Path | None = None,
    ) -> None:
        """Prepare a client; nothing is sent before the first call.

        Args:
            endpoint: Where and how to send.
            api_key: Sent as a bearer token; never logged, never part of an error.
            counters: Where attempts and retries are counted.
            connections: Upper bound of requests in flight.
            jitter: Returns numbers in [0, 1), for the back-off.
            gate: Shared with whatever else asks this endpoint; made from the endpoint's settings
                when not given.
            ledger: Shared by everything that the run pays for.
            price: Of the model's tokens.
            cache: Answers from earlier runs.
            transport: What sends; HTTP when not given.
            run_id: Part of the idempotency keys, so that two runs never share one.
            observer: Is told of retries and answers.
            secrets: Removed from what it answers, besides its own: the keys of the run's other
                endpoints.
            scratch_directory: Where `forget_doubtful` keeps what it needs; without one it finds
                nothing.

        Raises:
            ConfigError: A header's variable is not set, or a certificate file cannot be used.
        """
        self.endpoint = endpoint
        self.counters = counters or ClientCounters()
        self.gate: Admission = gate or Gate(pace_of(endpoint, connections), jitter=jitter)
        self.ledger = ledger or Ledger(BudgetConfig())
        self._price = price
        self._cache = cache
        self._jitter = jitter
        self._run_id = run_id
        self._observer = observer
        self._carried = CarriedRequests(scratch_directory)
        wire, proxy = wire_of(endpoint.spoken), endpoint.proxy or proxy_for(endpoint.url)
        own = (
            api_key,
            *wire.secrets(endpoint),
            *secret_headers(endpoint).values(),
            *secrets_in_url(proxy),
        )
        self._redactor = Redactor((*own, *secrets))
        self._transport = transport or transport_for(
            endpoint, request_headers(endpoint, api_key), connections=connections, wire=wire
        )
        self._answer_tokens = float(_ANSWER_TOKENS)
        self._long_hints_in_a_row = 0
        self._last_fault: Fault | None = None
        self._n_probes_failed = 0
        self.better_url: str | None = None
        """Another base URL at its host that lists models where this one does not; set by the
        pre-flight.
        """

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
        call: str = "",
        keep: Keep | None = None,
        parse: Parse | None = None,
        remembers: bool = True,
    ) -> Response:
        """Return the endpoint's answer, or a response that carries the last fault after all
        attempts.

        Args:
            request: What the body was made from; names the sample.
            body: What is sent, as `build_body` made it.
            call: Tells apart the requests that one (sample, repeat) makes.
            keep: Awaited with an answer before its permit is given back.
            parse: Reads the payload; as the request's protocol says when not given.
            remembers: Put the answer into the cache; otherwise that is left to `remember`.

        Raises:
            GateClosed: The run is stopping and nothing is known of this request.
            EndpointDown: The endpoint was waited for as long as it may be.
            BudgetSpent: The request might pass a cap.
        """
        cached, cache_key = self._cached(request, body, call)
        if cached is not None:
            if keep is not None:
                await keep(cached)
            return cached
        one = self._call(request, body, call, parse)
        one.asked = Asked(request.sample_id, request.repeat, cache_key)
        now = asyncio.get_running_loop().time
        began = now()
        response = await self._until_answered(one, keep)
        self._observer.request_finished(request, response, now() - began)
        if (
            self._cache is not None and remembers and request.repeat != SECOND_ASKING
        ):  # no later check finds it
            self._cache.put(cache_key, response)
        return response

    def remember(self, request: Request, body: bytes, call: str, response: Response) -> None:
        """Put an answer of `complete` into the cache, once it is known to be worth finding
        again.
        """
        if self._cache is not None and not response.cached and request.repeat != SECOND_ASKING:
            self._cache.put(self._cache_key(request, body, call), response)

    async def ask_once(
        self, protocol: Protocol, body: bytes, *, seconds: float, stream: AnswerStream | None = None
    ) -> Any | Fault:
        """Return the decoded payload of one request outside the samples, e.g. of a probe, or its
        fault.
        """
        url = wire_of(protocol).address(self.endpoint)
        try:
            async with asyncio.timeout(seconds):
                fetched = await self._transport.fetch("POST", url, body, {}, stream)
        except TimeoutError:
            return Fault(kind="timeout", message=f"no answer within {seconds:g} s", retryable=False)
        try:
            return self._payload(fetched, stream)
        except UNREADABLE as error:
            return unreadable(error)

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
        return (
            self._error_of(outcome)
            if isinstance(outcome, Fault) and outcome.model_failure is None
            else None
        )

    async def read_listing(self, url: str | None = None) -> Any | Fault | None:
        """Return the decoded list of models at its or another URL, or a fault; None where it takes
        too long.
        """
        address = wire_of(self.endpoint.spoken).listing_address(self.endpoint, url)
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                fetched = await self._transport.fetch("GET", address, None, {})
        except TimeoutError:
            return None
        return self._payload(fetched, None)

    async def list_models(self, url: str | None = None) -> list[str] | Fault | None:
        """Return the names listed at its or another URL, None where there is no usable list, or a
        fault.
        """
        found = await self.read_listing(url)
        if isinstance(found, Fault):
            return None if found.kind == "malformed" else found
        return names_listed(found) or None

    def forget_doubtful(self) -> list[Asked] | None:
        """Drop from the cache the requests that may have got the response to another, and return
        them.
        """
        found = self._carried.doubtful(self._transport)
        for asked in found or ():
            if self._cache is not None:
                self._cache.drop(asked.cache_key)
        return found

    def describe(self, fault: Fault) -> str:
        """Return a fault's message with every trace of a secret removed."""
        return self._redactor.message(fault.message)

    @property
    def trouble(self) -> str:
        """Return where it asks and the last fault of an attempt, if there was one; without
        secrets.
        """
        where = redact_url(self.endpoint.url)
        return where if self._last_fault is None else f"{where}: {self.describe(self._last_fault)}"

    async def _until_answered(self, one: _Call, keep: Keep | None) -> Response:
        while True:
            outcome = await self._try(one, keep)
            if isinstance(outcome, Response):
                return outcome
            if one.is_failed_probe:
                await self._doubt_outage(one)
            wait = self._wait_before_retry(outcome, one)
            if wait is None:
                return Response(attempts=one.attempts, error=self._error_of(outcome))
            self._observer.retried(outcome.kind, one.last_seconds, wait)
            answered = self.gate.n_answered
            await self.gate.back_off(wait)
            one.outlived += self.gate.n_answered > answered and not outcome.is_of_connection
            self.counters.retries += 1

    async def _try(self, one: _Call, keep: Keep | None) -> Response | Fault:
        permit = await self.gate.acquire(one.key, self._estimate(one))
        try:
            reserved = await self.ledger.reserve(len(one.body), one.tokens_max, self._price)
            outcome: Response | Fault | None = None
            if one.failed_at is not None:
                one.wait = max(one.wait, permit.sent_at - one.failed_at)
            one.attempts += 1
            reached("request_sent")
            self.counters.attempts += 1
            try:
                outcome = await self._attempt(one, permit)
            finally:
                self.ledger.settle(reserved, outcome, self._price)
            if isinstance(outcome, Response):
                if one.attempts > 1:
                    outcome = replace(outcome, attempts=one.attempts)
                reached("response_received")
                if keep is not None:
                    await self._keep(keep, outcome)
            return outcome
        finally:
            self.gate.release(permit)

    async def _keep(self, keep: Keep, response: Response) -> None:
        """Store an answer; where that fails, cancel all waiters so that no further answer is paid
        for in vain.
        """
        try:
            await keep(response)
        except Exception:
            self.gate.close()
            raise

    async def _attempt(self, one: _Call, permit: Permit) -> Response | Fault:
        loop = asyncio.get_running_loop()
        started = loop.time()
        stream = wire_of(one.protocol).stream() if self.endpoint.stream else None
        fetched = await self._transport.fetch("POST", one.url, one.body, one.headers, stream)
        while isinstance(fetched, Fault) and fetched.hung_up and fetched.on_reused:
            # An idle connection that the endpoint had closed already: no attempt was made.
            fetched = await self._transport.fetch("POST", one.url, one.body, one.headers, stream)
        one.last_seconds = loop.time() - started
        self._carried.note(fetched, one.asked)
        outcome = self._answer(one, fetched, stream)
        self._tell_gate(one, permit, fetched, outcome)
        if isinstance(outcome, Fault):
            self._last_fault = outcome
            if (
                self.gate.is_endpoint_up
            ):  # as it may seem for long, while what was sent before an outage is answered
                one.charged += not outcome.is_of_connection
            else:  # what was charged before the endpoint was known to be down was the outage's fault too
                one.charged *= one.is_suspect
            one.is_failed_probe = permit.is_probe and not outcome.never_connected
        return outcome

    async def _doubt_outage(self, one: _Call) -> None:
        """Ask a neutral prompt after the 2nd, 4th, 8th … failed probe: an answer puts the blame on
        the samples.
        """
        self._n_probes_failed += 1
        if self._n_probes_failed < 2 or self._n_probes_failed & (self._n_probes_failed - 1):  # noqa: PLR2004
            return
        error = await self.ask_neutral(one.protocol, one.body)
        if error is None or is_refusal(error):
            self._n_probes_failed = 0
            one.outlived += 1
            self.gate.answered()

    def _answer(
        self, one: _Call, fetched: Fetched | Fault, stream: AnswerStream | None
    ) -> Response | Fault:
        try:
            return self._read(one, fetched, stream)
        except UNREADABLE as error:
            return unreadable(error)

    def _read(
        self, one: _Call, fetched: Fetched | Fault, stream: AnswerStream | None
    ) -> Response | Fault:
        if stream is None and isinstance(fetched, Fetched) and is_event_stream(fetched.body):
            stream = wire_of(
                one.protocol
            ).stream()  # some servers stream although they were not asked to
        payload = self._payload(fetched, stream, one.tokens_max)
        if isinstance(payload, Fault):
            return payload
        assert one.parse is not None  # noqa: S101 - set by _call
        answer = one.parse(payload)
        if isinstance(answer, Fault) or isinstance(fetched, Fault):
            return answer
        answer = replace(
            answer,
            latency_seconds=fetched.seconds,
            attempts=1,
            fallback=fallback_of(fetched.headers),
        )
        times = [] if stream is None or not fetched.streamed else stream.token_times
        if not times:
            return answer
        between = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else None
        return replace(
            answer,
            first_token_seconds=max(0.0, times[0] - fetched.started),
            inter_token_seconds=between,
        )

    def _payload(
        self, fetched: Fetched | Fault, stream: AnswerStream | None, limit: int | None = None
    ) -> Any | Fault:
        if isinstance(fetched, Fault):
            return fetched
        if fetched.status not in ANSWERED:
            body = self._redactor.body(fetched.body)
            return fault_of_status(fetched.status, fetched.headers, body, max_tokens=limit)
        if stream is not None and (fetched.streamed or is_event_stream(fetched.body)):
            answer = stream.answer() if fetched.streamed else stream.whole(fetched.body)
            return answer if isinstance(answer, Fault) else self._redactor.json(answer)
        try:
            return self._redactor.json(answer_of(fetched.body), fetched.body)
        except ValueError as error:
            return not_json(self._redactor.body(fetched.body), error)

    def _tell_gate(
        self, one: _Call, permit: Permit, fetched: Fetched | Fault, outcome: Response | Fault
    ) -> None:
        gate = self.gate
        if isinstance(outcome, Response):
            self._long_hints_in_a_row = 0
            used = tokens_of(outcome.usage, None)
            if outcome.usage.completion_tokens is not None:
                self._answer_tokens += 0.1 * (outcome.usage.completion_tokens - self._answer_tokens)
            gate.succeeded(
                permit,
                tokens=used,
                quotas=quotas(fetched.headers) if isinstance(fetched, Fetched) else {},
            )
        elif (outcome.kind == "rate_limit" and outcome.retryable) or outcome.status == _OVERLOADED:
            gate.refused(permit, outcome.wait_seconds)
        elif outcome.kind == NO_FILES:
            gate.connection_not_allowed(permit)
        elif outcome.is_of_connection:
            gate.failed(permit, of_connection=True)
        elif outcome.retryable:
            gate.failed(permit, of_connection=False, is_suspect=one.is_suspect)
        else:
            gate.answered()

    def _wait_before_retry(self, fault: Fault, one: _Call) -> float | None:
        endpoint = self.endpoint
        if not fault.retryable or one.charged >= endpoint.attempts_max:
            return None
        hint = fault.wait_seconds
        if hint is not None and hint > endpoint.retry_after_seconds_max:
            self._note_long_hint(hint)
            return None
        ceiling = min(
            endpoint.backoff_seconds_max,
            endpoint.backoff_seconds * 2.0 ** min(one.attempts - 1, 30),
        )
        wait = self._jitter() * ceiling
        wait = min(max(wait, one.wait * _GROWTH), endpoint.backoff_seconds_max)
        if hint is not None:
            wait = max(wait, hint * (1 + _HINT_JITTER * self._jitter()))
        if self.gate.is_endpoint_up or one.is_suspect:
            one.seconds += one.last_seconds + wait
        if one.seconds > endpoint.retry_seconds_max:
            return None
        now = asyncio.get_running_loop().time()
        one.failed_at = now if hint is None else None
        return max(wait, self.gate.retries.take(now))

    def _note_long_hint(self, hint: float) -> None:
        """End the run when an endpoint asks twice in a row to be left alone for longer than it is
        waited for.
        """
        self._long_hints_in_a_row += 1
        if self._long_hints_in_a_row > 1:
            reopens = datetime.now(UTC) + timedelta(seconds=min(hint, 10 * 365 * 86400.0))
            raise EndpointDown(
                f"the endpoint takes no request before {reopens:%Y-%m-%d %H:%M} UTC (it asks to"
                f" wait {hint:,.0f} s, more than"
                f" retry_after_seconds_max={self.endpoint.retry_after_seconds_max:g})"
            )

    def _error_of(self, fault: Fault) -> ResponseError:
        message = self.describe(fault)
        return ResponseError(
            kind=fault.kind, message=message, status=fault.status, model_failure=fault.model_failure
        )

    def _cached(self, request: Request, body: bytes, call: str) -> tuple[Response | None, str]:
        if self._cache is None:
            return None, ""
        key = self._cache_key(request, body, call)
        found = self._cache.get(key)
        return (None if found is None else replace(found, attempts=0, cached=True)), key

    def _cache_key(self, request: Request, body: bytes, call: str) -> str:
        assert self._cache is not None  # noqa: S101 - called only with a cache
        return self._cache.key(
            url=wire_of(request.protocol).address(self.endpoint),
            headers=self.endpoint.headers,
            body=body,
            repeat=request.repeat,
            call=call,
        )

    def _call(self, request: Request, body: bytes, call: str, parse: Parse | None) -> _Call:
        headers = sample_headers(self.endpoint, request)
        place = dumps_bytes(
            [self._run_id, request.benchmark, request.sample_id, request.repeat, call]
        )
        key = hashlib.sha256(place + body).hexdigest()[:32]
        headers["Idempotency-Key"] = key
        self.gate.retries.requested()
        return _Call(
            body=body,
            headers=headers,
            key=key,
            tokens_max=tokens_max(request.generation) or 0,
            prompt_bytes=prompt_bytes(request, body),
            url=wire_of(request.protocol).address(self.endpoint),
            protocol=request.protocol,
            parse=parse
            or partial(parse_answer, request.protocol, offers_tools=bool(request.tools)),
        )

    def _estimate(self, one: _Call) -> int:
        return one.prompt_bytes // _BYTES_PER_TOKEN + int(self._answer_tokens)
