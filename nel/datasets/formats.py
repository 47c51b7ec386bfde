"""Chooses the reader for a file name and guards what it opens.

A `Source` is anything that opens as bytes: a local file or a file inside a package. A gzip file
shows that it is cut off only at its end, so its error comes out of the middle of reading.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, TypeAlias, cast

from nel.datasets import json_file, jsonl, tables
from nel.datasets.base import Dataset, NumberedRow, RawRow, check_rows
from nel.datasets.parquet import read_arrow, read_parquet
from nel.datasets.table_form import TableForm
from nel.datasets.workbook import read_workbook
from nel.errors import DatasetError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Unit: TypeAlias = Literal["line", "row"]

WORKBOOKS: Final = (".xlsx", ".xls", ".ods")
_Reader: TypeAlias = "Callable[[BinaryIO, str, TableForm], Iterator[NumberedRow]]"
_READERS: Final[dict[str, _Reader]] = {
    ".jsonl": jsonl.read_jsonl,
    ".ndjson": jsonl.read_jsonl,
    ".json": json_file.read_json,
    ".csv": tables.read_csv,
    ".tsv": tables.read_tsv,
    ".parquet": read_parquet,
    ".arrow": read_arrow,
    **dict.fromkeys(WORKBOOKS, read_workbook),
}
SUFFIXES: Final = tuple(_READERS)
"""Of files of rows; all but those of whole archives also with ``.gz``."""
_LINES: Final = (".jsonl", ".ndjson")
_NEVER_GZIPPED: Final = (".parquet", ".arrow", *WORKBOOKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file of rows, wherever it lives."""

    name: str
    """As the user gave it; for messages."""
    open: Callable[[], BinaryIO]
    """Opens it from the start; raises `DatasetError` when that is impossible."""
    stamp: str | None = None
    """Changes whenever the file is written; None where nothing shows that it was."""
    form: TableForm = field(default_factory=TableForm)
    """What the user says of it."""


def dataset_of(source: Source, *, uri: str, revision: str | None = None) -> Dataset:
    """Return the dataset in a file, read by the format that its name ends in.

    Raises:
        DatasetError: The name ends in no known format.
    """
    suffix, gzipped = suffix_of(source.name)
    unit: Unit = "line" if suffix in _LINES else "row"
    notes: dict[str, None] = {}
    form, source = source.form, with_notes(source, notes)

    def read() -> Iterator[RawRow]:
        return check_rows(rows_in(source), name=source.name, unit=unit)

    fingerprint = None
    if source.stamp is not None:
        ending = f"{suffix}.gz" if gzipped else suffix
        declared_form = "" if form == TableForm() else str(form)
        fingerprint = f"{ending} {declared_form}{source.stamp}"
    return Dataset(
        uri=uri, revision=revision, unit=unit, read=read, fingerprint=fingerprint, notes=notes
    )


def with_notes(source: Source, notes: dict[str, None]) -> Source:
    """Return a file whose readings add what they left out or converted to the keys of ``notes``."""
    form = replace(source.form, note=lambda note: notes.setdefault(note, None))
    return replace(source, form=form)


def suffix_of(name: str) -> tuple[str, bool]:
    """Return the format a file name ends in, and whether the file is gzipped.

    Raises:
        DatasetError: It ends in no known format.
    """
    lower = name.lower()
    stem = lower.removesuffix(".gz")
    is_gzipped = stem != lower
    suffix = next((suffix for suffix in _READERS if stem.endswith(suffix)), None)
    if suffix is None or (is_gzipped and suffix in _NEVER_GZIPPED):
        hint = ""
        if "." in stem:
            hint = did_you_mean(stem[stem.rfind(".") :], _READERS)
        raise DatasetError(
            f"{name}: no reader for files like this{hint or ';'} known: {', '.join(_READERS)} "
            f"(all but parquet, arrow and workbooks also with .gz)"
        )
    return suffix, is_gzipped


def rows_in(source: Source) -> Iterator[NumberedRow]:
    """Yield the number of each line or row of a file, with its values or what is wrong with it.

    Raises:
        DatasetError: The file is of no known format, is damaged or cannot be read.
    """
    suffix, is_gzipped = suffix_of(source.name)
    with source.open() as stream:
        file = cast(BinaryIO, gzip.GzipFile(fileobj=stream)) if is_gzipped else stream
        try:
            yield from _READERS[suffix](file, source.name, source.form)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DatasetError(
                f"{source.name}: the gzip data is damaged or cut off ({error}); fetch the file"
                " again"
            ) from error
        except OSError as error:
            raise DatasetError(
                f"{source.name}: cannot be read: {error.strerror or error}"
            ) from error
