"""Keeps the digests of nel's own source files between runs, since to compute them takes longer than
most of a start.

The file is in ``nel`` of ``XDG_CACHE_HOME`` or ``~/.cache``, one for each place that nel is
installed at. A digest counts only while its file has the size, the times and the inode that it was
computed with, as in Git's index, and only for the rules that computed it. Sources of users and
plugins are never kept: each run reads them. Without a home, on a full disk or with
``PYTHONDONTWRITEBYTECODE`` nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeAlias

from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_bytes, loads
from nel.errors import StoppedEarly

Logic: TypeAlias = "tuple[str, tuple[str, ...]]"
"""The digest of a file's logic, and the names that it imports."""

_PACKAGE: Final = Path(__file__).parents[2]
_SETTLED_NS: Final = 2_000_000_000
"""A file that changed since then may change again within the resolution of its times, and is not
kept.
"""
_PLACES_MAX: Final = 8
"""Installations whose files stay; of further ones the oldest goes."""


class SourceCache:
    """Digests of the files of one package."""

    def __init__(self, package: Path = _PACKAGE, folder: Path | None = None) -> None:
        """Prepare; nothing is read yet.

        Args:
            package: The folder whose files are kept.
            folder: Where; None: the user's cache.
        """
        self._package = package
        self._folder = folder
        self._known: dict[str, list[Any]] | None = None
        self._is_new = False

    def find(self, path: Path) -> Logic | None:
        """Return what was computed of a file that has not changed since, None where nothing was."""
        name = self._name_of(path)
        if name is None:
            return None
        entry = self._sources().get(name)
        if entry is None or entry[0] != _stamp(path.stat()):
            return None
        return str(entry[1]), tuple(entry[2])

    def add(self, path: Path, logic: Logic) -> Logic:
        """Keep what was computed of a file, where it is one of the package, and return it."""
        name = self._name_of(path)
        if name is not None:
            stat = path.stat()
            if max(stat.st_mtime_ns, stat.st_ctime_ns) < time.time_ns() - _SETTLED_NS:
                self._sources()[name] = [_stamp(stat), *logic]
                self._is_new = True
        return logic

    def save(self) -> None:
        """Write what was added; a cache that cannot be written is none."""
        if not self._is_new or sys.dont_write_bytecode:
            return
        self._is_new = False
        body = dumps_bytes({"rules": _rules(), "sources": self._sources()})
        with suppress(OSError, RuntimeError, StoppedEarly):  # no home, or no room
            path = self._path()
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_file(path, [hashlib.sha256(body).hexdigest().encode(), b"\n", body])
            _remove_oldest(path.parent)

    def _sources(self) -> dict[str, list[Any]]:
        if self._known is None:
            self._known = {}
            with suppress(
                OSError, RuntimeError, ValueError, KeyError, TypeError
            ):  # absent or damaged: computed again
                digest, _, body = self._path().read_bytes().partition(b"\n")
                if digest.decode() == hashlib.sha256(body).hexdigest():
                    stored = loads(body)
                    self._known = stored["sources"] if stored["rules"] == _rules() else {}
        return self._known

    def _path(self) -> Path:
        name = hashlib.sha256(os.fsencode(self._package)).hexdigest()[:16]
        return (self._folder or _user_cache()) / f"sources-{name}.json"

    def _name_of(self, path: Path) -> str | None:
        try:
            return str(path.relative_to(self._package))
        except ValueError:
            return None


def _user_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "nel"


def _stamp(stat: os.stat_result) -> list[int]:
    return [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]


def _rules() -> list[Any]:
    """Return what a digest depends on beside its file: the module that computes it, and what Python
    reads as source.
    """
    return [*_stamp(Path(__file__).with_name("source_digest.py").stat()), *sys.version_info[:2]]


def _remove_oldest(folder: Path) -> None:
    files = sorted(folder.glob("sources-*.json"), key=lambda file: file.stat().st_mtime_ns)
    for path in files[:-_PLACES_MAX]:
        path.unlink(missing_ok=True)


KEPT: Final = SourceCache()
"""Of this installation."""
