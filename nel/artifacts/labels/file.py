"""Files that people label answers in: written as CSV or JSON Lines, read back with the line of
every mistake.

The judge's grade is never in them, since it would bias the person who labels. A spreadsheet
evaluates cells that begin like a formula, so those are prefixed with an apostrophe, which is
removed when ids and responses are read.
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
from nel.core.strict_json import dumps_line, loads
from nel.errors import UsageError

RATINGS_SUFFIX: Final = "-ratings.jsonl"
"""Of what people said of answers while they looked at them; the name before it is the benchmark's
directory.
"""
_FORMULA_START: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_CELL_CHARACTERS_MAX: Final = 1 << 24
_BYTES_MAX: Final = 1 << 30
_WHOLE: Final = re.compile(r"(?<=[0-9])\.0+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelLine:
    """One line of a labelled file."""

    where: str
    """``file:line``, for messages."""
    sample_id: str
    repeat: int
    label: Any
    """As it stands in the file; empty or None where there is none."""
    response: str | None
    """What was labelled, if the file says."""
    pair: tuple[str, str] | None = None
    """The two answers of which the label names the better one, if the file has both."""
    annotator: str = ""
    """Who gave the label, if the file says."""


def write_label_file(path: Path, rows: Sequence[Mapping[str, str | int]]) -> None:
    """Write the answers to be labelled, each with an empty label.

    Args:
        path: Ends in .csv or .jsonl.
        rows: In the order in which they are shown: ``sample_id``, ``repeat``, ``question``,
            ``reference`` and ``response``, or ``answer_a`` and ``answer_b`` of a pair.

    Raises:
        UsageError: The suffix is another one, or the file is there already: it may hold labels.
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
    """Yield the lines of a labelled file.

    Args:
        path: Ends in .csv or .jsonl.

    Raises:
        UsageError: It cannot be read, is not text of its format, or a line lacks what it needs;
            with file and line.
    """
    is_csv = _is_csv(path)
    try:
        if path.stat().st_size > _BYTES_MAX:
            raise UsageError(
                f"{path} is larger than {_BYTES_MAX >> 20} MiB; give the file of labels alone"
            )
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}; nel judge calibrate without --labels draws a"
            " file to label"
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not UTF-8 ({error.reason} at byte {error.start}); save it as CSV UTF-8"
        ) from error
    return _csv_lines(path, text) if is_csv else _json_lines(path, text)


def same_text(first: str, second: str) -> bool:
    """Return whether two texts are the same but for white space and a leading apostrophe, which
    spreadsheets change.
    """
    left, two = (" ".join(text.removeprefix("'").split()) for text in (first, second))
    return left == two


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
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_START) else text


def _csv_lines(path: Path, text: str) -> Iterator[LabelLine]:
    csv.field_size_limit(_CELL_CHARACTERS_MAX)
    reader = csv.reader(io.StringIO(text, newline=""), _dialect(text), strict=True)
    line = 1
    try:
        header = [name.strip().casefold() for name in next(reader, [])]
        for needed in ("sample_id", "label"):
            if header.count(needed) != 1:
                raise UsageError(
                    f"{path}:1: one column must be called {needed}; the header is"
                    f" {', '.join(header)!r}"
                )
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) > len(header):
                    raise UsageError(
                        f"{path}:{line}: {len(cells)} cells, the header has {len(header)}"
                    )
                yield _line(f"{path}:{line}", dict(zip(header, cells, strict=False)))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{path}:{line}: not CSV: {error}") from error


def _dialect(text: str) -> type[csv.Dialect]:
    """Return how cells are parted: by commas, or by the semicolons or tabs that some spreadsheets
    save.
    """
    header = text.partition("\n")[0]

    class Parted(csv.excel):
        delimiter = max(",;\t", key=header.count)

    return Parted


def _json_lines(path: Path, text: str) -> Iterator[LabelLine]:
    for number, raw in enumerate(text.split("\n"), start=1):
        if not raw.strip():
            continue
        try:
            fields = loads(raw)
        except ValueError as error:
            raise UsageError(f"{path}:{number}: not JSON: {error}") from error
        if not isinstance(fields, dict) or "sample_id" not in fields or "label" not in fields:
            raise UsageError(f"{path}:{number}: not an object with sample_id and label")
        label = fields["label"]
        if label is not None and not isinstance(label, (str, int, float)):
            raise UsageError(f"{path}:{number}: the label is neither text nor a number")
        yield _line(f"{path}:{number}", fields)


def _line(where: str, fields: Mapping[str, object]) -> LabelLine:
    repeat = fields.get("repeat")
    text = "0" if repeat is None or not str(repeat).strip() else _WHOLE.sub("", str(repeat).strip())
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"{where}: the repeat {text[:40]!r} is not a whole number from 0 on")
    response, first, second = fields.get("response"), fields.get("answer_a"), fields.get("answer_b")
    return LabelLine(
        where=where,
        sample_id=str(fields["sample_id"]),
        repeat=int(text),
        label=fields.get("label"),
        response=response if isinstance(response, str) and response.strip() else None,
        pair=(first, second) if isinstance(first, str) and isinstance(second, str) else None,
        annotator=str(fields.get("annotator") or "").strip(),
    )
