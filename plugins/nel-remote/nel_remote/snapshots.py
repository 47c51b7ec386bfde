"""The form of a run on a remote store: pieces named by their content, and a manifest that is
written last.

A file is divided into pieces of 4 MiB; a piece that is there already is not sent again, so that a
growing run.db costs what is new in it. The manifest names every piece and is replaced as one
object: a reader sees the snapshot before, or the one after. Pieces of the last two snapshots are
kept, so that a reader of the one before finds them.
"""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final

from nel.core.paths import make_work_directory
from nel.core.strict_json import dumps_bytes, loads
from nel.errors import OutputError
from nel_remote.objects import Objects

MANIFEST: Final = "manifest.json"
PIECES: Final = "pieces"
_FORMAT: Final = 1
_PIECE_BYTES: Final = 4 << 20
_ATTEMPTS: Final = 5
_RETRY_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One snapshot."""

    number: int
    """Grows with each."""
    writer: int
    """The number of the process that wrote it, as `nel_remote.writing` counts them."""
    complete: bool
    """Whether it holds the artifacts of an ended session, and not only the store of one in
    progress.
    """
    files: Mapping[str, tuple[int, tuple[str, ...]]]
    """By path: the size and the digests of the pieces."""

    def pieces(self) -> set[str]:
        """Return the digests of all pieces."""
        return {piece for _, pieces in self.files.values() for piece in pieces}


def read_manifest(objects: Objects, run: str) -> Manifest | None:
    """Return the newest snapshot of a run, None where there is none.

    Raises:
        OutputError: It cannot be read, or belongs to a newer nel.
    """
    for _ in range(_ATTEMPTS):
        content = objects.read(f"{run}/{MANIFEST}")
        if content is None:
            return None
        manifest = _decode(content)
        if manifest is not None:
            return manifest
        time.sleep(_RETRY_SECONDS)  # on a store that shows parts of a write
    raise OutputError(f"{objects.url}/{run}/{MANIFEST} is damaged, or is not nel's")


def write_snapshot(
    objects: Objects,
    run: str,
    paths: Mapping[str, Path],
    *,
    before: Manifest | None,
    writer: int,
    complete: bool,
) -> Manifest:
    """Send what is new in files and replace the manifest.

    Args:
        objects: The store.
        run: The run's name in it.
        paths: The files by their names in the snapshot.
        before: The snapshot that is there.
        writer: The number of this process.
        complete: As the manifest has it.

    Raises:
        OutputError: The store does not take it; what was there stays as it was.
    """
    digests_there = set() if before is None else before.pieces()
    files: dict[str, tuple[int, tuple[str, ...]]] = {}
    for name, path in sorted(paths.items()):
        size, digests = 0, []
        for piece in _pieces_of(path):
            digest = hashlib.sha256(piece).hexdigest()
            if digest not in digests_there:
                objects.write(f"{run}/{PIECES}/{digest}", piece)
                digests_there.add(digest)
            digests.append(digest)
            size += len(piece)
        files[name] = (size, tuple(digests))
    number = 1 if before is None else before.number + 1
    manifest = Manifest(number=number, writer=writer, complete=complete, files=files)
    objects.write(f"{run}/{MANIFEST}", _encode(manifest))
    return manifest


def remove_unused(objects: Objects, run: str, *used_by: Manifest | None) -> None:
    """Remove the pieces that none of these snapshots has."""
    digests = {piece for manifest in used_by if manifest is not None for piece in manifest.pieces()}
    for name in objects.names(f"{run}/{PIECES}"):
        if name not in digests:
            objects.remove(f"{run}/{PIECES}/{name}")


def fetch(objects: Objects, run: str, target: Path) -> Manifest:
    """Write the newest snapshot into a new directory, which gets its name when it is whole.

    Raises:
        OutputError: There is none, or it cannot be read or written.
    """
    for _ in range(_ATTEMPTS):
        manifest = read_manifest(objects, run)
        if manifest is None:
            raise OutputError(f"there is no run at {objects.url}/{run}".rstrip("/"))
        work = make_work_directory(target)
        try:
            if _write_files(objects, run, manifest, work):
                work.rename(target)
                return manifest
        except OSError as error:
            raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
        finally:
            shutil.rmtree(work, ignore_errors=True)
    raise OutputError(
        f"pieces of {objects.url}/{run} are missing; it may be damaged, or be written very quickly"
    )


def _write_files(objects: Objects, run: str, manifest: Manifest, work: Path) -> bool:
    """Write all files; return False where a piece is gone, as when newer snapshots have come
    meanwhile.
    """
    for name, (size, pieces) in manifest.files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with path.open("wb") as file:
            path.chmod(0o600)
            for digest in pieces:
                content = objects.read(f"{run}/{PIECES}/{digest}")
                if content is None:
                    return False
                if hashlib.sha256(content).hexdigest() != digest:
                    raise OutputError(
                        f"{objects.url}/{run}/{PIECES}/{digest} is damaged: its content is another"
                    )
                file.write(content)
        if path.stat().st_size != size:
            raise OutputError(
                f"{name} of {objects.url}/{run} has another size than its manifest says"
            )
    return True


def _pieces_of(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece


def _encode(manifest: Manifest) -> bytes:
    content = {
        "format": _FORMAT,
        "number": manifest.number,
        "writer": manifest.writer,
        "complete": manifest.complete,
        "files": {
            name: {"bytes": size, "pieces": list(pieces)}
            for name, (size, pieces) in manifest.files.items()
        },
    }
    digest = hashlib.sha256(dumps_bytes(content)).hexdigest()
    return dumps_bytes({"snapshot": content, "sha256": digest})


def _decode(data: bytes) -> Manifest | None:
    """Return the manifest, None where the bytes are a part of one."""
    try:
        outer: Any = loads(data)
        content = outer["snapshot"]
        if hashlib.sha256(dumps_bytes(content)).hexdigest() != outer["sha256"]:
            return None
        if content["format"] > _FORMAT:
            raise OutputError(
                f"the run was uploaded in format {content['format']}; use the nel that wrote it"
            )
        files = {
            str(name): (int(entry["bytes"]), tuple(entry["pieces"]))
            for name, entry in content["files"].items()
        }
        if not all(_is_below(name) for name in files):
            return None
        number, writer = int(content["number"]), int(content["writer"])
        return Manifest(
            number=number, writer=writer, complete=content["complete"] is True, files=files
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _is_below(name: str) -> bool:
    """Return whether a path of a manifest stays below its directory."""
    path = PurePosixPath(name)
    return (
        bool(name)
        and not path.is_absolute()
        and ".." not in path.parts
        and "\\" not in name
        and "\0" not in name
    )
