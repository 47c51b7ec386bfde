"""Places at which a test can kill the process, to prove that no moment is a bad one. Without the variable, nothing.

``NEL_FAILPOINT=name`` or ``name:count`` sends SIGKILL to the process when it reaches that place for the count-th time.
"""

from __future__ import annotations

import os
import signal
from typing import Final

VARIABLE: Final = "NEL_FAILPOINT"
_NAME, _, _COUNT = os.environ.get(VARIABLE, "").partition(":")
_left = int(_COUNT) if _COUNT.isdigit() else 1


def reached(name: str) -> None:
    """Die here, when it was asked for."""
    global _left  # noqa: PLW0603 - a count for the whole process
    if name == _NAME:
        _left -= 1
        if _left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
