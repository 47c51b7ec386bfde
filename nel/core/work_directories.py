"""Directories that get their final name when they are complete; what a killed process left goes
with the next call.

The name is ``.NAME.PID-NUMBER.tmp``, beside the place that it will have, so that a rename is
enough, and a leftover is known by a process that is not there any more.
"""

from __future__ import annotations

import os
import re
import shutil
from glob import escape
from itertools import count
from pathlib import Path
from typing import Final

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
