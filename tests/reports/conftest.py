"""A realistic run directory for the report tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports import run_fixture


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """Return a run of 600 samples with hostile outputs, 18 of them unscored."""
    return run_fixture.build_run(tmp_path / "run")
