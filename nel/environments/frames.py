"""The frames that nel and the helper in a container exchange, and the helper's binaries.

The other side is `helper/helper.c`. A frame is the sizes of header and body as big-endian 32-bit
numbers, a header of ``name=value`` fields that end with NUL, and a body.
"""

from __future__ import annotations

import hashlib
import io
import struct
import tarfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from nel.errors import SandboxError

if TYPE_CHECKING:
    from nel.sandbox.isolation.stream import EngineStream

Value: TypeAlias = str | float | Sequence[str] | None
BODY_BYTES_MAX: Final = 64 << 20
"""Of data in either direction: standard input or output of a command, or a file."""
HELPER_PATH: Final = "/.nel-helper"
"""Of the helper in a container; it removes its file once it runs."""
_SIZES: Final = struct.Struct(">II")
_HEADER_BYTES_MAX: Final = 1 << 16
_FOLDER: Final = Path(__file__).with_name("helper")
_ARCHITECTURES: Final = ("amd64", "arm64")


def pack_frame(fields: Mapping[str, Value], body: bytes = b"") -> bytes:
    """Return a frame.

    Args:
        fields: Of the header, by name; a list becomes a field for each item.
        body: Any bytes.

    Raises:
        ValueError: A text contains a zero byte, which ends a field.
    """
    texts = [f"{name}={text}" for name, value in fields.items() for text in _texts(value)]
    if any("\0" in text for text in texts):
        raise ValueError("a command, a path or a variable holds a zero byte")
    header = b"".join(text.encode("utf-8", "surrogatepass") + b"\0" for text in texts)
    return _SIZES.pack(len(header), len(body)) + header + body


def read_frame(stream: EngineStream, deadline: float) -> tuple[dict[str, str], bytes]:
    """Return the header and body of the next frame; the last of several fields of one name counts.

    Raises:
        OSError: The helper is gone, or took too long (`TimeoutError`).
        ValueError: The data is not a frame of the helper.
    """
    n_header, n_body = _SIZES.unpack(stream.read(_SIZES.size, deadline))
    if n_header > _HEADER_BYTES_MAX or n_body > 2 * BODY_BYTES_MAX:
        raise ValueError(f"an answer of {n_header} and {n_body} bytes")
    texts = stream.read(n_header, deadline).decode("utf-8", "surrogateescape").split("\0")
    fields = dict(text.split("=", 1) for text in texts[:-1])
    return fields, bytes(stream.read(n_body, deadline))


@cache
def helper_program(architecture: str) -> bytes:
    """Return the helper for containers of an architecture, by the engine's name.

    Raises:
        SandboxError: There is none (``no_image``).
    """
    if architecture not in _ARCHITECTURES:
        raise SandboxError(
            f"nel has no helper for images of {architecture}, only for {', '.join(_ARCHITECTURES)}",
            kind="no_image",
        )
    return (_FOLDER / f"helper-{architecture}").read_bytes()


def helper_digest(architecture: str) -> str:
    """Return the digest of the helper, as in ``helper/SHA256SUMS``; see `helper_program`."""
    return hashlib.sha256(helper_program(architecture)).hexdigest()


@cache
def helper_archive(architecture: str) -> bytes:
    """Return a tar archive with the helper, to unpack at the root of a container."""
    program, file = helper_program(architecture), io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo(HELPER_PATH.lstrip("/"))
        member.mode, member.size = 0o700, len(program)
        archive.addfile(member, io.BytesIO(program))
    return file.getvalue()


def _texts(value: Value) -> Sequence[str]:
    """Return a value as texts of fields: True is 1, False and None are empty."""
    if value is None or isinstance(value, bool):
        return ["1" if value else ""]
    return [str(value)] if isinstance(value, str | int | float) else value
