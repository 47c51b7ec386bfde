"""Tells files that the system makes up from files that somebody wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_MADE_UP: Final = ("/proc", "/sys", "/dev")
_IN_MEMORY: Final = "/dev/shm"  # noqa: S108 - a file system in memory, whose files are as good as any


def is_made_up(path: Path) -> bool:
    """Return whether a file shows this process, its environment included, or this machine, so that
    it is no data.

    >>> is_made_up(Path("/proc/self/environ")), is_made_up(Path("/dev/shm/rows.csv"))
    (True, False)
    """
    place = path.absolute()
    return any(place.is_relative_to(one) for one in _MADE_UP) and not place.is_relative_to(
        _IN_MEMORY
    )
