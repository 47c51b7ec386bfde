"""The breakdown of a score by category: by the benchmark's own, else by the field ``category`` or
``subject`` of a row.

A field that the benchmark does not name is used only where it has few values: it may be a free
text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from nel.metrics.accumulator import Accumulator
from nel.metrics.category_fields import FIELDS, FOUND_MAX, Fields, is_breakdown
from nel.metrics.outcome_columns import OutcomeColumns, OutcomeColumnsBuilder


class Categories:
    """Accumulates results by category; results of a benchmark arrive once each, in order."""

    def __init__(self, empty: Callable[[], Accumulator]) -> None:
        """Start without a category.

        Args:
            empty: Makes the accumulator of a category.
        """
        self._empty = empty
        self._named: dict[str, Accumulator] = {}
        self._found: dict[str, dict[str, Accumulator]] = {name: {} for name in FIELDS}

    def add_all(self, counted: OutcomeColumnsBuilder) -> None:
        """Count results in the categories of their samples, where they have them.

        Args:
            counted: The results, each with the `fields_of` its sample as the label.
        """
        columns, labels = counted.columns(), np.array(counted.label_codes, dtype=np.int64)
        _, firsts = np.unique(labels, return_index=True)
        by_column: list[dict[int, Accumulator]] = [{} for _ in (None, *FIELDS)]
        names = list(counted.labels)
        for label in labels[np.sort(firsts)].tolist():
            for position, accumulators in self._parts(names[label]):
                by_column[position][label] = accumulators
        for parts in by_column:
            self._add_to(parts, columns, labels)

    def _add_to(
        self, parts: Mapping[int, Accumulator], columns: OutcomeColumns, labels: NDArray[np.int64]
    ) -> None:
        """Count each result in the accumulator of its label; several labels may have one."""
        if not parts:
            return
        accumulators = list(
            {id(accumulator): accumulator for accumulator in parts.values()}.values()
        )
        numbers = {id(accumulator): number for number, accumulator in enumerate(accumulators)}
        number_of = np.full(int(labels.max()) + 1, len(accumulators))  # of none of them
        for label, category_part in parts.items():
            number_of[label] = numbers[id(category_part)]
        of_rows = number_of[labels]
        order = np.argsort(of_rows, kind="stable")
        ends = np.searchsorted(of_rows[order], np.arange(len(accumulators)), side="right").tolist()
        for start, end, category_part in zip((0, *ends), ends, accumulators, strict=False):
            category_part.add_all(columns.selected(order[start:end]))

    def by_name(self) -> dict[str, Accumulator]:
        """Return the accumulators by category, sorted: of the benchmark's own field, else of the
        first that fits.
        """
        fits = [parts for parts in self._found.values() if is_breakdown(len(parts))]
        return dict(sorted((self._named or next(iter(fits), {})).items()))

    def _parts(self, fields: Fields | None) -> list[tuple[int, Accumulator]]:
        """Return the accumulators of a sample, each with the number of the breakdown that it
        belongs to.
        """
        if fields is None:
            return []
        if fields.subset is not None:
            return [(0, self._of(self._named, fields.subset))]
        return [
            (position, self._of(self._found[name], value))
            for position, (name, value) in enumerate(
                zip(FIELDS, fields.texts, strict=True), start=1
            )
            if value is not None and self._has_room(name, value)
        ]

    def _of(self, parts: dict[str, Accumulator], name: str) -> Accumulator:
        if name not in parts:
            parts[name] = self._empty()
        return parts[name]

    def _has_room(self, name: str, value: str) -> bool:
        """Return whether a value is known, or there is room; one more than `FOUND_MAX` shows that
        they are many.
        """
        return value in self._found[name] or len(self._found[name]) <= FOUND_MAX
