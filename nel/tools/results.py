"""What a call of a tool came to, as the model sees it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from pydantic_core import to_jsonable_python

from nel.core.strict_json import dumps_bytes
from nel.types import value_class

ToolErrorKind: TypeAlias = Literal[
    "unknown_tool", "bad_json", "bad_arguments", "tool_error", "timeout", "interrupted"
]
"""Why a call failed: by the model, by the tool's own word, or by a kill; the model reads it."""

INTERRUPTED: Final = (
    "The call of {} was interrupted before its result was known; it may have taken effect. Check"
    " before you repeat it."
)
"""What the model reads of a call that may not be run twice."""
OUTPUT_BYTES_MAX: Final = 10 << 20
"""Of an output as its tool's process hands it on and as it is stored; a longer one keeps its head
and its tail.
"""


class ToolError(Exception):
    """Raised by a tool to report a failed call to the model; the episode goes on.

    Any other exception of a tool is a fault of the environment: the sample is unscored.
    """


class ToolsetFault(Exception):
    """Raised by a `Toolset` whose world failed, such as a container that died: the sample is
    unscored under this kind, and the model does not read of it.
    """

    def __init__(self, kind: str, detail: str) -> None:
        """Name the kind, a short stable word."""
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


@value_class(kw_only=True)
class ToolResult:
    """The result of one call."""

    text: str
    """What the model is shown; an output over the limit keeps its head and its tail."""
    error: ToolErrorKind | None = None
    """None where the call succeeded."""
    n_cut: int = 0
    """Bytes of the output that the model is not shown."""
    whole: str | None = None
    """The output before it was cut, head and tail of 10 MiB; None where nothing was."""
    seconds: float = 0.0
    """Time of the call's work."""
    snapshot: str | None = None
    """What holds the environment's state after the call; None where it has none."""
    unsaved: str | None = None
    """Why none holds it, though the environment has snapshots."""


def cut_output(text: str, bytes_max: int, n_bytes: int | None = None) -> tuple[str, int]:
    """Return a text of at most about so many bytes and how many bytes were cut from its middle.

    Head and tail are kept in equal parts, and a line between them says what is missing.

    Args:
        text: The output, or head and tail of it.
        bytes_max: What is kept.
        n_bytes: Of the whole output, where the text is not all of it.

    >>> cut_output("a" * 40, 10)
    ('aaaaa\\n[... 30 bytes of the output are left out here ...]\\naaaaa', 30)
    """
    data = text.encode("utf-8", "surrogatepass")
    n_cut = max(0, (n_bytes or len(data)) - bytes_max)
    # Where the text is head and tail already, it may fit although bytes were cut.
    if len(data) <= bytes_max or not n_cut:
        return text, n_cut
    # An odd byte goes to the head. Of a character that the cut goes through, nothing is left.
    n_tail = bytes_max // 2
    head = data[: bytes_max - n_tail].decode("utf-8", "ignore")
    tail = data[len(data) - n_tail :].decode("utf-8", "ignore")
    return f"{head}\n[... {n_cut:,} bytes of the output are left out here ...]\n{tail}", n_cut


def result_text(result: object) -> str:
    """Return a result as the model is shown it: text as it is, anything else as JSON."""
    if isinstance(result, str):
        return result
    value = to_jsonable_python(result)
    # NaN and infinities as Python's JSON writes them: null would be another result.
    if not_finite(value) is not None:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "" if result is None else dumps_bytes(value).decode()


def not_finite(value: object, path: str = "$") -> str | None:
    """Return where a value has a NaN or an infinity, and which; None where it has none.

    >>> not_finite({"scores": [0.5, float("nan")]})
    '$.scores[1] is nan'
    """
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{path} is {value}"
    items: Iterable[tuple[str, object]] = ()
    if isinstance(value, dict):
        items = ((f"{path}.{key}", item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        items = ((f"{path}[{at}]", item) for at, item in enumerate(value))
    return next(filter(None, (not_finite(item, where) for where, item in items)), None)
