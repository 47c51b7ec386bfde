"""EvalScope's contents of a message; an image of a local file is read when it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from nel.compat.evalscope.choices import Choices, Target
from nel.compat.evalscope.samples import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ModelOutput,
    Sample,
    TaskState,
    judged_text,
)
from nel.compat.evalscope.values import bytes_to_base64
from nel.errors import DatasetError
from nel.types import JsonObject

__all__ = [
    "ChatMessage",
    "ChatMessageAssistant",
    "ChatMessageSystem",
    "ChatMessageUser",
    "Choices",
    "Content",
    "ContentAudio",
    "ContentImage",
    "ContentText",
    "ContentVideo",
    "ModelOutput",
    "Sample",
    "Target",
    "TaskState",
    "dict_to_chat_message",
    "judged_text",
]


@dataclass(kw_only=True)
class ContentText:
    """Text."""

    text: str
    type: str = "text"

    def as_part(self) -> dict[str, Any]:
        """Return the part that an endpoint is sent."""
        return {"type": "text", "text": self.text}


@dataclass(kw_only=True)
class ContentImage:
    """An image: an address, a ``data:`` address or the path of a file."""

    image: str
    detail: str = "auto"
    type: str = "image"

    def as_part(self) -> dict[str, Any]:
        """Return the part that an endpoint is sent."""
        return {
            "type": "image_url",
            "image_url": {"url": _address(self.image), "detail": self.detail},
        }


@dataclass(kw_only=True)
class ContentAudio:
    """A sound: a ``data:`` address or base64."""

    audio: str
    format: str = "wav"
    type: str = "audio"

    def as_part(self) -> dict[str, Any]:
        """Return the part that an endpoint is sent."""
        data = self.audio.partition(";base64,")[2] if self.audio.startswith("data:") else self.audio
        return {"type": "input_audio", "input_audio": {"data": data, "format": self.format}}


@dataclass(kw_only=True)
class ContentVideo:
    """A video: an address or a ``data:`` address."""

    video: str
    format: str = "mp4"
    type: str = "video"
    start: float | None = None
    end: float | None = None
    fps: float | None = None

    def as_part(self) -> dict[str, Any]:
        """Return the part that an endpoint is sent."""
        return {"type": "video_url", "video_url": {"url": self.video}}


def _address(image: str) -> str:
    """Return an image's address: what is one stays, the image of a local file becomes one.

    Raises:
        DatasetError: It is neither.
    """
    if image.startswith(("data:", "http:", "https:")):
        return image
    try:
        return bytes_to_base64(Path(image).read_bytes(), add_header=True, guess_mimetype=True)
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"an image is neither an address nor a file: {image!r:.60}: {error}"
        ) from error


Content: TypeAlias = ContentText | ContentImage | ContentAudio | ContentVideo


def dict_to_chat_message(data: JsonObject | ChatMessage) -> ChatMessage:
    """Return the message that a mapping of role and content describes."""
    return (
        data
        if isinstance(data, ChatMessage)
        else ChatMessage(role=data["role"], content=data["content"])
    )
