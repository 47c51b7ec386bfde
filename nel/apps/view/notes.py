"""Tags and notes on runs, each in a file beside the run's directory, which itself is never written.

``eval_results/RUN`` has its notes in ``eval_results/RUN.notes.json``, so that they move and are
copied with the runs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nel.core.atomic_files import write_file
from nel.core.strict_json import loads, pretty
from nel.errors import UsageError
from nel.reports.text import one_line, visible

FORMAT: Final = 1
TAGS_MAX: Final = 20
TAG_CHARACTERS_MAX: Final = 40
NOTE_CHARACTERS_MAX: Final = 10_000
_BYTES_MAX: Final = 256 * 1024
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
    with suppress(OSError, ValueError, UsageError):
        handle = os.open(
            notes_path(run_dir), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        )
        with os.fdopen(handle, "rb") as file:
            if stat.S_ISREG(os.fstat(handle).st_mode):
                return notes_of(loads(file.read(_BYTES_MAX)))
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


def notes_of(fields: Any) -> Notes:
    """Return the notes that a JSON value holds.

    Raises:
        UsageError: It is no object of tags and a note, or longer than what is kept.
    """
    if not isinstance(fields, dict):
        raise UsageError(
            'notes are an object like {"tags": ["baseline"], "note": "before the fix"}'
        )
    tags, note = fields.get("tags", []), fields.get("note", "")
    if (
        not isinstance(note, str)
        or not isinstance(tags, list)
        or not all(isinstance(tag, str) for tag in tags)
    ):
        raise UsageError("tags are a list of texts and the note is a text")
    if len(note) > NOTE_CHARACTERS_MAX:
        raise UsageError(
            f"the note has {len(note):,} characters; up to {NOTE_CHARACTERS_MAX:,} are kept"
        )
    return Notes(tags=_clean(tags), note=visible(note).strip())


def _clean(tags: Iterable[str]) -> tuple[str, ...]:
    distinct = tuple(dict.fromkeys(tag for tag in map(one_line, tags) if tag))
    if len(distinct) > TAGS_MAX or any(len(tag) > TAG_CHARACTERS_MAX for tag in distinct):
        raise UsageError(
            f"a run has up to {TAGS_MAX} tags of up to {TAG_CHARACTERS_MAX} characters"
        )
    return distinct
