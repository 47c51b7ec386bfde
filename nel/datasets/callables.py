"""Opens a Python function that returns rows as a dataset.

The function is a user's code: whatever it raises is reported under its name; only cancellation and
interrupts pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from nel.core.file_modules import module_shown
from nel.datasets.base import Dataset, NumberedRow, RawRow, check_rows
from nel.datasets.in_memory import as_list, numbered_rows
from nel.errors import DatasetError, NelError


def open_callable(function: Callable[[], Iterable[Mapping[str, object]]]) -> Dataset:
    """Return the dataset a function gives; the function is called at each reading.

    Its rows are copied, so that nothing downstream can change what the function keeps.
    """
    qualname = getattr(function, "__qualname__", None) or type(function).__qualname__
    name = f"callable:{module_shown(function)}.{qualname}"

    def read() -> Iterator[RawRow]:
        return check_rows(_rows(function, name), name=name, unit="row")

    return Dataset(uri=name, revision=None, unit="row", read=read)


def _rows(
    function: Callable[[], Iterable[Mapping[str, object]]], name: str
) -> Iterator[NumberedRow]:
    number = 0
    try:
        rows = as_list(function(), name)
        if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
            raise DatasetError(
                f"{name}: it returned a {type(rows).__name__}; it must return an iterable of"
                " mappings"
            )
        for number, row in numbered_rows(rows):
            yield number, row
    except NelError:
        raise
    except (Exception, SystemExit) as error:
        where = f" after row {number}" if number else ""
        raise DatasetError(f"{name}: it failed{where}: {type(error).__name__}: {error}") from error
