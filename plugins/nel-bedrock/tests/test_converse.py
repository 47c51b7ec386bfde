"""What nel sends to Bedrock, and how it reads answers, is as botocore's own client does it at a server on loopback."""

from __future__ import annotations

import json
import struct
import threading
from binascii import crc32
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("botocore", reason="needs botocore")

from botocore import auth
from botocore.config import Config
from botocore.session import get_session
from nel_bedrock.converse import bedrock
from nel_bedrock.event_stream import ConverseStream

import nel
from nel.clients import EndpointConfig, Fault, Message, Request
from nel.types import Generation

MODEL = "anthropic.claude-3-haiku-20240307-v1:0"
ARN = "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-pro-v1:0"
PIXEL = b"\x89PNG\r\n\x1a\n not a picture"
USAGE = {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10, "cacheReadInputTokens": 5}
ANSWER = {
    "output": {"message": {"role": "assistant", "content": [{"text": "The answer is 0"}]}},
    "stopReason": "end_turn",
    "usage": USAGE,
    "metrics": {"latencyMs": 1},
}


def event(kind: str, payload: dict[str, Any], message_type: str = "event") -> bytes:
    """Return one binary event as Bedrock sends it."""
    name = ":event-type" if message_type == "event" else ":exception-type"
    headers = b""
    for key, value in (
        (name, kind),
        (":content-type", "application/json"),
        (":message-type", message_type),
    ):
        headers += (
            bytes([len(key)])
            + key.encode()
            + b"\x07"
            + struct.pack(">H", len(value))
            + value.encode()
        )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", len(headers) + len(body) + 16, len(headers))
    whole = prelude + struct.pack(">I", crc32(prelude)) + headers + body
    return whole + struct.pack(">I", crc32(whole))


