"""Recorded outputs of real models, replayed over HTTP by the embedded endpoint, give the official numbers."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import started_nel
from tests.support.runs import SHARED, nel, only_run, read_json, read_results
from tests.support.tiers import first_rows

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir(), reason="../shared/data is not there"),
]
CONCURRENCY = 64
RIGHT = {150: 33, 1319: 286}
"""Of so many first answers to GSM8K, by the official verdicts."""
GSM8K = SHARED / "gsm8k_outputs_6b_finetuning.jsonl.gz"
MMLU_PRO = SHARED / "mmlu_pro_outputs_llama31_8b.jsonl.gz"


@contextmanager
def _replay(*arguments: str, cwd: Path = SHARED) -> Iterator[str]:
    with started_nel("endpoint", "replay", *arguments, "--port", "0", cwd=cwd, stderr=None) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]


def _mmlu_pro(url: str, out: str, *more: str) -> list[str]:
    return [
        "eval", "run", "--bench", "mmlu_pro", "--dataset", str(MMLU_PRO), "--model-url", url, "--model-id", "replay",
        "--send-sample-id", "--concurrency", str(CONCURRENCY), "-o", out, *more,
    ]  # fmt: skip


@pytest.mark.parametrize("n", first_rows(1, [150, 1319]))
def test_gsm8k_replay_differs_on_no_sample(tmp_path: Path, n: int) -> None:
    """286 of 1,319 right, and every verdict is the official one."""
    (tmp_path / "rows.jsonl").write_bytes(b"".join(gzip.decompress(GSM8K.read_bytes()).splitlines(keepends=True)[:n]))
    with _replay("rows.jsonl", "--question-field", "question", "--output-field", "model_output", cwd=tmp_path) as url:
        chosen = ("--bench", "gsm8k", "--dataset", "rows.jsonl", "--model-url", url, "--model-id", "replay")
        done = nel("eval", "run", *chosen, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    run_dir = only_run(tmp_path / "out")
    assert read_json(run_dir / "gsm8k" / "metrics.json")["headline"]["value"] == pytest.approx(RIGHT[n] / n)
    rows = read_results(run_dir, "gsm8k")
    assert [row["sample_id"] for row in rows if (row["reward"] == 1.0) != row["metadata"]["is_correct"]] == []
