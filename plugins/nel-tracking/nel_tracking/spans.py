"""OpenTelemetry spans of a run: the session, each sample, each request, and each attempt of a
retried request.

Attribute names follow the GenAI semantic conventions where those
have one; no prompt or answer is an attribute. The library exports in its own thread with a bounded
queue: a collector that is down loses spans, never a sample, and closing waits a few seconds at
most.
"""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from nel import __version__
from nel.core.json_values import present
from nel.core.observer import Observer, SessionInfo
from nel.errors import MissingExtra
from nel.types import ModelFailure, Outcome, Request, Response, SampleKey, Scored

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import SpanProcessor
    from opentelemetry.trace import Span

_EXPORT_SECONDS = 5.0
_CLOSE_SECONDS = 5.0
_QUEUE_MAX = 16_384
_OPERATIONS = {"completions": "text_completion", "gemini": "generate_content"}
_PROVIDERS = {"anthropic": "anthropic", "gemini": "gcp.gemini"}
_NANOSECONDS = 1_000_000_000

Attributes: TypeAlias = "dict[str, str | int | float | list[str]]"
_Attempt = tuple[str, int, int]
"""Kind of fault, start and end in nanoseconds."""


class Spans(Observer):
    """Makes spans of what happens and passes them to a span processor."""

    def __init__(self, processor: SpanProcessor, run_id: str) -> None:
        """Set up the tracer of one session.

        Args:
            processor: Gets every ended span; must not block.
            run_id: Becomes an attribute of the resource.
        """
        from opentelemetry import trace  # noqa: PLC0415 - optional
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415

        resource = Resource.create(
            {"service.name": "nel", "service.version": __version__, "nel.run.id": run_id}
        )
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._trace = trace
        self._tracer = self._provider.get_tracer("nel", __version__)
        self._session: Span | None = None
        self._samples: dict[SampleKey, Span] = {}
        self._sample: ContextVar[Span | None] = ContextVar("nel_sample", default=None)
        self._attempts: ContextVar[list[_Attempt] | None] = ContextVar("nel_attempts", default=None)
        self._names: dict[int, str] = {}
        self._server: dict[str, str | int] = {}

    def session_started(self, info: SessionInfo) -> None:
        """Start the root span."""
        self._names = dict(info.benchmarks)
        if info.url:
            parts = urlsplit(info.url)
            self._server = {"server.address": parts.hostname or ""}
            self._server |= {"server.port": parts.port} if parts.port else {}
        attributes = {
            "nel.run.id": info.run_id,
            "nel.session": info.session,
            "nel.planned": info.planned,
            "nel.benchmarks": list(info.benchmarks.values()),
            "nel.config.sha256": info.config_digest,
            **({"gen_ai.request.model": info.model} if info.model else {}),
            **self._server,
        }
        self._session = self._tracer.start_span("nel.session", attributes=attributes)

    def sample_started(self, key: SampleKey, sample_id: str) -> None:
        """Start a sample's span; it ends with the outcome."""
        span = self._tracer.start_span(
            "nel.sample",
            context=self._within(self._session),
            attributes={
                "nel.benchmark": self._names.get(key.benchmark, str(key.benchmark)),
                "nel.sample.id": sample_id,
                "nel.repeat": key.repeat,
            },
        )
        self._samples[key] = span
        self._sample.set(span)

    def attempt_retried(self, kind: str, seconds: float, wait_seconds: float) -> None:
        """Keep an attempt for its request; both are reported in the same task, which a context
        variable identifies.
        """
        now = time.time_ns()
        attempts = self._attempts.get()
        if attempts is None:
            attempts = []
            self._attempts.set(attempts)
        attempts.append((kind, now - int(seconds * _NANOSECONDS), now))

    def request_finished(self, request: Request, response: Response, seconds: float) -> None:
        """Make the span of a request that has ended."""
        end = time.time_ns()
        operation = _OPERATIONS.get(request.protocol, "chat")
        span = self._tracer.start_span(
            f"{operation} {request.model}",
            context=self._within(self._sample.get() or self._session),
            kind=self._trace.SpanKind.CLIENT,
            start_time=end - int(seconds * _NANOSECONDS),
            attributes={
                **_request_attributes(operation, request),
                **_response_attributes(response),
                **self._server,
            },
        )
        if response.error is not None:
            span.set_status(self._trace.StatusCode.ERROR, response.error.kind)
        if attempts := self._attempts.get():
            self._attempts.set(None)
            latency = int((response.latency_seconds or 0.0) * _NANOSECONDS)
            last = None if response.error is None else response.error.kind
            for number, (kind, begun, ended) in enumerate([*attempts, (last, end - latency, end)]):
                self._attempt(span, number, kind, begun, ended)
        span.end(end_time=end)

    def sample_finished(self, key: SampleKey, outcome: Outcome) -> None:
        """End a sample's span with its outcome."""
        span = self._samples.pop(key, None)
        if span is None:  # the answer is of an earlier session
            return
        if isinstance(outcome, Scored):
            span.set_attributes({"nel.outcome": "scored", "nel.reward": outcome.reward})
        elif isinstance(outcome, ModelFailure):
            span.set_attributes({"nel.outcome": "model_failure", "nel.outcome.kind": outcome.kind})
        else:
            span.set_attributes(
                {
                    "nel.outcome": "unscored",
                    "nel.outcome.cause": outcome.cause,
                    "nel.outcome.kind": outcome.kind,
                }
            )
            span.set_status(self._trace.StatusCode.ERROR, f"{outcome.cause}: {outcome.kind}")
        span.end()

    def limit_changed(self, limit: int) -> None:
        """Add an event to the session's span."""
        self._add_event("throttled", {"nel.concurrency.limit": limit})

    def outage_started(self, kind: str, detail: str) -> None:
        """Add an event to the session's span."""
        self._add_event("outage_started", {"error.type": kind})

    def outage_ended(self, seconds: float) -> None:
        """Add an event to the session's span."""
        self._add_event("outage_ended", {"nel.outage.seconds": seconds})

    def session_ended(self, reason: str, exit_code: int) -> None:
        """End the session's span and those of unfinished samples."""
        for span in self._samples.values():
            span.set_attribute("nel.outcome", "not_finished")
            span.end()
        self._samples.clear()
        if self._session is not None:
            self._session.set_attribute("nel.exit_code", exit_code)
            if exit_code:
                self._session.set_status(self._trace.StatusCode.ERROR)
            self._session.end()

    def close(self) -> None:
        """Export the queued spans, for a few seconds at most."""
        closing = threading.Thread(
            target=self._provider.shutdown, name="nel-spans-close", daemon=True
        )
        closing.start()
        closing.join(timeout=_CLOSE_SECONDS)

    def _within(self, parent: Span | None) -> Context | None:
        return self._trace.set_span_in_context(parent) if parent is not None else None

    def _add_event(self, event: str, attributes: Attributes) -> None:
        if self._session is not None:
            self._session.add_event(event, attributes)

    def _attempt(self, parent: Span, number: int, kind: str | None, begun: int, ended: int) -> None:
        attributes: Attributes = {"http.request.resend_count": number} if number else {}
        if kind is not None:
            attributes["error.type"] = kind
        span = self._tracer.start_span(
            "attempt", context=self._within(parent), start_time=begun, attributes=attributes
        )
        if kind is not None:
            span.set_status(self._trace.StatusCode.ERROR, kind)
        span.end(end_time=ended)


