"""The images of a row as URLs for a request: data, addresses, and files of the dataset's folder.

An address is passed on as it is and never fetched. A file is read only where it lies below the
folder after every link is resolved, so that a dataset cannot have other files of the machine sent
to an endpoint.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from nel.datasets.fields import lookup
from nel.errors import DatasetError
from nel.types import Message

BYTES_MAX: Final = 20 * 1024 * 1024
"""Of one file; no vendor takes a larger image."""
_KIND: Final = re.compile(
    rb"""(?xs)
    (?P<png> \x89PNG\r\n\x1a\n ) | (?P<jpeg> \xff\xd8\xff ) | (?P<gif> GIF8[79]a )
  | (?P<webp> RIFF.{4}WEBP ) | (?P<bmp> BM )
"""
)
_SHOWN_MAX: Final = 80


def image_urls(row: Mapping[str, object], field: str, folder: Path | None) -> list[str]:
    """Return the images in a field of a row, which holds one, a list of them, or null.

    Args:
        row: The row.
        field: Its field; dotted names reach into nested rows.
        folder: Where files are looked for; None where the dataset has no folder.

    Raises:
        DatasetError: The field is missing, or an image is not an image that may be sent.
    """
    images = lookup(row, field)
    if images is None:
        return []
    values = images if isinstance(images, (list, tuple)) else [images]
    return [_url(value, field, folder) for value in values]


def with_images(prompt: str | Sequence[Message], urls: Sequence[str]) -> tuple[Message, ...]:
    """Return messages whose last one of the user has images after its text."""
    messages = [Message(role="user", content=prompt)] if isinstance(prompt, str) else list(prompt)
    images = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    for position, message in reversed(list(enumerate(messages))):
        if message.role == "user":
            content = message.content
            if isinstance(content, str):
                content = ({"type": "text", "text": content},)
            messages[position] = Message(role="user", content=(*content, *images))
            return tuple(messages)
    raise DatasetError("there is no message of the user that images could stand in")


def _url(value: object, field: str, folder: Path | None) -> str:
    if isinstance(value, Mapping) and {"bytes", "path"} == value.keys():
        return _stored_url(value, field, folder)
    if not isinstance(value, str) or not value:
        raise DatasetError(
            f'the images field "{field}" holds a {type(value).__name__}; give a file below the'
            " dataset's folder, a data URL or an address"
        )
    if value.startswith(("https://", "http://")):
        return value
    if value.startswith("data:"):
        if not value.startswith("data:image/") or ";base64," not in value:
            raise DatasetError(f"{_display(value)} is not an image; give data:image/…;base64,…")
        return value
    return _file_url(value, folder)


def _stored_url(image: Mapping[str, object], field: str, folder: Path | None) -> str:
    """Return an image as hubs store it: bytes (base64 by `nel.datasets.plain`), or a path."""
    content, path = image["bytes"], image["path"]
    if not isinstance(content, str):
        return _url(path, field, folder)
    try:
        data = base64.b64decode(content, validate=True)
    except ValueError as error:
        raise DatasetError(f'the bytes in the images field "{field}" are not base64') from error
    if len(data) > BYTES_MAX:
        raise DatasetError(
            f'an image in the field "{field}" has {len(data):,} bytes; it may have {BYTES_MAX:,}'
        )
    return _data_url(data, str(path or field))


def _file_url(name: str, folder: Path | None) -> str:
    if folder is None:
        raise DatasetError(
            f"{_display(name)}: the dataset is in no folder that images could be in; give data URLs"
        )
    try:
        root, path = folder.resolve(), (folder / name).resolve()
        if not path.is_relative_to(root):
            raise DatasetError(
                f"{_display(name)} lies outside the dataset's folder; put the image below it"
            )
        if not path.is_file():
            raise DatasetError(f"{_display(name)} is not a file in the dataset's folder")
        size = path.stat().st_size
        if size > BYTES_MAX:
            raise DatasetError(
                f"{_display(name)} has {size:,} bytes; an image may have {BYTES_MAX:,}"
            )
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise DatasetError(f"{_display(name)} cannot be read: {error}") from error
    return _data_url(data, name)


def _data_url(data: bytes, name: str) -> str:
    kind = image_kind(data)
    if kind in (None, "bmp"):  # which endpoints do not take
        raise DatasetError(f"{_display(name)} is neither PNG, JPEG, GIF nor WebP")
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def image_kind(data: bytes) -> str | None:
    """Return the kind of an image by its first bytes; None where it is not known."""
    match = _KIND.match(data)
    return match and match.lastgroup


def _display(value: str) -> str:
    return repr(value if len(value) <= _SHOWN_MAX else f"{value[:_SHOWN_MAX]}…")
