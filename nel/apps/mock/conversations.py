"""Reads what matters of a request with messages, over chat, Responses, Anthropic and Gemini."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final, Literal, TypeAlias

Spoken: TypeAlias = Literal["chat", "responses", "anthropic", "gemini"]
_ENCRYPTED: Final = "reasoning.encrypted_content"
_MESSAGES: Final = {
    "chat": "messages",
    "responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
}
_RESULTS: Final = frozenset(("tool_result", "function_call_output", "functionResponse"))


@dataclass(frozen=True, slots=True, kw_only=True)
class MockRequest:
    """One request, as far as it decides what is answered."""

    protocol: Spoken
    model: str
    stream: bool
    wants_usage: bool
    """Whether a stream of chat ends with the usage."""
    wants_encrypted: bool
    """Whether reasoning over Responses is to come back."""
    entries: tuple[tuple[str, str], ...]
    """``user``, ``assistant`` or ``tool`` of each message, or block of one, and its text."""
    tools: frozenset[str]
    """The names of the tools that are offered."""
    body: str
    """As it was sent."""

    @property
    def user_texts(self) -> tuple[str, ...]:
        """Return the text of each user message."""
        return tuple(text for kind, text in self.entries if kind == "user")

    @property
    def n_answers(self) -> int:
        """Return the number of answers; what an assistant wrote in a row is one."""
        return _n_answers(self.entries)

    def n_answers_after(self, text: str) -> int | None:
        """Return the number of answers after the user message that holds a text; None where none
        does. It is the last such message before any result of a tool: what agents put before the
        instruction, such as a list of files and an answer to it, may hold the text as well.
        """
        holding = [
            at
            for at, (kind, content) in enumerate(self.entries)
            if kind == "user" and text in content
        ]
        kinds = [kind for kind, _ in self.entries]
        first_result = kinds.index("tool") if "tool" in kinds else len(kinds)
        before = [at for at in holding if at < first_result]
        if not holding:
            return None
        return _n_answers(self.entries[(before[-1:] or holding)[0] + 1 :])


def _n_answers(entries: Sequence[tuple[str, str]]) -> int:
    return sum(kind == "assistant" for kind, _ in groupby(kind for kind, _ in entries))


def parse_request(
    protocol: Spoken, body: Mapping[str, Any], text: str, *, model: str, stream: bool
) -> MockRequest:
    """Return what a decoded body asks; its text is kept with it."""
    messages = body.get(_MESSAGES[protocol])
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    entries = [entry for item in _objects(messages) for entry in _entries(item)]
    options = body.get("stream_options")
    return MockRequest(
        protocol=protocol,
        model=model,
        stream=stream,
        wants_usage=isinstance(options, dict) and options.get("include_usage") is True,
        wants_encrypted=_ENCRYPTED in (body.get("include") or ()),
        entries=tuple(entries),
        tools=frozenset(_tool_names(body)),
        body=text,
    )


def _entries(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what a message is: its results of tools each, then its text."""
    role = item.get("role")
    if item.get("type") in _RESULTS or role == "tool":
        yield "tool", ""
        return
    if role in ("system", "developer"):
        return
    content = item.get("content", item.get("parts"))
    blocks = _objects(content)
    results = [block for block in blocks if _is_result(block)]
    yield from (("tool", "") for _ in results)
    if role != "user":
        yield "assistant", ""
    elif not results or len(results) < len(blocks):
        if isinstance(content, str):
            yield "user", content
        else:
            texts = [block.get("text") for block in blocks]
            yield "user", "\n".join(text for text in texts if isinstance(text, str))


def _tool_names(body: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the tools that are offered, in the shape of any of the protocols."""
    for tool in _objects(body.get("tools")):
        described = tool.get("function", tool)
        for shape in _objects(tool.get("functionDeclarations")) or [described]:
            yield str(shape.get("name", ""))


def _is_result(block: Mapping[str, Any]) -> bool:
    return block.get("type") in _RESULTS or "functionResponse" in block


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
