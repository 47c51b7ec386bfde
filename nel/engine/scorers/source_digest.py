"""Digests what Python source does, so that a comment, a docstring or another module name never looks like a new rule.

Depends on the standard library alone. The syntax tree is written in a form of its own rather than by `ast.dump`, whose
output differs between versions of Python: an upgraded interpreter must not score a run again.
"""

from __future__ import annotations

import ast
import gc
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

_UNREAD: Final = frozenset({"type_comment", "kind", "type_ignores", "ctx"})
"""Fields of syntax nodes that hold a comment, the spelling of a literal, or what the parent says already."""
_UNREAD_OF_FUNCTIONS: Final = _UNREAD | {"annotation", "returns"}


@dataclass(frozen=True, slots=True)
class Source:
    """One Python file as far as it decides anything."""

    digest: str
    """SHA-256 of its logic, in hexadecimal."""
    imports: tuple[str, ...]
    """Absolute names that it imports anywhere: of ``from a import b`` both ``a`` and ``a.b``, since ``b`` may be a
    module. Relative ones begin with their dots."""


def read_source(path: Path) -> Source:
    """Return the digest of a file's logic and what it imports.

    Equal for files that differ in comments, docstrings, layout, annotations of functions, or in the order and the
    modules of their imports; the imported names count. A file that is no valid Python is digested byte by byte.

    Raises:
        OSError: The file cannot be read.
    """
    stat = path.stat()
    return _read(path, stat.st_mtime_ns, stat.st_size)


def combined(digests: Iterable[str]) -> str:
    """Return one digest of several, whatever their order: a renamed file moves among its neighbours."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


@lru_cache(maxsize=4096)
def _read(path: Path, _modified_ns: int, _size: int) -> Source:
    data = path.read_bytes()
    logic = _Logic()
    try:
        with _collection_paused():
            logic.write(ast.parse(data))
    except (SyntaxError, ValueError, RecursionError):
        return Source(hashlib.sha256(data).hexdigest(), ())
    text = "\0".join([*sorted(logic.bound), *logic.written])
    return Source(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), tuple(sorted(logic.imports)))


class _Logic:
    """The logic of a syntax tree as a list of words."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.bound: set[str] = set()
        """Names that imports bind; kept apart, since their order and their modules decide nothing."""
        self.imports: set[str] = set()
        self._fields: dict[type[ast.AST], tuple[str, ...]] = {}

    def write(self, node: ast.AST) -> None:
        """Append the logic of a node and of all below it."""
        kind = type(node)
        if kind is ast.Import or kind is ast.ImportFrom:
            self._note_import(node)
            return
        if kind is ast.Expr and isinstance(getattr(node.value, "value", None), str):  # type: ignore[attr-defined]
            return  # a docstring, of a module, a function or an attribute
        append = self.written.append
        append(kind.__name__)
        for name in self._fields.get(kind) or self._fields_of(kind):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                append(name)
                self.write(value)
            elif isinstance(value, list):
                if value:
                    append(name)
                    self._write_all(value)
            elif value is not None or kind is ast.Constant:
                append(f"{name} {type(value).__name__} {value!r}")
        append(")")

    def _fields_of(self, kind: type[ast.AST]) -> tuple[str, ...]:
        is_function = kind in {ast.FunctionDef, ast.AsyncFunctionDef, ast.arg}
        unread = _UNREAD_OF_FUNCTIONS if is_function else _UNREAD
        self._fields[kind] = tuple(name for name in kind._fields if name not in unread)
        return self._fields[kind]

    def _write_all(self, values: Sequence[object]) -> None:
        for one in values:
            if isinstance(one, ast.AST):
                self.write(one)
            else:
                self.written.append(repr(one))

    def _note_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            self.imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            parent = module if module.endswith(".") else f"{module}."
            self.imports.update((module, *(parent + alias.name for alias in node.names)))
        aliases: list[ast.alias] = getattr(node, "names", [])
        self.bound.update(f"{alias.name.rpartition('.')[2]} {alias.asname or ''}" for alias in aliases)


@contextmanager
def _collection_paused() -> Iterator[None]:
    """Keep the garbage collector from walking the growing tree; that takes longer than parsing (measured: 210 ms
    instead of 90 for the 8,800 lines of the rules)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
