"""Digests the logic of Python source: comments, docstrings and module names do not count.

Depends on the standard library, and on `nel.core` for a pause of the garbage collector. The syntax
tree is serialized here rather than by `ast.dump`, whose output differs between versions of Python:
an upgraded interpreter must not score a run again.

The logic of nel's own files is cached beside Python's compiled modules, so that a start parses none
of them. The key of an entry is a digest of the file and of this module, so an entry of another
version never matches; where the folder is read-only, each process parses for itself.
"""

from __future__ import annotations

import ast
import hashlib
import marshal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Final

from nel.core.forked_map import collection_paused

_NEL: Final = Path(__file__).parents[2]

_IGNORED_FIELDS: Final = frozenset({"type_comment", "kind", "type_ignores", "ctx"})
"""Fields of syntax nodes that hold a comment, a literal's spelling, or what the parent implies."""
_IGNORED_FIELDS_OF_FUNCTIONS: Final = _IGNORED_FIELDS | {"annotation", "returns"}

_IMPORTERS: Final = frozenset({"import_module", "__import__"})
_READERS: Final = frozenset(
    "open read_text read_bytes iterdir glob rglob listdir scandir read_csv read_json read_parquet"
    " get_data run_path run_module".split()
)
"""Calls that read content which no digest covers; a scorer declares it as ``data``."""
_ELSEWHERE: Final = frozenset({"subprocess", "sqlite3", "requests", "httpx", "urllib.request"})
"""Modules that reach programs and services, which no digest covers either."""


@dataclass(frozen=True, slots=True)
class PythonFile:
    """One Python file: its logic and its imports."""

    digest: str
    """SHA-256 of its logic, in hexadecimal."""
    imports: tuple[str, ...]
    """Absolute names imported anywhere in it; relative ones begin with their dots.

    ``from a import b`` gives both ``a`` and ``a.b``, as ``b`` may be a module; ``import a`` gives
    both ``a`` and ``a.*``. ``import_module("a")`` gives ``a``.
    """
    variables: frozenset[str] = frozenset()
    """Environment variables that it reads by a literal name."""
    reads: tuple[str, ...] = ()
    """Uses of `_READERS` and `_ELSEWHERE`: ``line 12: open()``, ``imports subprocess``."""


def read_source(path: Path) -> PythonFile:
    """Return the digest of a file's logic and what it imports.

    The digest is equal for files that differ in comments, docstrings, layout, annotations of
    functions, or in the order and the modules of their imports; the imported names count. A file
    that is not valid Python is digested byte by byte.

    Raises:
        OSError: The file cannot be read.
    """
    stat = path.stat()
    return _read(path, stat.st_mtime_ns, stat.st_size)


