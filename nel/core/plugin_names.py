"""How the names of plugins are written: ``gsm8k``, or ``nel-foo:gsm8k`` with the package before it."""

from __future__ import annotations

import re
from typing import Final

NAME: Final = r"[a-z0-9][a-z0-9_-]*"
PACKAGE: Final = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
NAME_PATTERN: Final = re.compile(NAME)
"""Of a plugin's name, without its package."""
_QUALIFIED_PATTERN: Final = re.compile(rf"(?:{PACKAGE}:)?{NAME}")


def is_name(text: str) -> bool:
    """Return whether a text has the form of a plugin's name: ``name`` or ``package:name``.

    >>> is_name("gsm8k"), is_name("nel-foo:gsm8k"), is_name("exam.py")
    (True, True, False)
    """
    return _QUALIFIED_PATTERN.fullmatch(text) is not None
