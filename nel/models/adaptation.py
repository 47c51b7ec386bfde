"""Settings that a reasoning model takes under another name or not at all, as its server says when
it refuses. No I/O.

Only what the server asks for in words is changed: the limit on the answer gets its new name, and a
temperature or top_p that the model does not take is left out. Stop strings and seeds are never left
out, since nothing takes their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from nel.models.budget import LIMIT_NAME
from nel.types import Generation, ResponseError

Changes: TypeAlias = Mapping[str, str]
"""Setting to what became of it: the name that it is sent under, or `NOT_SENT`."""

NOT_SENT: Final = "not sent"
_REFUSED: Final = "bad_request"
_RENAMED: Final = re.compile(
    r"\bmax_tokens\b.{0,80}\buse .?max_completion_tokens.? instead", re.IGNORECASE
)
_LEFT_OUT: Final = r"""(?xi)
    unsupported\ (?:parameter|value):\ ['"`]?{name}\b                     # OpenAI, Azure
  | (?:do(?:es)?\ not|don't)\ support\ {name}\b                           # LiteLLM: gpt-5 models don't support …
  | (?:do(?:es)?\ not|don't)\ support\ (?:the\ )?param\w*:?\ [^.]*['"`]{name}\b  # LiteLLM: … parameters: ['…'],
  | ['"`]?\b{name}\b['"`]?\ is\ (?:deprecated|not\ supported)\ (?:for|with|by)\ this\ model  # OpenAI, Anthropic
"""


def changes_for(error: ResponseError, generation: Generation) -> dict[str, str]:
    """Return the changes to sent settings that a refusal asks for; empty where it names none."""
    if error.kind != _REFUSED:
        return {}
    changes = {}
    if (
        generation.max_tokens is not None
        and LIMIT_NAME not in generation.extra
        and _RENAMED.search(error.message)
    ):
        changes["max_tokens"] = LIMIT_NAME
    for name in ("temperature", "top_p"):
        if getattr(generation, name) is not None and re.search(
            _LEFT_OUT.format(name=name), error.message
        ):
            changes[name] = NOT_SENT
    return changes


def change_settings(generation: Generation, changes: Changes) -> Generation:
    """Return the settings as they are sent after changes."""
    settings = generation
    if "max_tokens" in changes and generation.max_tokens is not None:
        settings = replace(
            settings,
            max_tokens=None,
            extra={**generation.extra, changes["max_tokens"]: generation.max_tokens},
        )
    if "temperature" in changes:
        settings = replace(settings, temperature=None)
    if "top_p" in changes:
        settings = replace(settings, top_p=None)
    return settings


def in_words(changes: Changes, generation: Generation) -> str:
    """Return what is changed of settings, for the user."""
    phrases = []
    for name, became in changes.items():
        value = getattr(generation, name)
        if became == NOT_SENT:
            phrases.append(
                f"{name}={value:g} is not sent" if value is not None else f"{name} is not sent"
            )
        else:
            phrases.append(f"{name} is sent as {became}")
    return " and ".join(phrases)
