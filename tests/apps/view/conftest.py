"""An app over a folder of runs, and clients of it in the same process."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from nel.apps.view.security import Access, hosts_of
from nel.apps.view.server import create_app
from tests.support.viewed_run import build_viewed_run

PATIENCE_SECONDS = 120.0
"""A page of a test is made when its index is complete."""
TOKEN = "a-token-for-tests"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of three runs; tests do not change them."""
    root = tmp_path_factory.mktemp("eval_results")
    build_viewed_run(root / "first-run", model="aurora-7b", n=60, is_complete=True)
    build_viewed_run(root / "second-run", model="<script>alert(1)</script>", n=60, right_every=3, is_complete=True)
    build_viewed_run(root / "repeated-run", model="borealis", n=12, repeats=5, is_complete=True)
    return root


def access(**changes: Any) -> Access:
    return Access(**{"token": TOKEN, "hosts": hosts_of("127.0.0.1", ()), **changes})


@asynccontextmanager
async def opened(folder: Path, cache: Path, **changes: Any) -> AsyncIterator[TestClient[Any, Any]]:
    """Yield a client that is not signed in."""
    app = create_app([folder], access(**changes), cache, wait_seconds=PATIENCE_SECONDS)
    async with TestClient(TestServer(app)) as client:
        yield client


@pytest.fixture
async def client(folder: Path, tmp_path: Path) -> AsyncIterator[TestClient[Any, Any]]:
    """Yield a client that is signed in."""
    async with opened(folder, tmp_path / "cache") as found:
        await found.get(f"/?token={TOKEN}")
        yield found


def content_of(folder: Path) -> dict[str, str]:
    """Return a digest of each file below a folder, and its name alone of each directory."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }
