"""Long texts on a page."""

from __future__ import annotations

from typing import Final

from nel.reports.numbers import count

TEXT_MAX: Final = 100_000
"""Characters of one text that a page shows, unless the whole is asked for."""


def shortened(text: str, limit: int | None) -> str:
    """Return a text without its middle where it is longer than that; None: as it is."""
    if limit is None or len(text) <= limit:
        return text
    head = limit * 2 // 3
    tail = limit - head
    return (
        f"{text[:head]}\n\n[… {count(len(text) - limit)} characters left out here"
        f" …]\n\n{text[-tail:]}"
    )
