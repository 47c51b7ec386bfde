"""Every fault is provoked with a key in the environment that must be found nowhere afterwards; no process stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.faults.invariants import CANARY, CANARY_ENV
from tests.faults.runs import end_started


@pytest.fixture(autouse=True)
def _canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CANARY_ENV, CANARY)
    for name in ("REQUEST_METHOD", "NETRC"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_process_stays() -> Iterator[None]:
    yield
    end_started()
