"""Asks an endpoint what it can do with few small requests, and shows evidence of each ability.

A cell is ``yes`` where an answer shows it, ``no`` where the endpoint refused it in words or with a
missing address, and ``unknown`` where neither can be said: a parameter that is accepted in silence
is not an ability.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from nel.config.schema import EndpointConfig
from nel.core.finish_reasons import ending_of
from nel.core.json_values import inner
from nel.core.strict_json import dumps_bytes
from nel.errors import LogprobFault
from nel.models.adaptation import change_settings, changes_for, in_words
from nel.models.client import Client
from nel.models.echo_probe import probe_echo
from nel.models.faults import UNREADABLE, Fault, unreadable
from nel.models.refusals import NEUTRAL_PROMPT
from nel.models.wire.base import names_listed
from nel.models.wire.registry import build_body, wire_of
from nel.types import Generation, JsonObject, Message, Protocol, Request, Response, ResponseError

Verdict: TypeAlias = Literal["yes", "no", "unknown"]
_SHORT: Final = 64
"""Tokens that an answer may have; reasoning models need a few before they say a word."""
_LIMIT_ASKED: Final = 100_000_000
"""More tokens than any model may answer with."""
_TOO_LONG_MAX: Final = 300_000
"""Tokens up to which a prompt that is too long is sent without being told to: half a megabyte."""
_CONFIRMING: Final = frozenset({"bad_request", "not_found", "http_405", "http_501"})
"""Kinds of faults that say that an ability is not there; others say nothing of it."""
_HOPELESS: Final = frozenset("auth connection connect_timeout tls quota open_files".split())
_PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8B8u7oVwAAAABJRU5ErkJggg=="
"""A red square of 16 pixels."""
_TOOL: Final = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Return the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}
_AT_ONE_URL: Final[tuple[Protocol, ...]] = ("chat", "completions", "responses", "anthropic")
"""Protocols that may be at one base URL."""
_CONTEXT_FIELDS: Final = (
    "max_model_len context_length context_window max_context_length inputTokenLimit".split()
)
REQUESTS_MAX: Final = 28
"""At most, for one that refuses the last of the prompts with echo, and then takes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """One cell of the table."""

    name: str
    verdict: Verdict
    evidence: str
    """What was asked and answered, without secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What is known of an endpoint."""

    url: str
    model: str
    protocol: str
    """That the parameters below the protocols were tried over."""
    requests: int
    """Sent."""
    cells: tuple[Capability, ...]

    @property
    def answers(self) -> bool:
        """Return whether any protocol was answered."""
        protocols = [cell for cell in self.cells if cell.name.startswith("protocol ")]
        return any(cell.verdict == "yes" for cell in protocols)


async def probe(
    endpoint: EndpointConfig, api_key: str | None, *, too_long_tokens: int | None = None
) -> Capabilities:
    """Return what an endpoint can do.

    Args:
        endpoint: Its protocol is the one that parameters are tried over.
        api_key: Never part of the result.
        too_long_tokens: About how many tokens a prompt has that should be too long; None: as the
            list of models says.
    """
    async with AsyncExitStack() as clients:

        async def client_of(**changes: object) -> Client:
            client = Client(endpoint.model_copy(update=changes), api_key=api_key, connections=1)
            return await clients.enter_async_context(client)

        asking = _Probe(
            client=await client_of(stream=False),
            streaming=await client_of(stream=True),
            too_long=too_long_tokens,
        )
        await asking.run()
        return Capabilities(
            url=endpoint.url,
            model=endpoint.model,
            protocol=asking.protocol,
            requests=asking.n_sent,
            cells=tuple(asking.cells),
        )


