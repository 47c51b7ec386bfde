"""The sample solver asks as often as it is told."""

import asyncio
from types import SimpleNamespace

from nel_example.second_look import second_look

from nel.types import Sample


def test_the_solver_asks_again_and_takes_the_last_answer() -> None:
    """Two looks are two messages of the user and three answers."""
    said: list[str] = []
    answers = iter("abc")

    async def ask() -> SimpleNamespace:
        return SimpleNamespace(text=next(answers))

    async def user(text: str) -> None:
        said.append(text)

    episode = SimpleNamespace(ask=ask, user=user)
    last = asyncio.run(second_look(Sample(id="q", input="2 + 2?"), episode, looks=2))
    assert (last, len(said)) == ("c", 2)
