"""What runs inside a container: a supervisor, two zygotes, and the processes of one program at a time.

These modules are sent to the container as text when it starts, in the order of `MODULES`, and need nothing but Python
3.9 and its standard library there. They import each other by full name and nothing else of nel.
"""

from __future__ import annotations

from typing import Final

MODULES: Final = (
    "kinds",
    "functions",
    "codec",
    "channel",
    "limits",
    "seccomp",
    "solution",
    "running",
    "cases",
    "objects",
    "remote",
    "checker",
    "dependence",
    "rehearsal",
    "controls",
    "answers",
    "together",
    "zygote",
    "watch",
    "processes",
    "run",
    "jobs",
    "supervisor",
)
"""In the order in which they import each other."""
