"""Finds the place of a planted fault in a tree of nel, and puts the fault there for a while."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.mutations.table import Mutation

ROOT: Final = Path(__file__).resolve().parents[2]
_PLANTED_AT: Final = 946_684_800
"""Seconds since 1970; a file with a fault has a modification time of its own, so that no cached bytecode passes for
it."""


class NotOnce(ValueError):
    """The fragment of a mutation does not occur exactly once in nel."""


def sources(tree: Path) -> dict[Path, str]:
    """Return the Python files of nel in a tree, with their texts."""
    return {path: path.read_text(encoding="utf-8") for path in sorted((tree / "nel").rglob("*.py"))}


def place_of(mutation: Mutation, texts: dict[Path, str]) -> Path:
    """Return the file that holds the fragment of a mutation.

    Raises:
        NotOnce: No file does, or it occurs several times.
    """
    found = {path: text.count(mutation.fragment) for path, text in texts.items() if mutation.fragment in text}
    if sum(found.values()) != 1:
        where = ", ".join(f"{path.name} ({count} times)" for path, count in found.items()) or "no file"
        raise NotOnce(f"{mutation.name}: its fragment must occur once in nel, and is in {where}; update the table")
    return next(iter(found))


@contextmanager
def planted(mutation: Mutation, tree: Path, number: int) -> Iterator[Path]:
    """Have the fault in a tree within the block; give its file.

    Args:
        mutation: What is planted.
        tree: A copy of the repository.
        number: Tells this planting from all others in the tree.

    Raises:
        NotOnce: Its place cannot be told.
    """
    texts = sources(tree)
    path = place_of(mutation, texts)
    before = path.stat()
    path.write_text(texts[path].replace(mutation.fragment, mutation.replacement), encoding="utf-8")
    os.utime(path, (_PLANTED_AT + number, _PLANTED_AT + number))
    try:
        yield path
    finally:
        path.write_text(texts[path], encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def copy_tree(folder: Path) -> Path:
    """Copy what git knows of the working tree, its uncommitted state included, and return the copy's root.

    The data beside the repository stays where it is and is linked to.
    """
    tree = folder / ROOT.name
    for name in _known_files():
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name, follow_symlinks=False)
    shared = ROOT.parent / "shared"
    if shared.exists():
        (folder / "shared").symlink_to(shared.resolve())
    return tree


def _known_files() -> Sequence[str]:
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]
