"""An answer with its calls of tools as one text, for those who look at it. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def with_calls(answer: str | None, calls: object) -> str | None:
    """Return an answer followed by its calls, one on a line.

    Args:
        answer: The text of the answer; None where there is none.
        calls: As results.jsonl has them: objects with ``name`` and ``arguments``; anything else is
            left out.

    >>> with_calls("I add.", [{"id": "1", "name": "add", "arguments": '{"x": 1}'}])
    'I add.\\n[calls add({"x": 1})]'
    """
    listed = [one for one in calls if isinstance(one, Mapping)] if isinstance(calls, list) else []
    if not listed:
        return answer
    return "\n".join([*([answer] if answer else []), *map(_line, listed)])


def _line(call: Mapping[str, Any]) -> str:
    return f"[calls {call.get('name')}({call.get('arguments')})]"
