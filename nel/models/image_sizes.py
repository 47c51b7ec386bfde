"""How much of a request is text, and what its images are estimated at: their data is far longer
than their tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nel.types import Message, Request

_BYTES_OF_IMAGE: Final = 6_000
"""About 1,500 tokens, as most vendors count an image of a million pixels."""


def text_length(message: Message) -> int:
    """Return the characters of a message's texts."""
    if isinstance(message.content, str):
        return len(message.content)
    return sum(len(item["text"]) for item in message.content if isinstance(item.get("text"), str))


def prompt_bytes(request: Request, body: bytes) -> int:
    """Return the size of a body with each image counted by its likely tokens instead of its
    data.
    """
    if all(isinstance(message.content, str) for message in request.messages):
        return len(body)
    urls = [_url(item.get("image_url")) for sent in request.messages if not isinstance(sent.content, str)
            for item in sent.content if item.get("type") == "image_url"]  # fmt: skip
    return max(0, len(body) - sum(map(len, urls))) + len(urls) * _BYTES_OF_IMAGE


def _url(image: object) -> str:
    url = image.get("url") if isinstance(image, Mapping) else image
    return url if isinstance(url, str) else ""
