"""inspect_ai reads the log that ``nel export --to inspect`` wrote, with the counts and metrics of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from nel.artifacts.exporting.writers import export_run
from tests.episodes.bank import depositing, write_bank
from tests.support.endpoint import scripted
from tests.support.runs import nel, only_run, read_json
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


def test_inspect_reads_the_events_of_an_episode(tmp_path: Path) -> None:
    """Each request has the messages that it sent, each call its result, and the sample its conversation."""
    reader = pytest.importorskip(
        "inspect_ai.log", reason="inspect_ai is not installed: pip install inspect_ai"
    )
    path = write_bank(tmp_path, 1)
    with scripted(depositing) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        env = {"MAILS": str(tmp_path / "mails")}
        assert (
            nel("eval", "run", "--bench", f"{path}:bank", *where, cwd=tmp_path, env=env).returncode
            == 0
        )
    export_run("inspect", only_run(tmp_path / "out"), tmp_path / "logs")
    (info,) = reader.list_eval_logs(str(tmp_path / "logs"))
    (sample,) = reader.read_eval_log(info).samples
    requests = [event for event in sample.events if event.event == "model"]
    assert [len(event.input) for event in requests] == [1, 3, 5, 8]
    assert [event.result for event in sample.events if event.event == "tool"] == [
        "1", "sent", '{"balance":10}', "2",
    ]  # fmt: skip
    assert [message.role for message in sample.messages][-2:] == ["tool", "assistant"]
