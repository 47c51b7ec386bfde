"""What files of a container are, as its helper sees them: no program of the container is asked."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from nel.environments.frames import BODY_BYTES_MAX

if TYPE_CHECKING:
    from nel.environments.session import ContainerSession

CONTENT_BYTES_MAX: Final = 1 << 20
"""Of a larger file no content is returned."""
_PATHS: Final = 60
"""Looked at in one request, with what they hold."""
_SECONDS: Final = 60.0
_FACTS: Final = struct.Struct(">ccII")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is at a path of a container."""

    kind: str
    """``f`` file, ``d`` folder, ``l`` link, ``o`` another, ``-`` nothing."""
    target_kind: str
    """Of what a link leads to."""
    real_path: str
    """Of a folder or link, without links, also where one leads to nothing; else empty."""
    data: bytes
    """What a file holds, where that was asked for; the names in a folder, each ended by a zero."""

    @property
    def names(self) -> list[str]:
        """Return the names in a folder; none of a file."""
        is_folder = self.target_kind == "d"
        return self.data.decode("utf-8", "surrogateescape").split("\0")[:-1] if is_folder else []


def look(
    session: ContainerSession,
    paths: Sequence[str],
    *,
    words: Sequence[str] = (),
    with_content: bool = False,
) -> Iterator[FileFacts]:
    """Yield what is at each of these paths, as root sees it.

    Args:
        session: Of the container.
        paths: Absolute ones.
        words: What a file holds is returned where one of them is in it, or where there are none.
        with_content: Whether what files hold is looked at.

    Raises:
        ValueError: They could not be looked at.
        ToolsetFault: The container or the engine is gone.
    """
    bytes_each = CONTENT_BYTES_MAX if with_content else 0
    step = _PATHS if with_content else max(1, len(paths))
    for start in range(0, len(paths), step):
        ran = session.ask(
            {"do": "look", "word": words, "bytes_each": bytes_each},
            pack_paths(paths[start : start + step]),
            seconds=_SECONDS,
            bytes_max=BODY_BYTES_MAX,
            user="0:0",
        )
        if ran.exit or ran.cut:
            raise ValueError(ran.stderr.decode("utf-8", "replace") or ran.ended_by)
        yield from unpack_facts(ran.stdout)


def pack_paths(paths: Sequence[str]) -> bytes:
    """Return the body of a request to look at these."""
    return b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)


def unpack_facts(output: bytes) -> Iterator[FileFacts]:
    """Yield what a helper wrote of files; raises ValueError where something else wrote as well."""
    start = 0
    while start < len(output):
        if len(output) - start < _FACTS.size:
            raise ValueError("the facts of files do not end")
        kind, target_kind, n_path, n_data = _FACTS.unpack_from(output, start)
        start += _FACTS.size
        real_path = output[start : start + n_path].decode("utf-8", "surrogateescape")
        start += n_path
        yield FileFacts(
            kind.decode(), target_kind.decode(), real_path, output[start : start + n_data]
        )
        start += n_data
