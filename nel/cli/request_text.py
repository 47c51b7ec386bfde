"""Shows the body of a request on a terminal: settings on one line, then each message as sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nel.cli.terminal import plain
from nel.core.message_json import MESSAGE_FIELDS, messages_in
from nel.core.strict_json import dumps
from nel.types import Json, JsonObject

_DATA: Final = re.compile(
    r"(data:image/[a-z]+;base64,|\"data\": ?\"[A-Za-z0-9+/]{16})[A-Za-z0-9+/=]{40,}"
)
"""An image, of which the beginning is shown: its data URL, or Gemini's and Anthropic's "data"."""
_CHARACTERS_MAX: Final = 4000
"""Of one message; ``--json`` has it whole."""


def indent(body: JsonObject) -> str:
    """Return the lines of a request, without control characters, each with two spaces before it."""
    return "\n".join(f"  {plain(line)}".rstrip() for line in _lines(body))


def _lines(body: JsonObject) -> Iterator[str]:
    settings = {
        name: value for name, value in body.items() if name not in (*MESSAGE_FIELDS, "prompt")
    }
    yield ", ".join(f"{name}: {dumps(value)}" for name, value in settings.items())
    for message in messages_in(body) or [{"role": "prompt", "content": body.get("prompt")}]:
        yield f"[{message.get('role')}]"
        yield from _cut(_text(message.get("content"))).split("\n")


def _text(content: Json) -> str:
    return content if isinstance(content, str) else _DATA.sub(r"\1…", dumps(content))


def _cut(text: str) -> str:
    n_more = len(text) - _CHARACTERS_MAX
    if n_more <= 0:
        return text
    return f"{text[:_CHARACTERS_MAX]}\n… {n_more:,} more characters (--json shows them)"
