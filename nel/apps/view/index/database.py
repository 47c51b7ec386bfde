"""The file of an index: what it holds, and what is asked of it. Depends on SQLite with FTS5.

Each result has one document, whose number orders it as the dataset does: benchmark, sample, repeat.
Outcome, kind, category and choice are facets, words of a column of their own, so that a filter is a
query like any other and a page of a million results takes no scan. Numbers have a table beside it,
by which matches are narrowed and ordered. Texts are not kept, only where their words occur.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from nel.apps.view.index.words import (
    COLUMNS,
    FACETS,
    NUMBERS,
    Condition,
    conditions_of,
    query_of,
)
from nel.core.strict_json import dumps, loads
from nel.errors import NelError, OutputError

FORMAT: Final = 6
INDEX_FAULTS: Final = (NelError, sqlite3.Error)
"""What using an index raises that is missing, damaged or of no use."""
GROUPS: Final = ("right", "wrong", "model_failure", "unscored", "not_asked")
_REPEAT_BITS: Final = 16
_IDX_BITS: Final = 32
_BUSY_SECONDS: Final = 30.0
_SCHEMA: Final = f"""
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE tallies(name TEXT, benchmark INTEGER, key TEXT, n INTEGER,
    PRIMARY KEY(name, benchmark, key)) WITHOUT ROWID;
CREATE TABLE results(number INTEGER PRIMARY KEY,
    {", ".join(f"{name} REAL" for name in NUMBERS)}) STRICT;
CREATE VIRTUAL TABLE docs USING fts5({FACETS}, {", ".join(COLUMNS)}, content='',
    tokenize='unicode61 remove_diacritics 2');
