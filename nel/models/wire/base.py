"""What a protocol has to say of itself, and what protocols share; the one client does the rest:
retries, pace, deadlines, redaction, the cache.

A protocol turns a `Request` into a JSON body and a decoded HTTP 200 body into a `Response` or a
`Fault`. Errors with a status of their own are read in `nel.models.faults`, whatever the protocol.

What a model thinks is not its answer. Reasoning comes in a field of its own or as a leading
``<think>`` block, and a block that never closes means that the answer was cut off before it began.
Recorded answers are read in the same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from nel.config.schema import EndpointConfig, GenerationConfig
from nel.core.finish_reasons import ending_of
from nel.core.thinking import split_reasoning
from nel.errors import EndpointError
from nel.models.faults import Fault, aborted_fault, malformed_fault
from nel.models.streams import AnswerStream
from nel.types import Generation, JsonObject, Message, Request, Response, ToolCall, Usage

_WORD_MAX: Final = 100
_COUNT_MAX: Final = 2**53
"""About the largest whole number that all readers of JSON agree on: RFC 8259, 6."""
NO_USAGE: Final = Usage()
_NAME_CHARACTERS_MAX: Final = 200
_BYTES_OF_IMAGE: Final = 6_000
"""About 1,500 tokens, as most vendors count an image of a million pixels."""
TEXT_PART = "text"
IMAGE_PART = "image_url"


class NotInProtocol(EndpointError):
    """A request holds what its protocol has no place for; nothing was sent."""


class Wire(ABC):
    """One protocol."""

    name: ClassVar[str]
    """Of `endpoint.protocol`."""
    lists_all: ClassVar[bool] = False
    """Whether a model that its list of models leaves out is not served."""
    listing: ClassVar[str | None] = "/models"
    """Where the list of models is, below the base URL; None where there is none."""
    signs: ClassVar[bool] = False
    """Whether each request has headers of its own; see `sign`."""
    takes_tools: ClassVar[bool] = False
    """Whether its requests can offer tools, and its answers hold calls of them."""
    unsupported: ClassVar[Mapping[str, str]] = {}
    """Generation settings that it has no field for, and the option that sets each."""

    @abstractmethod
    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go, below the base URL."""

    def address(self, endpoint: EndpointConfig) -> str:
        """Return the URL of an endpoint's requests."""
        return _address(endpoint, self.path(endpoint.model, stream=endpoint.stream))

    def listing_address(self, endpoint: EndpointConfig, base: str | None = None) -> str:
        """Return the URL of the list of models at an endpoint, or below another base URL."""
        return _address(endpoint, self.listing or "", base)

    def key_headers(self, key: str) -> dict[str, str]:
        """Return the headers that carry a key."""
        return {"Authorization": f"Bearer {key}"}

    def headers(self) -> dict[str, str]:
        """Return the headers of every request, which an endpoint's settings may replace."""
        return {}

    def check(self, endpoint: EndpointConfig) -> None:  # noqa: B027 - most protocols need nothing
        """Raise ConfigError if an endpoint cannot be asked from here, e.g. without credentials."""

    def secrets(self, endpoint: EndpointConfig) -> Sequence[str]:
        """Return secrets, other than the key, that are removed from whatever an endpoint says."""
        return ()

    async def sign(
        self,
        endpoint: EndpointConfig,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
    ) -> Mapping[str, str]:
        """Return further headers of one attempt, e.g. its signature; called only if `signs`."""
        return {}

    @abstractmethod
    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """Return the JSON body of a request.

        Raises:
            NotInProtocol: A message, or a part of one, has no place in it.
        """

    @abstractmethod
    def neutral(self, body: JsonObject, prompt: str) -> dict[str, Any]:
        """Return a body with the settings of another one, and one user message."""

    @abstractmethod
    def answer(self, payload: object) -> Response | Fault:
        """Return the answer in a decoded HTTP 200 body, or the fault it is instead; a response that
        is made for this body alone, in which the client sets what it measured.
        """

    def native(self, payload: JsonObject, message: Message) -> Sequence[JsonObject]:
        """Return what of an answer has to be sent back with it, unchanged, in the next request;
        empty where the message says it all.

        Args:
            payload: A body that `answer` can read.
            message: Its text and calls.
        """
        return ()

    @abstractmethod
    def stream(self) -> AnswerStream:
        """Return what collects a streamed answer to the body that `answer` reads."""

    def problems(self, generation: Generation | GenerationConfig) -> list[str]:
        """Return which settings it cannot send, and what to do about each."""
        return [
            f"it has no {name}; leave out {flag}"
            for name, flag in self.unsupported.items()
            if getattr(generation, name) is not None
        ]


