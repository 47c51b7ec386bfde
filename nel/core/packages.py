"""Reads the metadata of installed packages, of which some may be damaged. Depends on the standard
library only.

One package whose metadata is no UTF-8, or has no name, must not keep nel from working with all
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from typing import Final

DAMAGE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""What `importlib.metadata` raises of metadata that is missing, no UTF-8 or malformed."""


def is_readable(distribution: Distribution) -> bool:
    """Return whether a package has a name, a version and entry points that can be read."""
    try:
        named = (distribution.metadata["Name"], distribution.metadata["Version"])
        return all(
            isinstance(text, str)
            for text in (*named, *(entry.value for entry in distribution.entry_points))
        )
    except DAMAGE:
        return False


def readable_distributions() -> Iterator[Distribution]:
    """Yield the installed packages whose metadata can be read."""
    return (distribution for distribution in distributions() if is_readable(distribution))


def place_of(distribution: Distribution) -> str:
    """Return the name of the folder with a package's metadata, for messages."""
    return str(getattr(getattr(distribution, "_path", None), "name", None) or "unknown")


def owners_of(module: str) -> set[str]:
    """Return the names of the packages that install a top-level module."""
    owners: set[str] = set()
    for distribution in distributions():
        try:
            declared = (distribution.read_text("top_level.txt") or "").split()
            tops = declared or {
                file.parts[0].removesuffix(".py") for file in distribution.files or ()
            }
            if module in tops:
                owners.add(distribution.metadata["Name"])
        except DAMAGE:
            continue
    return owners