"""
ORDERS: Final = (*NUMBERS, *(f"-{name}" for name in NUMBERS))
"""What results can be ordered by: a number, with a minus the largest first."""


Position = tuple[int, int]
"""A sample and its repeat."""


class ResultKey(NamedTuple):
    """A result among those of a run."""

    benchmark: int
    idx: int
    repeat: int

    @property
    def number(self) -> int:
        """Return the number of its document."""
        # The three numbers side by side in 64 bits, the benchmark's in the highest ones.
        return (((self.benchmark << _IDX_BITS) + self.idx) << _REPEAT_BITS) + self.repeat

    @classmethod
    def of(cls, number: int) -> ResultKey:
        """Return the place of a document."""
        sample, repeat = divmod(number, 1 << _REPEAT_BITS)
        benchmark, idx = divmod(sample, 1 << _IDX_BITS)
        return cls(benchmark, idx, repeat)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexEntry:
    """What the index keeps of one result."""

    key: ResultKey
    group: str
    texts: Sequence[str]
    """One for each of the searched columns."""
    kind: str = ""
    """Of a failure; empty where it is right."""
    category: str = ""
    """Empty where it has none."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Those of `NUMBERS` that are known."""
    bins: Mapping[str, int] = field(default_factory=dict)
    choice: tuple[str, str] | None = None
    """The label that was expected and the one that was read, where it is a choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFilter:
    """What is looked for in one benchmark."""

    outcome: str = ""
    kind: str = ""
    category: str = ""
    choice: str = ""
    """As `choice_name` writes one."""

    @property
    def is_empty(self) -> bool:
        """Return whether everything passes."""
        return not (self.outcome or self.kind or self.category or self.choice)


def choice_name(expected: str, answer: str) -> str:
    """Return the name of a cell of the confusion matrix, as a filter has it."""
    return f"{expected} read as {answer or 'none'}"


def facets_of(outcome: str, kind: str, category: str, choice: str) -> list[str]:
    """Return the words that stand for what is known of a result; nothing for what is empty."""
    words = []
    for mark, name in (("o", outcome), ("k", kind), ("c", category), ("m", choice)):
        if name:
            digest = blake2b(name.encode("utf-8", "replace"), digest_size=8).hexdigest()
            words.append(f"{mark}x{digest}")
    return words


@dataclass(frozen=True, slots=True)
class Search:
    """What is looked for, ready for the file; its names are those of `NUMBERS` alone."""

    match: str
    """As `query_of` makes it."""
    conditions: Sequence[Condition] = ()
    order: str = ""
    """One of `ORDERS`; empty: as the dataset."""

    @property
    def rank(self) -> str:
        """Return what results are ordered by, from the smallest."""
        sign = "-" if self.order.startswith("-") else ""
        return f"ifnull({sign}results.{self.order.removeprefix('-')}, 9e999)"

    @property
    def number(self) -> str:
        """Return the column that numbers a document."""
        return "docs.rowid" if self._reads_texts else "results.number"

    @property
    def clauses(self) -> str:
        """Return FROM and WHERE; full text comes first, so that it gives its matches in order."""
        tables = ["docs"] if self._reads_texts else []
        if self._reads_numbers:
            tables.append("results")
        where = ["docs MATCH ?"] if self._reads_texts else []
        where += [f"{self.number} BETWEEN ? AND ?"]
        if len(tables) > 1:
            where.append("results.number = docs.rowid")
        where += [f"results.{item.column} {item.sign} ?" for item in self.conditions]
        return f"FROM {' CROSS JOIN '.join(tables)} WHERE {' AND '.join(where)}"

    @property
    def _reads_numbers(self) -> bool:
        return bool(self.conditions or self.order)

    @property
    def _reads_texts(self) -> bool:
        """Return whether full text is asked, which a search for numbers alone does not need."""
        return not self._reads_numbers or self.match != query_of("")

    def values(self, first: int, last: int) -> tuple[object, ...]:
        """Return the values of `clauses` between two documents."""
        words = (self.match,) if self._reads_texts else ()
        return (*words, first, last, *(item.number for item in self.conditions))


class Index:
    """An open index."""

    def __init__(self, path: Path, *, writes: bool = False) -> None:
        """Open the file, or create it.

        Raises:
            OutputError: It cannot be read or made; the message says why.
            sqlite3.DatabaseError: It is damaged.
        """
        self.path = path
        try:
            if writes:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            uri = f"{path.resolve().as_uri()}?mode={'rw' if writes else 'ro'}"
            self._connection = sqlite3.connect(
                uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
            )
            if writes:
                self._prepare()
        except (sqlite3.OperationalError, OSError) as error:
            raise OutputError(
                f"cannot keep an index in {path.parent}: {error}; choose another --cache-dir"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> None:
        try:
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=OFF")
            if self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
                self._connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        except BaseException:
            self._connection.close()
            raise

    # What is written.

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all that the block writes, or nothing of it; no other process writes meanwhile."""
        self._connection.execute("BEGIN IMMEDIATE")
        with self._connection:
            yield

    def set_fact(self, name: str, value: object) -> None:
        """Keep a JSON value."""
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES(?, ?)", (name, dumps(value)))

    def add(self, entries: Iterable[IndexEntry]) -> None:
        """Add results; in the order of their documents, which FTS5 writes fastest."""
        tallies: Counter[tuple[str, int, str]] = Counter()
        rows, numbers = [], []
        for item in sorted(entries, key=lambda entry: entry.key):
            keys: list[tuple[str, object]] = [("outcome", (item.group, item.kind, item.category))]
            keys += [("bin", entry) for entry in item.bins.items()]
            choice = ""
            if item.choice is not None:
                keys.append(("choice", item.choice))
                choice = choice_name(*item.choice)
            tallies.update((name, item.key.benchmark, dumps(key)) for name, key in keys)
            facets = facets_of(item.group, item.kind, item.category, choice)
            rows.append((item.key.number, " ".join(("all", *facets)), *item.texts))
            numbers.append((item.key.number, *(item.numbers.get(name) for name in NUMBERS)))
        marks = ", ".join("?" * (len(COLUMNS) + 2))
        insert = f"INSERT INTO docs(rowid, {FACETS}, {', '.join(COLUMNS)}) VALUES({marks})"
        self._connection.executemany(insert, rows)
        self._connection.executemany(
            f"INSERT OR REPLACE INTO results VALUES(?{', ?' * len(NUMBERS)})", numbers
        )
        self._connection.executemany(
            "INSERT INTO tallies VALUES(?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
            [(*key, n) for key, n in tallies.items()],
        )

    # What is asked.

    def fact(self, name: str) -> Any:
        """Return a value that was kept, None where there is none."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else loads(row[0])

    def search(self, filter_: ResultFilter, typed: str, order: str = "") -> Search | None:
        """Return what a filter and typed words look for, None where no result can have that."""
        words, conditions = conditions_of(typed)
        facets = facets_of(filter_.outcome, filter_.kind, filter_.category, filter_.choice)
        match = query_of(words, facets)
        if match is None:
            return None
        return Search(match, conditions, order if order in ORDERS else "")

    def counts(self, benchmark: int) -> list[tuple[str, str, str, int]]:
        """Return ``(group, kind, category, n)`` of a benchmark."""
        return [
            (group, kind, category, n)
            for (group, kind, category), n in self._tally("outcome", benchmark)
        ]

    def choices(self, benchmark: int) -> list[tuple[str, str, int]]:
        """Return ``(expected, answer, n)`` of the choices of a benchmark."""
        return [(expected, answer, n) for (expected, answer), n in self._tally("choice", benchmark)]

    def bins(self, benchmark: int) -> dict[str, dict[int, int]]:
        """Return by measure how many values of a benchmark lie in each bin."""
        bins: dict[str, dict[int, int]] = {}
        for (measure, number), n in self._tally("bin", benchmark):
            bins.setdefault(measure, {})[number] = n
        return bins

    def _tally(self, name: str, benchmark: int) -> list[tuple[Any, int]]:
        query = "SELECT key, n FROM tallies WHERE name = ? AND benchmark = ?"
        return [(loads(key), n) for key, n in self._connection.execute(query, (name, benchmark))]

    def count(self, benchmark: int, search: Search) -> int:
        """Return how many results of a benchmark match."""
        query = f"SELECT count(*) {search.clauses}"
        return int(
            self._connection.execute(query, search.values(*_range_of(benchmark))).fetchone()[0]
        )

    def questions(
        self,
        benchmark: int,
        search: Search,
        *,
        after: Position | None = None,
        before: Position | None = None,
        n_max: int,
    ) -> list[list[ResultKey]]:
        """Return the matching results of some samples, in the order of the search.

        Results of one sample stand together; where a number orders them each stands alone, those
        without the number last.

        Args:
            benchmark: Its number.
            search: What is looked for.
            after: What follows this one; from the first without it.
            before: What is in front of this one, the nearest of it.
            n_max: Samples.
        """
        lowest, highest = _range_of(benchmark)
        is_back = before is not None
        direction = " DESC" if is_back else ""
        mark = before or after
        edge = None if mark is None else _edge(benchmark, mark)
        # In the order of the dataset the numbers of documents say where a page begins: all repeats
        # of the sample at its edge lie on the other side.
        if edge is not None and not search.order:
            if is_back:
                highest = min(highest, edge.number - 1)
            else:
                lowest = max(lowest, edge.number + (1 << _REPEAT_BITS))
        values: tuple[object, ...] = search.values(lowest, highest)
        order_by = f"{search.number}{direction}"
        limit = ""
        if search.order:
            order_by = f"{search.rank}{direction}, {order_by}"
            # Ordered by a value, results follow the one at the edge by that value, and by their
            # number where they share it.
            if edge is not None and mark is not None:
                sign = "<" if is_back else ">"
                limit = f" AND ({search.rank}, {search.number}) {sign} ((SELECT"
                limit += f" {search.rank} FROM results WHERE number = ?), ?)"
                values += (edge.number + mark[1],) * 2
        rows = self._connection.execute(
            f"SELECT {search.number} {search.clauses}{limit} ORDER BY {order_by} LIMIT ?",
            (*values, n_max if search.order else -1),
        )
        groups = _group(rows, n_max, is_alone=bool(search.order))
        rows.close()
        return groups[::-1] if is_back else groups


def _group(rows: Iterable[tuple[int]], n_max: int, *, is_alone: bool) -> list[list[ResultKey]]:
    """Return results by sample, or each alone; reads on until there would be one group too many."""
    groups: dict[object, list[ResultKey]] = {}
    for (number,) in rows:
        key = ResultKey.of(number)
        name: object = key if is_alone else key.idx
        if name not in groups and len(groups) == n_max:
            break
        groups.setdefault(name, []).append(key)
    return [sorted(keys) for keys in groups.values()]


def _range_of(benchmark: int) -> tuple[int, int]:
    return ResultKey(benchmark, 0, 0).number, ResultKey(benchmark + 1, 0, 0).number - 1


def _edge(benchmark: int, mark: Position) -> ResultKey:
    """Return the first result of a sample; one beyond all samples is the last that there can be."""
    return ResultKey(benchmark, min(mark[0], (1 << _IDX_BITS) - 2), 0)
