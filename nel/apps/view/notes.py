"""Tags and notes on runs, each in a file beside the run's directory, which itself is never written.

``eval_results/RUN`` has its notes in ``eval_results/RUN.notes.json``, so that they move and are
copied with the runs.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from annotated_types import MaxLen
from pydantic import BaseModel, ConfigDict

from nel.core.atomic_files import write_file
from nel.core.strict_json import loads, pretty
from nel.reports.text import one_line, visible

FORMAT: Final = 1
TAGS_MAX: Final = 20
TAG_CHARACTERS_MAX: Final = 40
NOTE_CHARACTERS_MAX: Final = 10_000
_SUFFIX: Final = ".notes.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What people wrote about a run."""

    tags: tuple[str, ...] = ()
    note: str = ""


def notes_path(run_dir: Path) -> Path:
    """Return where the notes of a run are kept."""
    return run_dir.with_name(f"{run_dir.name}{_SUFFIX}")


def read_notes(run_dir: Path) -> Notes:
    """Return the notes of a run; none where there is no file, or it holds something else."""
    with suppress(OSError, ValueError):
        return notes_of(loads(notes_path(run_dir).read_bytes()))
    return Notes()


def write_notes(run_dir: Path, notes: Notes) -> None:
    """Keep the notes of a run; empty ones remove the file.

    Raises:
        StoppedEarly: The directory of runs cannot be written, or the disk is full.
    """
    path = notes_path(run_dir)
    if notes == Notes():
        path.unlink(missing_ok=True)
        return
    write_file(path, [pretty({"format": FORMAT, "tags": list(notes.tags), "note": notes.note})])


class _Fields(BaseModel):
    """What a page sends, and what a file of notes holds."""

    model_config = ConfigDict(strict=True)

    tags: Annotated[list[Annotated[str, MaxLen(TAG_CHARACTERS_MAX)]], MaxLen(TAGS_MAX)] = []
    note: Annotated[str, MaxLen(NOTE_CHARACTERS_MAX)] = ""


def notes_of(fields: object) -> Notes:
    """Return the notes that a JSON value holds.

    Raises:
        ValidationError: It is not an object of tags and a note, or more or longer than is stored.
    """
    parsed_fields = _Fields.model_validate(fields)
    tags = tuple(dict.fromkeys(filter(None, map(one_line, parsed_fields.tags))))
    return Notes(tags=tags, note=visible(parsed_fields.note).strip())
