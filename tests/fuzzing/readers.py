"""The properties: each reader gives a typed result or a typed error, whatever it is given, within bounds.

A reader takes bytes, so that an input which failed can be kept as it is.
"""

from __future__ import annotations

import asyncio
import io
import json
import math
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade
from multidict import CIMultiDict

from nel.config.redaction import Redactor
from nel.config.schema import EndpointConfig
from nel.core.strict_json import loads
from nel.datasets.formats import Source, rows_in
from nel.engine.asking.response_outcomes import verdict_before_scoring
from nel.engine.store.codec import decode_response, encode_response
from nel.errors import DatasetError, JudgeError, LogprobFault
from nel.judges.types import Grade, Question
from nel.models.echo_probe import PROBES, judge_probe
from nel.models.faults import Fault, fault_of_error_object, fault_of_status
from nel.models.loglikelihood import score_batch
from nel.models.pacing.rate_limiter import RateLimiter
from nel.models.payloads import PayloadReader
from nel.models.rate_limit_headers import duration_seconds, quotas, retry_after_seconds
from nel.models.transport import Fetched
from nel.models.transport.connection import Connection
from nel.models.transport.faults import fault_of_exception
from nel.models.wire.openai import EventStream
from nel.models.wire.registry import parse_answer
from nel.sandbox.isolation.agent import channel
from nel.sandbox.verdict.agent import codec
from nel.types import Response
from tests.fuzzing import corpus
from tests.fuzzing.mutation import break_bytes, break_json
from tests.judges.honest import BEFORE, TRIALS

_BYTES_MAX = 1 << 20
_STATUSES = (200, 200, 200, 400, 401, 413, 429, 500, 529)


@dataclass(frozen=True)
class Reader:
    """One reader: makes an input of a random source, and checks the property for it."""

    make: Callable[[Random], bytes]
    check: Callable[[bytes], None]


def assert_sound(found: Response | Fault) -> None:
    """Assert that what came of an answer can be stored, read back and classified."""
    if isinstance(found, Fault):
        assert isinstance(found.kind, str)
        assert len(found.message) < 2_000
        assert found.wait_seconds is None or 0 <= found.wait_seconds < math.inf
        return
    assert decode_response(encode_response(found)) == found
    verdict_before_scoring(found, truncated="failure")


def _json(rng: Random, values: list[Any]) -> bytes:
    text = break_json(rng, rng.choice(values)).encode("utf-8", "surrogatepass")
    return break_bytes(rng, text) if rng.random() < 0.2 else text


def _answer(data: bytes) -> None:
    try:
        payload = loads(data)
    except ValueError:
        return
    for protocol in ("chat", "completions", "responses", "anthropic", "gemini"):
        assert_sound(parse_answer(protocol, payload))
        assert_sound(parse_answer(protocol, payload, offers_tools=True))


def _error(data: bytes) -> None:
    for status in (400, 403, 500):
        assert_sound(fault_of_status(status, {}, data))
    try:
        payload = loads(data)
    except ValueError:
        return
    assert_sound(fault_of_error_object(payload))
    assert_sound(fault_of_error_object(payload.get("error") if isinstance(payload, dict) else payload))


def _stream(data: bytes) -> None:
    whole = _streamed([data])
    pieces = [data[place : place + 3] for place in range(0, min(len(data), 3_000), 3)] + [data[3_000:]]
    assert _streamed(pieces) == whole, "what is read depends on how the bytes were cut"
    if not isinstance(whole, Fault):
        assert_sound(parse_answer("chat", whole))


def _streamed(pieces: list[bytes]) -> Any:
    stream = EventStream(chat=True)
    for piece in pieces:
        stream.feed(piece, 0.0)
    return stream.answer()


def _headers(data: bytes) -> None:
    lines = [line.partition(b":") for line in data.split(b"\r\n")]
    headers: CIMultiDict[str] = CIMultiDict()
    for name, _, value in lines:
        headers.add(name.decode("latin-1"), value.strip().decode("utf-8", "surrogateescape"))
    wait = retry_after_seconds(headers)
    assert wait is None or 0 <= wait < math.inf
    for value in headers.values():
        length = duration_seconds(value, headers.get("Date"))
        assert length is None or 0 <= length < math.inf
    limiter = RateLimiter(requests_per_minute=None, tokens_per_minute=None)
    limiter.update_from_headers(quotas(headers), 1, 0.0)
    for at in (0.0, 1.0):
        limiter.record_request(1000, at)
        assert (
            0
            <= limiter.wait(
                at,
            )
            < math.inf
        )


def _logprobs(data: bytes) -> None:
    try:
        payload = loads(data)
    except ValueError:
        return
    for pairs in ([("is", " A")], [("is", " A")] * 2):
        try:
            scores = score_batch(payload, pairs, generated=1)
            assert all(math.isfinite(score.logprob) for score in scores)
        except LogprobFault as fault:
            assert len(str(fault)) < 2_000
    with suppress(LogprobFault):
        judge_probe([payload] * len(PROBES), max_tokens=1, batch=payload)


def _http(data: bytes) -> None:
    """Read a whole HTTP response: head, framing, body, error or answer."""
    assert_sound(_loop().run_until_complete(_exchange(data[1:], streams=data[:1] == b"s")))


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


