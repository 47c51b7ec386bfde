"""What one forked process may take, and how it becomes an unprivileged user.

The order matters: what needs rights comes before the change of user, which cannot be undone.
"""

from __future__ import annotations

import ctypes
import math
import os
import resource
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

_PR_SET_DUMPABLE = 4
_STACK_BYTES = 64 << 20
_LIBRARY = ctypes.CDLL(None)


def become(
    user: int, limits: Mapping[str, Any], *, out_of_memory_score: int, is_dumpable: bool
) -> None:
    """Limit this process and make it the given user.

    Args:
        limits: ``cpu_seconds``, ``file_bytes``, ``processes``, ``files``; what is missing is not
            limited.
        out_of_memory_score: From 0 to 1000, the highest is ended first.
        is_dumpable: Whether the process, and others of its user, may open its ``/proc`` files.
    """
    os.setsid()
    with suppress(OSError):
        handle = os.open(
            "/proc/self/oom_score_adj", os.O_WRONLY
        )  # a text file would load a codec, 0.8 ms each time
        os.write(handle, str(out_of_memory_score).encode())
        os.close(handle)
    _limit(resource.RLIMIT_CORE, 0)
    if "cpu_seconds" in limits:
        seconds = math.ceil(limits["cpu_seconds"]) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    if "file_bytes" in limits:
        _limit(resource.RLIMIT_FSIZE, int(limits["file_bytes"]))
    if "files" in limits:
        _limit(resource.RLIMIT_NOFILE, int(limits["files"]))
    if "processes" in limits:
        _limit(resource.RLIMIT_NPROC, int(limits["processes"]))
    with suppress(OSError, ValueError):
        _, hard = resource.getrlimit(resource.RLIMIT_STACK)
        soft = _STACK_BYTES if hard == resource.RLIM_INFINITY else min(_STACK_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    os.umask(0o022)
    if is_dumpable:
        # After a change of user the kernel hides /proc/self, and honest programs open /dev/stdout.
        _LIBRARY.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def _limit(what: int, value: int) -> None:
    resource.setrlimit(what, (value, value))
