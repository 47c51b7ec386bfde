"""Streamed answers: the same text as one that comes whole, whatever way it is cut, and never a half as the whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.faults.runs import run
from tests.faults.server import Do, Endless, Reply, Step, chunk, chunked, http, serving
from tests.faults.virtual import VirtualServer, ask, end_of

TEXT = "Grüße aus Zürich 🙂, also: Answer: 0"
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def event(delta: dict[str, Any] | None = None, *, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "x", "object": "chat.completion.chunk", "model": "served-model", "choices": choices, **more}


def said(text: str) -> list[dict[str, Any]]:
    """Return the events of a whole answer of several pieces."""
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    return [
        event({"role": "assistant", "content": ""}),
        *(event({"content": piece}) for piece in pieces),
        event({}, finish="stop"),
        event(usage=USAGE),
    ]


def lines(events: list[dict[str, Any]], *, data: str = "data: ", end: str = "\n\n", done: bool = True) -> bytes:
    text = "".join(f"{data}{json.dumps(item, ensure_ascii=False)}{end}" for item in events)
    return (text + (f"{data}[DONE]{end}" if done else "")).encode()


def sse(*parts: Step, end: bool = True) -> Reply:
    return chunked(*parts, kind="text/event-stream; charset=utf-8", end=end)


def _every_byte(data: bytes) -> list[Step]:
    return [bytes([byte]) for byte in data]


def _multi_line(events: list[dict[str, Any]]) -> bytes:
    texts = [json.dumps(item, indent=1) for item in events]
    return (
        b"".join(b"data: " + text.replace("\n", "\ndata: ").encode() + b"\n\n" for text in texts) + b"data: [DONE]\n\n"
    )


WHOLE = said(TEXT)
SAME: dict[str, Reply] = {
    "f40-plain": sse(lines(WHOLE)),
    "f40-byte-by-byte": sse(*_every_byte(lines(WHOLE))),
    "f40-no-space": sse(lines(WHOLE, data="data:")),
    "f40-crlf": sse(lines(WHOLE, end="\r\n\r\n")),
    "f40-cr": sse(lines(WHOLE, end="\r\r")),
    "f40-crlf-byte-by-byte": sse(*_every_byte(lines(WHOLE, end="\r\n\r\n"))),
    "f40-multi-line": sse(_multi_line(WHOLE)),
    "f40-no-done": sse(lines(WHOLE, done=False)),
    "f40-no-done-no-end": sse(lines(WHOLE, done=False)[:-1]),
    "f40-comments": sse(b": ping\n\n", lines(WHOLE[:3], done=False), b":\n\n: x\n\n", lines(WHOLE[3:])),
    "f40-named-events": sse(lines(WHOLE).replace(b"data: {", b"event: message\nid: 3\nretry: 9\ndata: {")),
    "f40-bom": sse(*_every_byte(b"\xef\xbb\xbf" + lines([event({"content": TEXT}, finish="stop", usage=USAGE)]))),
    "f40-empty-data": sse(b"data:\n\ndata: \n\n", lines(WHOLE)),
    "f40-as-json": chunked(lines(WHOLE), kind="application/json"),
    "f40-as-text-with-bom": chunked(b"\xef\xbb\xbf\n" + lines(WHOLE), kind="text/plain"),
    "f40-201": [step.replace(b"200 OK", b"201 Created") for step in sse(lines(WHOLE)) if isinstance(step, bytes)],
    "f40-until-close": [
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + lines(WHOLE),
        Do.CLOSE,
    ],
    "f40-stays-open-after-done": [*sse(lines(WHOLE), end=False), Do.HANG],
    "f40-usage-with-finish": sse(lines([*WHOLE[:-2], event({}, finish="stop", usage=USAGE)])),
    "f40-usage-null": sse(lines([{**item, "usage": item.get("usage")} for item in WHOLE])),
    "f40-null-content": sse(lines([event({"role": "assistant", "content": None}), *WHOLE])),
    "f40-parts": sse(lines([event({"content": [{"type": "text", "text": TEXT}]}), *WHOLE[-2:]])),
    "f40-parts-and-thinking": sse(
        lines([event({"content": [{"type": "thinking", "thinking": [{"text": "Answer: 9"}]}]}), *WHOLE])
    ),
    "f40-after-done": sse(lines(WHOLE) + lines([event({"content": " Answer: 9"})])),
    "f40-pieces-in-one-chunk": sse(lines([event(choices=[item["choices"][0] for item in WHOLE[:-1]], usage=USAGE)])),
    "f40-finish-null-in-words": sse(lines([event({"content": TEXT}, finish="null"), *WHOLE[-2:]])),
    "f40-bom-before-each-event": sse(lines(WHOLE).replace(b"data:", b"\xef\xbb\xbfdata:")),
    "f40-done-in-lower-case": sse(lines(WHOLE, done=False), b"data: [done]\n\n"),
    "f40-finish-in-each-chunk": sse(
        lines([event({"content": piece}, finish="stop") for piece in (TEXT[:9], TEXT[9:])] + WHOLE[-1:])
    ),
    "f40-blank-after-finish": sse(lines([*WHOLE[:-1], event({"role": "assistant", "content": "\n"}), WHOLE[-1]])),
    "f40-whole-text-at-the-end": sse(
        lines([*WHOLE[:-2], event(choices=[{"message": {"content": TEXT}, "finish_reason": "stop"}]), WHOLE[-1]])
    ),
    "f40-json-by-name-of-a-stream": http(
        json.dumps(
            {
                "model": "served-model",
                "choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}],
                "usage": USAGE,
            },
            indent=1,
        ),
        kind="text/event-stream",
    ),
    "f40-no-stream": http(
        json.dumps(
            {
                "model": "served-model",
                "choices": [{"message": {"role": "assistant", "content": TEXT}, "finish_reason": "stop"}],
                "usage": USAGE,
            }
        )
    ),
}


@pytest.mark.parametrize("reply", SAME.values(), ids=SAME)
def test_a_stream_is_the_same_answer(reply: Reply) -> None:
    """However a stream is cut and spelled, its text, its end and its usage are those of a whole answer."""
    with serving({0: reply}) as server:
        (response,) = ask(server, stream=True)
        assert len(server.calls) == 1
    assert (end_of(response), response.text) == ("answered", TEXT)
    assert (response.finish_reason, response.model) == ("stop", "served-model")
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (7, 3)


def test_f40_completions_stream(tmp_path: Path) -> None:
    """The completions protocol streams text in its choices, and a run asks for the stream with its usage."""
    events = [{"choices": [{"index": 0, "text": piece, "finish_reason": None}]} for piece in ("Ans", "wer", ": 0")] + [
        {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}], "usage": USAGE}
    ]
    with serving({0: sse(lines(events))}) as server:
        ran = run(tmp_path, server, n=1, endpoint={"stream": True, "protocol": "completions"})
        assert server.calls[0].body["stream"] is True
        assert server.calls[0].body["stream_options"] == {"include_usage": True}
    assert ran.rows[0]["model_response"] == "Answer: 0"
    assert ran.rows[0]["reward"] == 1.0


ERRORS: dict[str, tuple[Reply, str]] = {
    "f40-error-event": (
        sse(lines(WHOLE[:4], done=False), b'event: error\ndata: {"error": {"message": "x", "code": 503}}\n\n'),
        "infra:server_error",
    ),
    "f40-error-data": (
        sse(lines([*WHOLE[:4], {"error": {"message": "overloaded", "code": 529}}])),
        "infra:server_error",
    ),
    "f40-error-first": (sse(lines([{"error": {"message": "slow down", "code": 429}}])), "infra:rate_limit"),
    "f40-finish-error": (sse(lines([*WHOLE[:4], event({}, finish="error")])), "infra:server_error"),
    "f40-garbage": (sse(lines(WHOLE[:4], done=False), b"data: {no\n\n", lines(WHOLE[4:])), "infra:malformed"),
    "f40-text-after-finish": (sse(lines([*WHOLE, event({"content": "9"})])), "infra:malformed"),
    "f40-call-after-finish": (
        sse(lines([*WHOLE, event({"tool_calls": [{"id": "1", "function": {"name": "f"}}]})])),
        "infra:malformed",
    ),
    "f40-two-finish-reasons": (
        sse(lines([*WHOLE[:-2], event({}, finish="length"), event({}, finish="stop")])),
        "infra:malformed",
    ),
    "f30-content-twice": (
        sse(lines([event({"content": "9"}, finish="stop")]).replace(b'"content"', b'"content": "0", "content"')),
        "infra:malformed",
    ),
    "f40-piece-outside-of-a-field": (sse(lines(WHOLE).replace(b"data: ", b"Data: ", 3)), "infra:malformed"),
    "f40-error-by-name-of-a-stream": (
        http('{"error": {"message": "x", "code": 503}}', kind="text/event-stream"),
        "infra:server_error",
    ),
    "f40-event-null": (sse(b"data: null\n\n", b"data: [DONE]\n\n"), "infra:malformed"),
    "f40-only-done": (sse(b"data: [DONE]\n\n"), "infra:malformed"),
    "f40-nothing": (sse(b": hello\n\n"), "infra:malformed"),
    "f16-stream-reset": ([*sse(lines(WHOLE[:4], done=False), end=False), 0.02, Do.RESET], "infra:connection"),
    "f16-stream-cut": ([*sse(lines(WHOLE[:4], done=False), end=False), Do.CLOSE], "infra:connection"),
    "f16-stream-ends-without-finish": (sse(lines(WHOLE[:4], done=False)), "infra:malformed"),
    "f16-stream-ends-with-an-empty-finish": (
        sse(lines([event({"content": "Answer: "}, finish="")], done=False)),
        "infra:malformed",
    ),
    "f23-stream-of-html": (http("<html>login</html>", kind="text/html"), "infra:malformed"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "state"), ERRORS.values(), ids=ERRORS)
def test_a_stream_that_breaks_is_no_short_answer(reply: Reply, state: str) -> None:
    """An error or an end in the middle is a fault: tried again, then given up, and the half is never an answer."""
    table = {0: [reply, sse(lines(said("Answer: 0")))], 1: reply, 2: sse(lines(said("Answer: 4")))}
    with serving(table) as server:
        answers = ask(server, 3, stream=True)
        assert len(server.of(0)) == 2
        assert len(server.of(1)) == 3
    allowed = {state, "infra:malformed"} if state == "infra:connection" else {state}
    assert end_of(answers[1]) in allowed
    assert [answer.text for answer in answers] == ["Answer: 0", "", "Answer: 4"]


FINISHES: dict[str, tuple[Reply, str]] = {
    "f26-stream-length": (sse(lines([*WHOLE[:4], event({}, finish="length"), event(usage=USAGE)])), "truncated"),
    "f27-stream-filter": (sse(lines([*WHOLE[:4], event({}, finish="content_filter")])), "content_filter"),
    "f27-stream-refusal": (
        sse(lines([event({"refusal": "I can"}), event({"refusal": "not."}), event({}, finish="stop")])),
        "refusal",
    ),
    "f25-stream-empty": (sse(lines([event({"role": "assistant"}), event({}, finish="stop")])), "empty"),
    "f25-stream-reasoning": (
        sse(lines([event({"reasoning_content": "Answer: 0"}), event({}, finish="stop")])),
        "empty",
    ),
}


def test_a_stream_that_ends_by_the_models_fault(tmp_path: Path, record_property: Any) -> None:
    """Cut off, filtered, refused or empty streams are the model's failures, asked once."""
    record_property("cases", len(FINISHES))
    with serving(dict(enumerate(reply for reply, _ in FINISHES.values()))) as server:
        ran = run(tmp_path, server, n=len(FINISHES), endpoint={"stream": True})
        assert len(server.calls) == len(FINISHES)
    assert dict(zip(FINISHES, ran.states, strict=True)) == {name: state for name, (_, state) in FINISHES.items()}