async def _exchange(data: bytes, *, streams: bool) -> Response | Fault:
    endpoint = EndpointConfig(url="http://127.0.0.1/v1", model="m", response_bytes_max=_BYTES_MAX)
    connection = Connection(endpoint, lambda _: None)
    connection.connection_made(_Wire())
    stream = EventStream(chat=True) if streams else None
    exchange = asyncio.ensure_future(connection.exchange(b"", asyncio.get_running_loop().time() + 60, stream))
    await asyncio.sleep(0)
    for place in range(0, len(data), 700):
        connection.data_received(data[place : place + 700])
    if not exchange.done():
        connection.connection_lost(None)
    try:
        body = await exchange
    except (OSError, ValueError, zlib.error, HttpParserError, HttpParserUpgrade) as error:
        return fault_of_exception(error)
    fetched = Fetched(connection.status, connection.headers, body, 0.0, connection.streamed, 0.0)
    quotas(fetched.headers)
    return _reader().answer(fetched, stream, 0, lambda payload: parse_answer("chat", payload))


class _Wire(asyncio.Transport):
    """A transport that sends nothing."""

    def write(self, data: bytes | bytearray | memoryview) -> None: ...

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0


@lru_cache(maxsize=1)
def _reader() -> PayloadReader:
    return PayloadReader(Redactor(["key-of-test"]))


def _make_http(rng: Random) -> bytes:
    streams = rng.random() < 0.4
    body = _json(rng, corpus.ANSWERS + corpus.ERRORS)
    if streams:
        body = break_bytes(rng, rng.choice(corpus.STREAMS), *corpus.STREAMS)
    head = [
        f"HTTP/1.1 {rng.choice(_STATUSES)} X".encode(),
        b"Content-Type: " + (b"text/event-stream" if streams else b"application/json"),
        rng.choice(corpus.HEADERS),
    ]
    if rng.random() < 0.5:
        head.append(b"Content-Length: %d" % len(body))
    else:
        head.append(b"Transfer-Encoding: chunked")
        body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:50], body[50:]) if part) + b"0\r\n\r\n"
    if rng.random() < 0.1:
        head.append(b"Content-Encoding: gzip")
    whole = b"\r\n".join(head) + b"\r\n\r\n" + body
    return (b"s" if streams else b"-") + (break_bytes(rng, whole) if rng.random() < 0.5 else whole)


@lru_cache(maxsize=1)
def _questions() -> Mapping[str, Question]:
    return {name: trial.question("The answer is 42.\n\nGRADE: C")[1] for name, trial in TRIALS.items()}


def _make_reply(rng: Random) -> bytes:
    name = rng.choice(list(TRIALS))
    trial = TRIALS[name]
    said = trial.reply(rng.choice(list(BEFORE.values())), _questions()[name], "The answer is 42.").encode()
    return name.encode() + b"\n" + break_bytes(rng, rng.choice([said, *corpus.REPLIES]), said, *corpus.REPLIES)


def _reply(data: bytes) -> None:
    name, _, said = data.partition(b"\n")
    question = _questions()[name.decode()]
    try:
        grade = question.read(said.decode("utf-8", "surrogateescape"))
    except JudgeError as error:
        assert len(str(error)) < 5_000
        return
    assert isinstance(grade, Grade)
    assert grade.score is None or math.isfinite(grade.score)


def _make_rows(rng: Random) -> bytes:
    suffix = rng.choice(list(corpus.ROWS))
    return suffix.encode() + b"\n" + break_bytes(rng, rng.choice(corpus.ROWS[suffix]), *corpus.ROWS[suffix])


def _rows(data: bytes) -> None:
    suffix, _, content = data.partition(b"\n")
    source = Source(name=f"x{suffix.decode()}", open=lambda: io.BytesIO(content))
    try:
        for number, row in rows_in(source):
            assert number > 0
            assert isinstance(row, (dict, str))
            json.dumps(row)
    except DatasetError as error:
        assert len(str(error)) < 2_000


def _container(data: bytes) -> None:
    with suppress(codec.BadValue, channel.BadFrame):
        end = codec.Codec(str, lambda tag, body: body, first_number=0, sent_depth=100, received_depth=100)
        end.unpack({"value": channel.loads(data), "now": []})


READERS: Mapping[str, Reader] = {
    "answer": Reader(lambda rng: _json(rng, corpus.ANSWERS), _answer),
    "error": Reader(lambda rng: _json(rng, corpus.ERRORS + corpus.ANSWERS[-2:]), _error),
    "stream": Reader(lambda rng: break_bytes(rng, rng.choice(corpus.STREAMS), *corpus.STREAMS), _stream),
    "headers": Reader(lambda rng: break_bytes(rng, rng.choice(corpus.HEADERS), *corpus.HEADERS), _headers),
    "logprobs": Reader(lambda rng: _json(rng, corpus.LOGPROBS), _logprobs),
    "http": Reader(_make_http, _http),
    "judge": Reader(_make_reply, _reply),
    "rows": Reader(_make_rows, _rows),
    "container": Reader(lambda rng: _json(rng, corpus.CONTAINER), _container),
}
