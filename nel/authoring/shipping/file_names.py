"""Which names a file in a package may have: the same on every system, and nowhere but in the
package. Pure.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

_NOT_ON_WINDOWS: Final = frozenset('\\:*?"<>|')
_DEVICES: Final = frozenset(
    [
        "con",
        "prn",
        "aux",
        "nul",
        *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)),
    ]
)


def unsafe_name(name: str) -> str | None:
    """Return why a relative path may be written outside of its folder, or corrupt a list of files;
    None where not.
    """
    parts = name.split("/")
    if any(part in {"", ".", ".."} for part in parts) or "\\" in name or parts[0][1:2] == ":":
        return "it leads out of its folder"
    if any(ord(character) < ord(" ") or "\ud800" <= character <= "\udfff" for character in name):
        return "it holds a control character or half a character"
    return None


def name_problem(names: Iterable[str]) -> str | None:
    """Return what is wrong with the relative paths of a package's files on any system; None where
    nothing is.
    """
    files: dict[str, str] = {}
    for name in names:
        problem = unsafe_name(name) or _not_portable(name)
        if problem is not None:
            return f"{name!a}: {problem}"
        other = files.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if other != name:
            return f"{name!a} and {other!a} are one file on systems that ignore case"
    for folded, name in files.items():
        above = folded.split("/")[:-1]
        if any("/".join(above[: depth + 1]) in files for depth in range(len(above))):
            return f"{name!a}: a file has the name of its folder"
    return None


def _not_portable(name: str) -> str | None:
    for part in name.split("/"):
        if (
            not part.isprintable()
            or _NOT_ON_WINDOWS & set(part)
            or part != part.strip()
            or part.endswith(".")
        ):
            return "not every system can hold such a name"
        if part.partition(".")[0].lower() in _DEVICES:
            return "it is the name of a device on Windows"
    return None
