"""Records the requests that the vendors' own SDKs send, as the files beside it: what nel sends is compared with them.

Run it by hand where the SDKs are installed (openai, anthropic, google-genai); the tests need none:

    python tests/models/vendor_requests/record.py
    python tests/models/vendor_requests/record.py anthropic=anthropic-0    # with anthropic<1

Each file names the version that sent it. Nothing leaves this machine: a server on loopback takes the requests.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KEPT = ("api-key", "x-api-key", "anthropic-version", "x-goog-api-key", "authorization", "content-type", "accept")
PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n not a picture").decode()
SYSTEM, ASKED, SAID, AGAIN = "Answer briefly.", "2 + 2?", "4", "3 + 3?"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
ADD: dict[str, Any] = {"name": "add", "description": "Add numbers."}
ARGUMENTS = {"x": 2}
REPLIES: dict[str, Any] = {
    "responses": {"id": "r", "object": "response", "output": [], "status": "completed", "model": "m"},
    "messages": {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [],
                 "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}},
    "generateContent": {"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]},
}  # fmt: skip


@contextmanager
def serving(log: list[dict[str, Any]]) -> Iterator[str]:
    """Serve on loopback and append what is asked to a log."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items() if name.lower() in KEPT}
            log.append({"path": self.path, "headers": headers, "body": body})
            known = [reply for name, reply in REPLIES.items() if name in self.path]
            sent = json.dumps(known[0] if known else {}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream" if "tream" in self.path else "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def of_openai(url: str) -> dict[str, Callable[[], object]]:
    """Return the calls of the Responses API."""
    from openai import OpenAI

    create = OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0).responses.create
    image = [
        {"type": "input_text", "text": ASKED},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"},
    ]
    return {
        "plain": lambda: create(
            model="m", input=[{"role": "user", "content": ASKED}], max_output_tokens=64, store=False
        ),
        "full": lambda: create(
            model="m",
            input=[
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": ASKED},
                {"role": "assistant", "content": SAID},
                {"role": "user", "content": AGAIN},
            ],
            max_output_tokens=64,
            temperature=0.5,
            top_p=0.9,
            reasoning={"effort": "low"},
            store=False,
        ),
        "image": lambda: create(model="m", input=[{"role": "user", "content": image}], store=False),
        "stream": lambda: list(create(model="m", input=[{"role": "user", "content": ASKED}], store=False, stream=True)),
        "tools": lambda: create(
            model="m",
            input=[
                {"role": "user", "content": ASKED},
                {"type": "function_call", "call_id": "c1", "name": "add", "arguments": json.dumps(ARGUMENTS)},
                {"type": "function_call_output", "call_id": "c1", "output": SAID},
            ],
            tools=[{"type": "function", **ADD, "parameters": SCHEMA, "strict": False}],
            tool_choice={"type": "function", "name": "add"},
            store=False,
        ),
    }


def of_azure(url: str) -> dict[str, Callable[[], object]]:
    """Return the calls of a deployment at Azure, which has a key header and a version of its own."""
    from openai import AzureOpenAI

    client = AzureOpenAI(azure_endpoint=url, api_key="k", api_version="2024-10-21", azure_deployment="dep")
    create = client.with_options(max_retries=0).chat.completions.create
    image = [
        {"type": "text", "text": ASKED},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}},
    ]
    return {
        "plain": lambda: create(model="m", messages=[{"role": "user", "content": ASKED}], max_tokens=64),
        "full": lambda: create(
            model="m",
            messages=[
                {"role": "system", "content": SYSTEM},
                {"role": "user", "content": ASKED},
                {"role": "assistant", "content": SAID},
                {"role": "user", "content": AGAIN},
            ],
            max_tokens=64,
            temperature=0.5,
            top_p=0.9,
            stop=["END"],
            seed=7,
            reasoning_effort="low",
        ),
        "image": lambda: create(model="m", messages=[{"role": "user", "content": image}]),
        "stream": lambda: list(
            create(
                model="m",
                messages=[{"role": "user", "content": ASKED}],
                stream=True,
                stream_options={"include_usage": True},
            )
        ),
    }


