"""What is at a path, who can read it, and work directories, which are renamed when complete.

The name of a work directory is ``.NAME.PID-NUMBER.tmp``, beside the place that it will have: a
rename is enough, and a leftover shows by a process that does not exist any more. The next call
removes what a killed process left.
"""

from __future__ import annotations

import os
import re
import shutil
from glob import escape
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Final


def exists(path: str | Path) -> bool:
    """Return whether there is something at a path; False for a text too long to be a path.

    >>> exists("a" * 5000), exists(".")
    (False, True)
    """
    try:
        return Path(path).exists()
    except (OSError, ValueError):
        return False


def as_argument(path: str | Path) -> str:
    """Return a path as a shell takes it, for a command that a message names.

    >>> print(as_argument("my runs/first"))
    'my runs/first'
    """
    return quote(str(path))


def user_directory() -> Path:
    """Return the directory of the user's own files, which need not exist."""
    return _home("XDG_CONFIG_HOME", ".config") / "nel"


def cache_directory() -> Path:
    """Return the directory of what can be fetched or made again, which need not exist."""
    return _home("XDG_CACHE_HOME", ".cache") / "nel"


def _home(variable: str, usual: str) -> Path:
    # The XDG specification demands that a relative path is ignored.
    home = os.environ.get(variable, "")
    return Path(home) if home.startswith("/") else Path.home() / usual


_PSEUDO_FOLDERS: Final = ("/proc", "/sys", "/dev")
_MEMORY_FOLDER: Final = "/dev/shm"  # noqa: S108 - a file system in memory, whose files are as good as any


def is_pseudo_file(path: Path) -> bool:
    """Return whether the kernel makes a file's content, to show a process or the machine.

    >>> is_pseudo_file(Path("/proc/self/environ")), is_pseudo_file(Path("/dev/shm/rows.csv"))
    (True, False)
    """
    absolute = path.absolute()
    if absolute.is_relative_to(_MEMORY_FOLDER):
        return False
    return any(absolute.is_relative_to(folder) for folder in _PSEUDO_FOLDERS)


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
_WORK_OF_THIS_PROCESS: Final[set[Path]] = set()
"""Not known by the number of the process in the name, which may be that of an earlier one: in a
container it often is.
"""


def make_work_directory(output: Path) -> Path:
    """Return a new directory that only the user can read, and remove leftovers of others.

    Raises:
        OSError: It cannot be made.
    """
    remove_leftovers(output)
    work = output.parent / f".{output.name}.{os.getpid()}-{next(_NUMBERS)}.tmp"
    _WORK_OF_THIS_PROCESS.add(work.absolute())
    work.mkdir(mode=0o700, parents=True)
    return work


def final_directory(work: Path) -> Path:
    """Return where a work directory will stand; another directory is its own."""
    match = _WORK.fullmatch(work.name)
    return work.with_name(match["name"]) if match else work


def remove_leftovers(output: Path) -> None:
    """Remove what processes that do not run any more left of this file or directory."""
    for work in output.parent.glob(f".{escape(output.name)}.*.tmp"):
        match = _WORK.fullmatch(work.name)
        # The pattern for `run` also finds the work of `run.1`, whose name begins in the same way.
        if match is None or match["name"] != output.name or _is_used(work, int(match["pid"])):
            continue
        if work.is_dir() and not work.is_symlink():
            shutil.rmtree(work, ignore_errors=True)
        else:
            work.unlink(missing_ok=True)


def _is_used(work: Path, pid: int) -> bool:
    if pid == os.getpid():
        return work.absolute() in _WORK_OF_THIS_PROCESS
    try:
        os.kill(pid, 0)  # sends nothing, and fails where there is no such process
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        # Of another user; or no number of a process, and then the name was not given by nel.
        return True
    return True
