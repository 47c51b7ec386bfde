"""Finds which of many needles occur in a text, without a search for each one.

A needle is indexed by a window of characters at its middle, where texts of one template differ more
often than at their ends. Needles whose window occurs in a text are then compared in full.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

_WINDOW: Final = 16
"""Characters; a shorter needle is its own window."""


class WindowIndex:
    """An index over distinct needles, which it names by their positions."""

    def __init__(self, needles: Sequence[str]) -> None:
        """Index each needle; none of them is empty."""
        self._needles = needles
        self._by_window: defaultdict[str, list[int]] = defaultdict(list)
        for position, needle in enumerate(needles):
            start = max(0, len(needle) - _WINDOW) // 2
            self._by_window[needle[start : start + _WINDOW]].append(position)
        self._short = [window for window in self._by_window if len(window) < _WINDOW]

    def occurring_in(self, text: str) -> list[int]:
        """Return the positions of the needles that occur in the text, ascending."""
        windows = {text[start : start + _WINDOW] for start in range(len(text) - _WINDOW + 1)}
        # A needle occurs only where its window does; shorter ones have no window of this length.
        candidates: set[int] = set()
        for window in (windows & self._by_window.keys()).union(self._short):
            candidates.update(self._by_window[window])
        return [position for position in sorted(candidates) if self._needles[position] in text]
