"""The sandbox against a real engine. Where there is none the tests are skipped, and in CI they fail."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

import pytest

from nel.errors import NelError
from nel.sandbox import Sandbox, SandboxSettings


@cache
def need_engine(*languages: str) -> None:
    """Skip where programs of these languages cannot be run; fail where CI says that they must be."""
    try:
        Sandbox().check(languages or ("python",))
    except NelError as error:
        if os.environ.get("NEL_REQUIRE_DOCKER"):
            pytest.fail(f"Docker is required here: {error}")
        pytest.skip(f"no sandbox: {error}")


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A sandbox with two containers at once."""
    need_engine("python")
    with Sandbox(SandboxSettings(workers=2)) as found:
        yield found


@pytest.fixture
def lone() -> Iterator[Sandbox]:
    """A sandbox of one container, which each program gets after the other."""
    need_engine("python")
    with Sandbox(SandboxSettings(workers=1)) as found:
        yield found
