"""EvalScope's helpers of adapters with pictures: cells of a record become addresses, placeholders
become parts.

Sounds and films are not read: a row that asks for them is a bad row.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from nel.compat.evalscope.messages import Content, ContentImage, ContentText
from nel.compat.evalscope.values import bytes_to_base64
from nel.types import JsonObject

Media: TypeAlias = "Mapping[int, str | JsonObject]"
_IMAGE: Final = "image"
_MEDIA: Final = {"bytes", "path"}
"""What a cell of a picture or sound has, and no other."""
_NOTHING: Final = (None, "")
_PLACEHOLDER: Final = re.compile(r"<(image|video|audio)[_ ](\d+)>")


def with_bytes(value: object) -> object:
    """Return a cell as Hugging Face's datasets have it: the bytes of a picture or sound instead of
    their base64.

    >>> with_bytes([{"bytes": "aGk=", "path": None}]), with_bytes({"bytes": "aGk="})
    ([{'bytes': b'hi', 'path': None}], {'bytes': 'aGk='})
    """
    if isinstance(value, list):
        return [with_bytes(item) for item in value]
    if not isinstance(value, dict) or set(value) != _MEDIA or not isinstance(value["bytes"], str):
        return value
    return {**value, "bytes": base64.b64decode(value["bytes"], validate=True)}


def as_record(row: Mapping[str, object]) -> dict[str, Any]:
    """Return a row as `record_to_sample` reads it: with the bytes of its pictures and sounds, which
    nel keeps as base64.
    """
    return {name: with_bytes(value) for name, value in row.items()}


class MediaReader:
    """What `VisionLanguageAdapter` offers to its benchmarks."""

    MAX_IMAGES: int = 100
    MAX_VIDEOS: int = 100
    MAX_AUDIOS: int = 100

    def _image_bytes_to_base64(
        self,
        image_bytes: bytes,
        default_format: str = "png",
        guess_mimetype: bool = False,
        **_: object,
    ) -> str:
        return bytes_to_base64(
            image_bytes, format=default_format, add_header=True, guess_mimetype=guess_mimetype
        )

    def _parse_text_with_images(self, text: str, image_map: Media) -> list[Content]:
        """Return text and images in the order in which ``<image N>`` names them; one that is
        missing is dropped.
        """
        return self._parse_text_with_media(text, image_map=image_map)

    def _parse_text_with_media(
        self,
        text: str,
        image_map: Media | None = None,
        video_map: Media | None = None,
        audio_map: Media | None = None,
    ) -> list[Content]:
        if video_map or audio_map:
            raise ValueError("nel reads the images of a record, and no films or sounds")
        parts: list[Content] = []
        # Text, kind and number by turns: "a <image 1> b" is split into "a ", "image", "1", " b".
        pieces = _PLACEHOLDER.split(text)
        for position in range(0, len(pieces), 3):
            if pieces[position].strip():
                parts.append(ContentText(text=pieces[position]))
            if position + 1 < len(pieces) and pieces[position + 1] == _IMAGE:
                image = (image_map or {}).get(int(pieces[position + 2]))
                parts += [self._content_image_from_value(image)] if image else []
        return parts

    def _extract_media(
        self, record: JsonObject, media_type: str, indices: set[int] | None = None
    ) -> dict[int, dict[str, Any]]:
        """Return the images of a record by their number: ``image_1``, ``image_2`` …, else the list
        ``images``.
        """
        return {
            number: self._normalize_media_value(cell, media_type=media_type)
            for number, cell in self._cells(record, media_type)
            if indices is None or number in indices
        }

    def _cells(self, record: JsonObject, media_type: str) -> list[tuple[int, Any]]:
        names = ((n, f"{media_type}_{n}") for n in range(1, self.MAX_IMAGES + 1))
        cells = [(n, record[name]) for n, name in names if record.get(name) not in _NOTHING]
        if cells:
            return cells
        column = record.get(f"{media_type}s") or []
        if not isinstance(column, list):
            raise TypeError(f'"{media_type}s" must be a list, and is a {type(column).__name__}')
        return [(n, cell) for n, cell in enumerate(column, 1) if cell not in _NOTHING]

    def _normalize_media_value(
        self,
        media_value: str | JsonObject,
        *,
        media_type: str,
        media_format: str | None = None,
    ) -> dict[str, Any]:
        """Return an image as a mapping with its address under ``url``.

        Raises:
            ValueError: It is not an image.
        """
        if media_type != _IMAGE:
            raise ValueError(f"nel reads the images of a record, and no {media_type}")
        if isinstance(media_value, str):
            return {"format": media_format, "url": media_value}
        fields = dict(media_value)
        data, path = fields.pop("bytes", None), fields.pop("path", None)
        if isinstance(data, (bytes, bytearray)):
            url: Any = self._image_bytes_to_base64(bytes(data), guess_mimetype=True)
        else:
            url = (
                path
                if isinstance(path, str)
                else fields.get("url") or fields.get("data") or fields.get(media_type)
            )
        if not isinstance(url, str):
            raise ValueError(
                "an image has bytes, path, url, data or image; this one has"
                f" {', '.join(media_value)}"
            )
        return {"format": media_format, **fields, "url": url}

    @staticmethod
    def _content_image_from_value(image_value: str | JsonObject) -> ContentImage:
        address = image_value if isinstance(image_value, str) else image_value.get("url")
        if not address:
            raise ValueError("an image has no url")
        return ContentImage(image=address)
