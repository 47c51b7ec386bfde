"""The file of an index: what it holds, and what is asked of it. Depends on SQLite with FTS5.

Each result has one document, whose number orders it as the dataset does: benchmark, sample, repeat.
Outcome, kind and category are facets, words of a column of their own, so that a filter is a query
like any other and a page of a million results takes no scan. Texts are not kept, only where their
words occur.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from nel.apps.view.index.words import COLUMNS, FACETS
from nel.core.strict_json import dumps, loads
from nel.errors import NelError, OutputError

FORMAT: Final = 2
INDEX_FAULTS: Final = (NelError, sqlite3.Error)
"""What using an index raises that is missing, damaged or of no use."""
COUNT_MAX: Final = 10_000
"""Matches of a search are counted up to here."""
GROUPS: Final = ("right", "wrong", "model_failure", "unscored", "not_asked")
_REPEAT_BITS: Final = 16
_IDX_BITS: Final = 32
_BUSY_SECONDS: Final = 30.0
_SCHEMA: Final = f"""
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE names(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE counts(benchmark INTEGER, outcome INTEGER, kind TEXT, category TEXT, n INTEGER,
    PRIMARY KEY(benchmark, outcome, kind, category)) WITHOUT ROWID;
CREATE TABLE bins(benchmark INTEGER, measure TEXT, bin INTEGER, n INTEGER,
    PRIMARY KEY(benchmark, measure, bin)) WITHOUT ROWID;
CREATE VIRTUAL TABLE docs USING fts5({FACETS}, {", ".join(COLUMNS)}, content='',
    tokenize='unicode61 remove_diacritics 2');
"""
_FORWARDS: Final = (
    "SELECT rowid FROM docs WHERE docs MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid"
)
_BACKWARDS: Final = f"{_FORWARDS} DESC"


class ResultKey(NamedTuple):
    """A result among those of a run."""

    benchmark: int
    idx: int
    repeat: int

    @property
    def number(self) -> int:
        """Return the number of its document."""
        return (
            (self.benchmark << (_IDX_BITS + _REPEAT_BITS))
            + (self.idx << _REPEAT_BITS)
            + self.repeat
        )

    @classmethod
    def of(cls, number: int) -> ResultKey:
        """Return the place of a document."""
        rest, repeat = number >> _REPEAT_BITS, number & ((1 << _REPEAT_BITS) - 1)
        return cls(rest >> _IDX_BITS, rest & ((1 << _IDX_BITS) - 1), repeat)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What the index keeps of one result."""

    key: ResultKey
    group: str
    kind: str
    """Of a failure; empty where it is right."""
    category: str
    """Empty where it has none."""
    texts: Sequence[str]
    """One for each of the searched columns."""
    measured: Mapping[str, float]
    bins: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What is looked for in one benchmark."""

    outcome: str = ""
    kind: str = ""
    category: str = ""

    @property
    def is_empty(self) -> bool:
        """Return whether everything passes."""
        return not (self.outcome or self.kind or self.category)


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
                self._connection.execute("PRAGMA journal_mode=WAL")
                self._connection.execute("PRAGMA synchronous=OFF")
                self._create()
        except (sqlite3.OperationalError, OSError) as error:
            raise OutputError(
                f"cannot keep an index in {path.parent}: {error}; choose another --cache-dir"
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Index:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def _create(self) -> None:
        if self._connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
            self._connection.executescript(f"BEGIN; {_SCHEMA} COMMIT;")

    # What is written.

    def begin(self) -> None:
        """Begin a transaction in which no other process writes."""
        self._connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """Keep what was written since `begin`."""
        self._connection.execute("COMMIT")

    def rollback(self) -> None:
        """Forget what was written since `begin`."""
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    def set_fact(self, name: str, value: object) -> None:
        """Keep a JSON value."""
        self._connection.execute("INSERT OR REPLACE INTO facts VALUES(?, ?)", (name, dumps(value)))

    def add(self, entries: Iterable[Entry]) -> None:
        """Add results; in the order of their documents, which FTS5 writes fastest."""
        counts: Counter[tuple[int, int, str, str]] = Counter()
        bins: Counter[tuple[int, str, int]] = Counter()
        rows = []
        for item in sorted(entries, key=lambda entry: entry.key):
            outcome = GROUPS.index(item.group)
            counts[item.key.benchmark, outcome, item.kind, item.category] += 1
            for measure, number in item.bins.items():
                bins[item.key.benchmark, measure, number] += 1
            facets = ["all", f"ox{outcome}"]
            facets += [
                f"{mark}{self._id_of(name)}"
                for mark, name in (("kx", item.kind), ("cx", item.category))
                if name
            ]
            rows.append((item.key.number, " ".join(facets), *item.texts))
        marks = ", ".join("?" * (len(COLUMNS) + 2))
        insert = f"INSERT INTO docs(rowid, {FACETS}, {', '.join(COLUMNS)}) VALUES({marks})"
        self._connection.executemany(insert, rows)
        self._connection.executemany(
            "INSERT INTO counts VALUES(?, ?, ?, ?, ?)"
            " ON CONFLICT(benchmark, outcome, kind, category) DO UPDATE SET n = n + excluded.n",
            [(*key, n) for key, n in counts.items()],
        )
        self._connection.executemany(
            "INSERT INTO bins VALUES(?, ?, ?, ?) ON CONFLICT(benchmark, measure, bin) DO UPDATE SET"
            " n = n + excluded.n",
            [(*key, n) for key, n in bins.items()],
        )

    def _id_of(self, name: str) -> int:
        self._connection.execute("INSERT OR IGNORE INTO names(name) VALUES(?)", (name,))
        return int(
            self._connection.execute("SELECT id FROM names WHERE name = ?", (name,)).fetchone()[0]
        )

    # What is asked.

    def fact(self, name: str) -> Any:
        """Return a value that was kept, None where there is none."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return None if row is None else loads(row[0])

    def facets(self, wanted: Filter) -> tuple[str, ...] | None:
        """Return the facets of a filter, None where no result has them."""
        facets = []
        if wanted.outcome:
            if wanted.outcome not in GROUPS:
                return None
            facets.append(f"ox{GROUPS.index(wanted.outcome)}")
        for mark, name in (("kx", wanted.kind), ("cx", wanted.category)):
            if name:
                row = self._connection.execute(
                    "SELECT id FROM names WHERE name = ?", (name,)
                ).fetchone()
                if row is None:
                    return None
                facets.append(f"{mark}{row[0]}")
        return tuple(facets)

    def counts(self, benchmark: int) -> list[tuple[str, str, str, int]]:
        """Return ``(group, kind, category, n)`` of a benchmark."""
        rows = self._connection.execute(
            "SELECT outcome, kind, category, n FROM counts WHERE benchmark = ?", (benchmark,)
        ).fetchall()
        return [(GROUPS[outcome], kind, category, n) for outcome, kind, category, n in rows]

    def bins(self, benchmark: int) -> dict[str, dict[int, int]]:
        """Return by measure how many values of a benchmark lie in each bin."""
        bins: dict[str, dict[int, int]] = {}
        query = "SELECT measure, bin, n FROM bins WHERE benchmark = ?"
        for measure, number, n in self._connection.execute(query, (benchmark,)):
            bins.setdefault(measure, {})[number] = n
        return bins

    def count(self, benchmark: int, query: str) -> int:
        """Return how many results of a benchmark match, counted up to one more than `COUNT_MAX`."""
        first, last = _range_of(benchmark)
        row = self._connection.execute(
            "SELECT count(*) FROM (SELECT 1 FROM docs WHERE docs MATCH ? AND rowid BETWEEN ? AND ?"
            " LIMIT ?)",
            (query, first, last, COUNT_MAX + 1),
        ).fetchone()
        return int(row[0])

    def questions(
        self,
        benchmark: int,
        query: str,
        *,
        after: int | None = None,
        before: int | None = None,
        n_max: int,
    ) -> list[list[ResultKey]]:
        """Return the matching results of up to so many samples, those of one sample together, in
        order.

        Args:
            benchmark: Its number.
            query: As `query_of` makes it.
            after: The samples after this one; from the first without it.
            before: The samples in front of this one, the nearest of them.
            n_max: Samples.
        """
        first, last = _range_of(benchmark)
        is_back = before is not None
        if after is not None:
            first = max(first, ResultKey(benchmark, min(after, (1 << _IDX_BITS) - 2) + 1, 0).number)
        if before is not None:
            last = min(last, ResultKey(benchmark, min(before, (1 << _IDX_BITS) - 1), 0).number - 1)
        rows = self._connection.execute(_BACKWARDS if is_back else _FORWARDS, (query, first, last))
        keys_of: dict[int, list[ResultKey]] = {}
        for (number,) in rows:
            key = ResultKey.of(number)
            if key.idx not in keys_of and len(keys_of) == n_max:
                break
            keys_of.setdefault(key.idx, []).append(key)
        rows.close()
        ordered = [sorted(places) for places in keys_of.values()]
        return ordered[::-1] if is_back else ordered


def _range_of(benchmark: int) -> tuple[int, int]:
    return ResultKey(benchmark, 0, 0).number, ResultKey(benchmark + 1, 0, 0).number - 1