def test_f40_reasoning_is_kept_apart(tmp_path: Path) -> None:
    """Streamed reasoning is stored as reasoning, in order, and the answer without it; the first token has its time."""
    thoughts = [event({"reasoning_content": part}) for part in ("one ", "two ", "Answer: 9")]
    with serving({0: sse(lines([*thoughts, *said("Answer: 0")]))}) as server:
        row = run(tmp_path, server, n=1, endpoint={"stream": True}).rows[0]
    assert (row["reasoning"], row["model_response"]) == ("one two Answer: 9", "Answer: 0")
    assert 0 < row["timing"]["first_token_seconds"] <= row["timing"]["latency_seconds"]


def test_f40_the_first_token_is_the_first_text() -> None:
    """Time to first token ends with text or reasoning, not with headers, comments or the role alone."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    role, first, rest = lines(WHOLE[:1], done=False), lines(WHOLE[1:3], done=False), lines(WHOLE[3:])
    (answer,) = ask(VirtualServer({0: [head, 0.5, b": hello\n\n", role, 0.5, first, 2.0, rest]}), stream=True)
    assert answer.text == TEXT
    assert answer.first_token_seconds == pytest.approx(1.0, abs=0.01)
    assert answer.latency_seconds == pytest.approx(3.0, abs=0.01)


SILENT = {"idle_timeout_seconds": 0.4}
LONG = {"total_timeout_seconds": 1.5}


@pytest.mark.parametrize(
    ("reply", "limits", "kinds"),
    [
        ([*sse(lines(WHOLE[:3], done=False), end=False), Do.HANG], SILENT, {"infra:idle_timeout"}),
        ([*sse(lines(WHOLE[:3], done=False), end=False), Endless(chunk(b": ping\n\n"), times=100, pause=0.1)],
         SILENT, {"infra:idle_timeout"}),
        ([*sse(end=False), Endless(chunk(b": ping\n\n"), times=100, pause=0.1)],
         SILENT, {"infra:idle_timeout", "infra:first_byte_timeout"}),
        ([*sse(end=False), Endless(chunk(lines([event({"content": "x "})], done=False)), times=100, pause=0.1)],
         LONG, {"infra:timeout"}),
    ],
    ids=["f19-stall", "f19-pings-after-text", "f19-pings-alone", "f19-drip"],
)  # fmt: skip
def test_a_stream_that_stalls_meets_a_deadline(reply: Reply, limits: dict[str, float], kinds: set[str]) -> None:
    """Comments are not data: only events hold the idle deadline off, and nothing holds the total one off."""
    with serving({0: reply}, models=None) as server:
        (response,) = ask(server, attempts_max=1, stream=True, **limits)
    assert end_of(response) in kinds
    assert response.text == ""


def test_f32_an_endless_stream_is_cut() -> None:
    """A stream without an end is cut at response_bytes_max."""
    block = chunk(lines([event({"content": "x" * 10_000})], done=False))
    with serving({0: [*sse(end=False), Endless(block, times=20_000)]}) as server:
        (response,) = ask(server, stream=True, response_bytes_max=1 << 20)
        assert len(server.calls) <= 2
    assert end_of(response) == "infra:too_large"
