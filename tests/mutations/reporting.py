"""A pytest plugin that writes the first test that failed into the file that an environment variable names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

VARIABLE: Final = "NEL_FIRST_FAILURE"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that failed, or its fixtures."""
    if report.failed:
        _note(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file that cannot be collected."""
    if report.failed:
        _note(report.nodeid)


def _note(nodeid: str) -> None:
    path = Path(os.environ[VARIABLE])
    if not path.exists():
        path.write_text(nodeid, encoding="utf-8")
