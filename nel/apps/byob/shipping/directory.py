"""Writes a package's directory, and overwrites no file that `nel byob compile` did not write.

A manifest in the directory names each file with its digest. A file that was edited after it was
written is its editor's, so it stops the next compilation.
"""

from __future__ import annotations

import errno
import hashlib
import json
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nel.errors import OutputError

_MANIFEST: Final = ".nel-byob.json"


def write_directory(directory: Path, files: Mapping[str, bytes], *, source: str) -> None:
    """Make a directory hold exactly these files, in one step.

    Args:
        source: Name of the benchmark file that they are made of.

    Raises:
        OutputError: The directory holds files that nel did not write, or of another benchmark file,
            or cannot be written.
    """
    _check_owner(directory, source)
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    manifest = json.dumps(
        {"made_by": "nel byob compile", "source": source, "files": digests}, indent=1
    )
    # A name that can be foreseen may already be a link to somewhere else.
    suffix = secrets.token_hex(8)
    draft = directory.with_name(f".{directory.name}.{suffix}.new")
    backup = directory.with_name(f".{directory.name}.{suffix}.old")
    try:
        draft.mkdir(parents=True)
        for name, data in {**files, _MANIFEST: f"{manifest}\n".encode()}.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        # A directory that is not empty cannot be replaced: the old one stands aside meanwhile, and
        # comes back where the new one cannot take its place.
        if directory.exists():
            directory.rename(backup)
        try:
            draft.rename(directory)
        except OSError:
            if backup.exists():
                backup.rename(directory)
            raise
    except OSError as error:
        is_long = error.errno == errno.ENAMETOOLONG
        advice = "shorten its name" if is_long else "choose another place with --output-dir"
        raise OutputError(
            f"cannot write {directory}: {error.strerror or error}; {advice}"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(backup, ignore_errors=True)


def _check_owner(directory: Path, source: str) -> None:
    if not directory.exists() and not directory.is_symlink():
        return
    if directory.is_symlink() or not directory.is_dir():
        raise OutputError(
            f"{directory} is there and is not a directory; remove it or choose another with"
            " --output-dir"
        )
    manifest = _manifest(directory)
    names = _files_in(directory)
    if manifest is None and not names:
        return  # an empty directory has no owner
    if manifest is None:
        raise OutputError(
            f"{directory} was not made by nel byob compile; remove it, or choose another place"
            " with --output-dir"
        )
    if manifest["source"] != source:
        raise OutputError(
            f"{directory} was made of {manifest['source']}, and {source} has a benchmark of the"
            f" same name; rename the one in {source}, or choose another place with --output-dir"
        )
    for name in names:
        # Without an entry "" is compared, which is neither a digest nor None, that of a link.
        if manifest["files"].get(name, "") != _digest(directory / name):
            raise OutputError(
                f"{directory / name} was changed or added since nel byob compile wrote it; put the"
                f" change into {source}, or remove the file, and compile again"
            )


def _digest(path: Path) -> str | None:
    """Return the digest of a file; None for a link, a pipe or a device, none of which nel wrote."""
    if path.is_symlink() or not path.is_file():
        return None
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _manifest(directory: Path) -> dict[str, Any] | None:
    try:
        manifest = json.loads((directory / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    is_valid = (
        isinstance(manifest, dict)
        and isinstance(manifest.get("files"), dict)
        and isinstance(manifest.get("source"), str)
    )
    return manifest if is_valid else None


def _files_in(directory: Path) -> list[str]:
    """Return all but the folders in a directory, without the manifest and what Python leaves."""
    return [
        path.relative_to(directory).as_posix()
        for path in sorted(directory.rglob("*"))
        if (path.is_symlink() or not path.is_dir())
        and path.name != _MANIFEST
        and "__pycache__" not in path.parts
    ]
