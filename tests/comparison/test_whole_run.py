"""A run of which a benchmark is gone decides nothing: no comparison, no gate, no floor."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nel.cli.app import app
from nel.comparison.whole_run import read_whole_run
from nel.engine.store.log import Log
from tests.support.compared import lines, write_run

REWARDS = [float(place % 4 != 0) for place in range(400)]


@pytest.fixture(name="run_dir")
def _run_dir(tmp_path: Path) -> Path:
    """Return a run of two benchmarks, of which one has a name that is not a name of a folder, with its store."""
    run_dir = write_run(tmp_path / "run", {"quiz": lines(REWARDS), "other%3A1": lines(REWARDS)})
    store = Log(run_dir / "run.db")
    for name in ("quiz", "other:1"):
        store.put_benchmark(name, name, {})  # type: ignore[typeddict-item]
    store.close()
    return run_dir


def said(*arguments: str | Path) -> str:
    """Run nel, expect exit code 2, and return its line."""
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    return done.stderr


def test_a_folder_that_is_gone_is_missed(run_dir: Path, tmp_path: Path) -> None:
    """What is left would pass a floor and a gate, and say nothing of what is gone."""
    whole = tmp_path / "whole"
    shutil.copytree(run_dir, whole)
    (tmp_path / "policy.yaml").write_text("version: 1\n", encoding="utf-8")
    shutil.rmtree(run_dir / "other%3A1")
    words = f"{run_dir} has no metrics of other%3A1"
    assert words in said("gate", run_dir, "--fail-under", "accuracy=0.5")
    assert words in said("gate", whole, run_dir, "--policy", tmp_path / "policy.yaml")
    assert words in said("gate", run_dir, run_dir, "--policy", tmp_path / "policy.yaml")
    assert words in said("compare", whole, run_dir)


def test_metrics_that_are_gone_are_missed_without_a_store(tmp_path: Path) -> None:
    """The other files of the benchmark are still there."""
    run_dir = write_run(tmp_path / "run", {"quiz": lines(REWARDS), "other": lines(REWARDS)})
    (run_dir / "other" / "metrics.json").unlink()
    assert "no metrics of other, and a run is decided on as a whole" in said("compare", run_dir, run_dir)


def test_results_that_are_gone_are_missed_by_a_floor(run_dir: Path) -> None:
    """Metrics whose samples are gone are not a ground to decide on."""
    (run_dir / "quiz" / "results.jsonl").unlink()
    assert "quiz has no results.jsonl; make it again with nel report" in said(
        "gate", run_dir, "--fail-under", "accuracy=0.5"
    )


def test_a_store_that_cannot_be_read_is_no_reason(run_dir: Path) -> None:
    """A comparison needs the artifacts alone."""
    (run_dir / "run.db").write_bytes(b"no database")
    assert len(read_whole_run(run_dir)) == 2
