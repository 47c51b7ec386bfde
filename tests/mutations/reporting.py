"""A pytest plugin that writes the ids of failed tests, one a line, into the file that an environment variable names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

VARIABLE: Final = "NEL_FAILED_TESTS"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that failed, or its fixtures."""
    if report.failed:
        _note(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file that cannot be collected."""
    if report.failed:
        _note(report.nodeid)


def _note(nodeid: str) -> None:
    with Path(os.environ[VARIABLE]).open("a", encoding="utf-8") as file:
        file.write(f"{nodeid}\n")
