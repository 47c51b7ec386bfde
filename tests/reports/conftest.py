"""A realistic run directory for the report tests, and the module that builds it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import run_fixture


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """Return a run of 600 samples with hostile outputs, 18 of them unscored."""
    return run_fixture.build_run(tmp_path / "run")
