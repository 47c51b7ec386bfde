"""What runs inside a container: a supervisor, two zygotes, and one program's processes at a time.

These modules are sent to the container as text when it starts, in the order of `MODULES`, and need
nothing but Python 3.9 and its standard library there. They import each other by full name.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
MODULES: Final = (
    "channel",
    "limits",
    "seccomp",
    "zygote",
    "watch",
    "processes",
    "run",
    "jobs",
    "supervisor",
)
"""In the order in which they import each other."""
