"""The line that shows a run in motion."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from nel.cli.progress import _Events, benchmark_lines, progress_line
from nel.engine.progress import BenchmarkProgress, Progress
from nel.types import SECOND_ASKING, ModelFailure, Scored, Unscored


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
    progress.steps = 1_234
    assert "  steps 1,234" in progress_line(progress)


def test_each_of_several_benchmarks_has_its_own_line_and_score() -> None:
    """Counts and score are the benchmark's own; a second asking is not a sample of it; one benchmark needs no line."""
    progress = Progress(running_since=0.0)
    progress.benchmarks = {1: BenchmarkProgress(slot="gsm8k", total=4), 2: BenchmarkProgress(slot="mmlu", total=2_000)}
    for benchmark, outcome in (
        (1, Scored(reward=1.0, metrics={})),
        (1, ModelFailure(kind="no_answer")),
        (1, Unscored(cause="infra", kind="timeout")),
        (2, Scored(reward=0.0, metrics={})),
    ):
        progress.count_outcome(outcome, benchmark=benchmark)
    progress.count_outcome(Scored(reward=1.0, metrics={}), repeat=SECOND_ASKING, benchmark=2)
    assert "%" not in progress_line(progress)  # they are asked one after the other
    assert benchmark_lines(progress) == ["  gsm8k: 3/4  UNSCORED 1  (50 % of 2 so far)", "  mmlu: 1/2,000"]
    del progress.benchmarks[1]
    assert benchmark_lines(progress) == []


def test_a_score_waits_for_a_tenth_and_has_its_n() -> None:
    """The first answers are the quick ones, so their mean would mislead."""
    progress = Progress(total=20, running_since=0.0)
    progress.count_outcome(Scored(reward=1.0, metrics={}))
    assert "%" not in progress_line(progress)
    progress.count_outcome(Scored(reward=0.0, metrics={}))
    assert progress_line(progress).endswith("(50 % of 2 so far)")


def test_events_of_the_log_are_lines_and_those_of_an_earlier_session_are_not(tmp_path: Path) -> None:
    """What `-v` shows: the event and its fields, each once, without control characters."""
    log = tmp_path / "run.log"
    log.write_text('{"time": "2020-01-01T00:00:00.000000Z", "level": "info", "event": "stage", "stage": "old"}\n')
    events = _Events(Progress(run_dir=tmp_path))
    assert events.new() == []
    with log.open("a", encoding="utf-8") as file:
        file.write(
            '{"time": "2999-01-01T00:00:00.000000Z", "level": "warning", "event": "retried", "n": 2, "x": "a\\u001bb"}\n'
        )
    assert [line[10:] for line in events.new()] == ["retried  n=2  x=a\\x1bb"]
    assert events.new() == []
