"""The OpenAI routes over HTTP. Responsible for keys, model names, streams, errors and `GET /stats`.

An `Answerer` is the seam: it gets one query and returns a reply or raises `EndpointFault`.
`/health` and `/stats` need no key and are in no count, so watching a rehearsal does not change it.
"""

from __future__ import annotations

import hmac
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from aiohttp import web

from nel.apps.mock.openai_json import (
    MockReply,
    ReplyChoice,
    error_body,
    full_body,
    models_body,
    stream_bodies,
)
from nel.apps.mock.request_counts import RequestTally
from nel.apps.mock.request_parsing import Call, EndpointFault, Query, parse_call
from nel.apps.mock.request_parsing import Protocol as WireProtocol
from nel.apps.mock.tokens import TokenLogprob, count_tokens, legacy_logprobs, tokenise
from nel.core.strict_json import dumps_bytes, loads

BODY_BYTES_MAX: Final = 64 * 1024 * 1024
"""Longest request body that is read."""

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Answerer(ABC):
    """What answers the requests of an application."""

    @abstractmethod
    async def answer(self, query: Query) -> MockReply:
        """Return the reply to one query.

        Raises:
            EndpointFault: There is none; the client sees its status, code and message.
        """

    def logprobs(
        self, query: Query, prompt: Sequence[str], completion: Sequence[str]
    ) -> list[TokenLogprob]:
        """Return one entry for each token of the prompt and then of the completion.

        Raises:
            EndpointFault: This answerer has no log-probabilities.
        """
        raise EndpointFault(
            400,
            "unsupported",
            "this endpoint has no log-probabilities; leave logprobs out",
            param="logprobs",
        )


MODEL: Final = web.AppKey("nel_model", str)
"""The one model name that is advertised and accepted."""
API_KEY: Final = web.AppKey("nel_api_key", str)
"""Asked of every client; empty: of none."""
ANSWERER: Final = web.AppKey("nel_answerer", Answerer)
TALLY: Final = web.AppKey("nel_tally", RequestTally)


def create_app(answerer: Answerer, *, model: str, api_key: str | None = None) -> web.Application:
    """Return an application that serves one model under the OpenAI routes."""
    app = base_app(model=model, api_key=api_key)
    app[ANSWERER] = answerer
    app.add_routes(
        [
            web.post("/v1/chat/completions", partial(_complete, protocol="chat")),
            web.post("/v1/completions", partial(_complete, protocol="completions")),
        ]
    )
    return app


def base_app(*, model: str, api_key: str | None) -> web.Application:
    """Return an application that asks for the key, counts, and lists its model; no prompt yet."""
    app = web.Application(middlewares=[_errors, _gate], client_max_size=BODY_BYTES_MAX)
    app[MODEL], app[API_KEY] = model, api_key or ""
    app[TALLY] = RequestTally()
    app.add_routes(
        [
            web.get("/health", _health),
            web.get("/stats", _stats),
            web.get("/v1/models", _models),
        ]
    )
    return app


@web.middleware
async def _errors(request: web.Request, handler: _Handler) -> web.StreamResponse:
    try:
        response = await handler(request)
    except EndpointFault as fault:
        response = _fault_response(fault)
    except web.HTTPException as error:
        message = f"{request.method} {request.path}: {error.reason}"
        headers = {"Allow": error.headers["Allow"]} if "Allow" in error.headers else {}
        response = _fault_response(EndpointFault(error.status, "http_error", message, headers))
    if request.path.startswith("/v1"):
        request.app[TALLY].status(response.status)
    return response


@web.middleware
async def _gate(request: web.Request, handler: _Handler) -> web.StreamResponse:
    key = request.app[API_KEY]
    if key and request.path.startswith("/v1"):
        credential = _credential(request)
        if not hmac.compare_digest(
            credential.encode("utf-8", "surrogateescape"), f"Bearer {key}".encode()
        ):
            problem = "You did not provide an API key"
            if credential:
                problem = "Incorrect API key provided"
            raise EndpointFault(
                401, "invalid_api_key", f"{problem}; send it as Authorization: Bearer KEY"
            )
    return await handler(request)


def _credential(request: web.Request) -> str:
    """Return what a client sent as its key, in OpenAI's form; Anthropic and Google have others."""
    if "Authorization" in request.headers:
        return request.headers["Authorization"]
    for name in ("X-Api-Key", "X-Goog-Api-Key"):
        if name in request.headers:
            return f"Bearer {request.headers[name]}"
    return ""


async def _health(request: web.Request) -> web.Response:
    return _json({"status": "ok", "model": request.app[MODEL]})


async def _stats(request: web.Request) -> web.Response:
    return _json(request.app[TALLY].as_dict())


async def _models(request: web.Request) -> web.Response:
    return _json(models_body(request.app[MODEL]))


async def _complete(request: web.Request, protocol: WireProtocol) -> web.StreamResponse:
    data = await request.read()
    tally, answerer = request.app[TALLY], request.app[ANSWERER]
    digest = tally.digest(request.path, request.headers, data)
    tally.count_request(digest)
    call = parse_call(protocol, decode_body(data), request.headers)
    _check_model(request.app[MODEL], call.model)
    choices = [await _choice(answerer, call, query) for query in call.queries]
    tally.count_answer(digest)
    if call.stream:
        return await _stream(request, call, choices, digest.hex())
    return _json(full_body(call, choices, digest.hex()))


async def _choice(answerer: Answerer, call: Call, query: Query) -> ReplyChoice:
    reply = await answerer.answer(query)
    if query.max_tokens == 0:
        reply = replace(reply, text="", finish_reason="length")
    return ReplyChoice(
        reply=reply,
        prompt_tokens=count_tokens(query.text),
        logprobs=None if call.logprobs is None else _logprobs(answerer, call, query, reply),
        echoed=query.text if call.echo else "",
    )


def _logprobs(answerer: Answerer, call: Call, query: Query, reply: MockReply) -> dict[str, object]:
    prompt, completion = tokenise(query.text), tokenise(reply.text)
    tokens = answerer.logprobs(query, prompt, completion)
    entries = tokens if call.echo else tokens[len(prompt) :]
    from_start = call.echo or not prompt
    return legacy_logprobs(entries, alternatives_max=call.logprobs or 0, from_start=from_start)


async def _stream(
    request: web.Request, call: Call, choices: list[ReplyChoice], identifier: str
) -> web.StreamResponse:
    headers = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
    response = web.StreamResponse(headers=headers)
    try:
        await response.prepare(request)
        for body in stream_bodies(call, choices, identifier):
            await response.write(b"data: " + dumps_bytes(body) + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
    except ConnectionError:
        """The client disconnected."""
    return response


def _check_model(advertised: str, model: str) -> None:
    if model != advertised:
        message = f'the model "{model}" does not exist; this endpoint serves "{advertised}"'
        raise EndpointFault(404, "model_not_found", message, param="model")


def decode_body(data: bytes) -> object:
    """Return the JSON of a request's body.

    Raises:
        EndpointFault: 400, it is none.
    """
    try:
        return loads(data)
    except ValueError as error:
        raise EndpointFault(
            400, "invalid_json", f"the request body is not valid JSON: {error}"
        ) from error


def _fault_response(fault: EndpointFault) -> web.Response:
    return _json(error_body(fault), status=fault.status, headers=fault.headers)


def _json(
    value: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> web.Response:
    return web.Response(
        body=dumps_bytes(value), status=status, headers=headers, content_type="application/json"
    )
