"""The breakdown of a score by category: by the benchmark's own, else by the field ``category`` or ``subject`` of a row.

A field that the benchmark does not name is used only where it has few values: it may be a free text.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from nel.artifacts.results import Result
from nel.metrics.accumulator import Accumulator
from nel.types import Sample

FOUND_MAX: Final = 100
"""Values of a field that the benchmark did not name; with more there is no breakdown by it."""
_FIELDS: Final = ("category", "subject")
_FEWEST: Final = 2
"""One value alone would repeat the headline."""


class Categories:
    """Accumulates results by category; results of a benchmark arrive once each."""

    def __init__(self, empty: Callable[[], Accumulator]) -> None:
        """Start without a category.

        Args:
            empty: Makes the accumulator of a category.
        """
        self._empty = empty
        self._named: dict[str, Accumulator] = {}
        self._found: dict[str, dict[str, Accumulator]] = {name: {} for name in _FIELDS}

    def add(self, result: Result) -> None:
        """Count one result in the category of its sample, where it has one."""
        group = None if result.sample is None else result.sample.group
        for part in self._parts(result.sample):
            part.add(result.idx, result.outcome, group=group)

    def count_not_asked(self, result: Result, reason: str) -> None:
        """Count a result that was not to be asked."""
        for part in self._parts(result.sample):
            part.accounting.count_not_asked(reason)

    def by_name(self) -> dict[str, Accumulator]:
        """Return the accumulators by category, sorted: of the benchmark's own field, else of the first that fits."""
        fits = [parts for parts in self._found.values() if _FEWEST <= len(parts) <= FOUND_MAX]
        return dict(sorted((self._named or next(iter(fits), {})).items()))

    def _parts(self, sample: Sample | None) -> list[Accumulator]:
        if sample is None:
            return []
        if sample.subset is not None:
            return [self._of(self._named, sample.subset)]
        values = {name: sample.metadata.get(name) for name in _FIELDS}
        return [
            self._of(self._found[name], value)
            for name, value in values.items()
            if isinstance(value, str) and value.strip() and self._has_room(name, value)
        ]

    def _of(self, parts: dict[str, Accumulator], name: str) -> Accumulator:
        if name not in parts:
            parts[name] = self._empty()
        return parts[name]

    def _has_room(self, name: str, value: str) -> bool:
        """Return whether a value is known, or there is room; one more than `FOUND_MAX` shows that they are many."""
        return value in self._found[name] or len(self._found[name]) <= FOUND_MAX
