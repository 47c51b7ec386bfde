"""Finds in the source of a scorer which files it reads and which modules it imports by name at run
time. Runs nothing.

Paths are evaluated as far as the syntax tree tells them: constants, ``__file__``, ``pathlib``,
``os.path`` and ``importlib.resources``, joined, in variables that are assigned once. A part that
only running the code would tell is a wildcard. What is left unknown is listed with its line, since
a change of it cannot be noticed. Depends on the standard
library alone. Note: what a scorer writes is no part of its rule, nor is a temporary file.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

ANY: Final = "\0"
"""In a pattern: any text, which only running the code would tell."""
_TEMPORARY: Final = "\1"
"""In a pattern: a path of the `tempfile` module."""

_READERS: Final[Mapping[str, int]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "os.open"), 0
        ),
        **dict.fromkeys(
            ("numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "numpy.fromfile", "joblib.load"), 0
        ),
        **dict.fromkeys(
            ("torch.load", "runpy.run_path", "linecache.getlines", "linecache.getline"), 0
        ),
        **dict.fromkeys(("zipfile.ZipFile", "tarfile.open", "fileinput.input", "ctypes.CDLL"), 0),
        **dict.fromkeys(
            (
                "xml.etree.ElementTree.parse",
                "pyarrow.parquet.read_table",
                "datasets.load_from_disk",
            ),
            0,
        ),
        **dict.fromkeys(
            ("importlib.util.spec_from_file_location", "importlib.machinery.SourceFileLoader"), 1
        ),
    }
)
"""Functions that read a file, and which argument is its path."""
_READER_PREFIXES: Final = ("pandas.read_", "polars.read_", "polars.scan_")
_LISTERS: Final = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob"})
_OF_PACKAGES: Final = frozenset(
    {"pkgutil.get_data", "importlib.resources.read_text", "importlib.resources.read_binary",
     "importlib.resources.open_text", "importlib.resources.open_binary"}
)  # fmt: skip
_PATH_KEYWORDS: Final = frozenset({"file", "path", "name", "location", "pathname"})
_LISTING_METHODS: Final = frozenset({"iterdir", "glob", "rglob"})
_READING_METHODS: Final = _LISTING_METHODS | {"read_text", "read_bytes", "open"}
_WRITING_METHODS: Final = frozenset({"write_text", "write_bytes", "touch"})
_IMPORTERS: Final = frozenset({"importlib.import_module", "__import__", "runpy.run_module"})
_ELSEWHERE: Final = ("subprocess.", "os.system", "os.popen", "sqlite3.connect", "shelve.open", "requests.", "httpx.",
                     "urllib.request.", "socket.")  # fmt: skip
"""What reaches for something whose content no digest covers."""
_SAME_PATH: Final = frozenset(
    {"pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "str", "os.fspath", "os.path.abspath", "os.path.realpath",
     "os.path.normpath", "os.path.expanduser"}
)  # fmt: skip
_SAME_METHODS: Final = frozenset(
    {"resolve", "absolute", "as_posix", "expanduser", "__str__", "strip"}
)
_CONSTANT_CHARACTERS_MAX: Final = 255
_PATH_CHARACTERS_MAX: Final = 4_096
_DEPTH_MAX: Final = 64
"""Of expressions within expressions, and variables made of variables."""


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What one source file depends on beside its import statements."""

    patterns: tuple[str, ...] = ()
    """Paths that it reads, with `ANY` in the parts that are computed; relative ones are relative to
    the working directory."""
    imports: tuple[str, ...] = ()
    """Modules that it imports by a constant name, as `import_module` takes them."""
    unseen: tuple[str, ...] = ()
    """``line 12: open() of a computed path``: what cannot be told from the source."""
    constants: tuple[str, ...] = ()
    """Texts that may name a file, for where something is unseen."""
    changes_search_path: bool = False
    """It changes ``sys.path``, so that an import may find what cannot be found from here."""


