"""Prometheus metrics of a run, served on loopback while the session lasts.

Nothing else imports prometheus-client.

Every label value makes a time series that is never removed, so labels are kinds and causes, which
are closed sets; nothing of a sample may become a label.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from nel.core.observer import Observer, SessionInfo
from nel.engine.progress import Progress
from nel.errors import ConfigError, MissingExtra
from nel.types import SECOND_ASKING, ModelFailure, Outcome, Request, Response, SampleKey, Scored

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram

    from nel.engine.observability.metrics_server import MetricsServer

_HOST: Final = "127.0.0.1"
_OF_RUN: Final = ("run", "model")
_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640)
"""From a cached answer to a long chain of thought."""


class Metrics(Observer):
    """Counts what happens; the numbers of `Progress` are read at each scrape."""

    def __init__(self, registry: CollectorRegistry, run_id: str, progress: Progress) -> None:
        from prometheus_client import Counter, Gauge, Histogram  # noqa: PLC0415 - optional

        self._of_run = (_encodable(run_id), "")
        """Labels of every time series: the run and its model."""
        self._progress = progress
        self._limit = math.nan
        self._planned = math.nan
        self._benchmarks: dict[int, str] = {}
        self.server: MetricsServer | None = None

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(name, text, (*_OF_RUN, *labels), registry=registry)

        self._requests = counter(
            "nel_requests_total", "Requests that ended, by answered or kind of fault", "outcome"
        )
        self._retries = counter(
            "nel_retries_total", "Attempts made again, by kind of fault", "kind"
        )
        labels = ("benchmark", "state", "kind")
        self._samples = counter(
            "nel_samples_total", "Outcomes on disk, by state and its kind or cause", *labels
        )
        self._tokens = counter("nel_tokens_total", "Tokens as the endpoint reports them", "kind")
        self._seconds: Histogram = Histogram(
            "nel_request_seconds",
            "Seconds of the attempt that was answered, to its last byte",
            _OF_RUN,
            buckets=_SECONDS,
            registry=registry,
        )
        gauges = {
            "nel_in_flight": ("Requests in flight", lambda: len(progress.in_flight)),
            "nel_concurrency_limit": ("Requests that may be in flight", lambda: self._limit),
            "nel_running_score": (
                "Mean reward so far of this session",
                lambda: _number(progress.score),
            ),
            "nel_samples_planned": ("Samples times repeats of this session", lambda: self._planned),
        }
        self._gauges = [
            (Gauge(name, text, _OF_RUN, registry=registry), read)
            for name, (text, read) in gauges.items()
        ]

    def session_started(self, info: SessionInfo) -> None:
        """Keep the model, the names of benchmarks, the limit and the number of planned samples."""
        self._of_run = (self._of_run[0], _encodable(info.model or ""))
        for gauge, read in self._gauges:
            gauge.labels(*self._of_run).set_function(read)
        self._benchmarks = dict(info.benchmarks)
        self._limit = info.concurrency
        self._planned = info.planned

    def limit_changed(self, limit: int) -> None:
        """Keep the limit."""
        self._limit = limit

    def attempt_retried(self, kind: str, seconds: float, wait_seconds: float) -> None:
        """Count a retry."""
        self._count(self._retries, kind)

    def request_finished(self, request: Request, response: Response, seconds: float) -> None:
        """Count a request and what it used."""
        error = response.error
        self._count(self._requests, "answered" if error is None else error.kind)
        if error is not None:
            return
        self._seconds.labels(*self._of_run).observe(response.latency_seconds or 0.0)
        usage = response.usage
        for kind, n in (
            ("prompt", usage.prompt_tokens),
            ("completion", usage.completion_tokens),
            ("reasoning", usage.reasoning_tokens),
            ("cached", usage.cached_tokens),
        ):
            if n:
                self._count(self._tokens, kind, n=n)

    def sample_finished(self, key: SampleKey, outcome: Outcome) -> None:
        """Count an outcome."""
        if key.repeat == SECOND_ASKING:
            return
        if isinstance(outcome, Scored):
            state, kind = "scored", ""
        elif isinstance(outcome, ModelFailure):
            state, kind = "model_failure", outcome.kind
        else:
            state, kind = "unscored", outcome.cause
        benchmark = self._benchmarks.get(key.benchmark, str(key.benchmark))
        self._count(self._samples, benchmark, state, kind)

    def close(self) -> None:
        """Free the port."""
        if self.server is not None:
            self.server.close()

    def _count(self, metric: Counter, *labels: str, n: int = 1) -> None:
        metric.labels(*self._of_run, *map(_encodable, labels)).inc(n)


def serve_metrics(port: int, run_id: str, progress: Progress, *, host: str = _HOST) -> Metrics:
    """Serve the metrics of a run at ``http://HOST:PORT/metrics`` until they are closed.

    Raises:
        MissingExtra: prometheus-client is not installed.
        ConfigError: The port is in use or not allowed, or the address is not one of this machine.
    """
    try:
        from prometheus_client import CollectorRegistry, make_wsgi_app  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtra(
            "observability.metrics_port needs prometheus-client; pip install prometheus-client, or"
            " leave the port out"
        ) from error
    from nel.engine.observability.metrics_server import (  # noqa: PLC0415 - few runs serve metrics
        MetricsServer,
    )

    registry = CollectorRegistry()
    metrics = Metrics(registry, run_id, progress)
    try:
        metrics.server = MetricsServer(port, make_wsgi_app(registry), host=host)
    except OSError as error:
        raise ConfigError(
            f"observability.metrics_port: cannot serve metrics on {host}:{port}:"
            f" {error.strerror or error}; choose another --metrics-port"
        ) from error
    return metrics


def _encodable(text: str) -> str:
    """Return a label that UTF-8 can hold; half a character in one would fail every scrape."""
    return text.encode("utf-8", "replace").decode()


def _number(value: float | None) -> float:
    return math.nan if value is None else value
