"""Archives of files on their way into a container, and between two of them. Pure."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Sequence
from pathlib import Path


def pack_folders(folders: Sequence[Path]) -> bytes:
    """Return what folders of this machine hold, owned by root; later ones win."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for folder in folders:
            # A name that stands twice in an archive is unpacked twice: the later one stays.
            for path in sorted(folder.iterdir()):
                archive.add(path, arcname=path.name, filter=_owned_by_root)
    return packed.getvalue()


def plain_files(archive: bytes) -> tuple[bytes, int]:
    """Return an archive of the files and folders of another, owned by root and without special bits,
    and how many links and devices are left out.
    """
    packed, n_refused = io.BytesIO(), 0
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as members,
        tarfile.open(fileobj=packed, mode="w") as output,
    ):
        for member in members:
            # A hard link becomes a file with the content of the one that it names.
            content = members.extractfile(member) if member.isreg() or member.islnk() else None
            if not member.isdir() and content is None:
                n_refused += 1
                continue
            data = b"" if content is None else content.read()
            info = tarfile.TarInfo(member.name)
            info.type = tarfile.DIRTYPE if member.isdir() else tarfile.REGTYPE
            info.mode, info.mtime, info.size = member.mode & 0o777, member.mtime, len(data)
            output.addfile(info, io.BytesIO(data))
    return packed.getvalue(), n_refused


def contents(archive: bytes | None) -> dict[str, bytes]:
    """Return the files of an archive by their names; None is an empty one."""
    if archive is None:
        return {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        files = {member.name: members.extractfile(member) for member in members if member.isreg()}
        return {name: file.read() for name, file in files.items() if file is not None}


def _owned_by_root(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = 0
    info.uname = info.gname = "root"
    return info