def read_dependencies(path: Path, package: Path | None) -> Dependencies:
    """Return what a source file depends on; nothing where it is no valid Python.

    Args:
        package: The folder of the package that it belongs to, None where it is in none.

    Raises:
        OSError: The file cannot be read.
    """
    stat = path.stat()
    return _read(path, package, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=1024)
def _read(path: Path, package: Path | None, _modified_ns: int, _size: int) -> Dependencies:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return Dependencies()
    try:
        return _Reader(tree, path, package).dependencies()
    except RecursionError:
        return Dependencies(unseen=("is nested too deeply to tell what it reads",))


class _Reader:
    """Walks the syntax tree of one file."""

    def __init__(self, tree: ast.Module, path: Path, package: Path | None) -> None:
        self._path = str(path)
        self._package = str(package or path.parent)
        self._calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self._tree = tree
        self._names: dict[str, str] = {}
        self._assigned: dict[str, ast.expr] = {}
        self._iterated: dict[str, ast.expr] = {}
        self._values: dict[str, str] = {}
        self._depth = 0
        self._note_names()
        self._patterns: list[str] = []
        self._written: list[str] = []
        self._imports: list[str] = []
        self._unseen: list[str] = []

    def dependencies(self) -> Dependencies:
        """Return what the file depends on."""
        for call in self._calls:
            self._note_call(call)
        written = {pattern for pattern in self._written if ANY not in pattern}
        patterns = [path for path in dict.fromkeys(self._patterns) if path not in written]
        constants = set(self._constants()) - set(map(posixpath.basename, written)) - written
        return Dependencies(
            patterns=tuple(patterns),
            imports=tuple(dict.fromkeys(self._imports)),
            unseen=tuple(dict.fromkeys(self._unseen)),
            constants=tuple(sorted(constants)),
            changes_search_path=any(
                isinstance(node, ast.Attribute) and self._dotted(node) == "sys.path"
                for node in ast.walk(self._tree)
            ),
        )

    # What names mean

    def _note_names(self) -> None:
        """Collect what imports bind, and variables that are bound once in the whole file."""
        bound: Counter[str] = Counter()
        for node in ast.walk(self._tree):
            self._note_binding(node)
            if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                bound[node.id] += 1
            elif isinstance(node, ast.arg):
                bound[node.arg] += 2  # a parameter may be anything
        self._assigned = {name: value for name, value in self._assigned.items() if bound[name] == 1}
        self._iterated = {name: value for name, value in self._iterated.items() if bound[name] == 1}

    def _note_binding(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    top = alias.name.partition(".")[0]
                    self._names[alias.asname or top] = alias.name if alias.asname else top
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    self._names[alias.asname or alias.name] = f"{module}.{alias.name}"
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
                | ast.withitem(optional_vars=ast.Name(id=name), context_expr=value)
            ):
                self._assigned[name] = value
            case (
                ast.For(target=ast.Name(id=name), iter=value)
                | ast.comprehension(target=ast.Name(id=name), iter=value)
            ):
                self._iterated[name] = value

    def _dotted(self, node: ast.expr) -> str:
        """Return the full name of a function, ``importlib.resources.files``; empty where it is no
        name.
        """
        if isinstance(node, ast.Name):
            return self._names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            owner = self._dotted(node.value)
            return f"{owner}.{node.attr}" if owner else ""
        return ""

    # Calls

    def _note_call(self, call: ast.Call) -> None:
        name = self._dotted(call.func)
        if name in _IMPORTERS:
            self._note_import(call, name)
        elif name in _READERS or name.startswith(_READER_PREFIXES):
            mode = 1 if name.rpartition(".")[2] == "open" else None
            self._note_read(call, name, self._argument(call, _READERS.get(name, 0)), mode)
        elif name in _OF_PACKAGES:
            parts = [self._package_path(argument) for argument in call.args[:1]] + [
                self._value(argument) for argument in call.args[1:2]
            ]
            self._note_pattern(call, name, posixpath.join(*parts) if parts else ANY)
        elif name in _LISTERS:
            listed = self._argument(call, 0)
            listed = (
                _as_pattern(listed) if name.startswith("glob.") else posixpath.join(listed, ANY)
            )
            self._note_pattern(call, name, listed)
        elif name.startswith(_ELSEWHERE):
            self._unseen.append(f"line {call.lineno}: {name}()")
        elif isinstance(call.func, ast.Attribute):
            self._note_method(call, call.func)

    def _note_method(self, call: ast.Call, function: ast.Attribute) -> None:
        """Note a call of a method that a path may have."""
        method = function.attr
        if method in _WRITING_METHODS:
            self._written.append(self._value(function.value))
        elif method in _READING_METHODS and not self._is_module(function.value):
            pattern = (
                self._listed(call, function)
                if method in _LISTING_METHODS
                else self._value(function.value)
            )
            self._note_read(call, f".{method}", pattern, 0 if method == "open" else None)

    def _is_module(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Name) and node.id in self._names and node.id not in self._assigned
        )

    def _note_read(self, call: ast.Call, name: str, pattern: str, mode_at: int | None) -> None:
        mode = self._mode(call, mode_at)
        if any(letter in mode for letter in "wax") and "+" not in mode and "r" not in mode:
            self._written.append(pattern)
            return
        self._note_pattern(call, name, pattern)

    def _note_pattern(self, call: ast.Call, name: str, pattern: str) -> None:
        if _TEMPORARY in pattern:
            return
        if pattern.startswith(ANY):
            self._unseen.append(f"line {call.lineno}: {name}() of a computed path")
            return
        self._patterns.append(pattern)

    def _note_import(self, call: ast.Call, name: str) -> None:
        module = self._argument(call, 0)
        if ANY in module:
            self._unseen.append(f"line {call.lineno}: {name}() of a computed name")
        else:
            self._imports.append(module)

    def _mode(self, call: ast.Call, position: int | None) -> str:
        if position is None:
            return ""
        modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"] or call.args[
            position : position + 1
        ]
        value = modes[0].value if modes and isinstance(modes[0], ast.Constant) else ""
        return value if isinstance(value, str) else ""

    def _argument(self, call: ast.Call, position: int) -> str:
        """Return the value of an argument; the first one may be given by any keyword."""
        if len(call.args) > position:
            return self._value(call.args[position])
        paths = [keyword.value for keyword in call.keywords if keyword.arg in _PATH_KEYWORDS]
        return self._value(paths[0]) if paths else ANY

    # Values

    def _value(self, node: ast.expr) -> str:
        """Return an expression's text, with `ANY` for what is not known, nested deeply or longer
        than any path.
        """
        if self._depth >= _DEPTH_MAX:
            return ANY
        self._depth += 1
        try:
            value = self._evaluated(node)
        finally:
            self._depth -= 1
        return value if len(value) <= _PATH_CHARACTERS_MAX else ANY

    def _evaluated(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else ANY
        if isinstance(node, ast.JoinedStr):
            return _merged("".join(self._value(value) for value in node.values))
        if isinstance(node, ast.Name):
            return self._variable(node.id)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._ancestor(node)
        return self._call_value(node) if isinstance(node, ast.Call) else ANY

    def _variable(self, name: str) -> str:
        if name == "__file__":
            return self._path
        if name in self._iterated:
            return self._item(self._iterated[name])
        if name not in self._assigned:
            return ANY
        if name not in self._values:
            self._values[name] = ANY  # while it is evaluated, since it may refer to itself
            self._values[name] = self._value(self._assigned[name])
        return self._values[name]

    def _item(self, node: ast.expr) -> str:
        """Return what an expression yields: the paths of a folder that a loop goes through."""
        if not isinstance(node, ast.Call):
            return ANY
        name = self._dotted(node.func)
        if name in ("sorted", "list", "set", "tuple", "reversed") and node.args:
            return self._item(node.args[0])
        if name in ("glob.glob", "glob.iglob"):
            return _as_pattern(self._argument(node, 0))
        if isinstance(node.func, ast.Attribute) and node.func.attr in _LISTING_METHODS:
            return self._listed(node, node.func)
        return ANY

    def _listed(self, call: ast.Call, function: ast.Attribute) -> str:
        """Return the pattern of what ``path.glob(...)``, ``rglob`` or ``iterdir`` yields."""
        names = _as_pattern(self._argument(call, 0)) if function.attr == "glob" else ANY
        return posixpath.join(self._value(function.value), names)

    def _operation(self, node: ast.BinOp) -> str:
        if isinstance(node.op, ast.Div):
            return posixpath.join(self._value(node.left), self._value(node.right))
        if isinstance(node.op, ast.Add):
            return _merged(self._value(node.left) + self._value(node.right))
        if isinstance(node.op, ast.Mod):
            return _merged(re.sub(r"%[^a-zA-Z%]{0,9}[a-zA-Z]", ANY, self._value(node.left)))
        return ANY

    def _attribute(self, node: ast.Attribute) -> str:
        owner = self._value(node.value)
        if node.attr == "parent" and owner != ANY:
            return posixpath.dirname(owner) or "."
        return _TEMPORARY if _TEMPORARY in owner else ANY

    def _ancestor(self, node: ast.Subscript) -> str:
        """Return the value of ``path.parents[n]``."""
        is_parents = isinstance(node.value, ast.Attribute) and node.value.attr == "parents"
        if (
            not is_parents
            or not isinstance(node.slice, ast.Constant)
            or not isinstance(node.slice.value, int)
        ):
            return ANY
        path = self._value(node.value.value)  # type: ignore[attr-defined]
        for _ in range(node.slice.value + 1 if path != ANY else 0):
            path = posixpath.dirname(path)
        return path

    def _call_value(self, call: ast.Call) -> str:
        name = self._dotted(call.func)
        values = [self._value(argument) for argument in call.args]
        if name.startswith("tempfile."):
            return _TEMPORARY
        if name in _SAME_PATH:
            return posixpath.join(*values) if values else "."
        if name == "os.path.join" and values:
            return posixpath.join(*values)
        if name == "os.path.dirname" and values:
            return posixpath.dirname(values[0]) if values[0] != ANY else ANY
        if name in ("os.getcwd", "pathlib.Path.cwd"):
            return "."
        if name == "importlib.resources.files":
            return self._package_path(call.args[0]) if call.args else self._package
        if name in _READERS:  # a handle, of a path that its own call notes
            return _TEMPORARY
        return self._method_value(call, values) if isinstance(call.func, ast.Attribute) else ANY

    def _method_value(self, call: ast.Call, values: list[str]) -> str:
        method, owner = call.func.attr, self._value(call.func.value)  # type: ignore[attr-defined]
        if method in _SAME_METHODS:
            return owner
        if method == "joinpath":
            return posixpath.join(owner, *values)
        if method == "with_name" and values and owner != ANY:
            return posixpath.join(posixpath.dirname(owner), values[0])
        if method == "with_suffix" and values and owner != ANY:
            return posixpath.splitext(owner)[0] + values[0]
        if method == "format":
            return _merged(re.sub(r"\{[^{}]*\}", ANY, owner))
        return _TEMPORARY if _TEMPORARY in owner else ANY

    def _package_path(self, node: ast.expr) -> str:
        """Return the folder of a package that is named by a constant or by the file's own name."""
        own = isinstance(node, ast.Name) and node.id in ("__package__", "__name__")
        if own:
            return posixpath.dirname(self._path)
        name = self._value(node)
        if ANY in name:
            return ANY
        top, _, rest = name.partition(".")
        if top != posixpath.basename(self._package):
            return ANY
        return posixpath.join(self._package, *rest.split(".")) if rest else self._package

    def _constants(self) -> Iterator[str]:
        """Yield texts that may name a file."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                if 0 < len(text) <= _CONSTANT_CHARACTERS_MAX and "." in text and text.isprintable():
                    yield text


def _as_pattern(text: str) -> str:
    """Return a pattern of the `glob` module as one of this module; ``**`` is any file below."""
    head, recursive, _ = text.partition("**")
    return head + ANY if recursive else _merged(re.sub(r"[*?]|\[[^\]]*\]", ANY, text))


def _merged(pattern: str) -> str:
    return re.sub(f"{ANY}+", ANY, pattern)
