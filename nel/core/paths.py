"""What is at a path: whether anything is there, whether the system makes it up, who can read it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final


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


def user_directory() -> Path:
    """Return the directory of the user's own files, ``nel`` in XDG_CONFIG_HOME or ~/.config; it
    need not exist.
    """
    home = os.environ.get("XDG_CONFIG_HOME")
    return (Path(home) if home else Path.home() / ".config") / "nel"


_MADE_UP: Final = ("/proc", "/sys", "/dev")
_IN_MEMORY: Final = "/dev/shm"  # noqa: S108 - a file system in memory, whose files are as good as any


def is_made_up(path: Path) -> bool:
    """Return whether a file shows this process, its environment included, or this machine, so that
    it is no data.

    >>> is_made_up(Path("/proc/self/environ")), is_made_up(Path("/dev/shm/rows.csv"))
    (True, False)
    """
    absolute = path.absolute()
    return any(
        absolute.is_relative_to(folder) for folder in _MADE_UP
    ) and not absolute.is_relative_to(_IN_MEMORY)


SHARED_FILE: Final = 0o644
SHARED_DIRECTORY: Final = 0o755


def share(path: Path) -> None:
    """Let everyone read a file, or a directory with all that is in it; links are left alone.

    Raises:
        OSError: A file is another user's.
    """
    if not path.is_dir():
        path.chmod(SHARED_FILE)
        return
    for folder, _, names in os.walk(path):
        Path(folder).chmod(SHARED_DIRECTORY)
        for name in names:
            entry = Path(folder, name)
            if not entry.is_symlink():
                entry.chmod(SHARED_FILE)
