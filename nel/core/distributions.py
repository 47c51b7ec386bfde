"""What installed packages declare: metadata that is damaged keeps nothing else from working.

Depends on `importlib.metadata`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Final

DAMAGE: Final = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""What `importlib.metadata` raises of metadata that is missing, malformed or not UTF-8."""


@dataclass(frozen=True, slots=True)
class PackageMetadata:
    """What the metadata of a package that may have plugins says."""

    is_readable: bool
    name: str = ""
    version: str = ""
    entry_points: Sequence[EntryPoint] = ()


_packages: Final[dict[tuple[object, ...], PackageMetadata | None]] = {}
"""By the state of their files: a run looks for plugins ten times, and reading takes half of its
start.
"""


def package_of(distribution: Distribution, prefix: str) -> PackageMetadata | None:
    """Return what a package declares; None for most, which have no entry point in a group of this
    prefix.
    """
    state = _state_of(distribution)
    if state is None:
        return _read(distribution, prefix)
    if state not in _packages:
        _packages[state] = _read(distribution, prefix)
    return _packages[state]


def _state_of(distribution: Distribution) -> tuple[object, ...] | None:
    """Return what changes with a package's metadata; None where it lies in no folder."""
    # importlib.metadata has no public name for the folder NAME-VERSION.dist-info.
    folder = str(getattr(distribution, "_path", None))
    state: list[object] = []
    # Ends at the first file that is missing. Most packages have no entry_points.txt; when they get
    # one, the time of the folder changes.
    with suppress(OSError):
        for name in ("", "/entry_points.txt", "/METADATA"):
            file = os.stat(f"{folder}{name}")  # noqa: PTH116 - a Path would cost as much again
            state += [file.st_ino, file.st_mtime_ns, file.st_size]
    return (folder, *state) if state else None


def _read(distribution: Distribution, prefix: str) -> PackageMetadata | None:
    if not _may_declare(distribution, prefix):
        return None  # most of them; parsing their metadata would take ten times as long
    if not is_readable(distribution):
        return PackageMetadata(is_readable=False)
    metadata = distribution.metadata  # read from disk and parsed each time it is asked for
    return PackageMetadata(
        is_readable=True,
        name=metadata["Name"],
        version=metadata["Version"],
        entry_points=tuple(distribution.entry_points),
    )


def _may_declare(distribution: Distribution, prefix: str) -> bool:
    try:
        return f"[{prefix}" in (distribution.read_text("entry_points.txt") or "")
    except DAMAGE:
        return True


def field_of(distribution: Distribution, name: str) -> str | None:
    """Return a field of a package's metadata; None where it is missing or not a text."""
    # Not by its key: for a missing one, Python warns from 3.12 on and will raise later.
    value = next(iter(distribution.metadata.get_all(name, ())), None)
    return value if isinstance(value, str) else None


def is_readable(distribution: Distribution) -> bool:
    """Return whether a package has a name, a version and entry points that can be read."""
    try:
        values = (entry.value for entry in distribution.entry_points)
        texts = (field_of(distribution, "Name"), field_of(distribution, "Version"), *values)
        return all(isinstance(text, str) for text in texts)
    except DAMAGE:
        return False


def readable_distributions() -> Iterator[Distribution]:
    """Yield the installed packages whose metadata can be read."""
    return filter(is_readable, distributions())


def place_of(distribution: Distribution) -> str:
    """Return the name of the folder with a package's metadata, for messages."""
    return str(getattr(getattr(distribution, "_path", None), "name", None) or "unknown")


def owners_of(module: str) -> set[str]:
    """Return the names of the packages that install a top-level module."""
    owners = set[str]()
    for distribution in distributions():
        with suppress(*DAMAGE):
            # `distribution.files` would make a path of each, which takes a tenth of a second.
            lists = map(distribution.read_text, ("top_level.txt", "RECORD"))
            lines = "\n".join(("", *filter(None, lists)))
            # A line "MODULE" of top_level.txt, "MODULE/…" or "MODULE.py,HASH,SIZE" of RECORD.
            if any(f"\n{module}{end}" in lines for end in ("\n", "/", ".py,")):
                owners.add(field_of(distribution, "Name") or "")
    return owners - {""}