STREAM = [
    event("messageStart", {"role": "assistant"}),
    event(
        "contentBlockDelta",
        {"contentBlockIndex": 0, "delta": {"reasoningContent": {"text": "Hm. "}}},
    ),
    event("contentBlockStop", {"contentBlockIndex": 0}),
    event("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "The answer "}}),
    event("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"text": "is 0"}}),
    event("contentBlockStop", {"contentBlockIndex": 1}),
    event("messageStop", {"stopReason": "end_turn"}),
    event("metadata", {"usage": USAGE, "metrics": {"latencyMs": 1}}),
]
THROTTLED = event("throttlingException", {"message": "Too many tokens"}, "exception")


@contextmanager
def serving(
    log: list[dict[str, Any]], refused: list[tuple[int, dict[str, Any]]] | None = None
) -> Iterator[str]:
    """Serve as Bedrock does, and append what is asked to a log."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            log.append({"path": self.path, "headers": dict(self.headers.items()), "body": body})
            status, sent = refused.pop(0) if refused else (200, ANSWER)
            is_stream = self.path.endswith("-stream") and status == 200
            raw = b"".join(STREAM) if is_stream else json.dumps(sent).encode()
            self.send_response(status)
            kind = "application/vnd.amazon.eventstream" if is_stream else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have credentials of a role and a region, and none of this machine."""
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name, value in (
        ("ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("SECRET_ACCESS_KEY", "wJalr"),
        ("SESSION_TOKEN", "t0ken"),
    ):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    bedrock.__dict__.pop("_session", None)


def sdk(url: str) -> Any:
    """Return botocore's client, which is boto3's."""
    return get_session().create_client(
        "bedrock-runtime", endpoint_url=url, config=Config(retries={"max_attempts": 0})
    )


SAID = [{"role": "user", "content": [{"text": "2 + 2?"}]}]
CASES: dict[str, tuple[dict[str, Any], Request]] = {
    "plain": (
        {"modelId": MODEL, "messages": SAID, "inferenceConfig": {"maxTokens": 64}},
        Request(
            protocol="bedrock", model=MODEL, sample_id="s", repeat=0,
            messages=(Message(role="user", content="2 + 2?"),), generation=Generation(max_tokens=64),
        ),
    ),
    "full": (
        {
            "modelId": ARN,
            "messages": [*SAID, {"role": "assistant", "content": [{"text": "4"}]}, *SAID],
            "system": [{"text": "Answer briefly. Grüße"}],
            "inferenceConfig": {"maxTokens": 64, "temperature": 0.5, "topP": 0.9, "stopSequences": ["END"]},
            "additionalModelRequestFields": {"top_k": 50},
        },
        Request(
            protocol="bedrock", model=ARN, sample_id="s", repeat=0,
            messages=(
                Message(role="system", content="Answer briefly. Grüße"), Message(role="user", content="2 + 2?"),
                Message(role="assistant", content="4"), Message(role="user", content="2 + 2?"),
            ),
            generation=Generation(
                max_tokens=64, temperature=0.5, top_p=0.9, stop=("END",),
                extra={"additionalModelRequestFields": {"top_k": 50}},
            ),
        ),
    ),
    "image": (
        {
            "modelId": MODEL,
            "messages": [
                {"role": "user", "content": [{"text": "?"}, {"image": {"format": "png", "source": {"bytes": PIXEL}}}]}
            ],
        },
        Request(
            protocol="bedrock", model=MODEL, sample_id="s", repeat=0, generation=Generation(),
            messages=(
                Message(role="user", content=(
                    {"type": "text", "text": "?"},
                    {"type": "image_url", "image_url": {
                        "url": "data:image/png;base64,iVBORw0KGgogbm90IGEgcGljdHVyZQ=="}},
                )),
            ),
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("case", CASES)
async def test_a_request_is_that_of_the_sdk(
    case: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Address, body and, of the same body at the same time, the signature to the last character."""
    log: list[dict[str, Any]] = []
    asked, request = CASES[case]
    with serving(log) as url:
        client = sdk(url)
        if stream:
            list(client.converse_stream(**asked)["stream"])
        else:
            client.converse(**asked)
        client.close()
    sent = log[0]
    endpoint = EndpointConfig(url=url, model=request.model, protocol="bedrock", stream=stream)
    assert bedrock.address(endpoint) == f"{url}{sent['path']}"
    assert bedrock.body(request, stream=stream) == json.loads(sent["body"])
    stamp = datetime.strptime(sent["headers"]["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    monkeypatch.setattr(auth, "get_current_datetime", lambda **_: stamp)
    headers = {"Content-Type": sent["headers"]["Content-Type"], "User-Agent": "nel"}
    signed = await bedrock.sign(endpoint, "POST", bedrock.address(endpoint), headers, sent["body"])
    names = ("X-Amz-Date", "X-Amz-Security-Token", "Authorization")
    assert {name: signed[name] for name in names} == {name: sent["headers"][name] for name in names}


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_stream_is_read_as_the_sdk_reads_it(size: int) -> None:
    """In pieces of any size: text, reasoning, stop reason and usage are those of the SDK's own reader."""
    with serving([]) as url:
        client = sdk(url)
        events = list(client.converse_stream(modelId=MODEL, messages=SAID)["stream"])
        client.close()
    deltas = [one["contentBlockDelta"]["delta"] for one in events if "contentBlockDelta" in one]
    stream, raw = ConverseStream(), b"".join(STREAM)
    for at in range(0, len(raw), size):
        stream.feed(raw[at : at + size], float(at))
    found = bedrock.answer(stream.answer())
    assert not isinstance(found, Fault)
    assert found.text == "".join(one.get("text", "") for one in deltas) == "The answer is 0"
    assert (found.reasoning, found.finish_reason) == ("Hm. ", "end_turn")
    assert (
        found.usage.prompt_tokens,
        found.usage.completion_tokens,
        found.usage.cached_tokens,
    ) == (12, 3, 5)
    assert len(stream.token_times) == 3
    assert stream.is_finished


@pytest.mark.parametrize(
    ("raw", "kind", "retryable"),
    [
        (b"".join(STREAM[:5]), "malformed", True),
        (b"".join(STREAM[:5]) + THROTTLED, "rate_limit", True),
        (event("validationException", {"message": "no"}, "exception"), "bad_request", False),
        (b"".join(STREAM)[:-3] + b"xyz", "malformed", True),
        (b"", "malformed", True),
    ],
)
def test_a_stream_that_breaks_off_is_a_fault(raw: bytes, kind: str, retryable: bool) -> None:
    """Half an answer is none, and an exception in the stream is what it says."""
    stream = ConverseStream()
    stream.feed(raw, 0.0)
    found = stream.answer()
    assert isinstance(found, Fault)
    assert (found.kind, found.retryable) == (kind, retryable)


def _config(tmp_path: Path, url: str, **endpoint: Any) -> dict[str, Any]:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(
        "".join(json.dumps({"question": f"{n}?", "answer": "#### 0"}) + "\n" for n in range(3))
    )
    return {
        "endpoint": {
            "url": url,
            "model": MODEL,
            "protocol": "bedrock",
            "backoff_seconds": 0.001,
            **endpoint,
        },
        "benchmarks": [{"name": "gsm8k", "dataset": str(rows)}],
        "generation": {"max_tokens": 64},
        "output": {"dir": str(tmp_path / "out")},
    }


@pytest.mark.parametrize("stream", [False, True])
def test_a_run_over_bedrock(tmp_path: Path, stream: bool) -> None:
    """A throttled request is tried again with another signature, and no credential is in any file."""
    log: list[dict[str, Any]] = []
    throttled = (429, {"message": "Too many requests, please wait before trying again."})
    with serving(log, [throttled]) as url:
        result = nel.evaluate(_config(tmp_path, url, stream=stream))
    assert (result.exit_code, result.benchmarks[0].accounting["n_scored"], len(log)) == (0, 3, 4)
    assert all("Credential=AKIDEXAMPLE/" in one["headers"]["Authorization"] for one in log)
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"wJalr" not in kept
    assert b"t0ken" not in kept


def test_a_key_of_bedrock_takes_the_place_of_a_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is sent as a bearer token, and no credentials are looked for."""
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "k3y")
    log: list[dict[str, Any]] = []
    with serving(log) as url:
        assert (
            nel.evaluate(_config(tmp_path, url, api_key_env="AWS_BEARER_TOKEN_BEDROCK")).exit_code
            == 0
        )
    assert {one["headers"]["Authorization"] for one in log} == {"Bearer k3y"}
    assert not any("X-Amz-Date" in one["headers"] for one in log)


def test_what_cannot_be_asked_is_refused_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No credentials, no region, a seed, and a prompt that is too long are each told by name."""
    log: list[dict[str, Any]] = []
    with serving(log) as url:
        config = _config(tmp_path, url)
        with pytest.raises(nel.NelError, match=r"it has no seed; leave out generation\.seed"):
            nel.evaluate({**config, "generation": {"seed": 1}})
        monkeypatch.delenv("AWS_DEFAULT_REGION")
        bedrock.__dict__.pop("_session", None)
        with pytest.raises(nel.NelError, match="the AWS region of"):
            nel.evaluate(config)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
        for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN"):
            monkeypatch.delenv(f"AWS_{name}")
        bedrock.__dict__.pop("_session", None)
        with pytest.raises(nel.NelError, match="no AWS credentials were found"):
            nel.evaluate(config)
    assert log == []
