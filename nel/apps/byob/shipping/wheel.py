"""Writes a wheel: a zip with metadata, which pip installs without build backend and network.

Follows the binary distribution format (PEP 427). The bytes do not depend on the clock: every entry
has the same date.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import zipfile
from collections.abc import Mapping
from typing import Final

_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can hold
_MODE: Final = 0o100644 << 16  # a file that all may read; Unix modes are the upper 16 bits
_WHEEL: Final = "Wheel-Version: 1.0\nGenerator: nel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel_name(distribution: str, version: str) -> str:
    """Return the file name of a pure Python wheel."""
    return f"{_module_name(distribution)}-{version}-py3-none-any.whl"


def wheel_bytes(
    distribution: str, version: str, files: Mapping[str, bytes], info: Mapping[str, bytes]
) -> bytes:
    """Return a pure Python wheel.

    Args:
        files: Files for site-packages, by relative path.
        info: Files for the dist-info directory beside WHEEL and RECORD, such as METADATA.
    """
    folder = f"{_module_name(distribution)}-{version}.dist-info"
    content = {**files, **{f"{folder}/{name}": data for name, data in info.items()}}
    content[f"{folder}/WHEEL"] = _WHEEL.encode()
    content[f"{folder}/RECORD"] = _record(content, f"{folder}/RECORD")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name, date_time=_DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, _MODE
            archive.writestr(entry, data)
    return buffer.getvalue()


def _record(content: Mapping[str, bytes], record: str) -> bytes:
    """Return the list of a wheel's files as CSV, itself last and without a digest."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(
        (name, f"sha256={_digest(data)}", len(data)) for name, data in sorted(content.items())
    )
    writer.writerow((record, "", ""))
    return text.getvalue().encode()


def _module_name(distribution: str) -> str:
    return re.sub(r"[-_.]+", "_", distribution)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
