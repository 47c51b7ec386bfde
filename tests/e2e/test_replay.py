"""Recorded outputs of real models, replayed over HTTP by the embedded endpoint, give the official numbers."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import started_nel
from tests.support.runs import RECORDED, nel, only_run, read_json, read_results


@contextmanager
def _replay(*arguments: str, cwd: Path) -> Iterator[str]:
    with started_nel("endpoint", "replay", *arguments, "--port", "0", cwd=cwd, stderr=None) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]


def test_gsm8k_replay_differs_on_no_sample(tmp_path: Path) -> None:
    """As many are right as by the official verdicts, and no verdict differs."""
    shutil.copy(RECORDED / "gsm8k_outputs.jsonl", tmp_path / "rows.jsonl")
    with _replay("rows.jsonl", "--question-field", "question", "--output-field", "model_output", cwd=tmp_path) as url:
        chosen = ("--bench", "gsm8k", "--dataset", "rows.jsonl", "--model-url", url, "--model-id", "replay")
        done = nel("eval", "run", *chosen, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    assert read_json(run_dir / "gsm8k" / "metrics.json")["headline"]["value"] == pytest.approx(4 / 30)
    rows = read_results(run_dir, "gsm8k")
    assert [row["sample_id"] for row in rows if (row["reward"] == 1.0) != row["metadata"]["is_correct"]] == []
