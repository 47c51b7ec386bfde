"""What the finish reason of an answer means, in the words of the usual servers. No I/O.

OpenAI's protocol has five reasons, and servers behind it pass on the words of their own engine or
vendor.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Ending: TypeAlias = Literal[
    "complete", "truncated", "content_filter", "refusal", "tool_calls", "aborted", "unknown"
]
"""``aborted``: the server broke off, which says nothing of the model. ``unknown``: no server is
known to say so.
"""

_WORDS: Final[Mapping[Ending, str]] = {
    "complete": (
        "stop end_turn stop_sequence eos eos_token stop_token end_of_text endoftext end_of_turn"
        " complete completed finish finished"
    ),
    "truncated": (
        "length max_tokens max_output_tokens max_completion_tokens max_new_tokens max_length"
        " max_output token_limit model_length context_length model_context_window_exceeded"
        " error_limit"
    ),
    "content_filter": (
        "content_filter content_filtered safety recitation blocklist prohibited_content spii"
        " language image_safety image_recitation image_prohibited_content model_armor"
        " guardrail_intervened sensitive error_toxic content_policy content_policy_violation"
    ),
    "refusal": "refusal",
    "tool_calls": (
        "tool_calls tool_call tool_use function_call malformed_function_call unexpected_tool_call"
        " too_many_tool_calls"
    ),
    "aborted": (
        "abort aborted cancel cancelled canceled user_cancel timeout error network_error"
        " server_error insufficient_system_resource incomplete"
    ),
}
_ENDINGS: Final[Mapping[str, Ending]] = {
    word: ending for ending, words in _WORDS.items() for word in words.split()
}
_NO_WORDS: Final = frozenset({"", "null", "none"})
"""What some servers write while an answer has not ended, as in the chunks of a stream."""
_FAILED_CALL: Final = frozenset({"malformed_function_call", "unexpected_tool_call"})
_CONTEXT_FULL: Final = frozenset(
    {"model_length", "context_length", "model_context_window_exceeded", "error_limit"}
)


def ending_of(finish_reason: str | None) -> Ending:
    """Return what a finish reason means; an answer without one is complete.

    >>> ending_of("MAX_TOKENS"), ending_of("FinishReason.SAFETY"), ending_of("abort"), ending_of("repetition")
    ('truncated', 'content_filter', 'aborted', 'unknown')
    """
    word = _word(finish_reason)
    return _ENDINGS.get(word, "unknown") if word else "complete"


def has_ended(finish_reason: object) -> bool:
    """Return whether the finish reason of a chunk says that the answer is over.

    >>> has_ended("stop"), has_ended(None), has_ended("null")
    (True, False, False)
    """
    if isinstance(finish_reason, str):
        return bool(_word(finish_reason))
    return finish_reason is not None


def is_context_full(finish_reason: str | None) -> bool:
    """Return whether an answer was cut off by the model's context, not by the request's limit."""
    return _word(finish_reason) in _CONTEXT_FULL


def is_failed_call(finish_reason: str | None) -> bool:
    """Return whether an answer ended in a call that is unreadable, or of a tool not offered."""
    return _word(finish_reason) in _FAILED_CALL


@lru_cache(maxsize=256)  # a run has a few, and asks for each answer
def _word(finish_reason: str | None) -> str:
    """Return a reason as the table has it: ``FinishReason.MAX_TOKENS`` is ``max_tokens``."""
    # `FinishReason.SAFETY` is a member of a Python enumeration as text, and `FINISH_REASON_SAFETY`
    # one of a protocol buffer.
    word = (finish_reason or "").strip().lower().rpartition(".")[2]
    word = word.replace("-", "_").replace(" ", "_").removeprefix("finish_reason_")
    return "" if word in _NO_WORDS else word
