"""Failpoints: places at which a test can kill the process. Without the variable they do nothing.

``NEL_FAILPOINT=name`` or ``name:count`` sends SIGKILL to the process when it reaches that failpoint
for the count-th time. The variable is read at the first failpoint.
"""

from __future__ import annotations

import os
import signal
from typing import Final

VARIABLE: Final = "NEL_FAILPOINT"
_armed: dict[str, int] | None = None


def reach(name: str) -> None:
    """Kill the process if this failpoint is armed and its count is reached."""
    global _armed  # noqa: PLW0603 - one setting for the whole process
    if _armed is None:
        _armed = _read(os.environ.get(VARIABLE, ""))
    if name in _armed:
        _armed[name] -= 1
        if _armed[name] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)


def _read(setting: str) -> dict[str, int]:
    name, _, count = setting.partition(":")
    if not name:
        return {}
    return {name: int(count) if count.isdigit() else 1}
