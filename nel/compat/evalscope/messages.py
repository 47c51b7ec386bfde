"""EvalScope's contents of a message; an image or a film of a local file is read when it is sent."""

from __future__ import annotations

from dataclasses import dataclass
from mimetypes import guess_type
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
            "image_url": {
                "url": _address(self.image, "an image", guess_mimetype=True),
                "detail": self.detail,
            },
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
    """A film: an address, a ``data:`` address or the path of a file."""

    video: str
    format: str = "mp4"
    type: str = "video"
    start: float | None = None
    end: float | None = None
    fps: float | None = None

    def as_part(self) -> dict[str, Any]:
        """Return the part that an endpoint is sent."""
        media_type = guess_type(self.video)[0] or f"video/{self.format}"
        kind, _, subtype = media_type.partition("/")
        address = _address(self.video, "a film", content_type=kind, format=subtype)
        part: dict[str, Any] = {"type": "video_url", "video_url": {"url": address}}
        if self.fps is not None:
            part["fps"] = self.fps
        return part


def _address(source: str, what: str, **header: Any) -> str:
    """Return the address of an image or film: what is one stays, a local file becomes one.

    Args:
        source: An address, or the path of a file.
        what: It is, for messages.
        header: Of the address that a file becomes, as `bytes_to_base64` takes it.

    Raises:
        DatasetError: It is neither.
    """
    if source.startswith(("data:", "http:", "https:")):
        return source
    try:
        return bytes_to_base64(Path(source).read_bytes(), add_header=True, **header)
    except (OSError, ValueError) as error:
        raise DatasetError(
            f"{what} is neither an address nor a file: {source!r:.60}: {error}"
        ) from error


Content: TypeAlias = ContentText | ContentImage | ContentAudio | ContentVideo


def dict_to_chat_message(data: JsonObject | ChatMessage) -> ChatMessage:
    """Return the message that a mapping of role and content describes."""
    return (
        data
        if isinstance(data, ChatMessage)
        else ChatMessage(role=data["role"], content=data["content"])
    )
