"""Limits of the process: how many connections fit, what is refused, and what is said of it."""

from __future__ import annotations

import os
import resource

import pytest

from nel.engine.process_limits import SessionFit, check_memory, fit
from nel.errors import ConfigError

UNLIMITED = resource.RLIM_INFINITY


def test_endpoints_share_what_fits() -> None:
    """All they want where the limit can be raised, and equal parts of it where it cannot."""
    assert fit([64, 8], own=33, soft=48, hard=200) == SessionFit(files=105, most=64, note=None)
    assert fit([64, 8], own=33, soft=48, hard=83).most == 25


def test_a_hard_limit_lowers_the_concurrency() -> None:
    """The note names the limit, what is in flight instead, and what raises it."""
    found = fit([64], own=33, soft=48, hard=60)
    assert (found.files, found.most) == (60, 27)
    assert found.note is not None
    assert found.note.startswith("this process may open 60 files (ulimit -n), so at most 27 requests are in flight")
    assert "ulimit -n 97 " in found.note


def test_a_limit_without_room_is_refused() -> None:
    """Before anything is sent, with the command that raises it."""
    with pytest.raises(ConfigError, match=r"may open 20 files .* none for connections; .* ulimit -n 97 "):
        fit([64], own=33, soft=20, hard=20)


def test_too_little_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A C library would abort the process."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (250_000 * 1024, UNLIMITED))
    with pytest.raises(ConfigError, match=r"may use 244 MiB .*ulimit -v 250000.* ulimit -v unlimited"):
        check_memory()


@pytest.mark.parametrize(("limit", "threads"), [(2 << 30, "1"), (64 << 30, None), (UNLIMITED, None)])
def test_little_memory_keeps_linear_algebra_to_one_thread(
    monkeypatch: pytest.MonkeyPatch, limit: int, threads: str | None
) -> None:
    """OpenBLAS reserves memory for each core when numpy is imported, and ends the process where it gets none."""
    monkeypatch.setattr(os, "environ", {})
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, UNLIMITED))
    check_memory()
    assert os.environ.get("OPENBLAS_NUM_THREADS") == threads
