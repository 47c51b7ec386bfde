"""What was computed of sources is there in the next run, and never used for other bytes or by other rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nel.engine.scorers.source_cache import SourceCache

LOGIC = ("ab12", ("nel.core", "nel.core.thinking"))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in which a run stored one entry."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    path = tmp_path / "nel" / "sources.json"
    cache = SourceCache(path)
    cache.add("of these bytes", LOGIC)
    cache.save()
    return path


def test_the_next_run_computes_nothing(path: Path) -> None:
    """It finds what was stored of the same bytes, and nothing of others."""
    assert SourceCache(path).find("of these bytes") == LOGIC
    assert SourceCache(path).find("of other bytes") is None


def test_entries_of_other_rules_are_not_used(path: Path) -> None:
    """A release that computes digests in another way computes them again."""
    stored = json.loads(path.read_text())
    path.write_text(json.dumps({**stored, "rules": "of another release"}))
    assert SourceCache(path).find("of these bytes") is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"rules": 1}', "\0"])
def test_a_damaged_file_is_as_none(path: Path, text: str) -> None:
    """What cannot be read is computed again and written in its place."""
    path.write_text(text)
    cache = SourceCache(path)
    assert cache.find("of these bytes") is None
    cache.add("of these bytes", LOGIC)
    cache.save()
    assert SourceCache(path).find("of these bytes") == LOGIC
