"""The engine that the tests of sessions share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.containers import engine_client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of an engine that has the base image."""
    with engine_client() as engine:
        yield engine
