"""Describes a dataset for the wizard: its columns, its first rows, and the kinds of values.

Values of a CSV file are all text, so numbers are recognised by their spelling. Proposals are made
in `nel.apps.byob.wizard.proposals`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nel.core.texts import list_in_text, shorten
from nel.datasets import open_dataset
from nel.datasets.fields import lookup

SHOWN_ROWS: Final = 3
_ROWS_MAX: Final = 500
"""Rows that are kept for proposals."""
_NUMBER: Final = re.compile(r"[-−+]?[$€£]?\d[\d, ]*(\.\d+)?%?")
_CELL_CHARS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A dataset that was read once."""

    source: str
    """The path or URI as given."""
    n_rows: int
    columns: tuple[str, ...]
    """Of the first rows, in their order."""
    rows: tuple[dict[str, Any], ...]
    """The first ones, on which proposals are based."""
    notes: tuple[str, ...] = ()
    """Notes on what was left out or converted."""

    def fields(self) -> tuple[str, ...]:
        """Return the columns, and the texts and lists of texts below objects: ``choices.text``."""
        below = [
            f"{name}.{key}"
            for name in self.columns
            for value in self.values(name)[:1]
            if isinstance(value, dict)
            for key in value
        ]
        useful = [name for name in below if self.is_text(name) or self.is_list(name)]
        return (*self.columns, *useful)

    def values(self, column: str) -> list[Any]:
        """Return the values of a column, or of a field below it, that are not empty."""
        cells = (lookup(row, column, None) for row in self.rows)
        return [value for value in cells if value is not None and value != ""]

    def texts(self, column: str) -> list[str]:
        """Return the values of a column as text, without outer spaces."""
        return [str(value).strip() for value in self.values(column)]

    def distinct(self, column: str) -> int:
        """Return how many different values a column has."""
        return len({str(value) for value in self.values(column)})

    def mean_words(self, column: str) -> float:
        """Return the mean number of words in a column, 0 where it is empty."""
        texts = self.texts(column)
        if not texts:
            return 0.0
        return sum(len(text.split()) for text in texts) / len(texts)

    def is_numeric(self, column: str) -> bool:
        """Return whether all values of a column are numbers, or written as numbers."""
        texts = self.texts(column)
        return bool(texts) and all(_NUMBER.fullmatch(text) for text in texts)

    def is_list(self, column: str) -> bool:
        """Return whether all values of a column are lists of texts, or texts of such lists."""
        lists = [_list_of(value) for value in self.values(column)]
        if not lists or not all(lists):  # a value that is not a list, or an empty one
            return False
        return all(isinstance(item, str) for items in lists for item in items or ())

    def lists_as_texts(self, column: str) -> bool:
        """Return whether a column has lists that are written as texts, as in a CSV file."""
        values = self.values(column)
        return self.is_list(column) and any(isinstance(value, str) for value in values)

    def items(self, row: Mapping[str, object], column: str) -> list[Any]:
        """Return the items of a row's list."""
        return _list_of(lookup(row, column, None)) or []

    def is_answer(self, column: str) -> bool:
        """Return whether a column has values, and none is an object."""
        values = self.values(column)
        return bool(values) and not any(isinstance(value, dict) for value in values)

    def is_text(self, column: str) -> bool:
        """Return whether a column has values, and none is a list or an object."""
        values = self.values(column)
        return bool(values) and not any(isinstance(value, dict | list) for value in values)

    def first_rows(self) -> Iterator[str]:
        """Yield the first rows as text for people, long values cut."""
        for number, row in enumerate(self.rows[:SHOWN_ROWS], start=1):
            cells = []
            for name, value in row.items():
                text = " ".join(str(value).split())
                cells.append(f"{name}={shorten(text, _CELL_CHARS)}")
            yield f"{number}. {'  '.join(cells)}"


def _list_of(value: object) -> list[Any] | None:
    if isinstance(value, str):
        return list_in_text(value)
    return value if isinstance(value, list) else None


def read_table(source: str) -> Table:
    """Read a dataset to its end and keep its first rows.

    Raises:
        DatasetError: It cannot be read, or has bad rows.
    """
    n_rows = 0
    rows: list[dict[str, object]] = []
    dataset = open_dataset(source, base_dir=Path.cwd())
    for row in dataset.read():
        n_rows += 1
        if len(rows) < _ROWS_MAX:
            rows.append(row.data)
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    notes = tuple(dataset.notes)
    return Table(source=source, n_rows=n_rows, columns=columns, rows=tuple(rows), notes=notes)
