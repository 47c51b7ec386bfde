"""The frames that nel and the helper of a container exchange, and the helper's own programs.

`helper/helper.c` is the other side, and says what a frame is.
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
"""Of what is sent to a command or a file, and of what is read back."""
PLACE: Final = "/.nel-helper"
"""Where a helper is put in a container; it removes its file once it runs."""
_SIZES: Final = struct.Struct(">II")
_HEADER_BYTES_MAX: Final = 1 << 16
_FOLDER: Final = Path(__file__).with_name("helper")
_ARCHITECTURES: Final = ("amd64", "arm64")


def pack_frame(fields: Mapping[str, Value], body: bytes = b"") -> bytes:
    """Return a frame.

    Args:
        fields: Of the header, by name; a list is as many fields, None and no are empty.
        body: Of any bytes.

    Raises:
        ValueError: A text holds a zero byte, which ends a field.
    """
    header = b"".join(
        f"{name}={text}\0".encode("utf-8", "surrogatepass")
        for name, value in fields.items()
        for text in _texts(value)
    )
    if header.count(b"\0") != sum(len(_texts(value)) for value in fields.values()):
        raise ValueError("a command, a path or a variable holds a zero byte")
    return _SIZES.pack(len(header), len(body)) + header + body


def read_frame(stream: EngineStream, deadline: float) -> tuple[dict[str, str], bytes]:
    """Return the header and body of the next frame; of equal fields the last.

    Raises:
        OSError: The helper is gone, or took too long (`TimeoutError`).
        ValueError: Something else than the helper wrote.
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
    """Return the digest of the helper, as ``helper/SHA256SUMS`` has it; raises as the helper."""
    return hashlib.sha256(helper_program(architecture)).hexdigest()


@cache
def helper_archive(architecture: str) -> bytes:
    """Return an archive for the root of a container with the helper; raises as the helper."""
    program, packed = helper_program(architecture), io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo(PLACE.lstrip("/"))
        member.mode, member.size = 0o700, len(program)
        archive.addfile(member, io.BytesIO(program))
    return packed.getvalue()


def _texts(value: Value) -> Sequence[str]:
    if value is None or isinstance(value, bool):
        return ["1" if value else ""]
    return [str(value)] if isinstance(value, str | int | float) else value
