"""Writes the page of a comparison: self-contained, without a script; answers stand side by side.

Answers are hostile: every printed value passes the escaping of `nel.reports.html`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nel.core.atomic_files import write_file
from nel.errors import OutputError
from nel.reports.comparison import despite_note, interval, lines, p_text, points, score
from nel.reports.static_page import static_page


def write_comparison_page(document: Mapping[str, Any], path: Path) -> None:
    """Write the page, replacing an older one atomically.

    Raises:
        OutputError: The directory of the file is not there.
        StoppedEarly: The disk is full.
    """
    if not path.parent.is_dir():
        raise OutputError(
            f"there is no directory {path.parent} to write {path.name} into; create it"
        )
    write_file(path, (chunk.encode() for chunk in html_page(document)))


def html_page(document: Mapping[str, Any]) -> Iterator[str]:
    """Return the page in chunks; the same comparison gives the same text."""
    return static_page(
        "comparison",
        document=document,
        note=despite_note(document["settings"]["despite"]),
        lines=lines,
        points=points,
        score=score,
        measure_span=interval,
        p_text=p_text,
    )
