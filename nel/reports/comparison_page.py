"""Writes the page of a comparison: self-contained, without a script; answers stand side by side.

Answers are hostile: every printed value passes the escaping of `nel.reports.html`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nel.reports.comparison import despite_note, interval, lines, p_text, points, score
from nel.reports.static_page import static_page, write_page


def write_comparison_page(document: Mapping[str, Any], path: Path) -> None:
    """Write the page, replacing an older one atomically.

    Raises:
        OutputError: The directory of the file is not there.
        StoppedEarly: The disk is full.
    """
    write_page(path, html_page(document))


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
