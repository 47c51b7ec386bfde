"""Inspect's generation settings by nel's names.

What concerns how Inspect's client sends is left to nel, which has settings of its own for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_NAMED: Final = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "seed": "seed",
}
_BODY: Final = (
    "frequency_penalty", "presence_penalty", "logit_bias", "top_k", "best_of", "reasoning_effort", "verbosity",
)  # fmt: skip
_OF_THE_MACHINERY: Final = (
    "max_retries", "timeout", "attempt_timeout", "stream_idle_timeout", "max_connections", "adaptive_connections",
    "cache", "cache_prompt", "batch", "internal_tools", "max_tool_output", "fail_on_refusal",
    "reasoning_history", "reasoning_summary",
)  # fmt: skip
"""How Inspect's client sends, for which nel has its own settings, or what it does after an
answer.
"""
_OF_TOOLS: Final = ("parallel_tool_calls",)


def by_our_names(
    settings: Mapping[str, Any], *, has_tools: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Return settings as a benchmark's ``generation`` has them, and the names of those that nel
    cannot send.

    Args:
        settings: By Inspect's names.
        has_tools: Whether tools are on offer; else what concerns them is left out, as Inspect does.
    """
    unsent = (*_OF_THE_MACHINERY, *(() if has_tools else _OF_TOOLS))
    remainder = {key: value for key, value in settings.items() if key not in unsent}
    generation = {
        own_name: remainder.pop(name) for name, own_name in _NAMED.items() if name in remainder
    }
    stop = remainder.pop("stop_seqs", None)
    extra = dict(remainder.pop("extra_body", None) or {})
    extra |= {name: remainder.pop(name) for name in (*_BODY, *_OF_TOOLS) if name in remainder}
    if stop:
        generation["stop"] = list(stop)
    return ({**generation, "extra": extra} if extra else generation), sorted(remainder)
