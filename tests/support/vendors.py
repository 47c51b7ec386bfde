"""A server on loopback that answers as OpenAI's Responses API, Anthropic or Gemini do, at all of their addresses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "secret-key-1"
MODEL = "model-x"


@dataclass
class Vendor:
    """One protocol as its vendor serves it."""

    path: str
    key_header: tuple[str, str]
    overloaded: tuple[int, dict[str, Any]]
    refused: tuple[int, dict[str, Any]]
    answer: Callable[[str], dict[str, Any]]
    events: Callable[[str], list[dict[str, Any]]]
    stream_path: str = ""
    listed: dict[str, Any] = field(default_factory=lambda: {"data": [{"id": MODEL}]})


def _message(text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "model": MODEL,
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }


def _response(text: str) -> dict[str, Any]:
    return {
        "model": MODEL,
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}],
        "usage": {"input_tokens": 7, "output_tokens": 3},
    }


def _candidate(text: str) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3},
        "modelVersion": MODEL,
    }


VENDORS = {
    "responses": Vendor(
        path="/v1/responses",
        key_header=("Authorization", f"Bearer {KEY}"),
        overloaded=(503, {"error": {"type": "server_error", "message": "overloaded"}}),
        refused=(401, {"error": {"code": "invalid_api_key", "message": "Incorrect API key provided"}}),
        answer=_response,
        events=lambda text: [
            {"type": "response.output_text.delta", "delta": text},
            {"type": "response.completed", "response": _response(text)},
        ],
    ),
    "anthropic": Vendor(
        path="/v1/messages",
        key_header=("X-Api-Key", KEY),
        overloaded=(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        refused=(401, {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}),
        answer=_message,
        events=lambda text: [
            {"type": "message_start", "message": {**_message(""), "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
        ],
    ),
    "gemini": Vendor(
        path=f"/v1/models/{MODEL}:generateContent",
        stream_path=f"/v1/models/{MODEL}:streamGenerateContent?alt=sse",
        key_header=("X-Goog-Api-Key", KEY),
        overloaded=(503, {"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}}),
        refused=(400, {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid."}}),
        answer=_candidate,
        events=lambda text: [_candidate(text)],
        listed={"models": [{"name": f"models/{MODEL}"}]},
    ),
}


@dataclass
class Served:
    """A running server and the bodies that it was sent."""

    url: str
    bodies: list[dict[str, Any]]


@contextmanager
def vendor_endpoint(name: str, text: str, *, n_overloaded: int = 1) -> Iterator[Served]:
    """Serve one vendor's protocol; every answer is the same text, and the first requests find it overloaded."""
    vendor = VENDORS[name]
    served = Served(url="", bodies=[])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._send(200, vendor.listed) if self._has_key() else self._send(*vendor.refused)

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self._has_key():
                self._send(*vendor.refused)
                return
            served.bodies.append(body)
            if len(served.bodies) <= n_overloaded:
                self._send(*vendor.overloaded)
            elif self.path == (vendor.stream_path or vendor.path) and (vendor.stream_path or body.get("stream")):
                events = "".join(f"data: {json.dumps(event)}\n\n" for event in vendor.events(text))
                self._write(200, events.encode(), "text/event-stream")
            elif self.path == vendor.path:
                self._send(200, vendor.answer(text))
            else:
                self._send(404, {"error": {"message": f"no such address: {self.path}"}})

        def _has_key(self) -> bool:
            name, value = vendor.key_header
            return self.headers.get(name) == value

        def _send(self, status: int, payload: object) -> None:
            self._write(status, json.dumps(payload).encode(), "application/json")

        def _write(self, status: int, data: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
