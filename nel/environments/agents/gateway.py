"""The endpoint that nel serves to the agent of one episode: each request is a step of the episode.

It listens on a free port of 127.0.0.1 and accepts the episode's secret as the only key. A request
goes through `Episode.ask`, with its limits, retries and step log; whatever model it names, the
evaluated model answers. Depends on aiohttp's server.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, Self

from aiohttp import web

from nel.core.strict_json import dumps, dumps_bytes, loads
from nel.environments.agents.answers import ServedAnswer, Spoken, body_of, frame_of, frames_of
from nel.environments.agents.digests import short_digest
from nel.environments.agents.requests import AgentRequest, read_request
from nel.episodes.endings import EpisodeEnding, LimitReached, ModelFailed
from nel.episodes.episode import Episode
from nel.episodes.replies import Reply
from nel.types import JsonObject, Message, ToolCall

_PATHS: Final[Mapping[str, Spoken]] = {
    "chat/completions": "chat",
    "responses": "responses",
    "messages": "anthropic",
}
_GEMINI: Final = ("generateContent", "streamGenerateContent")
_BODY_BYTES_MAX: Final = 64 << 20
_ALIVE_SECONDS: Final = 10.0
"""Between two comments in a stream whose answer is pending: clients time out on silence."""
_REPEAT_SECONDS: Final = 120.0
"""An equal body this soon after its answer is a retry of the client; later it is a new request."""
_REPEATS_MAX: Final = 10
_CHARACTERS_PER_TOKEN: Final = 4
"""For an agent that asks how many tokens a prompt has."""
_LIMIT_STATUS: Final = 429
_NO_RETRY_HEADERS: Final = {"x-should-retry": "false"}
"""The SDKs of OpenAI and Anthropic honour it."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """An error in place of an answer."""

    status: int
    kind: str
    message: str


@dataclass(slots=True)
class _Exchange:
    """A request that an agent sent, and the task that answers it."""

    task: asyncio.Task[ServedAnswer | _Refusal]
    answered: float | None = None
    """The time of the answer, by the monotonic clock."""
    n_repeats: int = 0


class Gateway:
    """Serves one episode while its agent runs."""

    def __init__(self, episode: Episode, *, native_tools: Sequence[str] = ()) -> None:
        """Prepare; `__aenter__` begins to listen.

        Args:
            episode: That the agent's requests are steps of.
            native_tools: Prefixes of the types of vendors' own tools that are passed on.
        """
        self.secret = f"nel-{secrets.token_hex(24)}"
        self.port = 0
        self.ended = asyncio.Event()
        """Set once the episode's ending forbids further requests."""
        self.last_activity = time.monotonic()
        """The time of the last answer; since then the agent works."""
        self.n_open = 0
        """Requests that wait for an answer."""
        self._episode = episode
        self._native_tools = tuple(native_tools)
        self._exchanges: dict[str, _Exchange] = {}
        """By the digest of path and body."""
        self._messages: dict[str, Message] = {}
        """The episode's own answers, by the names of `_names_of`."""
        self._notes: set[str] = set()
        self._n_answers = 0
        self._offered_tools = False
        app = web.Application(client_max_size=_BODY_BYTES_MAX)
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)

    async def __aenter__(self) -> Self:
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Cancel pending requests, and stop listening."""
        tasks = [entry.task for entry in self._exchanges.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._runner.cleanup()

    async def _serve(self, request: web.Request) -> web.StreamResponse:
        path = request.match_info["path"]
        # Some SDKs append the version to a base URL that has it already.
        while path.partition("/")[0] in ("v1", "v1beta"):
            path = path.partition("/")[2]
        # Gemini names model and method in the path: models/NAME:generateContent.
        model, _, method = path.removeprefix("models/").rpartition(":")
        protocol = _PATHS.get(path) or ("gemini" if method in _GEMINI else None)
        if not hmac.compare_digest(_key_of(request).encode(), self.secret.encode()):
            message = "this key is not that of the episode"
            return _refuse(protocol, _Refusal(401, "authentication_error", message))
        if request.method == "GET" and path.partition("/")[0] == "models":
            return _models(self._episode.model, path)
        data = await request.read()
        if path == "messages/count_tokens":
            return web.json_response({"input_tokens": len(data) // _CHARACTERS_PER_TOKEN + 1})
        if protocol is None or request.method != "POST":
            message = f"nel serves no {request.method} /{path}"
            return _refuse(None, _Refusal(404, "not_found_error", message))
        try:
            query = read_request(
                protocol,
                loads(data),
                model=model,
                is_streamed=method == "streamGenerateContent",
            )
        except ValueError as error:
            return _refuse(protocol, _Refusal(400, "invalid_request_error", str(error)))
        key = short_digest(f"{path}\n".encode() + data)
        return await self._send(request, query, self._task(key, query))

    def _task(self, key: str, request: AgentRequest) -> asyncio.Task[ServedAnswer | _Refusal]:
        """Return the task that answers a request; a retry shares the task of the first request."""
        earlier = self._exchanges.get(key)
        if earlier is not None and self._is_retry(earlier):
            earlier.n_repeats += 1
            self._note("repeated", {"request": key})
            return earlier.task
        task = asyncio.create_task(self._ask(request))
        entry = self._exchanges[key] = _Exchange(task)

        def finish(_: object) -> None:
            entry.answered = time.monotonic()

        task.add_done_callback(finish)
        return task

    def _is_retry(self, earlier: _Exchange) -> bool:
        if earlier.answered is None:
            return True  # however long it takes: the client has only given up waiting
        # A refusal is no answer to repeat: the next try may succeed.
        if earlier.task.cancelled() or isinstance(earlier.task.result(), _Refusal):
            return False
        is_recent = time.monotonic() - earlier.answered < _REPEAT_SECONDS
        return is_recent and earlier.n_repeats < _REPEATS_MAX

    async def _ask(self, request: AgentRequest) -> ServedAnswer | _Refusal:
        episode = self._episode
        # The time from the last answer to this request is the agent's own work.
        if episode.ending is None:
            self.note_work()
            self._note_differences(request)
            self.n_open += 1
            # Titles and summaries are asked without tools, and are not the conversation.
            is_main = bool(request.tools) or not self._offered_tools
            self._offered_tools = self._offered_tools or bool(request.tools)
            try:
                with suppress(EpisodeEnding):  # `episode.ending` has it
                    reply = await episode.ask(
                        self._restore_answers(request.messages),
                        tools=(*request.tools, *self._allowed_tools(request).values()),
                        becomes_conversation=is_main,
                        **self._settings(request),
                    )
                    return self._answer(request, reply)
            finally:
                self.n_open -= 1
                self.last_activity = time.monotonic()
        # An ending came before this request or while it was asked: the agent may as well stop.
        self.ended.set()
        return _refusal_of(episode.ending)

    def _answer(self, request: AgentRequest, reply: Reply) -> ServedAnswer:
        self._n_answers += 1
        number = self._n_answers
        calls = tuple(
            ToolCall(id=call.id or f"call_{number}_{at}", name=call.name, arguments=call.arguments)
            for at, call in enumerate(reply.calls)
        )
        self._episode.accounts.tool_calls += len(calls)
        for name in _names_of(reply.text, calls):
            self._messages[name] = reply.message
        ending = {"truncated": "length", "content_filter": "content_filter"}.get(reply.ending)
        return ServedAnswer(
            id=f"nel-{number}",
            model=request.model or self._episode.model,
            text=reply.text,
            reasoning=reply.reasoning or "",
            signature="bmVs",  # "nel" in base64, the form of a vendor's
            calls=calls,
            custom_tools=request.custom_tools,
            ending=ending,  # type: ignore[arg-type]
            usage=reply.usage,
        )

    def _restore_answers(self, messages: tuple[Message, ...]) -> list[Message]:
        """Return messages with the episode's own answers in place of an agent's copies of them.

        Agents drop fields that a vendor requires back, such as signatures of reasoning, and a
        conversation is recognised by the digests of its messages.
        """
        return [self._restore_answer(message) for message in messages]

    def _restore_answer(self, message: Message) -> Message:
        if message.role == "assistant":
            text = message.content if isinstance(message.content, str) else ""
            for name in _names_of(text, message.tool_calls):
                if name in self._messages:
                    return self._messages[name]
        return message

    def _allowed_tools(self, request: AgentRequest) -> dict[str, JsonObject]:
        """Return the vendor's own tools that the run allows, where the endpoint can take them."""
        if request.protocol != self._episode.protocol or request.protocol == "gemini":
            # Gemini accepts its own tools only in requests without functions.
            return {}
        return {
            kind: tool
            for kind, tool in request.native_tools.items()
            if kind.startswith(self._native_tools)
        }

    def _settings(self, request: AgentRequest) -> dict[str, Any]:
        """Return the agent's generation settings, without those that the run sets."""
        return {
            name: value
            for name, value in request.settings.items()
            if getattr(self._episode.generation, name) is None
        }

    def _note_differences(self, request: AgentRequest) -> None:
        """Note, once each, the settings and tools that differ from what the agent requested."""
        generation = self._episode.generation
        overruled = {
            name: value
            for name, value in request.settings.items()
            if getattr(generation, name) not in (None, value)
        }
        if overruled:
            self._note("settings_overruled", overruled)
        if request.left_out:
            self._note("fields_left_out", list(request.left_out))
        passed_on = self._allowed_tools(request)
        for note, kinds in (
            ("native_tools_passed_on", passed_on.keys()),
            ("native_tools_withheld", request.native_tools.keys() - passed_on.keys()),
        ):
            if kinds:
                self._note(note, sorted(kinds))
        # The evaluated model answers whatever name is asked for, so a log must say what was.
        if request.model not in ("", self._episode.model):
            self._note("model_asked", request.model)

    def _note(self, kind: str, data: Any) -> None:
        key = f"{kind} {dumps(data)}"
        if key not in self._notes:
            self._notes.add(key)
            with suppress(EpisodeEnding, ValueError):
                self._episode.note(kind, data)

    def note_work(self) -> None:
        """Count the agent's own work up to now; it does not work while a request is open."""
        if self.n_open:
            return
        now = time.monotonic()
        accounts = self._episode.accounts
        accounts.note_work(accounts.wall_seconds(), now - self.last_activity)
        self.last_activity = now

    async def _send(
        self,
        request: web.Request,
        query: AgentRequest,
        task: asyncio.Task[ServedAnswer | _Refusal],
    ) -> web.StreamResponse:
        """Send an answer once it is there; a stream is kept alive until then."""
        stream: web.StreamResponse | None = None
        # A client that hung up does not cancel the task: its retry gets the same answer.
        with suppress(ConnectionError):
            while not task.done():
                done, _ = await asyncio.wait({task}, timeout=_ALIVE_SECONDS)
                if query.is_streamed and not done:
                    stream = stream or await _begin_stream(request)
                    await stream.write(b": nel waits for the model\n\n")
            if task.cancelled():
                answer: ServedAnswer | _Refusal = _refusal_of(None)
            else:
                answer = task.result()
            if isinstance(answer, _Refusal):
                # Once a stream has begun its status is sent, so that the error becomes an event.
                if stream is None:
                    return _refuse(query.protocol, answer)
                await stream.write(frame_of(_error_body(query.protocol, answer)))
            elif not query.is_streamed:
                return web.json_response(body=dumps_bytes(body_of(query.protocol, answer)))
            else:
                stream = stream or await _begin_stream(request)
                for frame in frames_of(query.protocol, answer, wants_usage=query.wants_usage):
                    await stream.write(frame)
            await stream.write_eof()
        return stream or web.Response(status=499)  # nginx's, for a client that has hung up


