"""A resume reads the whole dataset before it asks, and refuses one that has changed in any row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nel
from nel.errors import ResumeRefused
from nel.runs.evaluation import RunResult
from tests.support.endpoint import Endpoint, answer, scripted
from tests.support.runs import sums

N = 600
FIRST = 20
EDITED = N - 3
BENCH = f"""
import os
from nel import benchmark, scorer
def edited(row):
    late = os.environ.get("NEL_TEST_EDITED") and "What is {EDITED} plus" in row["question"]
    return {{**row, "question": row["question"] + " Think!" if late else row["question"]}}
@benchmark(name="mine", dataset="data.jsonl", prompt="{{question}}", target_field="answer", prepare_row=edited)
@scorer
def mine(sample):
    return {{"correct": True}}
"""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with scripted(lambda call, number: answer("42"), models=["m"]) as endpoint:
        yield endpoint


def _run(folder: Path, endpoint: Endpoint, most: int, *, resume: bool = False) -> RunResult:
    config: dict[str, Any] = {
        "benchmarks": [{"name": str(folder / "bench.py")}],
        "endpoint": {"url": endpoint.url, "model": "m"},
        "output": {"dir": str(folder / "out")},
        "budget": {"max_requests": most},
        "engine": {"concurrency": 4},
    }
    return nel.evaluate(config, resume=resume)


@pytest.fixture
def begun(tmp_path: Path, endpoint: Endpoint) -> Path:
    """A run that has asked its first samples and stopped there."""
    sums(tmp_path / "data.jsonl", N)
    (tmp_path / "bench.py").write_text(BENCH)
    assert _run(tmp_path, endpoint, FIRST).exit_code == 75
    return tmp_path


def _asked(endpoint: Endpoint) -> int:
    return sum(call.path.endswith("/chat/completions") for call in endpoint.calls)


def test_an_unchanged_dataset_goes_on(begun: Path, endpoint: Endpoint) -> None:
    """The resume asks what is left, from the first row that was not asked."""
    before = _asked(endpoint)
    result = _run(begun, endpoint, 2 * FIRST, resume=True)
    assert result.exit_code == 75
    assert FIRST // 2 <= _asked(endpoint) - before <= FIRST + 1
    assert result.benchmarks[0].accounting["n_scored"] > FIRST


def test_a_changed_file_is_refused_before_anything_is_asked(begun: Path, endpoint: Endpoint) -> None:
    """Its last row counts as much as its first."""
    sums(begun / "data.jsonl", N)
    with (begun / "data.jsonl").open("r+") as file:
        text = file.read()
        file.seek(0)
        file.write(text.replace(f"What is {EDITED} plus", f"What be {EDITED} plus"))
    before = len(endpoint.calls)
    with pytest.raises(ResumeRefused, match=r"dataset\.sha256: .*prompt\.sha256: "):
        _run(begun, endpoint, N, resume=True)
    assert len(endpoint.calls) == before


def test_a_prompt_that_changed_late_in_an_unchanged_file_is_refused_before_anything_is_asked(
    begun: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only rendering every row finds it."""
    monkeypatch.setenv("NEL_TEST_EDITED", "yes")
    before = len(endpoint.calls)
    with pytest.raises(ResumeRefused, match=r"other settings \(prompt\.sha256: "):
        _run(begun, endpoint, 10 * N, resume=True)
    assert len(endpoint.calls) == before
