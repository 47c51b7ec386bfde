"""What is kept of a hub's dataset, so that a commit that was read once needs no network."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from nel.core.atomic_files import write_file
from nel.core.strict_json import loads
from nel.errors import DatasetError, StoppedEarly


def kept_list(path: Path) -> dict[str, Any] | None:
    """Return the list of a commit's files, None where there is none that can be read."""
    try:
        entries = loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return entries if isinstance(entries, dict) else None


def keep(path: Path, content: bytes, *, uri: str, variable: str) -> None:
    """Write a file of the cache.

    Args:
        path: Of the file.
        content: Of it.
        uri: For messages.
        variable: The environment variable that names the cache.

    Raises:
        DatasetError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, [content])
    except (OSError, StoppedEarly) as error:
        raise DatasetError(
            f"{uri}: the cache {path.parent} cannot be written; set {variable}"
        ) from error


def inside(name: str, uri: str) -> str:
    """Return the path of a file that a hub lists, which stays in its folder.

    Raises:
        DatasetError: It does not.
    """
    parts = PurePosixPath(name).parts
    if not parts or name.startswith("/") or ".." in parts or "\0" in name or "\\" in name:
        raise DatasetError(f"{uri}: the hub lists a file that leaves its folder: {name!r}")
    return name
