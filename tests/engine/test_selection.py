"""Which rows a run asks, and what is noted of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from nel.authoring.benchmark import Benchmark
from nel.datasets.source import RawRow
from nel.engine.planning.selection import ROWS_COUNTED, first_rows, sampled_rows
from nel.engine.store.plans import StoredSelection
from nel.prompts import compile_template


def benchmark_of(**fields: Any) -> Benchmark:
    return Benchmark(
        name="b",
        dataset="rows.jsonl",
        description="",
        prompt=compile_template("{q}", name="prompt"),
        target_field="a",
        scorer=lambda _: True,
        **fields,
    )


def rows_of(counts: dict[str | None, int], field: str = "category") -> list[RawRow]:
    rows: list[RawRow] = []
    for name, n in counts.items():
        own = {} if name is None else {field: name}
        rows += [RawRow(number=len(rows) + k + 1, data={"q": f"{name} {k}", "a": "1", **own}) for k in range(n)]
    return rows


def sample(rows: list[RawRow], n: int, *, seed: int = 0, **fields: Any) -> tuple[list[str], StoredSelection]:
    noted: list[StoredSelection] = []
    drawn = [row.data["q"] for row in sampled_rows(benchmark_of(**fields), lambda: rows, n, seed, noted.append)]
    (selection,) = noted
    return drawn, selection


def first(rows: Iterator[RawRow] | list[RawRow], n: int) -> tuple[int, StoredSelection]:
    noted: list[StoredSelection] = []
    n_asked = len(list(first_rows(benchmark_of(), rows, n, noted.append)))
    (selection,) = noted
    return n_asked, selection


UNEQUAL = {"art": 7, "law": 400, "physics": 93}


@pytest.mark.parametrize("seed", range(5))
def test_each_category_has_its_share_to_within_one_row(seed: int) -> None:
    """A sample of a tenth has a tenth of each category, rounded down or up."""
    drawn, selection = sample(rows_of(UNEQUAL), 50, seed=seed)
    shares = Counter(text.split()[0] for text in drawn)
    assert len(drawn) == 50
    assert all(n // 10 <= shares[name] <= n // 10 + 1 for name, n in UNEQUAL.items())
    assert (selection["kind"], selection["n"], selection["of"], selection["by"]) == ("sample", 50, 500, "category")
    assert selection["strata"] == UNEQUAL


def test_the_order_of_the_file_does_not_matter() -> None:
    """A file that is sorted otherwise gives the same questions."""
    rows = rows_of(UNEQUAL)
    assert set(sample(rows, 50)[0]) == set(sample(rows[::-1], 50)[0])


def test_every_row_has_the_same_chance() -> None:
    """Over 1,000 seeds a row of a rare category is drawn as often as another one."""
    rows = rows_of({"art": 3, "law": 17})
    counts = Counter(text for seed in range(1_000) for text in sample(rows, 5, seed=seed)[0])
    assert len(counts) == 20
    assert all(200 <= n <= 300 for n in counts.values())


def test_groups_are_strata_where_there_is_no_category() -> None:
    """Questions on one passage are spread over the passages."""
    rows = rows_of({f"passage {n}": 10 for n in range(8)}, field="passage")
    drawn, selection = sample(rows, 8, group_field="passage")
    assert selection["by"] == "group"
    assert len({text.rsplit(" ", 1)[0] for text in drawn}) == 8


def test_the_first_rows_are_said_to_be_of_one_category() -> None:
    """What the first rows are of is counted to the end of the dataset."""
    n, selection = first(rows_of(UNEQUAL), 6)
    assert n == 6
    assert (selection["kind"], selection["of"], selection["is_exact"]) == ("first", 500, True)
    assert (selection["n_strata_asked"], selection["n_strata"]) == (1, 3)


def test_counting_is_bounded() -> None:
    """A dataset without an end is not read to its end."""

    def rows() -> Iterator[RawRow]:
        number = 0
        while True:
            number += 1
            yield RawRow(number=number, data={"q": "q"})

    _, selection = first(rows(), 2)
    assert (selection["of"], selection["is_exact"]) == (ROWS_COUNTED + 2, False)
