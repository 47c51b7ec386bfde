"""What is at a path: whether anything is there, whether the system makes it up, who can read it;
and directories that get their final name when they are complete.

The name of such a work directory is ``.NAME.PID-NUMBER.tmp``, beside the place that it will have,
so that a rename is enough, and a leftover is known by a process that is not there any more. What a
killed process left goes with the next call.
"""

from __future__ import annotations

import os
import re
import shutil
from glob import escape
from itertools import count
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
    it is not data.

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


_WORK: Final = re.compile(r"\.(?P<name>.+)\.(?P<pid>\d+)-\d+\.tmp")
_NUMBERS: Final = count(1)
_MADE: Final[set[Path]] = set()
"""By this process, whose number another may have had before it: in a container it is often the
same.
"""


def make_work_directory(output: Path) -> Path:
    """Return a new, empty directory that only the user can read, beside its final place; leftovers
    are removed first.

    Raises:
        OSError: It cannot be made.
    """
    remove_leftovers(output)
    work = output.parent / f".{output.name}.{os.getpid()}-{next(_NUMBERS)}.tmp"
    _MADE.add(work.absolute())
    work.mkdir(mode=0o700, parents=True)
    return work


def final_directory(work: Path) -> Path:
    """Return where a work directory will stand; another directory is its own."""
    matched = _WORK.fullmatch(work.name)
    return work.with_name(matched["name"]) if matched else work


def remove_leftovers(output: Path) -> None:
    """Remove what killed processes left of this file or directory; what a running process works on
    stays.
    """
    for left in output.parent.glob(f".{escape(output.name)}.*.tmp"):
        matched = _WORK.fullmatch(left.name)
        if matched is None or matched["name"] != output.name or _is_used(left, int(matched["pid"])):
            continue
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _is_used(left: Path, pid: int) -> bool:
    if pid == os.getpid():
        return left.absolute() in _MADE
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
