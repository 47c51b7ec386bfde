"""What runs beside the isolation's agent in a container: the two ends of a program's verdict.

`MODULES` are sent to the container as text, in their order, and need nothing but Python 3.9 there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
MODULES: Final = (
    *("standard", "codec", "solution", "cases", "running", "references"),
    *("exceptions", "remote", "checker", "shared", "entries"),
)
"""In the order in which they import each other."""
