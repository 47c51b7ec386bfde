"""The package's styles and scripts, read once; a URL names an entry of this table, never a path.

Some of them, such as the charting library, are shared with the report page.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files
from typing import Final

_TYPES: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_SHARED: Final = ("shared.css", "charts.js", "uplot/uPlot.min.css", "uplot/uPlot.iife.min.js")
"""Files of the report page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One file."""

    content: bytes
    content_type: str
    digest: str
    """Part of its address, so that a browser may keep it until it changes."""


@cache
def assets() -> dict[str, Asset]:
    """Return the files by name."""
    templates = package_files("nel.reports").joinpath("templates")
    files = [templates.joinpath(name) for name in _SHARED]
    files += package_files("nel.apps.view").joinpath("static").iterdir()
    by_name = {}
    for file in files:
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            content = file.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:12]
            by_name[file.name] = Asset(content=content, content_type=_TYPES[suffix], digest=digest)
    return by_name
