"""The breakdown of a score by category: by the benchmark's own, else by the field ``category`` or
``subject`` of a row.

A field that the benchmark does not name is used only where it has few values: it may be a free
text.
"""

from __future__ import annotations

from collections.abc import Callable

from nel.metrics.accumulator import Accumulator
from nel.metrics.category_fields import FIELDS, FOUND_MAX, Fields, is_breakdown


class Categories:
    """Accumulates results by category; results of a benchmark arrive once each, in order."""

    def __init__(self, new_accumulator: Callable[[], Accumulator]) -> None:
        """Start without a category.

        Args:
            new_accumulator: Makes the accumulator of a category.
        """
        self._new_accumulator = new_accumulator
        self._named: dict[str, Accumulator] = {}
        self._found: dict[str, dict[str, Accumulator]] = {name: {} for name in FIELDS}

    def of(self, fields: Fields | None) -> list[Accumulator]:
        """Return the accumulators of the categories that a sample is in."""
        if fields is None:
            return []
        if fields.subset is not None:
            return [self._of(self._named, fields.subset)]
        accumulators = []
        for (name, found), value in zip(self._found.items(), fields.texts, strict=True):
            if value is not None and self._has_room(name, value):
                accumulators.append(self._of(found, value))
        return accumulators

    def by_name(self) -> dict[str, Accumulator]:
        """Return the accumulators by category, sorted.

        The field is the benchmark's own, else the first one that fits.
        """
        if self._named:
            return dict(sorted(self._named.items()))
        for found in self._found.values():
            if is_breakdown(len(found)):
                return dict(sorted(found.items()))
        return {}

    def _of(self, parts: dict[str, Accumulator], name: str) -> Accumulator:
        if name not in parts:
            parts[name] = self._new_accumulator()
        return parts[name]

    def _has_room(self, name: str, value: str) -> bool:
        """Return whether a value is known, or there is room: up to one more than `FOUND_MAX`.

        That one more shows that the values are many.
        """
        found = self._found[name]
        return value in found or len(found) <= FOUND_MAX
