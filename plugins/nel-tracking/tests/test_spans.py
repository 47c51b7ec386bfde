"""A run is seen as OpenTelemetry spans, without a text of its samples and without harm to itself."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from nel_tracking.spans import Spans, export_spans
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from nel.core.observer import SessionInfo
from nel.errors import MissingExtra
from nel.types import (
    Generation,
    Message,
    Request,
    Response,
    ResponseError,
    SampleKey,
    Scored,
    Usage,
)
from tests.support.endpoint import answer, scripted
from tests.support.runs import nel, sums

INFO = SessionInfo(
    run_id="r1",
    session=1,
    benchmarks={1: "gsm8k"},
    identities={"gsm8k": "sha256:ab"},
    config_digest="cd",
    planned=10,
    concurrency=8,
    model="m",
    url="http://h:81/v1",
)
REQUEST = Request(
    protocol="chat",
    model="m",
    sample_id="s7",
    repeat=1,
    messages=(Message(role="user", content="the prompt text"),),
    generation=Generation(temperature=0.5, seed=3),
)
ANSWER = Response(
    text="the answer text",
    finish_reason="stop",
    model="served",
    latency_seconds=0.2,
    attempts=2,
    usage=Usage(prompt_tokens=7, completion_tokens=3, cached_tokens=2),
)
LOST = Response(attempts=3, error=ResponseError(kind="timeout", message="too slow"))
RIGHT = Scored(reward=1.0, metrics={})


def test_spans_have_the_shape_of_the_run() -> None:
    """Attempts are in their request, requests in their sample, samples in the session; no prompt, no answer."""
    exporter = InMemorySpanExporter()
    spans = Spans(SimpleSpanProcessor(exporter), "r1")

    async def one(idx: int, response: Response) -> None:
        spans.sample_started(SampleKey(1, idx, 1), f"s{idx}")
        await asyncio.sleep(0)
        if response is ANSWER:
            spans.attempt_retried("rate_limit", 0.05, 0.1)
        await asyncio.sleep(0)
        spans.request_finished(REQUEST, response, 0.5)

    async def both() -> None:
        await asyncio.gather(one(7, ANSWER), one(8, LOST))

    spans.session_started(INFO)
    asyncio.run(both())
    spans.sample_finished(SampleKey(1, 7, 1), RIGHT)
    spans.sample_finished(SampleKey(1, 9, 1), RIGHT)
    spans.outage_started("endpoint", "secret text")
    spans.session_ended("SIGINT", 130)
    spans.close()
    finished = exporter.get_finished_spans()
    by_id = {span.context.span_id: span for span in finished}
    shape = sorted(
        (span.name, by_id[span.parent.span_id].name if span.parent else "") for span in finished
    )
    assert shape == [
        ("attempt", "chat m"),
        ("attempt", "chat m"),
        ("chat m", "nel.sample"),
        ("chat m", "nel.sample"),
        ("nel.sample", "nel.session"),
        ("nel.sample", "nel.session"),
        ("nel.session", ""),
    ]
    answered = next(
        span for span in finished if span.name == "chat m" and span.status.is_ok is not False
    )
    attributes = dict(answered.attributes or {})
    assert attributes["gen_ai.request.model"] == "m"
    assert attributes["gen_ai.response.model"] == "served"
    assert attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert (attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]) == (
        7,
        3,
    )
    assert (attributes["gen_ai.request.temperature"], attributes["gen_ai.request.seed"]) == (0.5, 4)
    assert (attributes["server.address"], attributes["server.port"]) == ("h", 81)
    assert answered.end_time is not None
    assert answered.start_time is not None
    assert 0.4e9 < answered.end_time - answered.start_time < 0.6e9
    outcomes = {
        span.attributes["nel.sample.id"]: span.attributes["nel.outcome"]
        for span in finished
        if span.name == "nel.sample" and span.attributes
    }
    assert outcomes == {"s7": "scored", "s8": "not_finished"}
    everything = "".join(span.to_json() for span in finished)
    for text in ("prompt text", "answer text", "secret text"):
        assert text not in everything


@contextmanager
def collector() -> Iterator[tuple[str, list[tuple[str, str | None, bytes]]]]:
    """A collector that keeps what it is sent."""
    got: list[tuple[str, str | None, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, self.headers["X-Token"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_run_sends_its_spans_where_the_standard_variables_say(tmp_path: Path) -> None:
    """Of a whole run by the command line, with the headers of the variable."""
    rows = sums(tmp_path / "rows.jsonl", 3)
    with collector() as (url, received), scripted(lambda *_: answer("#### 4")) as endpoint:
        variables = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": url,
            "OTEL_EXPORTER_OTLP_HEADERS": "x-token=very%20secret",
        }
        flags = ["--model-url", endpoint.url, "--model-id", "m", "--observer", "otel"]
        done = nel(
            "eval",
            "run",
            "--bench",
            "gsm8k",
            "--dataset",
            str(rows),
            *flags,
            cwd=tmp_path,
            env=variables,
        )
    assert done.returncode == 0, done.stderr
    assert {(path, token) for path, token, _ in received} == {("/v1/traces", "very secret")}
    bodies = b"".join(body for _, _, body in received)
    assert (bodies.count(b"nel.session"), bodies.count(b"nel.sample.id")) >= (1, 3)


def test_a_dead_collector_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing answers: the session ends within seconds, and stderr stays clean."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # without listening: every connection is refused
        monkeypatch.setenv(
            "OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{bound.getsockname()[1]}"
        )
        spans = export_spans(tmp_path)
        spans.session_started(INFO)
        spans.session_ended("done", 0)
        spans.close()
    assert capfd.readouterr().err == ""


def test_a_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(MissingExtra, match=r"nel-tracking\[otel\]"):
        export_spans(tmp_path)
