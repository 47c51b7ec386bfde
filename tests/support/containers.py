"""A client of the Docker engine for tests of sessions, which are skipped where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from nel.errors import NelError
from nel.sandbox.isolation.engine import connect

IMAGE = "nel-base:bookworm"


@contextmanager
def engine_client(host: str | None = None) -> Iterator[Any]:
    """Yield a client of an engine that has the base image."""
    try:
        engine = connect(host)
    except NelError as error:
        pytest.skip(f"no engine: {error}")
    try:
        if not engine.images.list(name=IMAGE):
            pytest.skip(f"no image {IMAGE}; scripts/sandbox_base.sh makes it")
        yield engine
    finally:
        engine.close()
