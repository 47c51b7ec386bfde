"""What a viewer reads of a run.db beside its results: the price of its model, the neighbours of a sample.

Opens the store so that no file is made or changed.
"""

from __future__ import annotations

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

    def samples_before(self, benchmark: int, idx: int, n_max: int) -> list[StoredSample]:
        """Return up to so many samples before one, the nearest first."""
        return self.samples_where(benchmark, "idx < ? ORDER BY idx DESC LIMIT ?", idx, n_max)
