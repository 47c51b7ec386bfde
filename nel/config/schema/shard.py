"""Which part of a run one process asks: the grammar of ``--shard``. Depends on nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SHARDS_MAX: Final = 10_000
_SHARD: Final = re.compile(r"(?P<number>[0-9]{1,9})/(?P<of>[0-9]{1,9})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One of the equal parts that a run is divided into."""

    number: int
    """From 1."""
    of: int
    """How many there are."""

    def __str__(self) -> str:
        """Return it as ``--shard`` takes it."""
        return f"{self.number}/{self.of}"

    @property
    def title(self) -> str:
        """Return it in words."""
        return f"shard {self.number} of {self.of}"


def read_shard(text: str) -> Shard:
    """Return what ``--shard`` says.

    Raises:
        ValueError: It is not ``I/N`` with I from 1 to N; the message says what was meant.

    >>> str(read_shard("02/8"))
    '2/8'
    """
    match = _SHARD.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'"{text}" is not a shard; say I/N, such as 1/8 for the first of eight')
    number, of = int(match["number"]), int(match["of"])
    if not 1 <= of <= SHARDS_MAX:
        raise ValueError(f'"{text}": a run has 1 to {SHARDS_MAX:,} shards, not {of:,}')
    if not 1 <= number <= of:
        raise ValueError(
            f'"{text}": shards are counted from 1, so that of {of:,} there is 1/{of} to {of}/{of}'
        )
    return Shard(number=number, of=of)