def _address(endpoint: EndpointConfig, path: str, base: str | None = None) -> str:
    """Return the URL of a path that may have parameters of its own."""
    path, _, query = path.partition("?")
    url = endpoint.address(path, base=base)
    if not query:
        return url
    separator = "&" if "?" in url else "?"
    return f"{url}{separator}{query}"


def system_apart(messages: Sequence[Message], protocol: str) -> tuple[str | None, list[Message]]:
    """Return the text of leading system messages, None without any, and the messages after them.

    Raises:
        NotInProtocol: A system message stands between others, or a role is neither the user's, the
            assistant's nor, for the result of a call, a tool's.
    """
    n_system = 0
    while n_system < len(messages) and messages[n_system].role in ("system", "developer"):
        n_system += 1
    other_messages = list(messages[n_system:])
    for message in other_messages:
        is_result = message.role == "tool" and message.tool_call_id is not None
        if message.role not in ("user", "assistant") and not is_result:
            raise NotInProtocol(
                f'the {protocol} protocol has no place for a message of the role "{message.role}"'
                " here; use a system message at the beginning, and user and assistant messages"
                " after it"
            )
    texts = [only_text(message, protocol) for message in messages[:n_system]]
    return "\n\n".join(texts) if texts else None, other_messages


def only_text(message: Message, protocol: str) -> str:
    """Return the text of a message that may hold nothing else.

    Raises:
        NotInProtocol: It holds something else.
    """
    if isinstance(message.content, str):
        return message.content
    texts = [item.get("text") for item in message.content if item.get("type") == TEXT_PART]
    if len(texts) != len(message.content):
        raise NotInProtocol(
            f"the {protocol} protocol takes text alone in a message of the role {message.role}"
        )
    return "".join(str(text) for text in texts)


def native_items(message: Message, protocol: str) -> list[dict[str, Any]]:
    """Return what a vendor wants back with a message; empty where another protocol brought it."""
    native = message.native
    if native is None or native.protocol != protocol:
        return []
    return [dict(item) for item in native.items]


def image_of(item: JsonObject) -> str:
    """Return the URL in an image part."""
    image = item.get("image_url")
    url = image.get("url") if isinstance(image, Mapping) else image
    return url if isinstance(url, str) else ""


