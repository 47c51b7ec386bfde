"""Samples whose model acts: what it calls, how its tools behave, and what must come of it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from nel.episodes.episode import Episode
from nel.tools import Tool, ToolError, Toolset, tool
from nel.types import Message, Sample

Temper = Literal["well", "dies_once", "hangs_once", "dies", "hangs", "raises"]
Move = tuple[str, ...]
"""The tools that one answer calls; none: the model says something."""

_TEMPERS: Final[dict[Temper, float]] = {
    "well": 70, "dies_once": 10, "hangs_once": 5, "dies": 5, "hangs": 5, "raises": 5,
}  # fmt: skip
_FAULTS: Final[dict[Temper, str]] = {"dies": "tool_died", "hangs": "tool_hung", "raises": "tool_raised"}
_MOVES: Final[tuple[Move, ...]] = (
    ("look",), ("send",), ("deposit",), ("look", "look"), ("send", "deposit"), ("deposit", "deposit"),
    ("deposit", "refuse"), ("fly",),
)  # fmt: skip
DEPOSIT: Final = 5
ASIDE: Final = "an aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """What a world's model does with its tools, by sample."""

    moves: tuple[tuple[Move, ...], ...]
    """Each ends with an answer that calls nothing; so does each turn of two."""
    tempers: tuple[Temper, ...]
    """How the tools behave, from the first call on."""
    tool_seconds: float
    resume: Literal["replay", "restart"]
    """Of the environment."""

    def clean(self) -> Acting:
        """Return the same with the faults that happen once left out."""
        tempers = tuple("well" if temper.endswith("_once") else temper for temper in self.tempers)
        return replace(self, tempers=tempers)

    def fault(self, idx: int) -> str | None:
        """Return what the tools of a sample end every attempt with."""
        return _FAULTS.get(self.tempers[idx])

    def balance(self, idx: int) -> int:
        """Return what the environment of a sample holds in the end."""
        return DEPOSIT * sum(move.count("deposit") for move in self.moves[idx])


def acting_of(rng: random.Random, n: int) -> Acting:
    """Return what the model does in so many samples."""
    tempers = rng.choices(list(_TEMPERS), list(_TEMPERS.values()), k=n)
    moves = []
    for temper in tempers:
        turns = [[*rng.choices(_MOVES, k=rng.randint(1, 4)), ()] for _ in range(rng.choice((1, 1, 2)))]
        # A kill inside a call that is sent once would hide a fault: the call is not run again.
        turns[0][0] = ("deposit",) if temper in _FAULTS else rng.choice((("send",), ("deposit",)))
        moves.append(tuple(move for turn in turns for move in turn))
    return Acting(
        moves=tuple(moves),
        tempers=tuple(tempers),
        tool_seconds=rng.choice((0.05, 1.0, 10.0)),
        resume=rng.choice(("replay", "replay", "restart")),
    )


class Account(Toolset):
    """What the calls of one episode add up to."""

    def __init__(self, sample: Sample) -> None:
        super().__init__(sample)
        self.balance = 0

    @tool
    def deposit(self, amount: int) -> dict[str, int]:
        """Put money in."""
        self.balance += amount
        return {"balance": self.balance}

    @tool
    def refuse(self) -> None:
        """Refuse what is asked."""
        raise ToolError("this is not done here")

    def evidence(self) -> Any:
        return {"balance": self.balance}


class LastingAccount(Account):
    """The same where stored calls cannot be run again."""

    resume = "restart"


def tools_with(effects: list[str]) -> tuple[Tool, ...]:
    """Return the functions that the model may call.

    Args:
        effects: What was sent, in the order of time; nothing takes it back.
    """

    @tool(on_interrupt="again", parallel=True)
    def look(at: str) -> str:
        """Look at something."""
        return f"{at} is there"

    @tool
    def send(text: str) -> str:
        """Send a message, which cannot be unsent."""
        effects.append(text)
        return "sent"

    return look, send


async def act(sample: Sample, episode: Episode) -> None:
    """Call what the model calls until it says something, in each turn; ask beside the conversation after the first."""
    episode.now()
    for turn in range(sample.metadata["n_turns"]):
        if turn:
            await episode.ask([Message(role="user", content=f"{ASIDE} of {sample.id}")], tools=[])
            await episode.user(f"turn {turn} of {sample.id}")
        with episode.span(f"turn {turn}"):
            reply = await episode.ask()
            while reply.calls:
                await episode.call_all(reply.calls)
                reply = await episode.ask()


def calls_of(move: Move, sample: int, number: int) -> list[dict[str, str]]:
    """Return the calls of an answer, as the endpoint writes them.

    Args:
        sample: Its index.
        number: Of the answer in the conversation.
    """
    arguments = {
        "look": f'{{"at": "place {number}"}}',
        "send": f'{{"text": "s{sample}/{number}"}}',
        "deposit": f'{{"amount": {DEPOSIT}}}',
    }
    return [{"name": name, "arguments": arguments.get(name, "{}")} for name in move]


def texts_sent(moves: Sequence[Move], sample: int) -> list[str]:
    """Return what the calls of a sample send."""
    return [f"s{sample}/{number}" for number, move in enumerate(moves) if "send" in move]
