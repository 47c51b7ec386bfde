"""For targets that install what their tests need: a test that skips there has failed.

PYTHONPATH=. pytest -p tests.support.no_skips
"""

from __future__ import annotations

from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a module that skips itself."""
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a test that skips itself."""
    report = yield
    _fail_if_skipped(report)
    return report


def _fail_if_skipped(report: pytest.CollectReport | pytest.TestReport) -> None:
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped here, where nothing may be missing: {report.longrepr}"
