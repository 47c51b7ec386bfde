"""Runs to export: one of two benchmarks with unscored results, model failures, repeats and hostile texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.viewed_run import build_viewed_run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of 30 questions, 3 of them unscored and 3 failures of the model; tests do not change it."""
    return build_viewed_run(tmp_path_factory.mktemp("runs") / "run-1", is_complete=True)
