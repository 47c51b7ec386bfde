"""Looks whether a text from the command line is the path of something."""

from __future__ import annotations

from pathlib import Path


def exists(path: str | Path) -> bool:
    """Return whether there is something at a path; False for a text that no path can be, such as
    one that is too long.

    >>> exists("a" * 5000), exists(".")
    (False, True)
    """
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False
