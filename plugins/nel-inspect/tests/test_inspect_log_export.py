"""inspect_ai reads the log that ``nel export --to inspect`` wrote, with the counts and metrics of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.artifacts.exporting.writers import export_run
from tests.support.runs import read_json
from tests.support.viewed_run import build_viewed_run


def test_inspect_reads_the_exported_log(tmp_path: Path) -> None:
    """Status, counts, metrics, scores, errors and usage are those of the run; no unscored sample has a score."""
    reader = pytest.importorskip(
        "inspect_ai.log", reason="inspect_ai is not installed: pip install inspect_ai"
    )
    run_dir = build_viewed_run(tmp_path / "run", repeats=2, is_complete=True)
    export_run("inspect", run_dir, tmp_path / "out")
    metrics = read_json(run_dir / "quiz" / "metrics.json")
    accounting = metrics["accounting"]
    (info,) = reader.list_eval_logs(str(tmp_path / "out"))
    log = reader.read_eval_log(info)
    assert log.results is not None
    assert log.samples is not None
    assert (log.status, log.eval.task, log.eval.model, log.eval.config.epochs) == (
        "success",
        "quiz",
        "m",
        2,
    )
    assert log.results.total_samples == accounting["n_total"] == len(log.samples)
    assert log.results.completed_samples == accounting["n_scored"] + accounting["n_model_failure"]
    found = {name: one.value for name, one in log.results.scores[0].metrics.items()}
    assert found == {one["name"]: one["value"] for one in metrics["metrics"]}
    unscored = [sample for sample in log.samples if sample.error is not None]
    assert len(unscored) == accounting["n_unscored"]
    assert not any(sample.scores for sample in unscored)
    rewards = [
        score.as_float() for sample in log.samples for score in (sample.scores or {}).values()
    ]
    assert sum(rewards) / len(rewards) == metrics["headline"]["value"]
    assert all(
        sample.output.usage is not None and sample.messages[-1].role == "assistant"
        for sample in log.samples
    )
    summaries = reader.read_eval_log_sample_summaries(info.name)
    assert [one.error is None for one in summaries].count(False) == accounting["n_unscored"]
