"""Finds the runs below the directories that the user names, and gives each an id for its addresses.

A request names a run by its id alone and never by a path, so that no address can lead out of what
was found here.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.engine.store.snapshot import FILE_NAME
from nel.errors import OutputError

_DEPTH_MAX: Final = 3
"""Levels of directories below a named one that are looked into."""
_NOT_IN_AN_ID: Final = re.compile(r"[^A-Za-z0-9._-]+")
_ID_CHARACTERS_MAX: Final = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRun:
    """A directory that holds a run.db."""

    id: str
    """Unique among the runs; letters, digits and ``._-~``. It changes with the directory's name."""
    path: Path
    folder: str
    """Where it lies below the named directory, for people; empty directly in it."""

    @property
    def store(self) -> Path:
        """Return the path of its run.db."""
        return self.path / FILE_NAME

    def stamp(self, *others: Path) -> tuple[object, ...]:
        """Return what changes when its store or another of its files does."""
        stamps: list[object] = []
        for path in (self.store, self.store.with_name(f"{FILE_NAME}-wal"), *others):
            with suppress(OSError):
                status = path.stat()
                stamps.append((path.name, status.st_mtime_ns, status.st_size, status.st_ino))
        return tuple(stamps)


def check_directories(directories: Sequence[Path]) -> None:
    """Refuse what is not a directory, and directories without any run.

    Raises:
        OutputError: There is no such directory, or no run in any of them.
    """
    for directory in directories:
        if not directory.is_dir():
            raise OutputError(
                f"{directory} is not a directory; give the directory of a run, or one of runs"
            )
    if not find_runs(directories):
        names = ", ".join(map(str, directories))
        raise OutputError(
            f"there is no run in {names}: no {FILE_NAME} in it or {_DEPTH_MAX} levels below; "
            "give the directory of a run, or one of runs"
        )


def find_runs(directories: Sequence[Path]) -> dict[str, FoundRun]:
    """Return the runs in the directories and below them by id, in the order of their names."""
    paths: dict[Path, str] = {}
    for directory in directories:
        root = directory.resolve()
        for path in _walk(root, 0):
            if (path / FILE_NAME).is_file():
                folder = path.parent.relative_to(root) if path != root else Path()
                paths.setdefault(path, "" if folder == Path() else str(folder))
    runs: dict[str, FoundRun] = {}
    for path in sorted(paths, key=lambda path_: (path_.name, str(path_))):
        run_id = _id_of(path)
        if run_id in runs:  # directories of one name are told apart by their paths
            run_id = f"{run_id}~{_digest(path)}"
        runs[run_id] = FoundRun(id=run_id, path=path, folder=paths[path])
    return runs


def _walk(directory: Path, depth: int) -> Iterator[Path]:
    """Yield a directory and those below it, but for what is in a run or behind a link."""
    yield directory
    if depth >= _DEPTH_MAX or (directory / FILE_NAME).is_file():
        return
    names: list[str] = []
    with suppress(OSError), os.scandir(directory) as entries:
        names = [
            entry.name
            for entry in entries
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
        ]
    for name in sorted(names):
        yield from _walk(directory / name, depth + 1)


def _id_of(path: Path) -> str:
    """Return the name of a directory as a part of an address."""
    run_id = _NOT_IN_AN_ID.sub("-", path.name)[:_ID_CHARACTERS_MAX].strip(".")
    if run_id == path.name:
        return run_id
    return f"{run_id or 'run'}~{_digest(path.name)}"


def _digest(path: Path | str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
