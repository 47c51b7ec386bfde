"""The solver of a model with tools: it runs what the model calls, until an answer calls nothing.

There is no hidden prompt: the model sees the benchmark's own messages and tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nel.episodes import Episode
    from nel.types import Sample


async def react(sample: Sample, episode: Episode, *, submit: str | None = None) -> str | None:
    """Loop over answers and calls until the first answer without a call.

    Args:
        sample: The sample.
        episode: Its episode.
        submit: The name of a tool whose call ends the episode, where the benchmark has one.
    """
    while True:
        reply = await episode.ask()
        if not reply.calls:
            return reply.text
        await episode.call_all(reply.calls)
        if submit is not None and any(call.name == submit for call in reply.calls):
            return reply.text
