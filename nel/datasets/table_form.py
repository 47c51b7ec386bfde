"""What a user says of the form of a file of rows: ``rows.csv?delimiter=;&encoding=cp1252``.

The options stand behind the path, so that every place that takes a dataset takes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, urlencode

from nel.errors import DatasetError, did_you_mean

_NAMES: Final = ("delimiter", "encoding", "decimal", "sheet")
_DELIMITERS: Final = {"tab": "\t", "comma": ",", "semicolon": ";", "\\t": "\t"}
"""Words for what is hard to type."""


def _say_nothing(_: str) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class TableForm:
    """What is known of a file of rows before it is read; None: the reader finds out."""

    delimiter: str | None = None
    """Between cells."""
    encoding: str | None = None
    """Of text, by Python's name."""
    decimal: str | None = None
    """``,`` or ``.``, where numbers of a table with semicolons can be read in two ways."""
    sheet: str | None = None
    """Of a workbook."""
    note: Callable[[str], None] = field(default=_say_nothing, compare=False, repr=False)
    """Takes what the user must hear of a reading: what was left out, or read as something else."""


def split_options(path: str) -> tuple[str, dict[str, str]]:
    """Return a path without the options after it, and the options.

    >>> split_options("rows.csv?encoding=cp1252")
    ('rows.csv', {'encoding': 'cp1252'})
    """
    head, mark, query = path.rpartition("?")
    if not mark or "=" not in query:
        return path, {}
    return head, dict(parse_qsl(query, keep_blank_values=True))


def split_form(path: str) -> tuple[str, TableForm]:
    """Return a path without the options after it, and the form that they give.

    Raises:
        DatasetError: An option is unknown or has no usable value.
    """
    head, options = split_options(path)
    return head, parse_form(path, options)


def parse_form(path: str, options: dict[str, str]) -> TableForm:
    """Return the form that options give to a file of rows.

    Args:
        path: As the user gave it, for messages.
        options: By name.

    Raises:
        DatasetError: An option is unknown or has no usable value.
    """
    for name in options:
        if name not in _NAMES:
            hint = did_you_mean(name, _NAMES) or ";"
            raise DatasetError(
                f'{path}: a file of rows has no option "{name}"{hint} known: {", ".join(_NAMES)}'
            )
    delimiter = options.get("delimiter")
    if delimiter is not None:
        delimiter = _DELIMITERS.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise DatasetError(
                f"{path}: the delimiter {options['delimiter']!r} is not one character; write ; or"
                " tab"
            )
    decimal = options.get("decimal")
    if decimal not in {None, ",", "."}:
        raise DatasetError(f"{path}: decimal is , or .")
    return TableForm(
        delimiter=delimiter,
        encoding=options.get("encoding"),
        decimal=decimal,
        sheet=options.get("sheet"),
    )


def with_form(path: str, options: dict[str, str]) -> str:
    """Return a path with options after it, as `split_form` takes them apart.

    >>> with_form("rows.csv", {"delimiter": ";"})
    'rows.csv?delimiter=%3B'
    """
    mark = "&" if "?" in path else "?"
    return f"{path}{mark}{urlencode(options)}" if options else path
