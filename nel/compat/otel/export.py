"""Writes a run as OTLP JSON, batches of spans, in OpenTelemetry's semantic conventions for GenAI.

No library and no network: the file is what a collector's file exporter writes and its
``otlpjsonfile`` receiver reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import (
    RunToExport,
    asked_messages,
    asked_results,
    model_name,
    open_run,
    run_start,
    scorer_name,
    storable,
)
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps, dumps_line, dumps_unless_text
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject
from nel.version import __version__

FILE: Final = "spans.jsonl"
BATCH: Final = 200
"""Spans of a line."""
_INTERNAL, _CLIENT, _ERROR = 1, 3, 2
"""Of OTLP: the kinds of a span, and the code of a status."""
_SETTINGS: Final = (
    "temperature",
    "top_p",
    "max_tokens",
    "frequency_penalty",
    "presence_penalty",
    "seed",
)
_Pairs = Mapping[str, Any]


def export_otel(run_dir: Path, output: Path) -> Exported:
    """OpenTelemetry: spans as OTLP JSON in the conventions for GenAI, for any tracing backend.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoreError: The run.db is missing or damaged.
        StoppedEarly: The disk is full.
    """
    run, time = open_run(run_dir), run_start(run_dir)
    path = output / FILE
    write_file(path, _lines(run, time))
    notes = (
        (
            "A result without a score is a span with the status error and no evaluation; one never"
            " asked for has no span."
        ),
        (
            "When a request was sent is not recorded: each span begins when the run did, and lasts"
            " as long as its answer."
        ),
    )
    return Exported(files=(path,), notes=(*run.notes, *notes))


def _lines(run: RunToExport, time: datetime) -> Iterator[bytes]:
    resource = {"service.name": "nel", "service.version": __version__, "nel.run_id": run.run_id}
    attributes = {"attributes": _attributes(resource)}
    for files in run.benchmarks:
        spans = _spans(run, files, time)
        while batch := list(islice(spans, BATCH)):
            scope_spans = {"scope": {"name": "nel", "version": __version__}, "spans": batch}
            resource_spans = {"resource": attributes, "scopeSpans": [scope_spans]}
            yield dumps_line(storable({"resourceSpans": [resource_spans]}))


def _spans(run: RunToExport, files: BenchmarkFiles, time: datetime) -> Iterator[dict[str, Any]]:
    """Yield the spans of a benchmark and of each result that was asked for, all of one trace."""
    trace = _identifier(32, run.run_id, files.title)
    root = _identifier(16, run.run_id, files.title)
    begin = int(time.timestamp() * 1e9)
    elapsed = files.runtime.get("elapsed_seconds")
    end = begin + int((elapsed or 0) * 1e9)
    headline, accounting = files.metrics["headline"], files.metrics["accounting"]
    summary = {
        "nel.benchmark": files.title,
        "nel.complete": files.metrics["complete"],
        f"nel.metric.{headline['metric']}": headline["value"],
        **{f"nel.{name}": value for name, value in accounting.items() if isinstance(value, int)},
    }
    yield {
        "traceId": trace,
        "spanId": root,
        "name": f"evaluate {files.title}",
        "kind": _INTERNAL,
        **_times(begin, end),
        "attributes": _attributes(summary),
    }
    settings = _settings(files)
    for value in asked_results(files):
        result = storable(value)
        latency = result["timing"]["latency_seconds"] or 0
        answer_end = begin + int(latency * 1e9)
        numbers = str(result["problem_idx"]), str(result["repeat"])
        yield {
            "traceId": trace,
            "spanId": _identifier(16, run.run_id, files.title, *numbers),
            "parentSpanId": root,
            "name": f"chat {settings['gen_ai.request.model']}",
            "kind": _CLIENT,
            **_times(begin, answer_end),
            "attributes": _attributes({**settings, **_result_attributes(result)}),
            **_judgement(result, scorer_name(files), answer_end),
        }


def _settings(files: BenchmarkFiles) -> dict[str, Any]:
    """Return the attributes that all requests share."""
    config = files.bundle["config"]
    generation = config.get("generation") or {}
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "unknown",
        "gen_ai.request.model": model_name(files),
        # Of the address only the host, which holds no key.
        "server.address": urlsplit(str(config.get("base_url") or "")).hostname,
        **{f"gen_ai.request.{name}": generation.get(name) for name in _SETTINGS},
    }


def _result_attributes(result: JsonObject) -> dict[str, Any]:
    tokens, outcome = result["tokens"], result["outcome"]
    reason = result["finish_reason"]
    messages = [
        _message(message.get("role"), message.get("content")) for message in asked_messages(result)
    ]
    error_type = None
    if result["reward"] is None:
        error_type = f"{outcome['cause']}.{outcome['kind']}"
    return {
        "gen_ai.response.model": result["served_model"],
        "gen_ai.response.finish_reasons": [reason] if reason else None,
        "gen_ai.usage.input_tokens": tokens["prompt"],
        "gen_ai.usage.output_tokens": tokens["completion"],
        "gen_ai.usage.reasoning.output_tokens": tokens["reasoning"],
        "gen_ai.usage.cache_read.input_tokens": tokens["cached"],
        "gen_ai.response.time_to_first_chunk": result["timing"]["first_token_seconds"],
        "gen_ai.input.messages": dumps(messages),
        "gen_ai.output.messages": _output_text(result, reason),
        "error.type": error_type,
        "nel.sample_id": str(result["sample_id"]),
        "nel.repeat": result["repeat"],
        "nel.outcome.state": outcome["state"],
        "nel.outcome.kind": outcome["kind"],
        "nel.category": result["metadata"].get("category"),
    }


def _message(role: object, content: object) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": dumps_unless_text(content)}]}


def _output_text(result: JsonObject, reason: object) -> str | None:
    if result["model_response"] is None:
        return None
    reasoning = result["reasoning"]
    parts = [{"type": "reasoning", "content": reasoning}] if reasoning else []
    parts.append({"type": "text", "content": result["model_response"]})
    return dumps([{"role": "assistant", "parts": parts, "finish_reason": reason or "unknown"}])


def _judgement(result: JsonObject, scorer: str, end: int) -> dict[str, Any]:
    """Return the event of the score; of a result without one a status, and no event."""
    outcome = result["outcome"]
    if result["reward"] is None:
        message = outcome["detail"] or outcome["kind"] or "unscored"
        return {"status": {"code": _ERROR, "message": message}}
    details = {
        "gen_ai.evaluation.name": scorer,
        "gen_ai.evaluation.score.value": float(result["reward"]),
    }
    if outcome["state"] == "model_failure":
        details["gen_ai.evaluation.score.label"] = outcome["kind"]
        details["gen_ai.evaluation.explanation"] = outcome["detail"]
    details["nel.extracted_answer"] = result["extracted_answer"]
    event = {
        "name": "gen_ai.evaluation.result",
        "timeUnixNano": str(end),
        "attributes": _attributes(details),
    }
    return {"events": [event]}


def _identifier(length: int, *parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:length]


def _times(begin: int, end: int) -> dict[str, str]:
    # In nanoseconds, as text: many readers of JSON lose the last digits of such a number.
    return {"startTimeUnixNano": str(begin), "endTimeUnixNano": str(end)}


def _attributes(pairs: _Pairs) -> list[dict[str, Any]]:
    """Return key and value as OTLP has them; what is unknown has no attribute."""
    return [
        {"key": name, "value": _value(value)} for name, value in pairs.items() if value is not None
    ]


def _value(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(element) for element in value]}}
    return {"stringValue": dumps_unless_text(value)}
