"""One file that holds a run: `write_archive` makes it, `open_archive` unpacks it into a cache.

A gzipped tar with the run's directory as its only top folder, run.db as one file without a log
beside it. A run stores the names of the variables that hold keys and never a key, so there is no
secret to leave out. Archives come from others: only plain files and folders below the top folder
are unpacked, up to a number and a size.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Final

from nel.core.paths import make_work_directory, share
from nel.engine.store.lock import owner_of
from nel.engine.store.projections.intact import check_whole, copy_store
from nel.engine.store.snapshot import FILE_NAME, RUNS, Snapshot
from nel.errors import OutputError

SUFFIX: Final = ".tar.gz"
SUFFIXES: Final = (SUFFIX, ".tgz")
"""How the name of an archive ends."""
MEMBERS_MAX: Final = 100_000
BYTES_MAX: Final = 64 * 1024**3
"""Of all files of an archive, unpacked."""
_NOT_ARCHIVED: Final = frozenset(
    {FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", f"{FILE_NAME}-journal", ".lock"}
)
_CHUNK: Final = 1 << 20


def write_archive(run_dir: Path, path: Path | None = None, *, shared: bool = False) -> Path:
    """Write a run into one file and return its path; the run is only read.

    Args:
        run_dir: The directory of a run that no process works on.
        path: A new file; None: the directory's name with `SUFFIX`, beside the directory.
        shared: Let everyone on this machine read the file.

    Raises:
        StoreError: There is no run.db, or it is damaged.
        OutputError: The file exists, cannot be written, or a process works on the run.
    """
    directory = run_dir.resolve()
    target = path if path is not None else directory.with_name(directory.name + SUFFIX)
    if not target.name.endswith(SUFFIXES):
        raise OutputError(
            f"{target} does not end in {' or '.join(SUFFIXES)}, by which nel view knows an archive"
        )
    if target.exists() or target.is_symlink():
        raise OutputError(f"{target} exists already; remove it, or name another file with -o")
    owner = owner_of(directory)
    if owner is not None:
        raise OutputError(
            f"process {owner.pid} on {owner.host} works on {run_dir}; archive it once that has"
            " ended"
        )
    scratch: Path | None = None
    try:
        scratch = make_work_directory(target)
        with Snapshot(directory / FILE_NAME, untouched=True) as snapshot:
            check_whole(snapshot)
            copy_store(snapshot, scratch / FILE_NAME)
        # Written beside the target and renamed, so that no half archive has its name.
        handle = os.open(
            scratch / target.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600
        )
        with os.fdopen(handle, "wb") as file:
            with tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as tar:
                _add_run(tar, directory, scratch / FILE_NAME)
            file.flush()
            os.fsync(file.fileno())
        if shared:
            share(scratch / target.name)
        (scratch / target.name).rename(target)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
    return target


def _add_run(tar: tarfile.TarFile, directory: Path, store: Path) -> None:
    tar.add(store, f"{directory.name}/{FILE_NAME}", filter=_private)
    for file in _files(directory):
        tar.add(
            file,
            f"{directory.name}/{file.relative_to(directory).as_posix()}",
            recursive=False,
            filter=_private,
        )


def _files(directory: Path) -> Iterator[Path]:
    """Yield a run's plain files in the order of their names, without links and temporary files."""
    for folder, folders, names in os.walk(directory):
        # Set in place, which keeps `os.walk` out of hidden folders.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if (
                name not in _NOT_ARCHIVED
                and not name.endswith(".tmp")
                and path.is_file()
                and not path.is_symlink()
            ):
                yield path


def _private(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Return a member without the user's name and numbers."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def open_archive(path: Path, cache_dir: Path) -> Path:
    """Return the directory of an archived run, unpacked below a cache once for each file.

    Args:
        path: A file that `write_archive` made.
        cache_dir: Unpacked into ``archives/DIGEST`` there.

    Raises:
        OutputError: It is not an archive of a run, is damaged or too large, or holds what is no
            plain file or leads out of its folder.
    """
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:32]
    except OSError as error:
        raise OutputError(f"cannot read {path}: {error.strerror or error}") from error
    home = cache_dir / "archives" / digest
    if not home.is_dir():
        _unpack_atomically(path, home)
    stores = sorted(home.glob(RUNS))
    if len(stores) != 1:
        raise OutputError(
            f"{path} is not an archive of a run: it holds {len(stores)} files {FILE_NAME}"
        )
    return stores[0].parent


def _unpack_atomically(path: Path, home: Path) -> None:
    try:
        home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = make_work_directory(home)
    except OSError as error:
        raise OutputError(
            f"cannot unpack {path} into {home.parent}: {error.strerror or error}"
        ) from error
    try:
        _unpack(path, scratch)
        with suppress(FileExistsError):  # another process unpacked it at the same time
            scratch.rename(home)
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        if not home.is_dir():
            raise OutputError(
                f"{path} cannot be unpacked: {getattr(error, 'strerror', None) or error}"
            ) from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _unpack(path: Path, folder: Path) -> None:
    # Read as a stream, member by member, so that the limits hold before a list of all is made.
    total = 0
    with gzip.open(path) as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        for number, member in enumerate(tar, start=1):
            total += max(0, member.size)
            if number > MEMBERS_MAX or total > BYTES_MAX:
                raise OutputError(
                    f"{path} holds more than {MEMBERS_MAX:,} files or {BYTES_MAX // 1024**3} GiB;"
                    " unpack it yourself"
                )
            parts = PurePosixPath(member.name).parts
            if (
                not parts
                or parts[0] == "/"
                or ".." in parts
                or "\\" in member.name
                or "\0" in member.name
            ):
                raise OutputError(
                    f"{path} holds {member.name!r:.200}, which leads out of its folder; it is not"
                    " opened"
                )
            if member.isdir():
                continue
            if not member.isreg():
                raise OutputError(
                    f"{path} holds {member.name!r:.200}, which is not a plain file; it is not opened"
                )
            _write_member(tar, member, folder.joinpath(*parts))
        while stream.read(_CHUNK):  # to the end, where the checksum stands
            pass


def _write_member(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    source = tar.extractfile(member)
    assert source is not None  # noqa: S101 - it is a regular file
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(source, file, _CHUNK)