def _request_attributes(operation: str, request: Request) -> Attributes:
    generation = request.generation
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": _PROVIDERS.get(request.protocol, "openai"),  # of the protocol
        "gen_ai.request.model": request.model,
        "gen_ai.request.temperature": generation.temperature,
        "gen_ai.request.top_p": generation.top_p,
        "gen_ai.request.max_tokens": generation.max_tokens,
        "gen_ai.request.seed": generation.seed_of(request.repeat),
        "nel.sample.id": request.sample_id,
        "nel.repeat": request.repeat,
    }
    return present(attributes)


def _response_attributes(response: Response) -> Attributes:
    usage = response.usage
    attributes = {
        "gen_ai.response.model": response.model,
        "gen_ai.response.finish_reasons": (
            [response.finish_reason] if response.finish_reason else None
        ),
        "gen_ai.response.time_to_first_chunk": response.first_token_seconds,
        "gen_ai.usage.input_tokens": usage.prompt_tokens,
        "gen_ai.usage.output_tokens": usage.completion_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "nel.attempts": response.attempts,
    }
    if response.error is not None:
        attributes |= {
            "error.type": response.error.kind,
            "http.response.status_code": response.error.status,
        }
    return present(attributes)


def export_spans(run_dir: Path) -> Spans:
    """Send the spans of a run to an OTLP/HTTP collector.

    The collector, its headers and certificates are those of OpenTelemetry's own variables
    (``OTEL_EXPORTER_OTLP_ENDPOINT``, ``OTEL_EXPORTER_OTLP_HEADERS`` ...); without them it is
    localhost:4318.

    Raises:
        MissingExtra: opentelemetry is not installed.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - optional
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra(
            "the observer otel needs opentelemetry; pip install './plugins/nel-tracking[otel]', or"
            " leave the observer out"
        ) from error
    processor = BatchSpanProcessor(
        OTLPSpanExporter(timeout=_EXPORT_SECONDS),
        max_queue_size=_QUEUE_MAX,
        schedule_delay_millis=1_000,
        export_timeout_millis=_EXPORT_SECONDS * 1_000,
    )
    return Spans(processor, run_dir.name)
