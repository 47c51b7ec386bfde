"""What every test may rely on: no proxy, no endpoint, no key and no terminal width of the machine it runs on."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from nel.authoring.registered import REGISTERED
from nel.config import user_settings
from tests.support.browser import CHROMIUM, PATIENCE_MS
from tests.support.runs import SHARED

# The same examples every time and no deadline for one, so that a build says something about the change and not about
# chance or the machine's other work. New ones are looked for with HYPOTHESIS_PROFILE=default.
settings.register_profile(
    "steady", derandomize=True, print_blob=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
# Hypothesis draws from the numbers and texts in the source of all local modules that are loaded, and which those are
# depends on the tests that a worker ran before: the same test would get other examples from run to run.
providers._get_local_constants = lambda: providers._local_constants
# Collection makes a million objects that stay: looking through them for cycles took a fifth of its time.
gc.disable()


def pytest_collection_finish() -> None:
    """Leave what was collected out of what the collector looks through."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what reads recorded outputs where they are absent: they are too large for a clone of the project."""
    if SHARED.is_dir():
        return
    for item in items:
        if item.get_closest_marker("shared_data"):
            item.add_marker(pytest.mark.skip(reason="../shared/data is not there"))


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in user_settings.variables():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(user_settings.FILE_VARIABLE, "")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser, which takes a second to start."""
    from playwright.sync_api import sync_playwright  # takes half a second to import

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE_MS)
        yield browser
        browser.close()


@pytest.fixture(autouse=True)
def _own_registry() -> Iterator[None]:
    """Forget the adapter classes that a test registers."""
    before = dict(REGISTERED)
    yield
    REGISTERED.clear()
    REGISTERED.update(before)
