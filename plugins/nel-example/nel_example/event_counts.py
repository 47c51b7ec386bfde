"""An observer: counts the outcomes of a session and writes them beside the run's other files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from nel import Observer
from nel.types import SampleKey


class EventCounts(Observer):
    """Counts outcomes by their class."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._counts: Counter[str] = Counter()

    def sample_finished(self, key: SampleKey, outcome: object) -> None:
        """Count one outcome."""
        self._counts[type(outcome).__name__] += 1

    def close(self) -> None:
        """Write the counts."""
        self._path.write_text(json.dumps(self._counts), encoding="utf-8")


def count_events(run_dir: Path, *, file: str = "event_counts.json") -> EventCounts:
    """Return an observer that writes its counts into a file of the run's directory."""
    return EventCounts(run_dir / file)
