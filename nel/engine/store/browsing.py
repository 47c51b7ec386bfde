"""What a viewer reads of a run.db beside its results: one sample by its id, its neighbours, calls.

Opens the store so that no file is made or changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nel.config.schema import Price
from nel.engine.store.snapshot import Snapshot, StoredSample
from nel.engine.store.spending import price_in


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

    def count_sessions(self) -> int:
        """Return how many sessions the run has had."""
        return self.count("SELECT count(*) FROM sessions")

    def bad_rows(self, benchmark: int) -> list[StoredSample]:
        """Return the unusable rows of a benchmark's dataset, those of other shards left out."""
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
