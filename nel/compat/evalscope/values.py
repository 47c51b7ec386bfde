"""EvalScope's constants and small helpers that adapters import."""

from __future__ import annotations

import base64
import logging
import re
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from importlib.util import find_spec
from mimetypes import guess_type
from pathlib import Path
from typing import Any, Final

from nel.compat.evalscope.meta import BenchmarkMeta as OwnMeta
from nel.compat.evalscope.meta import Tags
from nel.compat.evalscope.samples import USABLE
from nel.datasets.images import image_kind
from nel.errors import DatasetError, MissingExtra

__all__ = [
    "BenchmarkMeta",
    "EvalType",
    "HubType",
    "JudgeStrategy",
    "MetricSelector",
    "ScoreStatus",
    "ScoringPolicy",
    "Tags",
    "bytes_to_base64",
    "check_import",
    "convert_image_base64_format",
    "convert_normal_types",
    "current_time",
    "extract_verdict",
    "get_logger",
    "guess_video_format",
    "is_build_doc",
]

_FIELDS: Final = frozenset(OwnMeta.__dataclass_fields__)
_VIDEOS: Final = ("mp4", "mpeg", "mov", "avi")
_VERDICT: Final = re.compile(r"\b(?:Yes|YES|No|NO)\b")
_LOWERCASE_VERDICT: Final = re.compile(r"\s*(yes|no)[.!]?\s*")
is_build_doc: Final = False
_DONE_WITHOUT: Final = {"ifeval": ("nltk",)}
"""Packages that EvalScope needs for an extra, and nel does not."""
DEFAULT_EVALSCOPE_CACHE_DIR: Final = str(Path("~/.cache/evalscope").expanduser())


class HubType:
    """Where datasets are."""

    MODELSCOPE = "modelscope"
    HUGGINGFACE = "huggingface"
    LOCAL = "local"


class EvalType:
    """How a model is reached."""

    OPENAI_API = "openai_api"
    SERVICE = "openai_api"


class JudgeStrategy:
    """Who decides."""

    AUTO = "auto"
    RULE = "rule"
    LLM = "llm"
    LLM_RECALL = "llm_recall"


class ScoringPolicy(StrEnum):
    """What decides where the run says nothing."""

    RULE_DEFAULT = "rule_default"
    JUDGE_DEFAULT = "judge_default"
    JUDGE_ONLY = "judge_only"


class ScoreStatus(StrEnum):
    """Whether a score counts; one that does not leaves its sample unscored."""

    SUCCESS = "success"
    FALLBACK = "fallback"
    DEGRADED = "degraded"
    EXCLUDED = "excluded"
    PARSE_ERROR = "parse_error"
    TRANSPORT_ERROR = "transport_error"
    INVALID_SESSION = "invalid_session"

    @property
    def is_usable(self) -> bool:
        """Return whether it counts."""
        return self in USABLE


@dataclass(frozen=True)
class MetricSelector:
    """Which metric a report shows first."""

    name: str
    aggregation: str | None = None
    dimensions: dict[str, Any] = field(default_factory=dict)


def BenchmarkMeta(**fields: Any) -> OwnMeta:  # noqa: N802 - EvalScope's name
    """Return the meta that keywords describe; what nel has no use for is kept in `more`."""
    declared_fields = {
        name: value for name, value in fields.items() if name in _FIELDS and value is not None
    }
    return OwnMeta(
        **declared_fields,
        more={name: value for name, value in fields.items() if name not in _FIELDS},
    )


def get_logger(*_: object, **__: object) -> logging.Logger:
    """Return the logger of adapters."""
    return logging.getLogger("nel.adapters")


def check_import(
    module_name: str | list[str],
    package: str | list[str] | None = None,
    raise_error: bool = False,
    extra: str | None = None,
    **_: object,
) -> bool:
    """Return whether modules can be imported.

    Raises:
        MissingExtra: One cannot, and the adapter cannot do without.
    """
    # A package is there if it can be found; nothing is imported, which may take seconds.
    names = [module_name] if isinstance(module_name, str) else module_name
    absent_names = [name for name in names if find_spec(name.partition(".")[0]) is None]
    if set(absent_names) <= set(_DONE_WITHOUT.get(extra or "", ())):
        return True
    if raise_error:
        packages = [package] if isinstance(package, str) else package or absent_names
        raise MissingExtra(
            f"the adapter needs {', '.join(absent_names)}; install it with: pip install"
            f" {' '.join(packages)}"
        )
    return False


def bytes_to_base64(
    bytes_data: bytes,
    *,
    format: str = "png",  # noqa: A002 - EvalScope's name
    add_header: bool = False,
    content_type: str = "image",
    guess_mimetype: bool = False,
) -> str:
    """Return bytes as base64, with a header as a ``data:`` address."""
    kind = image_kind(bytes_data) if guess_mimetype else None
    media_type = f"image/{kind}" if kind else f"{content_type}/{format}"
    text = base64.b64encode(bytes_data).decode("ascii")
    return f"data:{media_type};base64,{text}" if add_header else text


def convert_image_base64_format(image_base64: str) -> tuple[str, str]:
    """Return an image with its format, ``JPEG`` or ``PNG``.

    Raises:
        DatasetError: It has another, which EvalScope converts.
    """
    kind = image_kind(base64.b64decode(image_base64))
    if kind not in ("jpeg", "png"):
        raise DatasetError(f"an image is {kind}, and nel converts none; give it as JPEG or PNG")
    return image_base64, kind.upper()


def convert_normal_types(obj: Any) -> Any:
    """Return a value as JSON has it: numbers and arrays of numpy, dates and paths among them."""
    if isinstance(obj, dict):
        return {key: convert_normal_types(value) for key, value in obj.items()}
    if isinstance(obj, list | tuple):
        return type(obj)(map(convert_normal_types, obj))
    if hasattr(obj, "tolist"):
        return obj.tolist()
    if hasattr(obj, "isoformat"):
        return obj.isoformat()
    if isinstance(obj, Path):
        return str(obj)
    return obj


def current_time() -> datetime:
    """Return the time."""
    return datetime.now()


def guess_video_format(video: str | None, default: str = "mp4") -> str:
    """Return the format of a video by its address.

    >>> guess_video_format("a/b.MOV?x"), guess_video_format("data:video/x-msvideo;base64,AA")
    ('mov', 'avi')
    """
    address = re.split("[?#]", video or "", maxsplit=1)[0]
    kind, _, subtype = (guess_type(address, strict=False)[0] or "").partition("/")
    name = {"quicktime": "mov", "x-msvideo": "avi"}.get(subtype, subtype)
    return name if kind == "video" and name in _VIDEOS else default


def extract_verdict(prediction: str, *, allow_lowercase_exact: bool = False) -> str | None:
    """Return ``YES`` or ``NO`` where a reply holds one of them as a word, and not the other.

    >>> extract_verdict("Yes, it is"), extract_verdict("Yes and No"), extract_verdict("no", allow_lowercase_exact=True)
    ('YES', None, 'NO')
    """
    exact = _LOWERCASE_VERDICT.fullmatch(prediction) if allow_lowercase_exact else None
    if exact:
        return exact[1].upper()
    verdicts = {word.upper() for word in _VERDICT.findall(prediction)}
    return verdicts.pop() if len(verdicts) == 1 else None
