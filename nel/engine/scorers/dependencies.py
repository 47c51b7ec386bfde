"""Finds in the source of a scorer which files it reads and which modules it imports by name at run
time. Runs nothing and writes nothing.

A file counts where a path expression names it: the constants in the expression, and in variables
that are assigned once, are looked for beside the source, above it and in the working directory. A
part that only running the code would tell is a wildcard, and a folder counts with all its files. A
reader whose expression names nothing that exists is listed with its line, since a change of what it
reads cannot be noticed. Note: what a scorer writes is not part of its rule, nor is a temporary
file.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from nel.core.paths import is_made_up

FILES_MAX: Final = 2_000
"""Data files of one scorer that are digested."""
BYTES_MAX: Final = 1 << 28
_NO_DATA: Final = frozenset({".pyc", ".log", ".lock", ".tmp"})
_ANY: Final = "*"
_READERS: Final = frozenset(
    "open io.open codecs.open gzip.open bz2.open lzma.open os.open os.listdir os.scandir os.walk"
    " glob.glob glob.iglob numpy.load numpy.loadtxt numpy.genfromtxt joblib.load torch.load"
    " runpy.run_path zipfile.ZipFile tarfile.open xml.etree.ElementTree.parse pkgutil.get_data"
    " importlib.resources.read_text importlib.resources.read_binary"
    " importlib.util.spec_from_file_location".split()
)
_READER_PREFIXES: Final = ("pandas.read_", "polars.read_", "polars.scan_")
_READING_METHODS: Final = frozenset({"read_text", "read_bytes", "open", "iterdir", "glob", "rglob"})
_WRITING_METHODS: Final = frozenset({"write_text", "write_bytes", "touch"})
_WRITING_MODES: Final = re.compile(r"[wax][bt]?")
_IMPORTERS: Final = frozenset({"importlib.import_module", "__import__", "runpy.run_module"})
_ELSEWHERE: Final = (
    "subprocess.", "os.system", "os.popen", "sqlite3.connect", "shelve.open", "requests.", "httpx.",
    "urllib.request.", "socket.",
)  # fmt: skip
"""What reaches for something whose content no digest covers."""
_VARIABLE_READERS: Final = frozenset({"os.environ.get", "os.getenv"})
_CONSTANT_CHARACTERS_MAX: Final = 255
_PARTS_MAX: Final = 64
"""Constants of one path expression that are read."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What one source file depends on beside its import statements."""

    reads: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Where a file is read, ``line 12: open()``, and the constants in its path, in order."""
    written: frozenset[str] = frozenset()
    """Constants in the paths of files that it writes."""
    imports: tuple[str, ...] = ()
    """Modules that it imports by a constant name, as `import_module` takes them."""
    unseen: tuple[str, ...] = ()
    """``line 12: requests.get()``: what cannot be told from the source."""
    constants: tuple[str, ...] = ()
    """Texts that may name a file, for where something is unseen."""
    changes_search_path: bool = False
    """It changes ``sys.path``, so that an import may find what cannot be found from here."""
    variables: frozenset[str] = frozenset()
    """Environment variables that it reads by a literal name."""


@dataclass(frozen=True, slots=True)
class DataFiles:
    """The files that one source file reads."""

    files: tuple[Path, ...]
    unseen: tuple[str, ...]
    """Why there may be others."""


def read_dependencies(path: Path) -> Dependencies:
    """Return what a source file depends on; nothing where it is not valid Python.

    Raises:
        OSError: The file cannot be read.
    """
    stat = path.stat()
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1024)
def _read(path: Path, _modified_ns: int, _size: int) -> Dependencies:
    try:
        return _Reader(ast.parse(path.read_bytes())).dependencies()
    except (SyntaxError, ValueError):
        return Dependencies()
    except RecursionError:
        return Dependencies(unseen=("is nested too deeply to tell what it reads",))


class _Reader:
    """Walks the syntax tree of one file."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._imported: dict[str, str] = {}
        self._bound = self._bindings()

    def dependencies(self) -> Dependencies:
        """Return what the file depends on."""
        reads, written, imports, unseen = [], set[str](), [], []
        for call in (node for node in self._nodes if isinstance(node, ast.Call)):
            name, line = self._full_name(call.func), f"line {call.lineno}: "
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if name in _IMPORTERS:
                module = call.args[0] if call.args else None
                if isinstance(module, ast.Constant) and isinstance(module.value, str):
                    imports.append(module.value)
                else:
                    unseen.append(f"{line}{name}() of a computed name")
            elif name.startswith(_ELSEWHERE):
                unseen.append(f"{line}{name}()")
            elif method in _WRITING_METHODS:
                written.update(self._parts(call.func))
            elif name in _READERS or name.startswith(_READER_PREFIXES) or self._is_path(call):
                parts = self._parts(call)
                if any(map(_WRITING_MODES.fullmatch, parts)):
                    written.update(parts)
                elif "tempfile" not in parts:
                    shown = name if name in _READERS or not method else f".{method}"
                    reads.append((f"{line}{shown}()", parts))
        return Dependencies(
            reads=tuple(dict.fromkeys(reads)),
            written=frozenset(written),
            imports=tuple(dict.fromkeys(imports)),
            unseen=tuple(dict.fromkeys(unseen)),
            constants=tuple(sorted(set(self._constants()) - written)),
            changes_search_path=self._changes_search_path(),
            variables=frozenset(self._variables()),
        )

    def _changes_search_path(self) -> bool:
        attributes = (node for node in self._nodes if isinstance(node, ast.Attribute))
        return any(self._full_name(node) == "sys.path" for node in attributes)

    def _variables(self) -> Iterator[str]:
        for node in self._nodes:
            match node:
                case ast.Subscript(
                    value=owner, slice=ast.Constant(value=str(name)), ctx=ast.Load()
                ):
                    if self._full_name(owner) == "os.environ":
                        yield name
                case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
                    if self._full_name(function) in _VARIABLE_READERS:
                        yield name

    def _bindings(self) -> dict[str, ast.expr]:
        """Collect what imports bind, and return the values of variables that are bound once."""
        bound: dict[str, ast.expr] = {}
        count: Counter[str] = Counter()
        for node in self._nodes:
            match node:
                case ast.Import(names=names):
                    for alias in names:
                        top = alias.name.partition(".")[0]
                        self._imported[alias.asname or top] = alias.name if alias.asname else top
                case ast.ImportFrom(module=str(module), names=names, level=0):
                    for alias in names:
                        self._imported[alias.asname or alias.name] = f"{module}.{alias.name}"
                case ast.Name(id=name, ctx=ast.Store()):
                    count[name] += 1
                case ast.arg(arg=name):
                    count[name] += 2  # a parameter may be anything
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                    | ast.NamedExpr(target=ast.Name(id=name), value=value)
                    | ast.withitem(optional_vars=ast.Name(id=name), context_expr=value)
                    | ast.For(target=ast.Name(id=name), iter=value)
                    | ast.comprehension(target=ast.Name(id=name), iter=value)
                ):
                    bound[name] = value
        return {name: value for name, value in bound.items() if count[name] == 1}

    def _full_name(self, node: ast.expr) -> str:
        """Return a function's full name, e.g. ``importlib.resources.files``, or "" for none."""
        if isinstance(node, ast.Name):
            return self._imported.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            owner = self._full_name(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""

    def _is_path(self, call: ast.Call) -> bool:
        """Return whether a call is one of a method that a path may have, and not of a module."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _READING_METHODS:
            return False
        owner = call.func.value
        return not (isinstance(owner, ast.Name) and owner.id in self._imported)

    def _parts(self, node: ast.AST) -> tuple[str, ...]:
        """Return the constants of a path expression in order, with ``*`` for computed parts of
        each, and ``tempfile`` where that module makes it.
        """
        return tuple(islice(self._texts(node, frozenset()), _PARTS_MAX))

    def _texts(self, node: ast.AST, variables: frozenset[str]) -> Iterator[str]:
        match node:
            case ast.Constant(value=str(text)):
                yield re.sub(r"\{[^{}]*\}|%[^a-zA-Z%]{0,9}[a-zA-Z]", _ANY, text)
            case ast.JoinedStr(values=values):
                pieces = (
                    value.value if isinstance(value, ast.Constant) else _ANY for value in values
                )
                yield "".join(map(str, pieces))
            case ast.Name(id=name) if name in self._bound and name not in variables:
                yield from self._texts(self._bound[name], variables | {name})
            case ast.Name(id=name) if self._imported.get(name, "").startswith("tempfile"):
                yield "tempfile"
            case ast.Attribute(attr="rglob", value=value):
                yield from self._texts(value, variables)
                yield "**"
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from self._texts(child, variables)

    def _constants(self) -> Iterator[str]:
        for node in self._nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                if len(text) <= _CONSTANT_CHARACTERS_MAX and "." in text and text.isprintable():
                    yield text


def data_files(dependencies: Dependencies, source: Path) -> DataFiles:
    """Return the files that a source file reads.

    Args:
        dependencies: What its syntax tree says of its dependencies.
        source: The source file.
    """
    folders = dict.fromkeys((source.parent, source.parent.parent, Path.cwd()))
    files: dict[Path, None] = {}
    unseen = list(dependencies.unseen)
    for reader, parts in dependencies.reads:
        matches = _named_files(parts, folders, source)
        if not matches:
            unseen.append(f"{reader} of a computed path")
        files.update(dict.fromkeys(matches))
    if unseen:
        named = (folder / text for text in dependencies.constants for folder in folders)
        files.update((path, None) for path in named if path.is_file() and path.suffix != ".py")
    written = dependencies.written
    data = [path for path in files if _is_data(path) and path.name not in written]
    unreadable = [path for path in data if not os.access(path, os.R_OK)]
    unseen += [f"a file that cannot be read: {path.name}" for path in unreadable]
    readable = [path for path in data if path not in unreadable]
    if len(readable) > FILES_MAX or sum(path.stat().st_size for path in readable) > BYTES_MAX:
        return DataFiles(
            (), (*unseen, f"more than {FILES_MAX:,} files or {BYTES_MAX >> 20} MiB of data")
        )
    return DataFiles(tuple(readable), tuple(unseen))


def _named_files(parts: tuple[str, ...], folders: Iterable[Path], source: Path) -> list[Path]:
    """Return the files that the longest beginning of a path names in the first folder that has
    any; of a folder all that are in it, unless the scorer or the working directory is in it too:
    runs and datasets lie there, whose change is no change of a rule.
    """
    around = {Path.cwd(), *Path.cwd().parents, *source.resolve().parents}
    beginnings = [parts[:end] for end in range(len(parts), 0, -1)]
    # `spec_from_file_location` has the name of the module before the path.
    for texts in (*beginnings, *(beginning[1:] for beginning in beginnings)):
        pattern = "/".join(texts)
        for folder in folders if pattern.strip("*/.") else ():
            root, rest = (
                (Path("/"), pattern.lstrip("/")) if pattern[0] == "/" else (folder, pattern)
            )
            if "\0" in rest or not rest:
                continue
            files: list[Path] = []
            for path in islice(root.glob(rest), FILES_MAX + 1):
                if path.is_file():
                    files.append(path)
                elif path.is_dir() and path.resolve() not in around:
                    below = (file for file in path.rglob("*") if file.is_file())
                    files += islice(below, FILES_MAX + 1)
            if files:
                return sorted(files)
    return []


def _is_data(path: Path) -> bool:
    """Return whether a file's content is stable: no log, bytecode or system-made file."""
    return path.suffix not in _NO_DATA and "__pycache__" not in path.parts and not is_made_up(path)


def digest_of_data(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
