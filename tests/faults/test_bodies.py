"""Bodies that came whole and are not what the protocol says, or are and mean something else than an answer."""

from __future__ import annotations

import gzip
import json
import resource
import zlib
from pathlib import Path
from typing import Any

import pytest

from nel.reports.run_warnings import texts_of
from tests.faults.runs import run
from tests.faults.server import Do, Endless, Reply, answer, answer_json, chunk, error, http, serving
from tests.faults.virtual import VirtualServer, ask, end_of

GOOD = json.dumps(answer_json("Answer: 0"))
MALFORMED: dict[str, str | bytes] = {
    "f21-cut": GOOD[:-20],
    "f21-empty": "",
    "f21-html": "<!doctype html><title>Login</title>",
    "f22-list": "[]",
    "f22-null": "null",
    "f24-no-choices": '{"id": "x"}',
    "f24-empty-choices": '{"choices": []}',
    "f24-null-choice": '{"choices": [null]}',
    "f24-null-message": '{"choices": [{"message": null, "finish_reason": "stop"}]}',
    "f24-part-without-text": '{"choices": [{"message": {"content": [{"text": {"value": "Answer: 2"}}]}}]}',
    "f24-null-part": '{"choices": [{"message": {"content": [null]}}]}',
    "f24-number-content": '{"choices": [{"message": {"content": 7}, "finish_reason": "stop"}]}',
    "f30-nan": GOOD.replace('"prompt_tokens": 7', '"prompt_tokens": NaN'),
    "f30-deep": "[" * 100_000 + "]" * 100_000,
    "f30-invalid-utf8": GOOD.encode().replace(b"Answer", b"\xff\xfe\xc3\x28"),
}


def _twice(name: str, value: str, other: str) -> str:
    """Return the good body, with a field that has another value before its own."""
    return GOOD.replace(f'"{name}": {value}', f'"{name}": {other}, "{name}": {value}')


TWICE = {
    "f30-content": _twice("content", '"Answer: 0"', '"Answer: 9"'),
    "f30-content-escaped": _twice("content", '"Answer: 0"', '"Answer: 9"').replace("content", "c\\u006fntent", 1),
    "f30-finish": _twice("finish_reason", '"stop"', '"length"'),
    "f30-choices": '{"choices": [], ' + GOOD[1:],
}
MALFORMED |= TWICE


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_an_answer_that_is_none_is_tried_again_and_never_scored(body: str | bytes) -> None:
    """Once: the next attempt is an answer. Always: malformed after every attempt, without a text."""
    broken = http(body)
    server = VirtualServer({0: [broken], 1: broken})
    answers = ask(server, 3)
    assert [len(server.of(number)) for number in range(3)] == [2, 3, 1]
    assert [end_of(answer) for answer in answers] == ["answered", "infra:malformed", "answered"]
    assert [answer.text for answer in answers] == ["Answer: 0", "", "Answer: 4"]


def _bare_deflate(data: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-15)
    return packing.compress(data) + packing.flush()


def _with_bom() -> Reply:
    return http(b"\xef\xbb\xbf" + GOOD.encode())


