"""A solver: has the model look at its own answer again."""

from nel.episodes import Episode
from nel.types import Sample


async def second_look(sample: Sample, episode: Episode, *, looks: int = 1) -> str | None:
    """Ask, then have the answer checked so many times; the last answer counts."""
    reply = await episode.ask()
    for _ in range(looks):
        await episode.user("Check your answer, and give the final one.")
        reply = await episode.ask()
    return reply.text
