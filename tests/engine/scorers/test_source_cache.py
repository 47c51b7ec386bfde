"""Digests of nel's own sources are kept between runs, and never used for a file that may be another."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from nel.engine.scorers.source_cache import SourceCache

OLD_NS = 1_700_000_000_000_000_000
LOGIC = ("ab12", ("nel.core", "nel.core.thinking"))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package whose only file has not been touched for long."""
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    # The time of the last change of an inode cannot be set, so the clock is.
    monkeypatch.setattr("nel.engine.scorers.source_cache.time.time_ns", lambda: 9_000_000_000_000_000_000)
    source = tmp_path / "package" / "rules.py"
    source.parent.mkdir()
    source.write_text("RIGHT = 1\n", encoding="utf-8")
    os.utime(source, ns=(OLD_NS, OLD_NS))
    return source.parent


def kept(package: Path) -> SourceCache:
    """Return the cache of the next run."""
    return SourceCache(package, package.parent / "cache")


def test_the_next_run_computes_nothing(package: Path) -> None:
    """What was added is found by another process, and nothing else is."""
    cache = kept(package)
    assert cache.find(package / "rules.py") is None
    assert cache.add(package / "rules.py", LOGIC) == LOGIC
    cache.save()
    assert kept(package).find(package / "rules.py") == LOGIC
    assert kept(package.parent / "elsewhere").find(package / "rules.py") is None


def _edit(source: Path) -> None:
    """Keep the size and the time of the last change of the content, as a restored copy does."""
    source.write_text("RIGHT = 2\n", encoding="utf-8")
    os.utime(source, ns=(OLD_NS, OLD_NS))


def _replace(source: Path) -> None:
    other = source.with_name("other")
    other.write_text("RIGHT = 2\n", encoding="utf-8")
    os.utime(other, ns=(OLD_NS, OLD_NS))
    other.replace(source)


@pytest.mark.parametrize("change", [_edit, _replace])
def test_a_file_that_may_have_changed_is_read_again(package: Path, change: Callable[[Path], None]) -> None:
    """Its time of modification can be set back; that of its inode cannot, and a replaced file is another inode."""
    cache = kept(package)
    cache.add(package / "rules.py", LOGIC)
    cache.save()
    change(package / "rules.py")
    assert kept(package).find(package / "rules.py") is None


def test_a_file_that_has_just_changed_is_not_kept(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may change again within the resolution of its times."""
    changed = (package / "rules.py").stat().st_ctime_ns
    monkeypatch.setattr("nel.engine.scorers.source_cache.time.time_ns", lambda: changed + 1_000_000_000)
    cache = kept(package)
    cache.add(package / "rules.py", LOGIC)
    cache.save()
    assert kept(package).find(package / "rules.py") is None


def test_a_file_of_the_user_is_not_kept(package: Path, tmp_path: Path) -> None:
    """A scorer that somebody works on is read by each run."""
    mine = tmp_path / "mine.py"
    mine.write_text("RIGHT = 1\n", encoding="utf-8")
    cache = kept(package)
    cache.add(mine, LOGIC)
    cache.save()
    assert cache.find(mine) is None
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("damage", [lambda body: body.replace(b"ab12", b"ab13"), lambda body: body[:40], lambda _: b""])
def test_a_damaged_file_is_none(package: Path, damage: Callable[[bytes], bytes]) -> None:
    """What does not have its own digest is computed again."""
    cache = kept(package)
    cache.add(package / "rules.py", LOGIC)
    cache.save()
    (path,) = (package.parent / "cache").iterdir()
    path.write_bytes(damage(path.read_bytes()))
    assert kept(package).find(package / "rules.py") is None


def test_files_of_few_installations_stay(package: Path, tmp_path: Path) -> None:
    """A cache of many checkouts does not grow without end."""
    for number in range(12):
        other = tmp_path / str(number)
        other.mkdir()
        (other / "rules.py").write_text("RIGHT = 1\n", encoding="utf-8")
        cache = kept(other)
        cache.add(other / "rules.py", LOGIC)
        cache.save()
    assert len(list((tmp_path / "cache").iterdir())) == 8


def test_without_a_home_nothing_is_kept(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is it an error."""
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/none")
    cache = SourceCache(package)
    cache.add(package / "rules.py", LOGIC)
    cache.save()
    assert SourceCache(package).find(package / "rules.py") is None
