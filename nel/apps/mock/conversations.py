"""What of a request with messages decides a scripted answer; bodies are read as those of agents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from nel.apps.mock.request_parsing import EndpointFault
from nel.environments.agents.answers import Spoken
from nel.environments.agents.requests import AgentRequest, Unreadable, read_request
from nel.models.wire.responses import ENCRYPTED_REASONING
from nel.types import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class MockRequest:
    """One request, as far as it decides what is answered."""

    content: AgentRequest
    wants_encrypted: bool
    """Whether reasoning over Responses is to come back."""
    body: str
    """As it was sent."""

    @property
    def tools(self) -> frozenset[str]:
        """Return the names of the tools that are offered."""
        return frozenset(str(tool["function"]["name"]) for tool in self.content.tools)

    @property
    def user_texts(self) -> tuple[str, ...]:
        """Return the text of each user message."""
        return tuple(text_of(message) for message in self.messages if message.role == "user")

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the messages that are not the system's."""
        return tuple(message for message in self.content.messages if message.role != "system")

    @property
    def n_answers(self) -> int:
        """Return the number of answers; what an assistant wrote in a row is one."""
        return _n_answers(self.messages)

    def n_answers_after(self, text: str) -> int | None:
        """Return the number of answers after the user message that holds a text; None where none
        does. It is the last such message before any result of a tool: what agents put before the
        instruction, such as a list of files and an answer to it, may hold the text as well.
        """
        roles = [message.role for message in self.messages]
        holding = [
            at
            for at, message in enumerate(self.messages)
            if message.role == "user" and text in text_of(message)
        ]
        if not holding:
            return None
        first_result = roles.index("tool") if "tool" in roles else len(roles)
        before = [at for at in holding if at < first_result]
        return _n_answers(self.messages[(before[-1:] or holding)[0] + 1 :])


def _n_answers(messages: Sequence[Message]) -> int:
    roles = groupby(message.role for message in messages)
    return sum(role == "assistant" for role, _ in roles)


def parse_request(
    protocol: Spoken, body: Any, text: str, *, model: str, is_streamed: bool
) -> MockRequest:
    """Return what a decoded body asks; its text is kept with it.

    Raises:
        EndpointFault: 400, the body does not follow its protocol.
    """
    try:
        content = read_request(protocol, body, model=model, is_streamed=is_streamed)
    except Unreadable as error:
        raise EndpointFault(400, "invalid_request", str(error)) from error
    return MockRequest(
        content=content,
        wants_encrypted=ENCRYPTED_REASONING in (body.get("include") or ()),
        body=text,
    )


def text_of(message: Message) -> str:
    """Return the text of a message, images left out."""
    if isinstance(message.content, str):
        return message.content
    return "\n".join(str(part["text"]) for part in message.content if "text" in part)
