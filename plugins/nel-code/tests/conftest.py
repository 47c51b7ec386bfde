"""One sandbox for all tests. Where there is none they are skipped, and where CI requires it they fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from nel import NelError
from nel.sandbox import Sandbox, SandboxSettings

BUILT_BY_CI = {"python", "javascript", "cpp", "bash"}


@pytest.fixture(scope="session")
def sandbox_of() -> Iterator[Callable[..., Sandbox]]:
    """Return a function that gives a sandbox for some languages, or skips."""
    with Sandbox(SandboxSettings(workers=2)) as sandbox:

        def need(*languages: str) -> Sandbox:
            try:
                sandbox.check(languages)
            except NelError as error:
                if os.environ.get("NEL_REQUIRE_DOCKER") and BUILT_BY_CI.issuperset(languages):
                    pytest.fail(f"Docker is required here: {error}")
                pytest.skip(f"no sandbox: {error}")
            return sandbox

        yield need


@pytest.fixture
def sandbox(sandbox_of: Callable[..., Sandbox]) -> Sandbox:
    """Return a sandbox for Python."""
    return sandbox_of("python")