DETAILS: dict[str, tuple[Reply, str]] = {
    "f21-empty": (http(""), "the body is empty"),
    "f21-spaces": (http(" \n"), "the body is empty"),
    "f21-page": (
        http("<html><style>p {}</style><title>Wifi</title><p>Sign in</p>", kind="text/html"),
        "the body is a web page, not JSON: Wifi Sign in",
    ),
    "f23-no-message": (http('{"error": {"code": null}}'), "HTTP 200 with an error: no message"),
    "f30-twice": (
        http(TWICE["f30-finish"]),
        'one object of the answer has "finish_reason" twice, with different values',
    ),
    "f23-errors": (http('{"errors": [{"message": "no such route"}]}'), "HTTP 200 with an error: no such route"),
    "f23-words-alone": (http('{"detail": "no such route"}'), "HTTP 200 with an error: no such route"),
    "f33-websocket": (
        [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", Do.CLOSE],
        "unreadable response: the endpoint changes to another protocol than HTTP/1.1",
    ),
    "f33-no-location": (
        http("", status=302),
        "HTTP 302: redirected, but not where to; redirects are not followed, give the final URL",
    ),
    "f33-bad-location": (
        http("", status=307, headers={"Location": "http://[::1/v1"}),
        "HTTP 307: redirected to something that is not a URL; redirects are not followed, give the final URL",
    ),
}


@pytest.mark.parametrize(("reply", "words"), DETAILS.values(), ids=DETAILS)
def test_what_is_no_answer_is_named_in_its_own_words(reply: Reply, words: str) -> None:
    """A login page, an empty body and an error without an ``error`` are named as what they are."""
    with serving({0: reply}) as server:
        (response,) = ask(server)
    assert response.error is not None
    assert response.error.message == words


ACCEPTED = {
    "f21-text-plain": http(GOOD, kind="text/plain"),
    "f21-no-kind": [f"HTTP/1.1 200 OK\r\nContent-Length: {len(GOOD)}\r\n\r\n{GOOD}".encode()],
    "f21-bom": _with_bom(),
    "f21-white-space": http(f"\n\n  {GOOD}\n"),
    "f24-parts": answer([{"type": "text", "text": "Ans"}, {"type": "text", "text": "wer: 0"}]),  # type: ignore[arg-type]
    "f24-texts": answer(["Ans", "wer: 0"]),  # type: ignore[arg-type]
    "f24-thinking-part": answer(
        [{"type": "reasoning", "text": "Answer: 9"}, {"type": "text", "text": "Answer: 0"}]  # type: ignore[arg-type]
    ),
    "f25-tool-calls-null": answer("Answer: 0", tool_calls=None, function_call=None, refusal=None),
    "f30-big-integer": http(GOOD.replace('"id": "x"', f'"id": {"9" * 400}')),
    "f30-same-twice": http(_twice("content", '"Answer: 0"', '"Answer: 0"')),
    "f30-usage-twice": http(_twice("prompt_tokens", "7", "8")),
    "f30-tokens-twice": http(
        GOOD.replace('"index": 0', '"index": 0, "logprobs": {"top_logprobs": [{"text": -1.5, "text": -2}]}')
    ),
    "f30-duplicate-keys": http(GOOD.replace('"id": "x"', '"id": "x", "id": "y"')),
    "f26-no-finish": answer("Answer: 0", finish=None),
    "f26-unknown-finish": answer("Answer: 0", finish="eos_token"),
    "f31-gzip": http(gzip.compress(GOOD.encode()), headers={"Content-Encoding": "gzip"}),
    "f31-deflate": http(zlib.compress(GOOD.encode()), headers={"Content-Encoding": "deflate"}),
    "f31-deflate-without-header": http(_bare_deflate(GOOD.encode()), headers={"Content-Encoding": "deflate"}),
    "f31-gzip-in-members": http(
        gzip.compress(GOOD[:99].encode()) + gzip.compress(GOOD[99:].encode()), headers={"Content-Encoding": "gzip"}
    ),
    "f31-gzip-identity": http(gzip.compress(GOOD.encode()), headers={"Content-Encoding": "gzip, identity"}),
    "f31-utf-8": http(GOOD, headers={"Content-Encoding": "utf-8"}),
    "f33-201": http(GOOD, status=201),
    "f40-stream-unasked": http(
        b'data: {"choices": [{"delta": {"content": "Answer: 0"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n',
        kind="text/event-stream",
    ),
    "f23-null-error": http(json.dumps({**answer_json("Answer: 0"), "error": None})),
}


def test_an_unusual_answer_is_an_answer(tmp_path: Path, record_property: Any) -> None:
    """Harmless deviations of real servers are read, or for JSON with two meanings refused; never misread."""
    record_property("cases", len(ACCEPTED))
    with serving(dict(enumerate(ACCEPTED.values()))) as server:
        ran = run(tmp_path, server, n=len(ACCEPTED))
        assert len(server.calls) == len(ACCEPTED)
    assert dict(zip(ACCEPTED, ran.states, strict=True)) == dict.fromkeys(ACCEPTED, "scored")
    answers = [row["model_response"] for row in ran.rows]
    assert dict(zip(ACCEPTED, answers, strict=True)) == dict.fromkeys(ACCEPTED, "Answer: 0")


def test_f26_a_complete_answer_in_a_vendor_s_words(tmp_path: Path) -> None:
    """It is scored, and nothing is said."""
    words = ["end_turn", "COMPLETE", "stop_sequence", "eos", "STOP", "FINISH_REASON_STOP", ""]
    with serving(lambda call: answer("Answer: 0", finish=words[call.number])) as server:
        ran = run(tmp_path, server, n=len(words))
    assert (ran.states, ran.metrics["warnings"]) == (["scored"] * len(words), [])


def test_f26_an_unknown_finish_reason_is_shown(tmp_path: Path) -> None:
    """The answers are scored, and the reason with its count stands in metrics.json and in the report."""
    odd = answer("Answer: 0", finish="<b>repetition</b>\n\x1b[31m")
    with serving({0: odd, 1: odd, 2: answer("Answer: 4", finish="other")}) as server:
        ran = run(tmp_path, server, n=4)
    assert ran.states == ["scored"] * 4
    assert ran.exit_code == 0
    first, second = texts_of(ran.metrics)
    assert first.startswith('2 answers ended with the unknown finish reason "<b>repetition</b>')
    assert second.startswith('1 answer ended with the unknown finish reason "other" and counts')
    page = (ran.run_dir / "report.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;repetition" in page
    assert "\x1b" not in page


INNER = {
    "f23-code-503": ({"error": {"message": "upstream", "code": 503}}, "server_error", 3),
    "f23-code-429": ({"error": {"message": "slow down", "code": 429}}, "rate_limit", 3),
    "f23-code-text": ({"error": {"message": "x", "code": "429"}}, "rate_limit", 3),
    "f23-string": ({"error": "upstream timed out"}, "server_error", 3),
    "f23-with-choices": ({**answer_json("Answer: 0"), "error": {"message": "late", "code": 500}}, "server_error", 3),
    "f23-finish-error": (answer_json("Answer", finish="error"), "server_error", 3),
    "f23-finish-abort": (answer_json("Answer: 0", finish="abort"), "aborted", 3),
    "f23-finish-cancelled": (answer_json("Answer: 0", finish="CANCELLED"), "aborted", 3),
    "f23-fastchat": ({"object": "error", "message": "slow: rate limit exceeded", "code": 40903}, "rate_limit", 3),
    "f23-detail": ({"detail": "no such route"}, "server_error", 3),
    "f23-minimax": ({"choices": None, "base_resp": {"status_code": 1000, "status_msg": "busy"}}, "server_error", 3),
    "f23-in-choice": (
        {"choices": [{**answer_json("Answer: 0")["choices"][0], "error": {"code": 502, "message": "gone"}}]},
        "server_error",
        3,
    ),
    "f23-no-message": ({"error": {"message": None, "code": None}}, "server_error", 3),
    "f23-code-400": ({"error": {"message": "no such field", "code": 400}}, "bad_request", 1),
}


@pytest.mark.parametrize(("body", "kind", "calls"), INNER.values(), ids=INNER)
def test_an_error_that_says_200_is_an_error(body: Any, kind: str, calls: int) -> None:
    """The code inside the body decides: retried or not, by its own kind, and never an answer."""
    server = VirtualServer({0: http(json.dumps(body))})
    first, second = ask(server, 2)
    assert len(server.of(0)) == calls
    assert (end_of(first), first.text, end_of(second)) == (f"infra:{kind}", "", "answered")


FAILURES = {
    "f27-filter-without-message": (
        http('{"choices": [{"index": 0, "finish_reason": "content_filter", "content_filter_results": {}}]}'),
        "content_filter",
    ),
    "f27-filter-null-message": (
        http('{"choices": [{"finish_reason": "content_filter", "message": null}]}'),
        "content_filter",
    ),
    "f25-null": (answer(None), "empty"),
    "f25-reasoning_content": (answer(None, reasoning_content="Answer: 0"), "empty"),
    "f25-reasoning": (answer("", reasoning="Answer: 0"), "empty"),
    "f25-blank": (answer(" \n\t "), "empty"),
    "f25-tool-calls": (answer(None, finish="tool_calls", tool_calls=[{"id": "1", "type": "function"}]), "no_answer"),
    "f26-length": (answer("Answer: 0", finish="length"), "truncated"),
    "f26-unclosed-think": (answer("<think>Answer: 0"), "truncated"),
    "f26-unclosed-think-length": (answer("<think>Answer: 0", finish="length"), "truncated"),
    **{
        f"f26-{word}": (answer("Answer: 0", finish=word), "truncated")
        for word in ("max_tokens", "MAX_TOKENS", "model_length", "FinishReason.MAX_TOKENS")
    },
    **{
        f"f27-{word}": (answer("Answer: 0", finish=word), "content_filter")
        for word in ("SAFETY", "RECITATION", "content_filtered", "guardrail_intervened")
    },
    "f27-filter": (answer("Answer: 0", finish="content_filter"), "content_filter"),
    "f27-refusal": (answer(None, refusal="I cannot help."), "refusal"),
    "f27-refusal-part": (answer([{"type": "refusal", "refusal": "I cannot."}]), "refusal"),  # type: ignore[arg-type]
    "f27-refusal-400": (
        error(400, "flagged by our content management policy", code="content_filter"),
        "content_filter",
    ),
}


def test_a_failure_of_the_model_counts_and_is_asked_once(tmp_path: Path, record_property: Any) -> None:
    """Empty, cut off, filtered, refused: the model's, counted 0, by its own kind and after one request."""
    record_property("cases", len(FAILURES))
    replies = {2 * number: reply for number, (reply, _) in enumerate(FAILURES.values())}
    with serving(replies) as server:
        ran = run(tmp_path, server, n=2 * len(FAILURES))
        assert len(server.calls) == 2 * len(FAILURES)
    kinds = {name: kind for name, (_, kind) in FAILURES.items()}
    assert dict(zip(FAILURES, ran.states[::2], strict=True)) == kinds
    assert ran.states[1::2] == ["scored"] * len(FAILURES)
    assert ran.exit_code == 0
    assert ran.metrics["headline"]["value"] == 0.5
    for kind in set(kinds.values()):
        assert ran.metrics["rates"][kind] == list(kinds.values()).count(kind) / len(ran.rows)


def test_f25_reasoning_and_its_tokens_are_kept(tmp_path: Path) -> None:
    """What the model thought is stored beside an empty answer, with the tokens that it cost."""
    usage = {"prompt_tokens": 7, "completion_tokens": 90, "completion_tokens_details": {"reasoning_tokens": 88}}
    with serving({0: answer("", reasoning_content="long thoughts", usage=usage)}) as server:
        row = run(tmp_path, server, n=1).rows[0]
    assert row["reasoning"] == "long thoughts"
    assert row["tokens"]["reasoning"] == 88


USAGES: dict[str, Any] = {
    "f28-missing": None,
    "f28-empty": {},
    "f28-list": [1, 2],
    "f28-nulls": {"prompt_tokens": None, "completion_tokens": None},
    "f28-strings": {"prompt_tokens": "7", "completion_tokens": "three"},
    "f28-negative": {"prompt_tokens": -7, "completion_tokens": -3},
    "f28-floats": {"prompt_tokens": 7.5, "completion_tokens": 1e300},
    "f28-huge": {"prompt_tokens": 10**30, "completion_tokens": 3},
    "f28-beyond-a-float": {"prompt_tokens": 10**400, "completion_tokens": 3},
    "f28-booleans": {"prompt_tokens": True, "completion_tokens": False},
    "f28-sum": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 5},
    "f28-cached-more": {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 99}},
    "f28-cached-negative": {"prompt_tokens": 7, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": -9}},
}


@pytest.mark.parametrize("priced", [False, True], ids=["free", "priced"])
def test_a_usage_that_cannot_be_is_never_a_cost(tmp_path: Path, priced: bool, record_property: Any) -> None:
    """Whatever the usage says, the answer is scored, and no count and no cost is negative."""
    record_property("cases", len(USAGES))
    usages = list(USAGES.values())
    more: dict[str, Any] = {"generation": {"max_tokens": 50}}
    if priced:
        more["budget"] = {"prices": {"m": {"input": 1.0, "output": 2.0, "cached_input": 0.1}}, "max_cost": 1000.0}
    with serving(lambda call: answer("Answer: 0", usage=usages[call.number])) as server:
        ran = run(tmp_path, server, n=len(usages), **more)
    assert ran.states == ["scored"] * len(usages)
    for row in ran.rows:
        numbers = [value for value in row["tokens"].values() if value is not None]
        assert all(isinstance(value, int) and 0 <= value < 2**53 for value in numbers), row
    cost = json.dumps(ran.stats.get("cost"))
    assert "-" not in cost.replace("e-", "")


def test_f31_a_body_that_unfolds_is_cut(tmp_path: Path) -> None:
    """A small gzip body that unfolds to two gigabytes is too large, costs little memory and one retry at most."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    body = head + again * 2047
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with serving({0: http(body, headers={"Content-Encoding": "gzip"})}) as server:
        ran = run(tmp_path, server, n=2, endpoint={"response_bytes_max": 4 << 20})
        assert len(server.of(0)) <= 2
    assert ran.states == ["infra:too_large", "scored"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "x-unknown", "br"], ids=lambda name: f"f31-wrong-{name}")
def test_a_wrong_encoding_harms_its_own_sample_only(encoding: str) -> None:
    """A body that is not in the encoding it names is unreadable; an unknown name may be taken as it stands."""
    with serving({0: http(GOOD, headers={"Content-Encoding": encoding})}) as server:
        first, second = ask(server, 2)
    known = {"infra:malformed"} if encoding in ("gzip", "deflate") else {"infra:malformed", "answered"}
    assert end_of(first) in known
    assert end_of(second) == "answered"


def test_f32_an_endless_body_is_cut(tmp_path: Path) -> None:
    """A body without an end, in chunks or up to the close, is cut at response_bytes_max and retried once at most."""
    block = b'{"a": "' + b"x" * (1 << 18)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    in_chunks: Reply = [head + b"Transfer-Encoding: chunked\r\n\r\n", Endless(chunk(block), times=4000)]
    until_close: Reply = [head + b"\r\n", Endless(block, times=4000)]
    with serving({0: in_chunks, 1: until_close}) as server:
        ran = run(tmp_path, server, n=3, endpoint={"response_bytes_max": 1 << 20})
        assert len(server.calls) <= 5
        assert max(call.sent_bytes for call in server.calls) < 64 << 20
    assert ran.states == ["infra:too_large", "infra:too_large", "scored"]


HOSTILE = {
    "f117-surrogate": "\ud800 Answer: 0",
    "f117-reversed-pair": "\udc00\ud800 Answer: 0",
    "f117-nul": "a\x00b Answer: 0",
    "f117-ufffe": "\ufffe\uffff Answer: 0",
    "f117-line-separator": "a\u2028b\u2029c\x85d\x0be\x0cf Answer: 0",
    "f117-astral": "\U0001f600 \U0010ffff Answer: 0",
    "f117-controls": "".join(map(chr, range(32))) + " Answer: 0",
    "f117-2MB": "y" * 2_000_000 + " Answer: 0",
}


def test_any_text_is_stored_and_read_back(tmp_path: Path, record_property: Any) -> None:
    """Strange characters and a huge line are stored so that they read back equal, as strict JSON."""
    record_property("cases", len(HOSTILE))
    texts = list(HOSTILE.values())
    with serving(lambda call: answer(texts[call.number])) as server:
        ran = run(tmp_path, server, n=len(texts))
    assert ran.states == ["scored"] * len(texts)
    assert [name for name, row in zip(HOSTILE, ran.rows, strict=True) if row["model_response"] != HOSTILE[name]] == []
