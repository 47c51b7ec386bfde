"""The solver of a conversation whose user messages are known beforehand.

Each is sent once the answer to the one before has no more calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nel.episodes import Episode
    from nel.types import Sample


async def turns(
    sample: Sample, episode: Episode, *, steps_per_turn: int | None = None
) -> str | None:
    """Go through the sample's turns; in each, run what the model calls until it calls nothing.

    Args:
        sample: The sample.
        episode: Its episode.
        steps_per_turn: So many answers end a turn although the last one has calls, which are run.
    """
    text: str | None = None
    for number in range(len(sample.turns) + 1):
        if number:
            await episode.user(sample.turns[number - 1])
        n_steps = 0
        while steps_per_turn is None or n_steps < steps_per_turn:
            reply = await episode.ask()
            n_steps += 1
            text = reply.text
            if not reply.calls:
                break
            await episode.call_all(reply.calls)
    return text
