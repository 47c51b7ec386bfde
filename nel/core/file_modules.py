"""The files of users that are loaded as modules: what they are called there, and for a reader."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

FILES: Final = "nel_file_"
"""Begins the name of every module that a file is loaded as; the module is a package of the files
beside it.
"""


def module_shown(value: object) -> str:
    """Return the name of the module of a function or an object.

    A file is called by its own name without the ending: its name in ``sys.modules`` is made of the
    folder that it lies in, and would differ from machine to machine.
    """
    name: str = getattr(value, "__module__", None) or type(value).__module__
    path = getattr(sys.modules.get(name), "__file__", None)
    return Path(path).stem if path and name.startswith(FILES) else name
