"""The line that shows a run in motion."""

from __future__ import annotations

import time

import pytest

from nel.cli.progress import progress_line
from nel.engine.progress import Progress
from nel.types import Scored


def test_before_anything_is_asked_the_line_names_the_stage_and_no_rate() -> None:
    """Rows that were read are counted; there is no time left to tell yet."""
    progress = Progress(stage="reading datasets")
    assert progress_line(progress) == "reading datasets"
    progress.rows_read = 12_345
    assert progress_line(progress) == "reading datasets: 12,345 rows"


def test_the_rate_counts_from_the_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long reading of the dataset does not make the run look slow."""
    monkeypatch.setattr(time, "monotonic", lambda: 5000.0)
    progress = Progress(stage="running", total=100, started=4000.0)
    progress.running_since = 4990.0
    for _ in range(50):
        progress.count_outcome(Scored(reward=1.0, metrics={}))
    line = progress_line(progress)
    assert line.startswith("running: 50/100  5.0/s  10"), line
