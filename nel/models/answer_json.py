"""Decodes the JSON of answers; refuses two values under a name that decides. Sends nothing.

RFC 8259 leaves open what a repeated name means, and decoders keep the last value. Where that value
decides what the model said or how it ended, the answer cannot be known. Other repeated names, such
as ``id`` or ``usage``, are harmless.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from nel.core.json_values import is_number
from nel.core.strict_json import loads
from nel.models.error_bodies import BOM

_DECIDING: Final = frozenset(
    (
        # chat, completions
        "choices message delta content text refusal finish_reason tool_calls arguments error "
        "output status stop_reason candidates parts finishReason"  # responses, anthropic, gemini
    ).split()
)
_QUOTED: Final = re.compile(rb'"(?:' + "|".join(sorted(_DECIDING)).encode() + rb')"\s*:')
_ESCAPED: Final = re.compile(rb"\\u00[2-7]")
"""A letter of a name that is written as an escape."""


class Contradiction(ValueError):
    """One object of an answer has a deciding name twice, with different values."""


def answer_of(body: bytes) -> Any:  # JSON of any shape; callers check what they use
    """Return the decoded JSON of an answer or a streamed event; a byte order mark may precede it.

    Raises:
        Contradiction: An object has a name twice that decides what the answer is, with different
            values.
        ValueError: The text is not strict JSON.
    """
    body = body.removeprefix(BOM)
    value = loads(body)
    # A name that is quoted once stands in one object; only repeated ones need the slow look.
    quoted = _QUOTED.findall(body)
    if len(quoted) > len(set(quoted)) or _ESCAPED.search(body):
        _check(body)
    return value


def _check(body: bytes) -> None:
    """Raise Contradiction where a deciding name has two values.

    Decodes a second time, which few answers need.
    """
    try:
        json.loads(body, object_pairs_hook=_unambiguous)
    except RecursionError:  # deeper than any answer is, and read by its first levels alone
        return


def _unambiguous(pairs: list[tuple[str, object]]) -> dict[str, object]:
    pairs_by_name: dict[str, object] = {}
    for name, value in pairs:
        earlier = pairs_by_name.get(name)
        is_given = name in pairs_by_name and name in _DECIDING
        # The names in a mapping of log-probabilities are tokens, and two tokens may have one
        # spelling.
        if is_given and earlier != value and not (is_number(earlier) and is_number(value)):
            raise Contradiction(
                f'one object of the answer has "{name}" twice, with different values'
            )
        pairs_by_name[name] = value
    return pairs_by_name
