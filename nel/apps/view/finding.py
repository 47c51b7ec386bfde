"""Finds the runs below the directories that the user names, and gives each an id for its URLs.

A request names a run by id and never by path, so no URL can reach a file outside of these runs.
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
    """Its parent below the named directory, for people; empty directly in it."""

    @property
    def store(self) -> Path:
        """The path of its run.db."""
        return self.path / FILE_NAME

    def stamp(self, *others: Path) -> tuple[object, ...]:
        """Return a value that changes when its store, or one of the other files, does."""
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
        run_id = _id_of(path.name)
        if run_id in runs:  # a second directory of the same name
            run_id = f"{run_id}~{_digest(path)}"
        runs[run_id] = FoundRun(id=run_id, path=path, folder=paths[path])
    return runs


def _walk(directory: Path, depth: int) -> Iterator[Path]:
    """Yield a directory and those below it, without links, hidden ones and those inside a run."""
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


def _id_of(name: str) -> str:
    """Return the name of a directory as a segment of a URL; a digest keeps altered names apart."""
    run_id = _NOT_IN_AN_ID.sub("-", name)[:_ID_CHARACTERS_MAX].strip(".")
    if run_id == name:
        return run_id
    return f"{run_id or 'run'}~{_digest(name)}"


def _digest(path: Path | str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:8]