def of_anthropic(url: str) -> dict[str, Callable[[], object]]:
    """Return the calls of the Messages API; this SDK has no argument for a temperature, which its API takes."""
    from anthropic import Anthropic

    create = Anthropic(base_url=url, api_key="k", max_retries=0).messages.create
    image = [
        {"type": "text", "text": ASKED},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
    ]
    return {
        "plain": lambda: create(model="m", max_tokens=64, messages=[{"role": "user", "content": ASKED}]),
        "full": lambda: create(
            model="m",
            max_tokens=64,
            system=SYSTEM,
            messages=[
                {"role": "user", "content": ASKED},
                {"role": "assistant", "content": SAID},
                {"role": "user", "content": AGAIN},
            ],
            stop_sequences=["END"],
            output_config={"effort": "low"},
            extra_body={"temperature": 0.5, "top_p": 0.9},
        ),
        "image": lambda: create(model="m", max_tokens=64, messages=[{"role": "user", "content": image}]),
        "stream": lambda: list(
            create(model="m", max_tokens=64, messages=[{"role": "user", "content": ASKED}], stream=True)
        ),
        "tools": lambda: create(
            model="m",
            max_tokens=64,
            messages=[
                {"role": "user", "content": ASKED},
                {
                    "role": "assistant",
                    "content": [{"type": "tool_use", "id": "c1", "name": "add", "input": ARGUMENTS}],
                },
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": SAID}]},
            ],
            tools=[{**ADD, "input_schema": SCHEMA}],
            tool_choice={"type": "tool", "name": "add"},
        ),
    }


def of_google(url: str) -> dict[str, Callable[[], object]]:
    """Return the calls of the Gemini API."""
    from google import genai
    from google.genai import types

    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url))
    ask = client.models.generate_content

    def said(role: str, text: str) -> types.Content:
        return types.Content(role=role, parts=[types.Part(text=text)])

    picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=base64.b64decode(PIXEL)))
    return {
        "plain": lambda: ask(
            model="m", contents=[said("user", ASKED)], config=types.GenerateContentConfig(max_output_tokens=64)
        ),
        "full": lambda: ask(
            model="m",
            contents=[said("user", ASKED), said("model", SAID), said("user", AGAIN)],
            config=types.GenerateContentConfig(
                system_instruction=types.Content(parts=[types.Part(text=SYSTEM)]),
                max_output_tokens=64,
                temperature=0.5,
                top_p=0.9,
                stop_sequences=["END"],
                seed=7,
                thinking_config=types.ThinkingConfig(thinking_level="LOW"),
            ),
        ),
        "image": lambda: ask(
            model="m", contents=[types.Content(role="user", parts=[types.Part(text=ASKED), picture])], config=None
        ),
        "stream": lambda: list(client.models.generate_content_stream(model="m", contents=[said("user", ASKED)])),
        "tools": lambda: ask(
            model="m",
            contents=[
                said("user", ASKED),
                types.Content(
                    role="model",
                    parts=[types.Part(function_call=types.FunctionCall(id="c1", name="add", args=ARGUMENTS))],
                ),
                types.Content(
                    role="user",
                    parts=[
                        types.Part(
                            function_response=types.FunctionResponse(id="c1", name="add", response={"output": SAID})
                        )
                    ],
                ),
            ],
            config=types.GenerateContentConfig(
                max_output_tokens=64,
                tools=[
                    types.Tool(function_declarations=[types.FunctionDeclaration(**ADD, parameters_json_schema=SCHEMA)])
                ],
                tool_config=types.ToolConfig(
                    function_calling_config=types.FunctionCallingConfig(mode="ANY", allowed_function_names=["add"])
                ),
            ),
        ),
    }


VENDORS = {
    "responses": ("openai", of_openai),
    "azure": ("openai", of_azure),
    "anthropic": ("anthropic", of_anthropic),
    "gemini": ("google-genai", of_google),
}


def main(chosen: list[str]) -> None:
    """Write a file for each vendor, or for those that are chosen as ``vendor=name of the file``."""
    names = dict(one.split("=") for one in chosen) or {name: name for name in VENDORS}
    for name, (package, calls_of) in VENDORS.items():
        if name not in names:
            continue
        found = {}
        log: list[dict[str, Any]] = []
        with serving(log) as url:
            for case, call in calls_of(url).items():
                log.clear()
                with suppress(Exception):  # the reply to a stream is not a stream
                    call()
                found[case] = log[0]
        document = {"sdk": f"{package} {version(package)}", "requests": found}
        path = HERE / f"{names[name]}.json"
        path.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