def data_of(url: str) -> tuple[str, str] | None:
    """Return the media type and the base64 text of a data URL; None for any other URL."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:") or not head.endswith(";base64"):
        return None
    return head.removeprefix("data:").removesuffix(";base64").partition(";")[0], data


def unknown_part(item: JsonObject, protocol: str) -> NotInProtocol:
    """Return the error of a part of a message that a protocol has no place for."""
    return NotInProtocol(
        f'the {protocol} protocol has no place for a part of the type "{item.get("type")}"'
    )


def merge_body(body: JsonObject, extra: JsonObject) -> dict[str, Any]:
    """Return a body with further fields; two objects are joined, and the body's fields prevail."""
    merged_body: dict[str, Any] = {**extra, **body}
    for name, value in body.items():
        extra_value = extra.get(name)
        if isinstance(value, Mapping) and isinstance(extra_value, Mapping):
            merged_body[name] = {**extra_value, **value}
    return merged_body


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a JSON list; empty for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def all_objects(value: object) -> bool:
    """Return whether a value is a JSON list of nothing but objects."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def unfinished_fault(text: str, reasoning: str | None, finish: str | None) -> Fault | None:
    """Return the fault of an answer that was broken off, or says nothing, not even why it ended."""
    if ending_of(finish) == "aborted":
        return aborted_fault(finish or "")
    if text or reasoning or finish:
        return None
    return malformed_fault("the body has neither an answer nor why it ended")


class UsageNames(NamedTuple):
    """What a protocol calls the fields of its usage object."""

    prompt: str
    answer: str
    of_prompt: str
    """What the details of its prompt stand in."""
    of_answer: str


OPENAI_USAGE: Final = UsageNames(
    "prompt_tokens", "completion_tokens", "prompt_tokens_details", "completion_tokens_details"
)
"""Of chat and completions."""


def usage_in(usage: object, names: UsageNames = OPENAI_USAGE) -> Usage:
    """Return the token counts of a usage object; whatever is absent or not a count is None."""
    if not isinstance(usage, dict):
        return NO_USAGE
    prompt, answer, of_prompt, of_answer = names
    cached, thought = usage.get(of_prompt), usage.get(of_answer)
    n_cached = count(cached.get("cached_tokens")) if isinstance(cached, dict) else None
    n_thought = count(thought.get("reasoning_tokens")) if isinstance(thought, dict) else None
    return Usage(
        prompt_tokens=count(usage.get(prompt)),
        completion_tokens=count(usage.get(answer)),
        reasoning_tokens=n_thought,
        cached_tokens=n_cached,
    )


def count(value: object) -> int | None:
    """Return a count of tokens; None for what is no such count."""
    return value if type(value) is int and 0 <= value <= _COUNT_MAX else None


def join_texts(values: Sequence[object]) -> str:
    """Return texts put together, leaving out what is none."""
    return "".join(value for value in values if isinstance(value, str))


def word(value: object) -> str:
    """Return a short text; empty for anything else, which may be of any size and depth."""
    return value[:_WORD_MAX] if isinstance(value, str) else ""


def first_choice(choices: object) -> dict[str, Any] | None:
    """Return the choice with the lowest index, which is 0; None where there is no choice.

    Choices without an index count in the order in which they stand.
    """
    # Almost every answer has one, and needs no list.
    if isinstance(choices, list) and len(choices) == 1 and isinstance(choices[0], dict):
        return choices[0]
    listed = objects(choices)
    indices = [index_of(choice, position) for position, choice in enumerate(listed)]
    return listed[indices.index(min(indices))] if listed else None


def index_of(choice: Mapping[str, object], position: int) -> int:
    """Return the index of a choice, or its place in the list where it has none."""
    index = choice.get("index")
    return index if type(index) is int else position


def name_in(payload: Mapping[str, object], field: str) -> str | None:
    """Return a name that a server gives itself, of bounded length; None where it gives none."""
    name = payload.get(field)
    return name[:_NAME_CHARACTERS_MAX] if isinstance(name, str) and name else None


def names_listed(payload: object) -> list[str]:
    """Return the names in the body of a list of models; empty where it is none."""
    if not isinstance(payload, dict):
        return []
    # Gemini lists {"models": [{"name": …}]}, all others {"data": [{"id": …}]}.
    names = [model.get("name") for model in objects(payload.get("models"))]
    if "data" in payload:
        names = [model.get("id") for model in objects(payload["data"])]
    return [name for name in names if isinstance(name, str)]


def read_text(
    text: str,
    *,
    finish_reason: str | None = None,
    reasoning: str | None = None,
    usage: Usage = NO_USAGE,
    model: str | None = None,
    system_fingerprint: str | None = None,
    tool_calls: tuple[ToolCall, ...] = (),
) -> Response:
    """Return the answer in a model's text, recorded or just received, without its reasoning.

    A text whose reasoning never closes is truncated, whatever the finish reason says. It is split
    here and nowhere else, so that a tag in the answer stays there.

    Args:
        text: As received.
        finish_reason: As received.
        reasoning: What came in a field of its own; then the text is the answer.
        usage: As received.
        model: As the server names it.
        system_fingerprint: As received.
        tool_calls: As received.
    """
    received = None
    if not reasoning:
        reasoning, answer, is_closed = split_reasoning(text)
        received = None if reasoning is None else text
        text, finish_reason = answer, finish_reason if is_closed else "length"
    return Response(
        text=text,
        reasoning=reasoning or None,
        received=received,
        finish_reason=finish_reason,
        usage=usage,
        model=model,
        system_fingerprint=system_fingerprint,
        tool_calls=tool_calls,
    )


def text_length(message: Message) -> int:
    """Return the characters of a message's texts."""
    if isinstance(message.content, str):
        return len(message.content)
    return sum(len(item["text"]) for item in message.content if isinstance(item.get("text"), str))


def prompt_bytes(request: Request, body: bytes) -> int:
    """Return the size of a body, with each image counted by its likely tokens, not its data."""
    urls: list[str] = []
    for message in request.messages:
        if not isinstance(message.content, str):
            urls += [image_of(part) for part in message.content if part.get("type") == IMAGE_PART]
    if not urls:
        return len(body)
    # A character of an image's base64 is a byte of the body.
    n_text = max(0, len(body) - sum(map(len, urls)))
    return n_text + len(urls) * _BYTES_OF_IMAGE
