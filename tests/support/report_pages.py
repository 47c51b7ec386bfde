"""Reads the data islands of a report page, as its script does."""

from __future__ import annotations

import re
from typing import Any, Final

from nel.reports.island import unpack
from nel.reports.samples import Selection

ISLAND: Final = re.compile(r'<script type="application/gzip" data-part="(\w+)">(.*?)</script>', re.DOTALL)


def islands(page: str) -> list[dict[str, Any]]:
    """Return of each benchmark the rows and totals of its list, and its samples as `samples`."""
    found, samples = [], []
    for name, text in ISLAND.findall(page):
        content: Any = unpack(text)
        if name == "block":
            samples += content
        else:
            found.append({**content, "samples": samples})
            samples = []
    return found


def samples_of(selection: Selection) -> dict[str, Any]:
    """Return the rows, totals and samples of a benchmark that a page would embed; once for a selection."""
    (found,) = islands("".join(selection.samples.elements(selection.totals)))
    return found
