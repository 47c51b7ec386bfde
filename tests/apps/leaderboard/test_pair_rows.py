"""Pairs are written from the runs themselves, few at a time, whatever their order; what changed meanwhile is named."""

from __future__ import annotations

import random
import sqlite3
import tracemalloc
from contextlib import closing
from pathlib import Path

import pytest

from nel.apps.leaderboard.entries import BoardEntry, read_entries
from nel.apps.leaderboard.pair_rows import pair_rows
from nel.apps.leaderboard.pairing import make_pairs
from nel.errors import StoreError
from tests.support.leaderboards import recorded_run, write_bench

_N = 1_800
_N_FEW = 40
_LENGTH = 4_000
"""Characters of an answer; all answers of one run are 7 MB."""


def _entries(root: Path, n: int) -> list[BoardEntry]:
    """Return two runs of long recorded answers to the same questions, in another order each."""
    bench = write_bench(root / "bench", n=1)
    named = []
    for name in ("x", "y"):
        order = list(range(n))
        random.Random(name).shuffle(order)  # noqa: S311 - an order
        run = recorded_run(root, bench, name, lambda i, name=name: f"{name} {i} ".ljust(_LENGTH, name), order)
        named.append(f"{name}={run}")
    return read_entries(named, None)


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> list[BoardEntry]:
    return _entries(tmp_path_factory.mktemp("runs"), _N_FEW)


def test_each_row_holds_the_answers_of_those_it_names(entries: list[BoardEntry]) -> None:
    """In the order of the first run, with the question and the gold answer."""
    found = make_pairs(entries, baseline=None, seed=0)
    rows = list(pair_rows(entries, found.to_judge))
    assert len(rows) == _N_FEW
    assert [row["id"] for row in rows] == [one.id for one in found.to_judge]
    for row in rows:
        number = row["question_id"].removeprefix("q")
        assert row["response"].startswith(f"{row['model_response']} {number} ")
        assert row["baseline"].startswith(f"{row['model_baseline']} {number} ")
        assert {row["model_response"], row["model_baseline"]} == {"x", "y"}
        assert (row["question"], row["reference"]) == (f"Q{number}: Say {number}.", number)


@pytest.mark.slow
def test_answers_are_not_held(tmp_path: Path) -> None:
    """Neither reading 14 MB of answers nor writing their pairs takes 70 % of that."""
    entries = _entries(tmp_path, _N)
    paths = [f"{entry.label}={entry.source.run_dir}" for entry in entries]
    tracemalloc.start()
    try:
        again = read_entries(paths, None)
        found = make_pairs(again, baseline=None, seed=0)
        read = tracemalloc.get_traced_memory()[1]
        n = sum(1 for _ in pair_rows(again, found.to_judge))
        written = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert n == _N
    assert read < 0.7 * 2 * _N * _LENGTH
    assert written < 0.7 * 2 * _N * _LENGTH


def test_an_answer_that_is_gone_is_no_empty_one(entries: list[BoardEntry], tmp_path: Path) -> None:
    """A run that is resumed meanwhile may drop answers."""
    found = make_pairs(entries, baseline=None, seed=0)
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "run.db").write_bytes((entries[0].source.run_dir / "run.db").read_bytes())
    (moved,) = read_entries([f"{entries[0].label}={copy}", f"other={entries[1].source.run_dir}"], None)[:1]
    with closing(sqlite3.connect(copy / "run.db")) as connection, connection:
        connection.execute("DELETE FROM steps WHERE role = 0 AND idx = 5")
    with pytest.raises(StoreError, match="changed while it was read: the answer to sample"):
        list(pair_rows([moved, entries[1]], found.to_judge))
