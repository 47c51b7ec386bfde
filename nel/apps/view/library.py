"""The runs that the app shows, and its caches of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from aiohttp import web

from nel.apps.view.comparing import COMPARISONS_MAX, ComparisonView
from nel.apps.view.finding import FoundRun, find_runs
from nel.apps.view.index.building import Indices
from nel.apps.view.recent import Recent
from nel.apps.view.summary import Summaries

WAIT_SECONDS: Final = 0.05
"""A page waits so long for an index; that of a small run is done by then, and shown at once."""


@dataclass(slots=True, kw_only=True)
class Library:
    """The runs that the app shows."""

    directories: Sequence[Path]
    cache: Path
    """Where indices of samples are kept."""
    wait_seconds: float = WAIT_SECONDS
    """How long a page waits for an index."""
    summaries: Summaries = field(default_factory=Summaries)
    comparisons: Recent[ComparisonView] = field(default_factory=lambda: Recent(COMPARISONS_MAX))
    indices: Indices = field(init=False)

    def __post_init__(self) -> None:
        self.indices = Indices(self.cache, wait_seconds=self.wait_seconds)

    def close(self) -> None:
        """Stop the threads that build indices."""
        self.indices.close()

    def runs(self) -> dict[str, FoundRun]:
        """Return the runs that exist now, by id."""
        return find_runs(self.directories)

    def run(self, name: str) -> FoundRun | None:
        """Return a run by its id."""
        return self.runs().get(name)


LIBRARY: Final = web.AppKey("nel_view_library", Library)
