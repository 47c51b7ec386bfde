"""Throw-away distributions: metadata in a folder on the path, as an installed package has it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def install(
    folder: Path, name: str, entries: Mapping[str, Mapping[str, str]], *, modules: Mapping[str, str] | None = None
) -> None:
    """Write a distribution of version 1.0 into a folder that is, or will be, on the path.

    Args:
        entries: The entry points of each group, name to ``module:attribute``.
        modules: Source of each module that it brings.
    """
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines: list[str] = []
    for group, named in entries.items():
        lines += [f"[{group}]", *(f"{key} = {target}" for key, target in named.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))
    for module, source in (modules or {}).items():
        (folder / f"{module}.py").write_text(source)


def path_with(folder: Path) -> dict[str, str]:
    """Return the environment in which a process finds the distributions of a folder."""
    return {"PYTHONPATH": os.pathsep.join((str(folder), str(Path(__file__).resolve().parents[2])))}
