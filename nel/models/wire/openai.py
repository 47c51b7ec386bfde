"""The protocols of OpenAI that most servers speak, chat and completions, as one of several. Sends
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from nel.models import protocols
from nel.models.faults import Fault
from nel.models.streams import AnswerStream, EventStream
from nel.models.wire.base import Wire
from nel.types import JsonObject, Message, Protocol, Request, Response


class _OpenAI(Wire):
    """What chat and completions have in common."""

    name: ClassVar[Protocol]
    lists_all = True

    def path(self, model: str, *, stream: bool) -> str:
        """Return where requests go."""
        return protocols.PATHS[self.name]

    def body(self, request: Request, *, stream: bool) -> dict[str, Any]:
        """Return the JSON body of a request; it takes every setting."""
        return protocols.build_body(request, stream=stream)

    def answer(self, payload: object) -> Response | Fault:
        """Return the first choice."""
        return protocols.parse_answer(self.name, payload)

    def native(self, payload: JsonObject, message: Message) -> Sequence[JsonObject]:
        """Return the fields of the message that text and calls have no place for."""
        choice = protocols.first_choice(payload.get("choices")) or {}
        return protocols.native_fields(choice.get("message"), message)

    def stream(self) -> AnswerStream:
        """Return a collector of chunks."""
        return EventStream(chat=self.name == "chat")


class Chat(_OpenAI):
    """Chat completions, as most servers have them."""

    name = "chat"
    takes_tools = True

    def neutral(self, body: Mapping[str, Any], prompt: str) -> dict[str, Any]:
        """Return a body with one message."""
        return {**body, "messages": [{"role": "user", "content": prompt}]}


class Completions(_OpenAI):
    """Completions of a text."""

    name = "completions"

    def neutral(self, body: Mapping[str, Any], prompt: str) -> dict[str, Any]:
        """Return a body with another text."""
        return {**body, "prompt": prompt}
