"""Writes a package's directory, and overwrites none that `nel byob compile` did not write.

A file in the directory names the benchmark file that it was made of.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from nel.errors import OutputError

_MARK: Final = ".nel-byob"


def write_directory(directory: Path, files: Mapping[str, bytes], *, source: str) -> None:
    """Make a directory hold exactly these files.

    Args:
        source: Name of the benchmark file that they are made of.

    Raises:
        OutputError: The directory holds files that nel did not write, or of another benchmark file,
            or cannot be written.
    """
    try:
        is_used = directory.exists() and any(directory.iterdir())
        if is_used:
            _check_own(directory, source)
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".nel-byob-", dir=directory.parent) as folder:
            fresh = Path(folder, "package")
            for name, data in {**files, _MARK: source.encode()}.items():
                path = fresh / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
            if directory.exists():
                shutil.rmtree(directory)
            fresh.rename(directory)
    except OSError as error:
        raise OutputError(
            f"cannot write {directory}: {error.strerror or error}; choose another place with"
            " --output-dir"
        ) from error


def _check_own(directory: Path, source: str) -> None:
    mark = directory / _MARK
    if not mark.is_file():
        raise OutputError(
            f"{directory} was not made by nel byob compile; remove it, or choose another place"
            " with --output-dir"
        )
    made_of = mark.read_text(encoding="utf-8")
    if made_of != source:
        raise OutputError(
            f"{directory} was made of {made_of}, and {source} has a benchmark of the same name;"
            f" rename the one in {source}, or choose another place with --output-dir"
        )
