"""What a call of a tool came to, as the model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

ToolErrorKind: TypeAlias = Literal[
    "unknown_tool", "bad_json", "bad_arguments", "tool_error", "timeout"
]
"""Why a call failed by the model's doing, or by the tool's own word; each is text to the model."""

OUTPUT_BYTES_MAX: Final = 10 << 20
"""Of an output as its tool's process hands it on and as it is stored; head and tail of a longer
one."""


class ToolError(Exception):
    """Raised by a tool to report a failed call to the model; the episode goes on.

    Any other exception of a tool is a fault of the environment: the sample is unscored.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
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
    if len(data) <= bytes_max or not n_cut:
        return text, n_cut
    n_tail = bytes_max // 2
    head = data[: bytes_max - n_tail].decode("utf-8", "ignore")
    tail = data[len(data) - n_tail :].decode("utf-8", "ignore")
    return f"{head}\n[... {n_cut:,} bytes of the output are left out here ...]\n{tail}", n_cut
