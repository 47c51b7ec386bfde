"""What a table is: rows, and columns that say heading, kind and value. A renderer knows kinds alone.

The text of a number is made by `nel.reports.numbers`, so that it has the same digits in every
output; formats for programs hold the number itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from nel.reports import numbers
from nel.types import JsonObject

NO_SCORE: Final = "no score"


class ValueKind(Enum):
    """What the values of a column are. Beside them, None is a missing one, and a text stands for
    itself: an empty one for what does not apply to a row.
    """

    TEXT = auto()
    STATE = auto()
    """A text whose capitals want attention."""
    TEXTS = auto()
    COUNT = auto()
    """A whole number, or a `Counted`."""
    PARTS = auto()
    """Counts by name."""
    SCORE = auto()
    """The value of a `Figure`."""
    INTERVAL = auto()
    """The ends of a `Figure`."""
    WITH_INTERVAL = auto()
    """Both in one cell."""
    BAR = auto()
    """A `Figure` of a rate as a drawing; in HTML alone."""
    P_VALUE = auto()


class Figure(NamedTuple):
    """A number with its interval and unit, or a difference of two scores in that unit."""

    value: float | None
    lower: float | None = None
    upper: float | None = None
    unit: str = "rate"
    is_difference: bool = False

    @classmethod
    def of(cls, row: JsonObject, unit: str) -> Figure:
        """Return the number of a JSON object with ``value``, ``ci_lower`` and ``ci_upper``."""
        return cls(row.get("value"), row.get("ci_lower"), row.get("ci_upper"), unit)

    @property
    def text(self) -> str:
        """Return the value with as many decimals as its interval has."""
        if self.value is None and not self.is_difference:
            return NO_SCORE
        return self._text(self.value)

    @property
    def span(self) -> str:
        """Return the interval, a dash where there is none."""
        if self.is_difference and self.lower is not None:
            return f"{self._text(self.lower)} to {self._text(self.upper)}"
        return numbers.interval(self.lower, self.upper, self.unit)

    @property
    def with_span(self) -> str:
        """Return the value, and its interval in brackets where it has one."""
        return self.text if self.lower is None else f"{self.text} ({self.span})"

    def _text(self, value: float | None) -> str:
        write = numbers.difference if self.is_difference else numbers.in_unit
        return write(value, self.unit, lower=self.lower, upper=self.upper)


class Counted(NamedTuple):
    """How many, and of what."""

    n: int
    of: str = ""
    """Follows the number: ``labels``, say."""
    before: str = ""
    """Stands before it where it is not exact."""

    def __str__(self) -> str:
        return " ".join(filter(None, [self.before, numbers.count(self.n), self.of]))


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    key: str
    """Its name for programs; of an interval that of its ends, before ``_lower`` and ``_upper``."""
    kind: ValueKind = ValueKind.TEXT
    of: Callable[[Any], Any] | None = None
    """Gives its value of a row; None: what the row has under the key."""
    heading: str = ""
    """Empty: the key in words."""
    note: Callable[[Any], str | None] | None = None
    """A remark on the value, which HTML shows below it."""
    link: Callable[[Any], str] | None = None
    """Where the value leads in HTML; empty: nowhere."""
    is_alarm: bool = False
    """Whether HTML stresses a count above 0."""

    @property
    def words(self) -> str:
        """Return the heading."""
        return self.heading or self.key.replace("_", " ")

    @property
    def title(self) -> str:
        """Return the heading as it begins a column of a page; a symbol such as ``n`` as it is."""
        words = self.words
        return words if len(words) == 1 else words[:1].upper() + words[1:]

    @property
    def is_numeric(self) -> bool:
        """Return whether its cells are aligned to the right."""
        return self.kind not in _TO_THE_LEFT

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of `values`."""
        if self.kind is ValueKind.INTERVAL:
            return (f"{self.key}_lower", f"{self.key}_upper")
        return (self.key,)

    def value(self, row: Any) -> Any:
        """Return its value of a row."""
        if self.of is not None:
            return self.of(row)
        if isinstance(row, Mapping):
            return row[self.key]
        return getattr(row, self.key)

    def values(self, row: Any) -> tuple[Any, ...]:
        """Return its value of a row for programs; of an interval the ends."""
        value = self.value(row)
        if self.kind is ValueKind.INTERVAL:
            return (value.lower, value.upper)
        if isinstance(value, (Figure, Counted)):
            value = value[0]  # the number, with which both begin
        return (value,)

    def text(self, row: Any) -> str:
        """Return its value of a row as text: a dash where it is missing."""
        value = self.value(row)
        if value is None:
            return numbers.MISSING
        return value if isinstance(value, str) else _TEXTS[self.kind](value)


class ReportTable(NamedTuple):
    """Rows with their columns, and lines that stand below them."""

    columns: Sequence[Column]
    rows: Sequence[Any]
    below: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """Return the names of the values of `objects`."""
        return [name for column in self.columns for name in column.names]

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield each row for programs: numbers unrounded, None where one is missing."""
        for row in self.rows:
            values = [value for column in self.columns for value in column.values(row)]
            yield dict(zip(self.names, values, strict=True))

    def texts(self) -> list[list[str]]:
        """Return the cells of each row for people."""
        return [[column.text(row) for column in self.columns] for row in self.rows]

    @property
    def used(self) -> ReportTable:
        """Return the table without the columns that say nothing of any row."""
        columns = [column for column in self.columns if any(map(column.text, self.rows))]
        return self._replace(columns=columns)


_TO_THE_LEFT: Final = (
    ValueKind.TEXT,
    ValueKind.STATE,
    ValueKind.TEXTS,
    ValueKind.PARTS,
    ValueKind.BAR,
)
_TEXTS: Final[Mapping[ValueKind, Callable[[Any], str]]] = {
    ValueKind.TEXT: str,
    ValueKind.TEXTS: "; ".join,
    ValueKind.COUNT: lambda n: numbers.count(n) if isinstance(n, int) else str(n),
    ValueKind.PARTS: numbers.counts,
    ValueKind.SCORE: lambda figure: figure.text,
    ValueKind.INTERVAL: lambda figure: figure.span,
    ValueKind.WITH_INTERVAL: lambda figure: figure.with_span,
    ValueKind.BAR: lambda _: "",
    ValueKind.P_VALUE: numbers.p_value,
}
