"""Finds which of many texts occur in a given text, without looking at each one.

Each needle is entered under a run of its own windows, chosen where few other needles have the same;
a text is then probed at every n-th position. The windows of a run must start at as many
neighbouring positions as the probes are apart, or an occurrence between two probes is missed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

_TIERS: Final = ((32, 8), (16, 8), (8, 4), (4, 1), (2, 1), (1, 1))
"""Window length and distance between probes; a needle uses the first tier that it is long enough
for.
"""
_STARTS_MAX: Final = 48
"""Places in a needle that are weighed for its run of windows."""
_EDGE: Final = 32
"""Places at either end of a crowded needle that are weighed besides, since templates often differ
there.
"""
_CROWD_MAX: Final = 16
"""Needles that may share a window; beyond, a needle gets one window of its own and is probed for at
every position.
"""


class AnchorIndex:
    """An index over distinct needles; positions in the sequence given are what it returns."""

    def __init__(self, needles: Sequence[str]) -> None:
        self._needles = needles
        self._tables: dict[tuple[int, int], dict[str, list[int]]] = {}
        crowded = self._enter(range(len(needles)), is_fine=False)
        self._enter(crowded, is_fine=True)

    def occurring_in(self, text: str) -> list[int]:
        """Return the positions of the needles that occur in the text, ascending."""
        near: set[int] = set()
        for (length, step), table in self._tables.items():
            for start in range(0, len(text) - length + 1, step):
                positions = table.get(text[start : start + length])
                if positions is not None:
                    near.update(positions)
        return [position for position in sorted(near) if self._needles[position] in text]

    def _enter(self, positions: Iterable[int], *, is_fine: bool) -> list[int]:
        """Enter needles where their windows are rarest; return those that share even these with too
        many others.
        """
        common: Counter[str] = Counter()
        for position in positions:
            common.update(_weighed(self._needles[position], is_fine=is_fine))
        crowded = []
        for position in positions:
            needle = self._needles[position]
            length, step = tier = _tier(needle, is_fine=is_fine)
            weights = {
                at: _weight(needle[at : at + length + step - 1], length, common)
                for at in _starts(needle, tier)
            }
            start = min(weights, key=weights.__getitem__)
            if not is_fine and weights[start] > _CROWD_MAX:
                crowded.append(position)
                continue
            table = self._tables.setdefault(tier, {})
            for window in {needle[at : at + length] for at in range(start, start + step)}:
                table.setdefault(window, []).append(position)
        return crowded


def _tier(needle: str, *, is_fine: bool) -> tuple[int, int]:
    for length, step in ((length, 1 if is_fine else step) for length, step in _TIERS):
        if len(needle) >= length + step - 1:
            return length, step
    raise ValueError("an empty text occurs everywhere and cannot be looked up")


def _starts(needle: str, tier: tuple[int, int]) -> Iterable[int]:
    """Return where a needle's run of windows may start, spread over it."""
    length, step = tier
    last = len(needle) - length - step + 1
    spread = range(0, last, max(step, -(-last // _STARTS_MAX)))
    if step > 1:
        return chain(spread, (last,))
    return chain(spread, range(min(_EDGE, last)), range(max(0, last - _EDGE), last + 1))


def _weight(run: str, length: int, common: Counter[str]) -> int:
    """Return how many needles share the more common end of a run of windows."""
    return max(common[run[:length]], common[run[-length:]])


def _weighed(needle: str, *, is_fine: bool) -> set[str]:
    length, step = tier = _tier(needle, is_fine=is_fine)
    starts = list(_starts(needle, tier))
    return {needle[at : at + length] for start in starts for at in (start, start + step - 1)}
