"""Which rows of a dataset a run asks: all, the first so many, or a seeded sample.

A sample is drawn systematically from the rows sorted by stratum and, within each, by a hash of seed
and content: every row has exactly the same chance, every stratum its share to within one row, and
neither the order of the file nor the machine matters. What was selected is stored with the run,
since a score means nothing without it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, Literal, TypeAlias

from nel.authoring.benchmark import Benchmark
from nel.datasets.ids import content_id
from nel.datasets.source import RawRow
from nel.engine.store.plans import StoredSelection
from nel.errors import DatasetError, PromptError
from nel.metrics.category_fields import divided_by, fields_of, labels_of

ROWS_COUNTED: Final = 50_000
"""Rows after the first so many that are read to know what these are of; a few seconds at most."""
Rows: TypeAlias = Callable[[], Iterable[RawRow]]
"""Reads the rows of a benchmark from the start."""
Note: TypeAlias = Callable[[StoredSelection], None]


def first_rows(
    benchmark: Benchmark,
    rows: Iterable[RawRow],
    n: int | None,
    note: Note,
    *,
    every: Iterable[RawRow] | None = None,
) -> Iterator[RawRow]:
    """Yield the first rows of a benchmark, and note of how many they are the first.

    Args:
        benchmark: Says in which category a row is.
        rows: In order.
        n: At most so many are yielded; None: all.
        note: Is called after the last one.
        every: All rows of the benchmark, where ``rows`` are the first of each subset.
    """
    rows = iter(rows)
    asked, whole = _Labels(), _Labels()
    for row in islice(rows, n):
        asked.add(benchmark, row)
        yield row
    n_asked = asked.n_rows
    if every is None:
        whole.merge(asked)
    rest = rows if every is None else iter(every)
    is_exact = True
    try:
        for row in islice(rest, n_asked + ROWS_COUNTED - whole.n_rows):
            whole.add(benchmark, row)
        is_exact = next(rest, None) is None
    except DatasetError:  # a later row is broken, and this run does not ask it
        is_exact = False
    kind: Literal["all", "first"] = "all" if is_exact and whole.n_rows == n_asked else "first"
    by = whole.divided_by
    note(
        {
            "kind": kind,
            "n": n_asked,
            "of": whole.n_rows,
            "is_exact": is_exact,
            "seed": None,
            "by": by,
            "n_strata": None if by is None else len(whole.counts[by]),
            "n_strata_asked": None if by is None else len(asked.counts.get(by, ())),
            "strata": {},
        }
    )


def sampled_rows(
    benchmark: Benchmark, rows: Rows, n: int, seed: int, note: Note
) -> Iterator[RawRow]:
    """Yield a sample of the rows of a benchmark, in the order of the dataset.

    Args:
        benchmark: Says in which category a row is.
        rows: Are read twice.
        n: At most so many are yielded; all where there are no more.
        seed: Another one draws another sample.
        note: Is called before the first one.

    Raises:
        DatasetError: The dataset is unreadable, or no hash can name a row.
    """
    labels, keys = _Labels(), []
    occurrences: Counter[str] = Counter()
    for row in rows():
        content = content_id(row.data)
        occurrences[content] += 1
        keys.append(
            hashlib.sha256(f"{seed} {content} {occurrences[content]}".encode()).digest()[:16]
        )
        labels.add(benchmark, row, is_remembered=True)
    by = labels.divided_by
    strata = labels.of_rows(by)
    positions = set(_systematic(list(zip(strata, keys, strict=True)), n, seed))
    is_all = len(positions) == len(keys)
    sizes = Counter(strata)
    note(
        {
            "kind": "all" if is_all else "sample",
            "n": len(positions),
            "of": len(keys),
            "is_exact": True,
            "seed": None if is_all else seed,
            "by": by,
            "n_strata": None if by is None else len(labels.counts[by]),
            "n_strata_asked": None
            if by is None
            else len({strata[position] for position in positions}),
            "strata": {} if is_all else {name: sizes[name] for name in sorted(sizes)},
        }
    )
    yield from (row for position, row in enumerate(rows()) if position in positions)


def _systematic(rows: list[tuple[str, bytes]], n: int, seed: int) -> Iterator[int]:
    """Yield n places: each row has the same chance, each stratum its share within one row."""
    order = sorted(range(len(rows)), key=rows.__getitem__)
    if n >= len(order):
        yield from order
        return
    start = int.from_bytes(hashlib.sha256(f"{seed} start".encode()).digest()) % len(order)
    for nth in range(n):
        yield order[(nth * len(order) + start) // n]


@dataclass(slots=True)
class _Labels:
    """By what rows can be divided, and the values of each."""

    n_rows: int = 0
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    _each: list[dict[str, str]] = field(default_factory=list)

    def add(self, benchmark: Benchmark, row: RawRow, *, is_remembered: bool = False) -> None:
        """Count a row; one that makes no sample has no labels."""
        self.n_rows += 1
        try:
            sample = benchmark.sample(row.data, sample_id="")
        except (DatasetError, PromptError, ValueError):
            labels = {}
        else:
            labels = labels_of(fields_of(sample), sample.group)
        for name, value in labels.items():
            self.counts.setdefault(name, Counter())[value] += 1
        if is_remembered:
            self._each.append(labels)

    def merge(self, other: _Labels) -> None:
        """Count the rows of another."""
        self.n_rows += other.n_rows
        for name, counts in other.counts.items():
            self.counts.setdefault(name, Counter()).update(counts)

    @property
    def divided_by(self) -> str | None:
        """Return by what the rows are divided."""
        return divided_by(self.counts)

    def of_rows(self, by: str | None) -> list[str]:
        """Return the stratum of each remembered row; empty where it has none."""
        return [labels.get(by or "", "") for labels in self._each]
