"""Ratings of answers by people: a label, a note and a name, in a file for each benchmark of a run.

``RUN/BENCHMARK-ratings.jsonl`` has one JSON object a line, and can be read by ``nel judge calibrate
RUN --labels FILE``. Neither artifacts nor identities depend on it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

from annotated_types import MaxLen
from pydantic import BaseModel, ConfigDict

from nel.artifacts.labels.file import RATINGS_SUFFIX
from nel.core.atomic_files import write_file
from nel.core.strict_json import dumps_line, loads
from nel.errors import UsageError
from nel.reports.text import one_line, visible
from nel.types import JsonObject

_lock: Final = threading.Lock()
"""A rating is added by writing the whole file again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One person's rating of one answer, in the order of the file's fields."""

    sample_id: str
    repeat: int
    label: str | None
    """On the judge's scale, for a calibration; None with a note alone."""
    note: str
    annotator: str
    response: str
    """The answer that was rated."""


def ratings_path(run_dir: Path, benchmark: str) -> Path:
    """Return the path of the ratings of a benchmark, which is named by its directory."""
    return run_dir / f"{benchmark}{RATINGS_SUFFIX}"


def read_ratings(path: Path) -> list[Rating]:
    """Return the ratings of a file; an empty list without a file.

    Raises:
        UsageError: It cannot be read, or has other content.
    """
    try:
        lines = path.read_text("utf-8").split("\n")
        return [Rating(**loads(line)) for line in lines if line]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(
            f"{path} holds no ratings ({error}); correct it or move it away"
        ) from error


def add_rating(path: Path, rating: Rating) -> None:
    """Write a rating in place of the same person's last one; an empty one only removes that.

    Raises:
        UsageError: The file is damaged.
        StoppedEarly: The directory cannot be written, or the disk is full.
    """
    with _lock:
        others = [item for item in read_ratings(path) if _key(item) != _key(rating)]
        ratings = [*others, rating] if rating.label or rating.note else others
        write_file(path, (dumps_line(asdict(item)) for item in sorted(ratings, key=_key)))


def ratings_of(ratings: Sequence[Rating], sample_id: str, repeat: int) -> list[Rating]:
    """Return the ratings of one answer."""
    return [item for item in ratings if (item.sample_id, item.repeat) == (sample_id, repeat)]


class _Fields(BaseModel):
    """The form that a page sends."""

    model_config = ConfigDict(strict=True)

    label: Annotated[str, MaxLen(60)] = ""
    note: Annotated[str, MaxLen(10_000)] = ""
    annotator: Annotated[str, MaxLen(60)] = ""


def rating_fields(fields: object) -> JsonObject:
    """Return label, note and name from what a page sends.

    Raises:
        ValidationError: It is not an object of texts, or a text is too long.
    """
    valid = _Fields.model_validate(fields)
    return {
        "label": one_line(valid.label) or None,
        "note": visible(valid.note).strip(),
        "annotator": one_line(valid.annotator),
    }


def _key(rating: Rating) -> tuple[str, int, str]:
    return rating.sample_id, rating.repeat, rating.annotator
