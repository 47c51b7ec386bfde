"""Finds which of many texts occur in a given text, without looking at each one.

Each needle is entered under a few of its own windows of fixed length; a text is then probed at every n-th position. It
knows nothing of recordings. Trap: windows must start at as many neighbouring positions as the probes are apart, or an
occurrence between two probes is missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

_TIERS: Final = ((32, 8), (16, 8), (8, 4), (4, 1), (2, 1), (1, 1))
"""Window length and distance between probes; a needle uses the first tier that fits into it."""
_STARTS_MAX: Final = 48
"""Places in a needle that are weighed for its windows."""


class AnchorIndex:
    """An index over needles; positions in the sequence given are what it returns."""

    def __init__(self, needles: Sequence[str]) -> None:
        self._needles = needles
        self._tables: dict[tuple[int, int], dict[str, list[int]]] = {}
        common: Counter[str] = Counter()
        for needle in needles:
            common.update(_windows_weighed(needle))
        for position, needle in enumerate(needles):
            self._enter(position, needle, common)

    def occurring_in(self, text: str) -> list[int]:
        """Return the positions of the needles that occur in the text, ascending."""
        near: set[int] = set()
        for (length, step), table in self._tables.items():
            for start in range(0, len(text) - length + 1, step):
                found = table.get(text[start : start + length])
                if found is not None:
                    near.update(found)
        return [position for position in sorted(near) if self._needles[position] in text]

    def _enter(self, position: int, needle: str, common: Counter[str]) -> None:
        length, step = tier = _tier(needle)
        table = self._tables.setdefault(tier, {})
        start = min(_starts(needle), key=lambda at: common[needle[at : at + length]])
        for window in {needle[at : at + length] for at in range(start, start + step)}:
            table.setdefault(window, []).append(position)


def _tier(needle: str) -> tuple[int, int]:
    for length, step in _TIERS:
        if len(needle) >= length + step - 1:
            return length, step
    raise ValueError("an empty text occurs everywhere and cannot be looked up")


def _starts(needle: str) -> Iterable[int]:
    """Return where a needle's run of windows may start, spread over it."""
    length, step = _tier(needle)
    last = len(needle) - length - step + 1
    return range(0, last + 1, max(step, -(-last // _STARTS_MAX)))


def _windows_weighed(needle: str) -> Iterator[str]:
    length = _tier(needle)[0]
    for start in _starts(needle):
        yield needle[start : start + length]
