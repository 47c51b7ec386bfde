"""Keeps between runs what was computed of source files, since that takes longer than most of a
start.

An entry is found by the bytes of a file, so it holds wherever that file lies and whenever it was
changed, and only for the rules and the version of Python that computed it. The file is
``nel/sources.json`` of ``XDG_CACHE_HOME`` or ``~/.cache``; where Python writes no bytecode, and
where there is no home or no room, nothing is written.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_bytes, loads
from nel.errors import StoppedEarly

Logic: TypeAlias = "tuple[str, tuple[str, ...]]"
"""The digest of a file's logic, and the names that it imports."""
_ENTRIES_MAX: Final = 1_024
"""A file of half a megabyte; the newest stay."""


class SourceCache:
    """What was computed of sources, by the SHA-256 of their bytes."""

    def __init__(self, path: Path | None = None) -> None:
        """Prepare; nothing is read yet.

        Args:
            path: The file; None: the user's.
        """
        self._path = path
        self._entries: dict[str, Logic] | None = None
        self._is_new = False

    def find(self, key: str) -> Logic | None:
        """Return what was computed of these bytes, None where nothing was."""
        return self._read().get(key)

    def add(self, key: str, logic: Logic) -> Logic:
        """Store what was computed of these bytes, and return it."""
        self._read()[key] = logic
        self._is_new = True
        return logic

    def save(self) -> None:
        """Write what was added; a cache that cannot be written is none."""
        if not self._is_new or sys.dont_write_bytecode:
            return
        self._is_new = False
        newest = dict(list(self._read().items())[-_ENTRIES_MAX:])
        with suppress(OSError, RuntimeError, StoppedEarly):
            path = self._path or _user_path()
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_file(path, [dumps_bytes({"rules": _rules(), "entries": list(newest.items())})])

    def _read(self) -> dict[str, Logic]:
        if self._entries is None:
            self._entries = {}
            # Absent or damaged: computed again.
            with suppress(OSError, RuntimeError, ValueError, KeyError, TypeError):
                stored = loads((self._path or _user_path()).read_bytes())
                if stored["rules"] == _rules():
                    self._entries = {
                        str(key): (str(digest), tuple(map(str, imports)))
                        for key, (digest, imports) in stored["entries"]
                    }
        return self._entries


def _user_path() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(base) if base.startswith("/") else Path.home() / ".cache"
    return folder / "nel" / "sources.json"


def _rules() -> str:
    """Return what an entry depends on beside the bytes of its file."""
    code = Path(__file__).with_name("source_digest.py").read_bytes()
    return f"{hashlib.sha256(code).hexdigest()} {sys.version_info.major}.{sys.version_info.minor}"


SOURCES: Final = SourceCache()
"""Of this user."""
