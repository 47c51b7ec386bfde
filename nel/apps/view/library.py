"""The runs that are shown, and what is kept of them."""

from __future__ import annotations

import time
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

_LOOK_AGAIN_SECONDS: Final = 5.0
WAIT_SECONDS: Final = 0.05
"""A page waits so long for an index and for counts, so that a small run is shown whole at once."""


@dataclass(slots=True, kw_only=True)
class Library:
    """The runs that are shown."""

    directories: Sequence[Path]
    cache: Path
    """Where indices of samples are kept."""
    wait_seconds: float = WAIT_SECONDS
    """How long a page waits for an index, and for the answers of a run in progress to be
    counted."""
    summaries: Summaries = field(init=False)
    comparisons: Recent[ComparisonView] = field(default_factory=lambda: Recent(COMPARISONS_MAX))
    indices: Indices = field(init=False)
    _seen: tuple[float, dict[str, FoundRun]] = (0.0, {})

    def __post_init__(self) -> None:
        """Build no index yet."""
        self.indices = Indices(self.cache, wait_seconds=self.wait_seconds)
        self.summaries = Summaries(wait_seconds=self.wait_seconds)

    def close(self) -> None:
        """Stop what works in the background."""
        self.summaries.close()
        self.indices.close()

    def runs(self) -> dict[str, FoundRun]:
        """Return the runs that are there now, by id."""
        self._seen = (time.monotonic(), find_runs(self.directories))
        return self._seen[1]

    def run(self, name: str) -> FoundRun | None:
        """Return a run by its id; the directories are looked through again at most every few
        seconds.
        """
        seen, runs = self._seen
        run = runs.get(name)
        if run is None or time.monotonic() - seen > _LOOK_AGAIN_SECONDS or not run.store.is_file():
            run = self.runs().get(name)
        return run


LIBRARY: Final = web.AppKey("nel_view_library", Library)
