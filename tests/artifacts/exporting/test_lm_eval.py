"""What is exported in the form of lm-eval is read back with the same scores, and no score where there was none."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.artifacts.exporting.writers import export_run
from nel.comparison.foreign import read_lm_eval
from nel.errors import UsageError
from tests.artifacts.exporting.test_tables import stored
from tests.support.runs import read_json, read_lines
from tests.support.viewed_run import build_viewed_run


def test_compare_reads_the_export_with_equal_rewards(finished: Path, tmp_path: Path) -> None:
    """Every reward is that of the run, and what is unscored stays so."""
    export_run("lm-eval", finished, tmp_path / "out")
    side = read_lm_eval(tmp_path / "out", "exported")
    columns = side.benchmarks["quiz"].columns()
    (summary,) = (tmp_path / "out").glob("results_*.json")
    (samples,) = (tmp_path / "out").glob("samples_quiz_*.jsonl")
    rewards = [line["reward"] for line in read_lines(samples)]
    assert side.models == ("m",)
    assert len(columns) == 30
    assert rewards == [one["reward"] for one in stored(finished)]
    headline = read_json(finished / "quiz" / "metrics.json")["headline"]
    results = read_json(summary)
    assert results["results"]["quiz"][f"{headline['metric']},none"] == headline["value"]
    assert results["nel"]["notes"][0] == "quiz: 3 of 30 results have no score (infra 3), which is not 0."


def test_repeats_are_refused(tmp_path: Path) -> None:
    """A format with one score a question is not given the mean of several."""
    run_dir = build_viewed_run(tmp_path / "run", n=3, repeats=2, is_complete=True)
    with pytest.raises(UsageError, match="asked each question several times"):
        export_run("lm-eval", run_dir, tmp_path / "out")
