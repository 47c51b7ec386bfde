"""What a viewer reads of a run.db beside its results: rows in the order of their commits, one
sample by its id, calls.

Opens the store so that no file is made or changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nel.engine.store.snapshot import Snapshot, StoredResult, StoredSample
from nel.types import SECOND_ASKING


class BrowsedStore(Snapshot):
    """Reads a run.db for a viewer."""

    def __init__(self, path: Path) -> None:
        """Open for reading; no file is made or changed.

        Raises:
            StoreError: The file is missing, damaged, not a run.db or of another format.
        """
        super().__init__(path, untouched=True)

    def count_outcomes(self, benchmark: int | None = None) -> int:
        """Return how many outcomes are stored, of one benchmark or of all; second askings are in no
        count.
        """
        where = "repeat < ?" if benchmark is None else "repeat < ? AND benchmark = ?"
        values = (SECOND_ASKING,) if benchmark is None else (SECOND_ASKING, benchmark)
        query = f"SELECT count(*) FROM outcomes WHERE {where}"  # noqa: S608 - one of two texts
        return self.count(query, values)

    def count_sessions(self) -> int:
        """Return how many sessions the run has had; a new one may have dropped outcomes."""
        return self.count("SELECT count(*) FROM sessions")

    def results_after(self, mark: int, n_max: int) -> list[tuple[int, int, StoredResult]]:
        """Return the next ``(mark, benchmark, result)`` in the order of commits, those of second
        askings left out.

        Args:
            mark: 0, or the last mark seen.
            n_max: So many at most.
        """
        rows = self._connection.execute(
            "SELECT o.rowid, o.benchmark, o.repeat, o.outcome, r.response, s.idx, s.sample_id,"
            " s.row_number, s.content, s.fault FROM outcomes o JOIN samples s ON s.benchmark ="
            " o.benchmark AND s.idx = o.idx LEFT JOIN responses r ON r.benchmark = o.benchmark AND"
            " r.idx = o.idx AND r.repeat = o.repeat WHERE o.rowid > ? AND o.repeat < ? ORDER BY"
            " o.rowid LIMIT ?",
            (mark, SECOND_ASKING, n_max),
        ).fetchall()
        return [
            (row[0], row[1], StoredResult(StoredSample(*row[5:]), row[2], row[4], row[3]))
            for row in rows
        ]

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

    def calls_of(
        self, benchmark: int, idx: int, repeat: int, n_max: int
    ) -> list[tuple[str, str, str]]:
        """Return ``(key, request, response)`` of further requests of a sample: earlier turns,
        judges, its scorer's. Steps of an episode are not among them.
        """
        return self._connection.execute(
            "SELECT key, request, response FROM calls WHERE benchmark = ? AND idx = ? AND repeat ="
            " ? AND NOT (key >= 'step-' AND key < 'step.') ORDER BY rowid LIMIT ?",
            (benchmark, idx, repeat, n_max),
        ).fetchall()
