"""What a solver reads of the model's answers. Depends on `nel.types` and the kinds of endings."""

from __future__ import annotations

from nel.core.finish_reasons import ending_of
from nel.types import Message, Response, ToolCall, Usage, value_class


@value_class(kw_only=True)
class Reply:
    """One answer of the model."""

    text: str
    reasoning: str | None
    calls: tuple[ToolCall, ...]
    """Every call that the model wrote; one that cannot be read has a ``parse_error``."""
    ending: str
    """``complete``, ``tool_calls``, ``truncated``, ``refusal`` or ``content_filter``."""
    usage: Usage
    message: Message
    """The answer as the next request sends it back."""


def reply_of(response: Response) -> Reply:
    """Return a response as a solver sees it."""
    message = response.message
    ending = "tool_calls" if message.tool_calls else ending_of(response.finish_reason)
    return Reply(
        text=response.text,
        reasoning=response.reasoning,
        calls=message.tool_calls,
        ending=ending,
        usage=response.usage,
        message=message,
    )
