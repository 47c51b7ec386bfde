"""Finds the files that path patterns of a scorer's source name, and digests them. Reads files and
writes nothing.

A computed part of a pattern matches any name. A folder of which every file may be read counts as a
whole, unless it is the working directory, or holds the scorer itself without being its package:
runs and datasets lie there too, whose change is no change of a rule.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.core.paths import is_made_up
from nel.engine.scorers.dependencies import ANY, Dependencies

FILES_MAX: Final = 2_000
"""Data files of one scorer that are digested."""
BYTES_MAX: Final = 1 << 28
_CHUNK_BYTES: Final = 1 << 20
_NO_DATA: Final = frozenset({".pyc", ".log", ".lock", ".tmp"})


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files that one source file reads."""

    files: tuple[Path, ...]
    unseen: tuple[str, ...]
    """Why there may be others."""


def data_files(dependencies: Dependencies, source: Path) -> DataFiles:
    """Return the files that a source file reads.

    Args:
        dependencies: What its syntax tree says of its dependencies.
        source: The source file.
    """
    files: dict[Path, None] = {}
    unseen = list(dependencies.unseen)
    for pattern in dependencies.patterns:
        matches = _matches(pattern, source)
        if matches is None:
            unseen.append(f"any file in {Path(pattern.partition(ANY)[0] or '.').name or '.'}")
        files.update(dict.fromkeys(matches or ()))
    for text in dependencies.constants if unseen else ():
        files.update(dict.fromkeys(_named(text, source)))
    data = [path for path in files if _is_data(path)]
    readable = [path for path in data if os.access(path, os.R_OK)]
    unseen += [
        f"a file that cannot be read: {path.name}" for path in data if not os.access(path, os.R_OK)
    ]
    if len(readable) > FILES_MAX or sum(path.stat().st_size for path in readable) > BYTES_MAX:
        return DataFiles(
            (), (*unseen, f"more than {FILES_MAX:,} files or {BYTES_MAX >> 20} MiB of data")
        )
    return DataFiles(tuple(readable), tuple(unseen))


def _is_data(path: Path) -> bool:
    """Return whether a file's content is stable: no log, no bytecode, and nothing that the system
    makes up.
    """
    return path.suffix not in _NO_DATA and "__pycache__" not in path.parts and not is_made_up(path)


def digest_of_data(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: It cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _matches(pattern: str, source: Path) -> list[Path] | None:
    """Return the files that a pattern names; None where it may name any file of a folder that
    cannot be digested.
    """
    if ANY not in pattern:
        return [path for path in (Path(pattern),) if path.is_file()]
    folder, rest = _split(pattern)
    if rest != ANY:
        parts = "*".join(glob.escape(piece) for piece in rest.split(ANY))
        return sorted(_limited(path for path in folder.glob(parts) if path.is_file()))
    directory, own, here = folder.resolve(), source.parent.resolve(), Path.cwd()
    is_package = (directory / "__init__.py").is_file()
    if directory in (here, *here.parents) or (directory in (own, *own.parents) and not is_package):
        return None
    return sorted(_limited(path for path in folder.rglob("*") if path.is_file()))


def _split(pattern: str) -> tuple[Path, str]:
    """Return the folder in front of a pattern's first computed part, and the rest of the
    pattern.
    """
    head = pattern.partition(ANY)[0]
    folder, separator, _ = head.rpartition("/")
    return Path(folder or ("/" if separator else ".")), pattern[len(folder) + len(separator) :]


def _named(text: str, source: Path) -> Iterator[Path]:
    """Yield the files that a constant may name: beside the source, or in the working directory."""
    if text.startswith(("http:", "https:")):
        return
    for folder in dict.fromkeys((source.parent, Path.cwd())):
        path = folder / text
        if path.is_file() and path.suffix != ".py":
            yield path


def _limited(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield one file more than may be digested, so that a folder of millions is not walked to its
    end.
    """
    for number, path in enumerate(paths):
        if number > FILES_MAX:
            return
        yield path