async def _begin_stream(request: web.Request) -> web.StreamResponse:
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
    stream = web.StreamResponse(headers=headers)
    await stream.prepare(request)
    return stream


def _key_of(request: web.Request) -> str:
    """Return what a client sent as its key, in any vendor's form."""
    bearer = request.headers.get("Authorization", "")
    if bearer.startswith("Bearer "):
        return bearer.removeprefix("Bearer ").strip()
    headers = request.headers
    return headers.get("X-Api-Key") or headers.get("X-Goog-Api-Key") or request.query.get("key", "")


def _names_of(text: str, calls: tuple[ToolCall, ...]) -> list[str]:
    """Return the names by which an answer is recognised when an agent sends it back.

    The most reliable comes first: the ids of its calls, its text with its calls, its calls alone.
    """
    ids = "\n".join(call.id for call in calls)
    calls_text = dumps([[call.name, call.values] for call in calls])
    if calls:
        return [f"ids {ids}", f"calls {text.strip()} {calls_text}", f"calls {calls_text}"]
    return [f"text {text.strip()}"] if text.strip() else []


def _refusal_of(ending: BaseException | None) -> _Refusal:
    """Return the error for requests after the episode's end, of a kind that SDKs do not retry."""
    if isinstance(ending, LimitReached):
        message = f"{ending}; this episode is over"
        return _Refusal(_LIMIT_STATUS, "insufficient_quota", message)
    if isinstance(ending, ModelFailed):
        return _Refusal(400, "context_length_exceeded", str(ending))
    return _Refusal(400, "episode_over", "this episode is over")


def _error_body(protocol: Spoken | None, refusal: _Refusal) -> dict[str, Any]:
    if protocol == "anthropic":
        return {"type": "error", "error": {"type": refusal.kind, "message": refusal.message}}
    if protocol == "gemini":
        status = {"code": refusal.status, "message": refusal.message, "status": refusal.kind}
        return {"error": status}
    fields = {"message": refusal.message, "type": refusal.kind, "code": refusal.kind}
    return {"error": {**fields, "param": None}}


def _refuse(protocol: Spoken | None, refusal: _Refusal) -> web.Response:
    return web.json_response(
        _error_body(protocol, refusal), status=refusal.status, headers=_NO_RETRY_HEADERS
    )


def _models(model: str, path: str) -> web.Response:
    """Return the list of models, or one by name: every name stands for the evaluated model."""
    name = path.partition("/")[2] or model
    entry = {"id": name, "object": "model", "created": 0, "owned_by": "nel", "type": "model"}
    if "/" in path:
        return web.json_response(entry)
    gemini = {"name": f"models/{model}", "supportedGenerationMethods": ["generateContent"]}
    return web.json_response({"object": "list", "data": [entry], "models": [gemini]})
