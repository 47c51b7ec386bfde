"""Spans are read by OpenTelemetry's own messages, and their attributes are those of its conventions."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from google.protobuf.json_format import Parse
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes

from nel.artifacts.exporting.writers import export_run
from tests.artifacts.exporting.test_tables import storable, stored
from tests.support.runs import read_lines

CONVENTIONS = {one for name, one in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")}


def parsed(line: dict[str, Any]) -> TracesData:
    """Return a line as OpenTelemetry's message; OTLP writes identifiers in hex, protobuf's JSON wants base64."""

    def encoded(identifier: str) -> str:
        return base64.b64encode(bytes.fromhex(identifier)).decode()

    def converted(value: Any) -> Any:
        if isinstance(value, list):
            return [converted(one) for one in value]
        if not isinstance(value, dict):
            return value
        return {
            name: encoded(one) if name.endswith(("traceId", "panId")) else converted(one) for name, one in value.items()
        }

    return Parse(json.dumps(converted(line)), TracesData())


def values_of(pairs: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in pairs}


def test_every_result_is_a_span(finished: Path, tmp_path: Path) -> None:
    """A score is an event of its span; an unscored result is a span with an error and without a score."""
    export_run("otel", finished, tmp_path / "out")
    lines = read_lines(tmp_path / "out" / "spans.jsonl")
    spans: list[Span] = [
        span for line in lines for one in parsed(line).resource_spans for span in one.scope_spans[0].spans
    ]
    root, *children = spans
    expected = stored(finished)
    assert len(children) == len({one.span_id for one in children}) == 30
    assert {(one.trace_id, one.parent_span_id) for one in children} == {(root.trace_id, root.span_id)}
    scores = [
        [values_of(event.attributes)["gen_ai.evaluation.score.value"] for event in one.events] for one in children
    ]
    assert scores == [[] if one["reward"] is None else [one["reward"]] for one in expected]
    errors = [one.status.code == Status.STATUS_CODE_ERROR for one in children]
    assert errors == [one["reward"] is None for one in expected]
    found = [values_of(one.attributes) for one in children]
    assert [json.loads(one["gen_ai.output.messages"])[0]["parts"][-1]["content"] for one in found] == [
        storable(one["model_response"]) for one in expected
    ]
    assert [one["gen_ai.usage.input_tokens"] for one in found] == [one["tokens"]["prompt"] for one in expected]
    assert [one.end_time_unix_nano - one.start_time_unix_nano for one in children] == [
        int(one["timing"]["latency_seconds"] * 1e9) for one in expected
    ]
    names = {name for one in found for name in one} | {
        name for one in children for event in one.events for name in values_of(event.attributes)
    }
    assert {name for name in names if name.startswith("gen_ai.")} <= CONVENTIONS
    assert values_of(root.attributes)["nel.n_unscored"] == 3
