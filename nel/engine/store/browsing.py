"""What a viewer reads of a run.db beside its results: rows in the order of their commits, one
sample by its id, calls.

Opens the store so that no file is made or changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nel.config.schema import Price
from nel.engine.store.projections.results import StoredResult, results
from nel.engine.store.rows import COLUMNS, Row
from nel.engine.store.snapshot import OF_ROUND, Snapshot, StoredSample
from nel.engine.store.spending import price_in
from nel.types import SECOND_ASKING


class BrowsedStore(Snapshot):
    """Reads a run.db for a viewer."""

    def __init__(self, path: Path) -> None:
        """Open for reading; no file is made or changed.

        Raises:
            StoreError: The file is missing, damaged, not a run.db or of another format.
        """
        super().__init__(path, untouched=True)

    @property
    def price(self) -> Price | None:
        """Return the price of the evaluated model, None where it has none."""
        return price_in(self.meta("config") or {})

    def count_outcomes(self, benchmark: int | None = None) -> int:
        """Return how many outcomes are stored, of one benchmark or of all; second askings are in no
        count.
        """
        of_benchmark = "" if benchmark is None else " AND benchmark = ?"
        query = (
            "SELECT count(*) FROM steps WHERE role = 1 AND void = 0 AND repeat < ? AND"
            f" {OF_ROUND}{of_benchmark}"
        )
        return self.count(query, (SECOND_ASKING, *(() if benchmark is None else (benchmark,))))

    def count_sessions(self) -> int:
        """Return how many sessions the run has had."""
        return self.count("SELECT count(*) FROM sessions")

    def taken_back(self) -> list[int]:
        """Return a mark of what was taken back in this run: verdicts, and rounds of scoring."""
        query = "SELECT count(*), ifnull(max(void), 0) FROM steps WHERE void > 0 AND role = 1"
        rounds = self.count("SELECT ifnull(sum(round), 0) FROM benchmarks")
        return [*self._connection.execute(query).fetchone(), rounds]

    def results_after(self, mark: int, n_max: int) -> list[tuple[int, int, StoredResult]]:
        """Return the next ``(mark, benchmark, result)`` in the order of commits, those of second
        askings left out.

        Args:
            mark: 0, or the last mark seen.
            n_max: So many at most.
        """
        verdict = ", ".join(f"o.{name}" for name in Row._fields)
        answer = ", ".join(f"r.{name}" for name in Row._fields)
        rows = self._connection.execute(
            f"SELECT o.seq, s.idx, s.sample_id, s.row_number, s.content, s.fault, {verdict}, {answer}"
            " FROM steps o NOT INDEXED CROSS JOIN benchmarks b ON b.id = o.benchmark CROSS JOIN samples"
            " s ON s.benchmark = o.benchmark AND s.idx = o.idx LEFT JOIN steps r ON r.benchmark = o.benchmark AND"
            " r.idx = o.idx AND r.repeat = o.repeat AND r.role = 0 AND r.void = 0 WHERE o.seq > ?"
            " AND o.role = 1 AND o.void = 0 AND o.attempt = b.round AND o.repeat < ? ORDER BY o.seq"
            " LIMIT ?",
            (mark, SECOND_ASKING, n_max),
        ).fetchall()
        return [self._result_of(row) for row in rows]

    def _result_of(self, values: Sequence[Any]) -> tuple[int, int, StoredResult]:
        width = len(Row._fields)
        outcome = Row._make(values[6 : 6 + width])
        response = None if values[6 + width] is None else Row._make(values[6 + width :])
        sample = StoredSample(*values[1:6])
        if response is None or response.requests is not None:
            result = StoredResult(sample, outcome.repeat, response, outcome)
        else:
            where = {"first": sample.idx, "last": sample.idx}
            (result,) = results(self, outcome.benchmark, [outcome.repeat], **where)
        return values[0], outcome.benchmark, result

    def bad_rows(self, benchmark: int) -> list[StoredSample]:
        """Return the rows of a benchmark's dataset that are unusable, without those of other
        shards.
        """
        rows = self._connection.execute(
            "SELECT idx, sample_id, row_number, content, fault FROM samples WHERE benchmark = ? AND"
            " fault IS NOT NULL",
            (benchmark,),
        ).fetchall()
        samples = [StoredSample(*row) for row in rows]
        return [
            sample for sample in samples if not self.elsewhere(benchmark, sample.idx, sample.idx)
        ]

    def samples_elsewhere(self, benchmark: int) -> Iterator[StoredSample]:
        """Yield the samples of a benchmark that other shards of the run ask."""
        if self.count_elsewhere(benchmark):
            yield from (
                sample
                for sample in self.samples(benchmark)
                if self.elsewhere(benchmark, sample.idx, sample.idx)
            )

    def results_before(self, benchmark: int, idx: int, n_max: int) -> list[StoredSample]:
        """Return up to so many samples before one, the nearest first."""
        rows = self._connection.execute(
            "SELECT idx, sample_id, row_number, content, fault FROM samples"
            " WHERE benchmark = ? AND idx < ? ORDER BY idx DESC LIMIT ?",
            (benchmark, idx, n_max),
        ).fetchall()
        return [StoredSample(*row) for row in rows]

    def idx_of(self, benchmark: int, sample_id: str) -> int | None:
        """Return the position of a sample."""
        row = self._connection.execute(
            "SELECT idx FROM samples WHERE benchmark = ? AND sample_id = ?", (benchmark, sample_id)
        ).fetchone()
        return None if row is None else int(row[0])

    def calls_of(self, benchmark: int, idx: int, repeat: int, n_max: int) -> list[Row]:
        """Return further requests of a sample: earlier turns, choices, judges, its scorer's. Steps of
        an episode are not among them.
        """
        rows = self._connection.execute(
            f"SELECT {COLUMNS} FROM steps WHERE benchmark = ? AND idx = ? AND repeat = ? AND (role >"
            " 1 OR void > 0) AND void = 0 AND role NOT BETWEEN 4 AND 9 ORDER BY seq LIMIT ?",
            (benchmark, idx, repeat, n_max),
        ).fetchall()
        return list(map(Row._make, rows))