def combine(digests: Iterable[str]) -> str:
    """Return one digest of several; their order does not matter, since files may be renamed."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()


@lru_cache(maxsize=4096)
def _read(path: Path, _modified_ns: int, _size: int) -> PythonFile:
    # Time and size are there for the cache: an edited file is read again.
    data = path.read_bytes()
    return _logic_of_nel(path, data) if path.is_relative_to(_NEL) else _parse(data)


def _logic_of_nel(path: Path, data: bytes) -> PythonFile:
    logic_path = Path(cache_from_source(str(path))).with_suffix(".logic")
    key = hashlib.sha256(_this_code() + data).digest()
    with suppress(OSError, EOFError, ValueError, TypeError):  # absent, or cut off by a crash
        file_key, *fields = marshal.loads(logic_path.read_bytes())  # noqa: S302 - as Python loads its own
        if file_key == key:
            return PythonFile(*fields)
    file = _parse(data)
    if not sys.dont_write_bytecode:
        with suppress(OSError):  # each process parses for itself
            logic_path.parent.mkdir(exist_ok=True)
            fields = [file.digest, file.imports, file.variables, file.reads]
            logic_path.write_bytes(marshal.dumps((key, *fields)))
    return file


@cache
def _this_code() -> bytes:
    return Path(__file__).read_bytes()


def _parse(data: bytes) -> PythonFile:
    logic = _Logic()
    try:
        with collection_paused():
            logic.serialize(ast.parse(data))
    except (SyntaxError, ValueError, RecursionError):
        return PythonFile(hashlib.sha256(data).hexdigest(), ())
    return logic.result()


def read_definitions(path: Path, names: Iterable[str]) -> PythonFile:
    """Return the logic of top-level definitions of a file and of those that they use, transitively.

    Raises:
        OSError: The file cannot be read.
    """
    data = path.read_bytes()
    try:
        body = ast.parse(data).body
    except (SyntaxError, ValueError, RecursionError):
        return PythonFile(hashlib.sha256(data).hexdigest(), ())
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            # `@benchmark` names rows and prompts, which the identity of a run covers by itself.
            statement.decorator_list = [
                decorator
                for decorator in statement.decorator_list
                if _last_name(getattr(decorator, "func", decorator)) != "benchmark"
            ]
    bound_names = [_bound_by(statement) for statement in body]
    used, waiting = set[int](), set(names)
    # Each statement that binds a name that is waited for, until none uses a further one.
    while waiting:
        name = waiting.pop()
        for number, statement in enumerate(body):
            if name in bound_names[number] and number not in used:
                used.add(number)
                nodes = ast.walk(statement)
                waiting |= {node.id for node in nodes if isinstance(node, ast.Name)}
    logic = _Logic()
    for number in sorted(used):
        logic.serialize(body[number])
    return logic.result()


def _bound_by(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


class _Logic:
    """The logic of a syntax tree as a list of tokens."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.bound: set[str] = set()
        """Names that imports bind; sorted apart from the tokens, as their order does not count."""
        self.imports: set[str] = set()
        self.variables: set[str] = set()
        self.reads: list[str] = []
        self._fields: dict[type[ast.AST], tuple[str, ...]] = {}

    def result(self) -> PythonFile:
        """Return what was serialized."""
        text = "\0".join([*sorted(self.bound), *self.tokens])
        elsewhere = (f"imports {name}" for name in sorted(self.imports & _ELSEWHERE))
        return PythonFile(
            digest=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
            imports=tuple(sorted(self.imports)),
            variables=frozenset(self.variables),
            reads=(*self.reads, *elsewhere),
        )

    def serialize(self, node: ast.AST) -> None:
        """Append the logic of a node and of all below it."""
        kind = type(node)
        if kind is ast.Import or kind is ast.ImportFrom:
            self._note_import(node)
            return
        if kind is ast.Expr and isinstance(getattr(node.value, "value", None), str):  # type: ignore[attr-defined]
            return  # a docstring, of a module, a function or an attribute
        if isinstance(node, ast.Call):
            self._note_call(node)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            self._note_variable(node.value, node.slice)
        append = self.tokens.append
        append(kind.__name__)
        for name in self._fields.get(kind) or self._fields_of(kind):
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                append(name)
                self.serialize(value)
            elif isinstance(value, list):
                if value:
                    append(name)
                    self._serialize_all(value)
            elif value is not None or kind is ast.Constant:
                append(f"{name} {type(value).__name__} {value!r}")
        append(")")

    def _fields_of(self, kind: type[ast.AST]) -> tuple[str, ...]:
        is_function = kind in {ast.FunctionDef, ast.AsyncFunctionDef, ast.arg}
        ignored = _IGNORED_FIELDS_OF_FUNCTIONS if is_function else _IGNORED_FIELDS
        self._fields[kind] = tuple(name for name in kind._fields if name not in ignored)
        return self._fields[kind]

    def _serialize_all(self, values: Sequence[object]) -> None:
        for value in values:
            if isinstance(value, ast.AST):
                self.serialize(value)
            else:
                self.tokens.append(repr(value))

    def _note_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            self.imports.update((*names, *(f"{name}.*" for name in names)))
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            parent = module if module.endswith(".") else f"{module}."
            self.imports.update((module, *(parent + alias.name for alias in node.names)))
        aliases: list[ast.alias] = getattr(node, "names", [])
        self.bound.update(
            f"{alias.name.rpartition('.')[2]} {alias.asname or ''}" for alias in aliases
        )

    def _note_call(self, call: ast.Call) -> None:
        name = _last_name(call.func)
        argument = call.args[0] if call.args else ast.Constant(None)
        if name in _IMPORTERS and isinstance(argument, ast.Constant):
            self.imports.add(str(argument.value))
        elif name in _IMPORTERS or name in _READERS:
            self.reads.append(f"line {call.lineno}: {name}()")
        elif name == "getenv":
            self._note_variable(ast.Name("environ"), argument)
        elif name == "get" and isinstance(call.func, ast.Attribute):
            self._note_variable(call.func.value, argument)

    def _note_variable(self, owner: ast.expr, name: ast.expr) -> None:
        if _last_name(owner) == "environ" and isinstance(name, ast.Constant):
            self.variables.add(str(name.value))


def _last_name(node: ast.expr) -> str:
    """Return the name that an expression ends with: ``import_module`` of ``a.import_module``."""
    return str(getattr(node, "attr", None) or getattr(node, "id", ""))
