"""Finds which of many texts occur in a given text, without looking at each one.

A text is entered by a few characters of its middle, where texts made from one template differ more
often than at their ends; what has them is then looked for as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

_WINDOW: Final = 16
"""Characters; a shorter text is looked for as it is."""


class AnchorIndex:
    """An index over distinct needles; positions in the sequence given are what it returns."""

    def __init__(self, needles: Sequence[str]) -> None:
        """Enter each needle.

        Args:
            needles: Texts to be looked for, none of them empty.
        """
        self._needles = needles
        self._by_window: defaultdict[str, list[int]] = defaultdict(list)
        for position, needle in enumerate(needles):
            start = max(0, len(needle) - _WINDOW) // 2
            self._by_window[needle[start : start + _WINDOW]].append(position)
        self._short = [window for window in self._by_window if len(window) < _WINDOW]

    def occurring_in(self, text: str) -> list[int]:
        """Return the positions of the needles that occur in the text, ascending."""
        windows = {text[start : start + _WINDOW] for start in range(len(text) - _WINDOW + 1)}
        # A needle occurs only where the middle of it does; a short one may be anywhere.
        candidates: set[int] = set()
        for window in (windows & self._by_window.keys()).union(self._short):
            candidates.update(self._by_window[window])
        return [position for position in sorted(candidates) if self._needles[position] in text]
