"""Recorded outputs of real models, replayed over HTTP by the embedded endpoint, give the official numbers."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import started_nel
from tests.support.runs import RECORDED, SHARED, nel, only_run, read_json, read_results

GSM8K = SHARED / "gsm8k_outputs_6b_finetuning.jsonl.gz"


@contextmanager
def _replay(*arguments: str, cwd: Path) -> Iterator[str]:
    with started_nel("endpoint", "replay", *arguments, "--port", "0", cwd=cwd, stderr=None) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]


@pytest.mark.parametrize(
    ("outputs", "n", "n_right"),
    [
        (RECORDED / "gsm8k_outputs.jsonl", 30, 4),
        pytest.param(GSM8K, 1319, 286, marks=[pytest.mark.slow, pytest.mark.shared_data]),
    ],
)
def test_gsm8k_replay_differs_on_no_sample(tmp_path: Path, outputs: Path, n: int, n_right: int) -> None:
    """As many are right as by the official verdicts, and no verdict differs."""
    content = outputs.read_bytes()
    (tmp_path / "rows.jsonl").write_bytes(gzip.decompress(content) if outputs.suffix == ".gz" else content)
    with _replay("rows.jsonl", "--question-field", "question", "--output-field", "model_output", cwd=tmp_path) as url:
        chosen = ("--bench", "gsm8k", "--dataset", "rows.jsonl", "--model-url", url, "--model-id", "replay")
        done = nel("eval", "run", *chosen, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    assert read_json(run_dir / "gsm8k" / "metrics.json")["headline"]["value"] == pytest.approx(n_right / n)
    rows = read_results(run_dir, "gsm8k")
    assert [row["sample_id"] for row in rows if (row["reward"] == 1.0) != row["metadata"]["is_correct"]] == []
