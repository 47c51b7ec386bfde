"""The types of a dataset: a source that can be read as rows, any number of times.

Also bounds the bad rows that are reported. The number of a row is for messages only; a sample is
never named by its position.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from nel.core.texts import count_text
from nel.errors import DatasetError
from nel.types import value_class

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

NumberedRow: TypeAlias = "tuple[int, dict[str, object] | str]"
"""What a reader yields: the number of a row, and its object or its fault."""

BAD_ROWS_MAX: Final = 10
"""A reader stops after this many bad rows."""

LINE_BYTES_MAX: Final = 64 * 1024 * 1024
"""The longest line of a text file."""


@value_class(kw_only=True)
class RawRow:
    """One row as the dataset has it."""

    number: int
    """The line number in a JSONL file, else the row number; both count from 1."""
    data: dict[str, Any]
    """Plain JSON values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A source of rows that is known to exist."""

    uri: str
    """As the user gave it."""
    revision: str | None
    """The commit of a hub dataset, the version of the package that ships a file, else None."""
    unit: str
    """What `RawRow.number` counts, for messages: ``line`` or ``row``."""
    read: Callable[[], Iterator[RawRow]]
    """Streams the rows from the first; raises `DatasetError` before the end if any row is bad."""
    fingerprint: str | None = None
    """Changes with the rows, and is known without reading them; None where that is impossible."""
    notes: dict[str, None] = field(default_factory=dict)
    """Notes on what was left out or converted, an ordered set that grows while rows are read."""
    folder: Path | None = None
    """Of a local file: rows may name further files below it; None for anything else."""


@dataclass(slots=True, kw_only=True)
class BadRows:
    """Collects the bad rows of one reading, so that a user can fix them all at once."""

    name: str
    """What the user calls the dataset."""
    unit: str
    problems: list[str] = field(default_factory=list)

    def add(self, number: int, problem: str) -> None:
        """Add one bad row.

        Raises:
            DatasetError: It is the last that is reported, by `BAD_ROWS_MAX`.
        """
        self.problems.append(f"{self.unit} {number}: {problem}")
        if len(self.problems) >= BAD_ROWS_MAX:
            raise self._error(f"first {BAD_ROWS_MAX} bad {self.unit}s")

    def finish(self, n_rows: int) -> None:
        """Check the rows, once all were read.

        Raises:
            DatasetError: Some row was bad, or there was none at all.
        """
        n = len(self.problems)
        if n:
            raise self._error(count_text(n, f"bad {self.unit}"))
        if not n_rows:
            raise DatasetError(f"{self.name}: there are no rows; a dataset needs at least one")

    def _error(self, count: str) -> DatasetError:
        return DatasetError(f"{self.name}: {count}: {'; '.join(self.problems)}; fix or remove them")


def check_rows(rows: Iterable[NumberedRow], *, name: str, unit: str) -> Iterator[RawRow]:
    """Yield the good rows of a reader.

    After the first bad row no further one is yielded, but reading continues, to report others.

    Raises:
        DatasetError: At the end, or after `BAD_ROWS_MAX` bad rows; also when there were no rows.
    """
    bad = BadRows(name=name, unit=unit)
    n_rows = 0
    for number, data in rows:
        n_rows += 1
        if isinstance(data, str):
            bad.add(number, data)
        elif not bad.problems:
            yield RawRow(number=number, data=data)
    bad.finish(n_rows)