@dataclass(slots=True)
class _Probe:
    client: Client
    streaming: Client
    too_long: int | None
    cells: list[Capability] = field(default_factory=list)
    n_sent: int = 0
    settings: Generation = field(
        default_factory=lambda: Generation(max_tokens=_SHORT, temperature=0.0)
    )
    context_tokens: int | None = None

    @property
    def protocol(self) -> Protocol:
        return self.client.endpoint.spoken

    async def run(self) -> None:
        await self._list_models()
        answer = await self._ask_own()
        if isinstance(answer, Fault) and answer.kind in _HOPELESS:
            self._add("parameters", "unknown", f"not asked: {self.client.describe(answer)}")
            return
        for name in _AT_ONE_URL if self.protocol in _AT_ONE_URL else ():
            if name != self.protocol:
                reply = await self._ask(
                    NEUTRAL_PROMPT, Generation(max_tokens=_SHORT), protocol=name
                )
                self._conclude(f"protocol {name}", reply, "yes", f"answered: {_text(reply)[:40]!r}")
        if isinstance(answer, Fault):
            self._add(
                "parameters", "unknown", f"not asked: the {self.protocol} protocol gave no answer"
            )
        else:
            await self._ask_parameters()
        if self.protocol in ("chat", "completions"):
            await self._ask_echo()

    async def _list_models(self) -> None:
        self.n_sent += 1
        listing = await self.client.read_listing()
        if isinstance(listing, Fault):
            self._note_refusal("list of models", listing)
            return
        model = self.client.endpoint.model
        model_names = {model, f"models/{model}"}
        self._look_for_context(listing, model_names)
        names = names_listed(listing)
        if names:
            membership = "not among them" if model_names.isdisjoint(names) else "among them"
            self._add("list of models", "yes", f"{len(names)} listed, {model} {membership}")
        else:
            self._add("list of models", "unknown", "an answer without a list")

    def _look_for_context(self, payload: object, model_names: set[str]) -> None:
        fields = _inner(payload)
        models = fields.get("data") or fields.get("models")
        for model in map(_inner, models if isinstance(models, list) else ()):
            if (model.get("id") or model.get("name")) in model_names:
                sizes = [model[key] for key in _CONTEXT_FIELDS if type(model.get(key)) is int]
                self.context_tokens = sizes[0] if sizes else None

    async def _ask_own(self) -> Response | Fault:
        """Ask over the configured protocol, with the settings that the model takes."""
        answer = await self._ask()
        remarks = []
        while isinstance(answer, Fault):
            message = self.client.describe(answer)
            error = ResponseError(kind=answer.kind, message=message, status=answer.status)
            changes = changes_for(error, self.settings)
            if not changes:
                break
            remarks.append(in_words(changes, self.settings))
            self.settings = change_settings(self.settings, changes)
            answer = await self._ask()
        remark = f"answered; {' and '.join(remarks)}" if remarks else "answered"
        self._conclude(
            f"protocol {self.protocol}", answer, "yes", f"{remark}: {_text(answer)[:40]!r}"
        )
        return answer

    async def _ask_parameters(self) -> None:
        await self._ask_stream()
        await self._ask_stop()
        if self.protocol == "chat":
            await self._ask_chat()
        await self._ask_seed()
        if self.protocol != "completions":
            await self._ask_image()
        await self._ask_limit()
        await self._ask_too_long()

    async def _ask_stream(self) -> None:
        stream = wire_of(self.protocol).stream()
        self.n_sent += 1
        body = build_body(self._request(self.protocol, self.settings, NEUTRAL_PROMPT), stream=True)
        payload = await self.streaming.ask_once(
            self.protocol,
            dumps_bytes(body),
            seconds=self.client.endpoint.total_timeout_seconds,
            stream=stream,
        )
        if isinstance(payload, Fault):
            self._note_refusal("streaming", payload)
        elif stream.token_times:
            self._add("streaming", "yes", f"{len(stream.token_times)} pieces of an answer")
        else:
            self._add("streaming", "no", "the answer came in one piece, without events")

    async def _ask_stop(self) -> None:
        if self.protocol == "responses":
            self._add("stop", "no", "the responses protocol has no field for it")
            return
        answer = await self._ask(
            "Write in words: one two three four five six seven",
            replace(self.settings, stop=("five",)),
        )
        text = _text(answer)
        verdict: Verdict = "unknown"  # the model wrote something else
        if "five" in text.lower():
            verdict = "no"
        elif "four" in text.lower():
            verdict = "yes"
        self._conclude("stop", answer, verdict, f'with stop "five": {text!r}')

    async def _ask_chat(self) -> None:
        """Ask for what OpenAI's chat protocol alone has fields for."""
        payload = await self._payload({"logprobs": True, "top_logprobs": 2})
        tokens = inner(_choice(payload), "logprobs").get("content")
        self._note_feature(
            "logprobs", payload, bool(tokens), "log-probabilities of the answer's tokens"
        )
        payload = await self._payload({"n": 2})
        choices = _inner(payload).get("choices")
        n = len(choices) if isinstance(choices, list) else 0
        self._note_feature("n", payload, n == 2, f"{n} answers to n=2")  # noqa: PLR2004 - as many as were asked for
        payload = await self._payload(
            {"tools": [_TOOL], "tool_choice": "auto"},
            "What is the weather in Paris? Call the tool.",
        )
        calls = inner(_choice(payload), "message").get("tool_calls")
        self._note_feature(
            "tools", payload, bool(calls), "called the tool" if calls else "the tool was not called"
        )

    async def _ask_seed(self) -> None:
        if self.protocol not in ("chat", "completions", "gemini"):
            self._add("seed", "no", f"the {self.protocol} protocol has no field for it")
            return
        temperature = None if self.settings.temperature is None else 1.0
        settings = replace(self.settings, seed=7, temperature=temperature)
        reply = await self._ask("Write eight random letters.", settings)
        second = await self._ask("Write eight random letters.", settings)
        is_same = _text(reply) == _text(second)
        # Servers batch requests, so different answers do not show that the seed is ignored.
        self._conclude(
            "seed",
            reply if isinstance(reply, Fault) else second,
            "yes" if is_same else "unknown",
            "two answers with the same seed, at temperature 1, are"
            f" {'equal' if is_same else 'different'}",
        )

    async def _ask_image(self) -> None:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PNG}"}}
        question = {"type": "text", "text": "Which colour is this square? Answer with one word."}
        answer = await self._ask((question, image))
        text = _text(answer)
        verdict: Verdict = "yes" if "red" in text.lower() else "unknown"
        self._conclude("images", answer, verdict, f"asked for the colour of a red square: {text!r}")

    async def _ask_limit(self) -> None:
        if self.context_tokens is not None:
            self._add(
                "context length", "yes", f"{self.context_tokens:,} tokens, by the list of models"
            )
        settings = replace(self.settings, max_tokens=_LIMIT_ASKED)
        if self.settings.max_tokens is None:  # the model takes the limit under its other name
            settings = Generation(extra={"max_completion_tokens": _LIMIT_ASKED})
        answer = await self._ask(NEUTRAL_PROMPT, settings)
        if isinstance(answer, Fault):
            self._add(
                "limit of an answer",
                "yes" if answer.kind == "bad_request" else "unknown",
                self.client.describe(answer),
            )
        else:
            self._add("limit of an answer", "unknown", f"max_tokens={_LIMIT_ASKED:,} was accepted")

    async def _ask_too_long(self) -> None:
        n_tokens = self.too_long
        # A quarter and a hundred more than fit: how many tokens "a " has differs between models.
        if n_tokens is None and self.context_tokens:
            n_tokens = self.context_tokens + self.context_tokens // 4 + 100
        if n_tokens is None or (self.too_long is None and n_tokens > _TOO_LONG_MAX):
            self._add(
                "prompt too long",
                "unknown",
                "not asked: give --too-long N, more tokens than its context holds",
            )
            return
        answer = await self._ask("a " * n_tokens)
        if isinstance(answer, Fault):
            kind = answer.kind
            if answer.model_failure == "context_exceeded":
                kind = "told apart as the prompt's length"
            verdict: Verdict = "yes" if answer.model_failure else "unknown"
            self._add("prompt too long", verdict, f"{kind}: {self.client.describe(answer)}")
            return
        count = answer.usage.prompt_tokens
        remark = "" if count is None else f", {count:,} by its own count"
        self._add(
            "prompt too long",
            "no",
            f"about {n_tokens:,} tokens were accepted{remark} ({ending_of(answer.finish_reason)})",
        )

    async def _ask_echo(self) -> None:
        """Ask what log-likelihood benchmarks need, as a run's pre-flight does."""

        async def send(body: dict[str, Any]) -> Any:
            return await self._send("completions", body)

        try:
            echo = await probe_echo(send, self.client.endpoint.model)
        except LogprobFault as error:
            self._add("echo with logprobs", "no", str(error))
            return
        if isinstance(echo, Fault):
            self._note_refusal("echo with logprobs", echo)
            return
        batches = "several prompts in one request" if echo.batched else "one prompt in a request"
        self._add(
            "echo with logprobs", "yes", f"right for prompts whose answers are known; {batches}"
        )
        if echo.leading_bos:
            self._add("BOS", "yes", "a special token stands before the prompt")
        else:
            self._add("BOS", "no", "no special token stands before the prompt")

    def _request(self, protocol: Protocol, settings: Generation, content: Any) -> Request:
        is_text = protocol == "completions"
        return Request(
            protocol=protocol,
            model=self.client.endpoint.model,
            sample_id="",
            repeat=0,
            messages=() if is_text else (Message(role="user", content=content),),
            prompt=content if is_text else None,
            generation=settings,
        )

    async def _send(self, protocol: Protocol, body: JsonObject) -> Any:
        self.n_sent += 1
        seconds = self.client.endpoint.total_timeout_seconds
        return await self.client.ask_once(protocol, dumps_bytes(dict(body)), seconds=seconds)

    async def _ask(
        self,
        content: Any = NEUTRAL_PROMPT,
        settings: Generation | None = None,
        *,
        protocol: Protocol | None = None,
    ) -> Response | Fault:
        protocol = protocol or self.protocol
        request = self._request(protocol, settings or self.settings, content)
        return _read(protocol, await self._send(protocol, build_body(request)))

    async def _payload(self, fields: Mapping[str, object], prompt: str = NEUTRAL_PROMPT) -> Any:
        """Return the decoded answer to a request with further fields, or its fault."""
        body = build_body(self._request(self.protocol, self.settings, prompt))
        payload = await self._send(self.protocol, {**body, **fields})
        answer = _read(self.protocol, payload)
        return answer if isinstance(answer, Fault) else payload

    def _add(self, name: str, verdict: Verdict, evidence: str) -> None:
        self.cells.append(Capability(name=name, verdict=verdict, evidence=evidence))

    def _conclude(
        self, name: str, answer: Response | Fault, verdict: Verdict, evidence: str
    ) -> None:
        """Record the capability that an answer shows, or the fault."""
        if isinstance(answer, Fault):
            self._note_refusal(name, answer)
        else:
            self._add(name, verdict, evidence)

    def _note_feature(self, name: str, payload: object, has_it: bool, remark: str) -> None:
        if isinstance(payload, Fault):
            self._note_refusal(name, payload)
        elif has_it:
            self._add(name, "yes", remark)
        else:
            self._add(name, "unknown", f"accepted, but not shown: {remark}")

    def _note_refusal(self, name: str, fault: Fault) -> None:
        verdict: Verdict = "no" if fault.kind in _CONFIRMING else "unknown"
        self._add(name, verdict, self.client.describe(fault))


def _read(protocol: Protocol, payload: object) -> Response | Fault:
    try:
        return payload if isinstance(payload, Fault) else wire_of(protocol).answer(payload)
    except UNREADABLE as error:
        return unreadable(error)


def _text(answer: Response | Fault) -> str:
    return answer.text if isinstance(answer, Response) else ""


def _choice(payload: object) -> dict[str, Any]:
    choices = _inner(payload).get("choices")
    return _inner(choices[0]) if isinstance(choices, list) and choices else {}


def _inner(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
