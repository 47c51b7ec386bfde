"""Every fault is provoked with a key in the environment that must be found nowhere afterwards."""

from __future__ import annotations

import pytest

from tests.faults.invariants import CANARY, CANARY_ENV


@pytest.fixture(autouse=True)
def _canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CANARY_ENV, CANARY)
    for name in ("REQUEST_METHOD", "NETRC"):
        monkeypatch.delenv(name, raising=False)
