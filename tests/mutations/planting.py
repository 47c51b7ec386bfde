"""Finds the place of a planted fault in a tree of nel, and puts the fault there for a while."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.mutations.table import Mutation

ROOT: Final = Path(__file__).resolve().parents[2]
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_PLANTED_AT: Final = 946_684_800
"""Seconds since 1970; a file with a fault has a modification time of its own, so that no cached bytecode passes for
it."""


class NotOnce(ValueError):
    """The text that a mutation changes does not occur exactly once in its place."""


def changed(mutation: Mutation, text: str) -> str:
    """Return the text of the mutation's file with the fault in it.

    Raises:
        NotOnce: The place is not there, or what is to be changed does not occur once in it.
    """
    lines = text.splitlines(keepends=True)
    first, last = _lines_of(mutation.function, text) if mutation.function else (0, len(lines))
    within = "".join(lines[first:last])
    if within.count(mutation.before) != 1:
        times = f"{within.count(mutation.before)} times"
        raise NotOnce(f"{mutation.name}: `before` must occur once in {mutation.place}, and does {times}")
    return "".join(lines[:first]) + within.replace(mutation.before, mutation.after) + "".join(lines[last:])


def _lines_of(function: str, text: str) -> tuple[int, int]:
    """Return the lines of a function or class and its decorators, counted from 0; none where it is not there."""
    body: list[ast.stmt] = ast.parse(text).body
    first = last = 0
    for name in function.split("."):
        found = [node for node in body if isinstance(node, _DEFINITIONS) and node.name == name]
        if len(found) != 1:
            return 0, 0
        (node,) = found
        first = min(part.lineno for part in (node, *node.decorator_list)) - 1
        last, body = node.end_lineno or 0, node.body
    return first, last


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
    path = tree / mutation.file
    text, before = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(changed(mutation, text), encoding="utf-8")
    os.utime(path, (_PLANTED_AT + number, _PLANTED_AT + number))
    try:
        yield path
    finally:
        path.write_text(text, encoding="utf-8")
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
