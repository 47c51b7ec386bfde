"""Files in which people label answers, as CSV or JSON Lines; errors name the line.

They do not contain the judge's grade, which would bias the annotator. A spreadsheet evaluates cells
that begin like a formula, so these get an apostrophe in front, which is removed again from ids and
responses.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_line
from nel.datasets.source import open_dataset
from nel.errors import UsageError
from nel.reports.tables.spreadsheet import FORMULA_START

RATINGS_SUFFIX: Final = "-ratings.jsonl"
"""Of the files with ratings of answers, after the name of the benchmark's directory."""
_WHOLE: Final = re.compile(r"(?<=[0-9])\.0+$")
"""The end of a whole number as spreadsheets write it: "4.0"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelLine:
    """One line of a labelled file."""

    where: str
    """File and line, for messages."""
    sample_id: str
    repeat: int
    label: Any
    """As in the file; empty or None without a label."""
    response: str | None
    """The labelled answer, if the file has it."""
    pair: tuple[str, str] | None = None
    """The two answers of which the label names the better one, if the file has both."""
    annotator: str = ""
    """Who labelled, if the file has it."""


def write_label_file(path: Path, rows: Sequence[Mapping[str, str | int]]) -> None:
    """Write the answers to be labelled, each with an empty label.

    Args:
        path: Ends in .csv or .jsonl.
        rows: In the order in which they are shown: ``sample_id``, ``repeat``, ``question``,
            ``reference`` and ``response``, or ``answer_a`` and ``answer_b`` of a pair.

    Raises:
        UsageError: The suffix is another one, or the file exists, and may hold labels.
        StoppedEarly: It cannot be written.
    """
    is_csv = _is_csv(path)
    if path.exists():
        raise UsageError(f"{path} is there already and may hold labels; choose another --out")
    if not path.parent.is_dir():
        raise UsageError(f"there is no directory {path.parent} for {path.name}; make it first")
    lines = _csv_chunks(rows) if is_csv else (dumps_line({**row, "label": None}) for row in rows)
    write_file(path, lines)


def read_label_file(path: Path) -> Iterator[LabelLine]:
    """Yield the lines of a labelled file, which may have any format of datasets.

    Raises:
        DatasetError: It cannot be read as a dataset.
        UsageError: A line lacks a column, or has an invalid value.
    """
    dataset = open_dataset(str(path))
    for row in dataset.read():
        where = f"{path}, {dataset.unit} {row.number}"
        fields = {name.strip().casefold(): value for name, value in row.data.items()}
        names = [name.strip().casefold() for name in row.data]
        for column in ("sample_id", "label"):
            if names.count(column) != 1:
                raise UsageError(
                    f"{where}: one column must be called {column}; the columns are"
                    f" {', '.join(names)!r}"
                )
        label = fields["label"]
        if label is not None and not isinstance(label, (str, int, float)):
            raise UsageError(f"{where}: the label is neither text nor a number")
        yield _line(where, fields)


def same_text(text: str, other_text: str) -> bool:
    """Return whether two texts are equal but for white space and a leading apostrophe, which
    spreadsheets change.
    """
    words, other_words = (cell.removeprefix("'").split() for cell in (text, other_text))
    return words == other_words


def shown_id(sample_id: str) -> str:
    """Return an id as a CSV cell shows it."""
    return str(_cell(sample_id)).encode("utf-8", "backslashreplace").decode()


def _is_csv(path: Path) -> bool:
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".jsonl"):
        raise UsageError(f"{path} is neither .csv nor .jsonl; choose one of the two")
    return suffix == ".csv"


def _csv_chunks(rows: Sequence[Mapping[str, object]]) -> Iterator[bytes]:
    yield "\ufeff".encode()  # without it spreadsheets read UTF-8 as something else
    yield _csv_row([*(rows[0] if rows else ["sample_id"]), "label"])
    for row in rows:
        yield _csv_row([*map(_cell, row.values()), ""])


def _csv_row(cells: Iterable[object]) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.replace("\0", "\\x00")
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_START) else text


def _line(where: str, fields: Mapping[str, object]) -> LabelLine:
    repeat = fields.get("repeat")
    text = "" if repeat is None else str(repeat).strip()
    text = _WHOLE.sub("", text) or "0"
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"{where}: the repeat {text[:40]!r} is not a whole number from 0 on")
    response = fields.get("response")
    if not isinstance(response, str) or not response.strip():
        response = None
    answer_a, answer_b = fields.get("answer_a"), fields.get("answer_b")
    pair = None
    if isinstance(answer_a, str) and isinstance(answer_b, str):
        pair = answer_a, answer_b
    return LabelLine(
        where=where,
        sample_id=str(fields["sample_id"]),
        repeat=int(text),
        label=fields.get("label"),
        response=response,
        pair=pair,
        annotator=str(fields.get("annotator") or "").strip(),
    )
