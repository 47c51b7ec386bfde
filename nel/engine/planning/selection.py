"""Selects the rows of a dataset that a run asks: all, the first n, or a seeded sample.

A sample is drawn systematically from the rows, sorted by stratum and then by a hash of seed and
content: every row has the same chance, every stratum its share to within one row, and neither the
order of the file nor the machine matters. The selection is stored with the run, since a score means
nothing without it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeAlias

from nel.authoring.benchmark import Benchmark
from nel.datasets.ids import content_id
from nel.datasets.source import RawRow
from nel.engine.store.plans import StoredSelection
from nel.errors import DatasetError, PromptError
from nel.metrics.category_fields import divided_by, fields_of, labels_of

ROWS_COUNTED: Final = 50_000
"""Rows read after the last selected one to count the dataset; a few seconds at most."""
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
    """Yield the first rows of a benchmark, and note how many rows it has.

    Args:
        benchmark: Assigns categories to rows.
        rows: In order.
        n: How many to yield at most; None: all.
        note: Called after the last one.
        every: All rows of the benchmark, where ``rows`` are the first of each subset.
    """
    rows = iter(rows)
    selected, dataset = _Labels(), _Labels()
    for row in islice(rows, n):
        selected.add(benchmark, row)
        yield row
    remaining = rows
    if every is None:
        dataset.merge(selected)
    else:
        remaining = iter(every)
    is_exact = True
    try:
        for row in islice(remaining, selected.n_rows + ROWS_COUNTED - dataset.n_rows):
            dataset.add(benchmark, row)
        is_exact = next(remaining, None) is None
    except DatasetError:  # a later row is broken, and this run does not ask it
        is_exact = False
    is_all = is_exact and dataset.n_rows == selected.n_rows
    by = dataset.divided_by
    n_strata = n_strata_asked = None
    if by is not None:
        n_strata, n_strata_asked = len(dataset.counts[by]), len(selected.counts.get(by, ()))
    note(
        {
            "kind": "all" if is_all else "first",
            "n": selected.n_rows,
            "of": dataset.n_rows,
            "is_exact": is_exact,
            "seed": None,
            "by": by,
            "n_strata": n_strata,
            "n_strata_asked": n_strata_asked,
            "strata": {},
        }
    )


def sampled_rows(
    benchmark: Benchmark, rows: Rows, n: int, seed: int, note: Note
) -> Iterator[RawRow]:
    """Yield a sample of the rows of a benchmark, in the order of the dataset.

    Args:
        benchmark: Assigns categories to rows.
        rows: Read twice.
        n: How many to yield; all where there are fewer.
        seed: Another one draws another sample.
        note: Called before the first one.

    Raises:
        DatasetError: The dataset is unreadable, or no hash can name a row.
    """
    labels, keys = _Labels(), []
    occurrences: Counter[str] = Counter()
    for row in rows():
        content = content_id(row.data)
        occurrences[content] += 1
        text = f"{seed} {content} {occurrences[content]}"
        keys.append(hashlib.sha256(text.encode()).digest()[:16])
        labels.add(benchmark, row, is_remembered=True)
    by = labels.divided_by
    strata = labels.of_rows(by)
    positions = set(_systematic(list(zip(strata, keys, strict=True)), n, seed))
    is_all = len(positions) == len(keys)
    sizes = Counter(strata)
    n_strata = n_strata_asked = None
    if by is not None:
        n_strata = len(labels.counts[by])
        n_strata_asked = len({strata[position] for position in positions})
    note(
        {
            "kind": "all" if is_all else "sample",
            "n": len(positions),
            "of": len(keys),
            "is_exact": True,
            "seed": None if is_all else seed,
            "by": by,
            "n_strata": n_strata,
            "n_strata_asked": n_strata_asked,
            "strata": {} if is_all else {name: sizes[name] for name in sorted(sizes)},
        }
    )
    yield from (row for position, row in enumerate(rows()) if position in positions)


def _systematic(rows: list[tuple[str, bytes]], n: int, seed: int) -> Iterator[int]:
    """Yield n positions: each row has the same chance, each stratum its share within one row."""
    order = sorted(range(len(rows)), key=rows.__getitem__)
    if n >= len(order):
        yield from order
        return
    # Every N/n-th of N sorted rows from a random start, in integers so that no rounding matters.
    start = int.from_bytes(hashlib.sha256(f"{seed} start".encode()).digest()) % len(order)
    for nth in range(n):
        yield order[(nth * len(order) + start) // n]


@dataclass(slots=True)
class _Labels:
    """The fields by which rows can be divided into strata, with counts of their values."""

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
        """The field by which the rows are divided, if any."""
        return divided_by(self.counts)

    def of_rows(self, by: str | None) -> list[str]:
        """Return the stratum of each remembered row; empty where it has none."""
        return [labels.get(by or "", "") for labels in self._each]
