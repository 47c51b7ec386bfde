"""Lets a file written for another tool run as it stands: its imports resolve to nel meanwhile.

Which tools is what the entry points ``MODULE.names`` of the group ``nel.bridges`` say: each names a
`LentNames`. Does nothing where that tool is installed. Nothing of it may stay in ``sys.modules``,
or a tool installed later in the same process would be half nel; a file that imports inside a
function is given its own ``__import__``, which lends the names for that moment.
"""

from __future__ import annotations

import ast
import builtins
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from nel import plugins
from nel.core.file_modules import FILES
from nel.errors import PluginError, did_you_mean

SUFFIX: Final = ".names"
"""Of the entry points in the group ``nel.bridges`` that lend names; before it stands the module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LentNames:
    """The modules of another tool that nel stands for while a file is loaded."""

    homes: Mapping[str, Sequence[str]]
    """Modules of the tool, and the modules that have their names, the first that has one counts."""
    renamed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """``module.name`` of the tool to the module and the name that stand for it."""
    instead: str = "change that line of the file"
    """What a file does that needs a name which is not lent."""
    checks_functions: bool = False
    """Whether a file is refused when an import inside a function has nothing to stand for it."""
    beside: str = ""
    """The package of the tool whose folders hold such files with the modules that they import."""


DEFINED: Final[ContextVar[list[object] | None]] = ContextVar("nel-defined", default=None)
"""Benchmarks that the file being loaded defined by lent decorators, which need no name in it."""


def roots() -> list[str]:
    """Return the tools whose names an installed bridge lends; nothing is imported for it."""
    return [
        ref.name.removesuffix(SUFFIX)
        for ref in plugins.discover("bridges")
        if ref.name.endswith(SUFFIX)
    ]


@cache
def _lend(root: str) -> LentNames:
    refs = [ref for ref in plugins.discover("bridges") if ref.name == root + SUFFIX]
    lent = plugins.load_ref(next((ref for ref in refs if ref.is_built_in), refs[0]))
    if not isinstance(lent, LentNames):
        raise PluginError(
            f"{refs[0].provider}: {root}{SUFFIX} is a {type(lent).__name__}, not LentNames"
        )
    return lent


def _homes_of(module: str) -> Sequence[str] | None:
    return _lend(module.partition(".")[0]).homes.get(module)


class _StandIn(ModuleType):
    """A module of the other tool, made of nel's names."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        fullname = f"{self.__name__}.{name}"
        if _homes_of(fullname) is not None:
            with standing_in():
                return importlib.import_module(fullname)
        return _find(self.__name__, name)


class _Finder(MetaPathFinder, Loader):
    """Finds modules of the tools that are not installed, and no others."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.roots = roots

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        root = fullname.partition(".")[0]
        # A file's own modules, loaded below its name: these may import lent names as well.
        if root.startswith(FILES):
            return _beside_spec(fullname, path)
        if root not in self.roots:
            return None
        if _homes_of(fullname) is None:
            roots = ", ".join(sorted(_lend(root).homes))
            raise ModuleNotFoundError(
                f"nel has nothing to stand for {fullname}; it stands for {roots};"
                f" {_lend(root).instead}",
                name=fullname,
            )
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        # For `from MODULE import *` alone: any other name is found when it is asked for.
        names: set[str] = set()
        for home in _homes_of(module.__name__) or ():
            names.update(name for name in _names(home) if not name.startswith("__"))
        module.__dict__["__all__"] = sorted(names)


class _Beside(SourceFileLoader):
    """Loads a module beside a file as the file itself is loaded."""

    def exec_module(self, module: ModuleType) -> None:
        lend_names(module)
        super().exec_module(module)
        check_later_imports(Path(self.path).read_text("utf-8", "replace"), module)


def _beside_spec(name: str, path: object) -> ModuleSpec | None:
    if not isinstance(path, Sequence):
        return None
    spec = PathFinder.find_spec(name, path)
    if spec is None:
        raise ModuleNotFoundError(
            f"there is no module {name.partition('.')[2]} beside the file", name=name
        )
    if isinstance(spec.loader, SourceFileLoader):
        spec.loader = _Beside(name, spec.loader.path)
    return spec


def folders_of(path: Path) -> list[str]:
    """Return where a file's modules beside it are looked for: its folder, and the folder of all
    such files where the tool has one.
    """
    names = {_lend(root).beside.rpartition(".")[2] for root in roots()}
    folder = path.parent
    folders = [folder]
    if folder.parent.name in names:
        folders.append(folder.parent)
    return list(map(str, folders))


def _own_name(name: str, module: ModuleType) -> str:
    """Return a module of the tool that stands beside the file by the name that it is loaded as."""
    root = name.partition(".")[0]
    beside = _lend(root).beside
    is_beside = bool(beside) and name.startswith(f"{beside}.") and not is_installed(root)
    if not is_beside or _homes_of(name) is not None:
        return name
    # `TOOL.tasks.drop.metrics`, which a file in a folder `drop` imports, is metrics.py beside it;
    # `TOOL.tasks.shared` is shared.py there or in the folder above, see `folders_of`.
    package = module.__name__.partition(".")[0]
    folder = Path(sys.modules[package].__path__[0]).name
    words = name.removeprefix(f"{beside}.").split(".")
    if words[0] == folder:
        words = words[1:]
    return ".".join([package, *words])


@contextmanager
def standing_in() -> Iterator[None]:
    """Until the block ends, let nel stand for tools of lent names that are not installed."""
    absent = [root for root in roots() if not is_installed(root)]
    if not absent:
        yield
        return
    finder = _Finder(absent)
    sys.meta_path.insert(0, finder)  # before a mere folder of that name
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        # An outer block of this kind still needs what was imported.
        if not any(isinstance(entry, _Finder) for entry in sys.meta_path):
            for name, module in list(sys.modules.items()):
                if isinstance(module, _StandIn):
                    del sys.modules[name]


def check_later_imports(source: str, module: ModuleType) -> None:
    """Refuse a file whose functions import what is not there, before one of them runs.

    Args:
        source: The text of a file written for another tool, or of a module beside one; it has been
            executed, so that its own imports are there.
        module: What it was executed as.

    Raises:
        ImportError: A function imports such a name.
    """
    absent = [root for root in roots() if root in source and not is_installed(root)]
    checked = [root for root in absent if _lend(root).checks_functions]
    is_beside = isinstance(module.__loader__, _Beside)
    if not checked and not is_beside:
        return
    with standing_in():
        for node in _imports_of_functions(source):
            if isinstance(node, ast.ImportFrom):
                _check_import_from(node, module, checked, is_beside=is_beside)
            elif is_beside:
                for alias in node.names:
                    importlib.import_module(alias.name)


def _imports_of_functions(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    yield node


def _check_import_from(
    node: ast.ImportFrom, module: ModuleType, checked: Sequence[str], *, is_beside: bool
) -> None:
    name = node.module or ""
    if node.level:  # the dots before the name: from ..shared import metric
        package = module.__spec__.parent if module.__spec__ else None
        target = importlib.import_module("." * node.level + name, package)
        _import_names(target, node.names)
    elif name.partition(".")[0] in checked:
        _import_names(importlib.import_module(_own_name(name, module)), node.names)
    elif is_beside:
        importlib.import_module(name)


def _import_names(module: ModuleType, names: Sequence[ast.alias]) -> None:
    for alias in names:
        # Of a package, a name may be a module that was not imported yet.
        if not hasattr(module, alias.name) and hasattr(module, "__path__"):
            importlib.import_module(f"{module.__name__}.{alias.name}")
        elif alias.name != "*":
            getattr(module, alias.name)  # raises where a stand-in lacks it, and says why


def lend_names(module: ModuleType) -> None:
    """Let the imports inside a module's functions find the same names, whenever they are run."""

    def import_lending(name: str, *arguments: Any, **options: Any) -> object:
        level = options.get("level", arguments[3] if len(arguments) > 3 else 0)  # noqa: PLR2004 - after globals, locals, fromlist
        if not level and name.partition(".")[0] not in roots():
            return builtins.__import__(name, *arguments, **options)
        with standing_in():
            target = name if level else _own_name(name, module)
            return builtins.__import__(target, *arguments, **options)

    # An import statement calls the `__import__` of its own module's builtins: others keep Python's.
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_lending}


def is_installed(root: str) -> bool:
    """Return whether a tool itself can be imported."""
    if root in sys.modules:
        return not isinstance(sys.modules[root], _StandIn)
    for finder in sys.meta_path:
        if isinstance(finder, _Finder) or not hasattr(finder, "find_spec"):
            continue
        spec = finder.find_spec(root, None)
        # A folder of that name somewhere on the path is a namespace package, and has no origin.
        if spec is not None and spec.origin is not None:
            return True
    return False


def _names(home: str) -> list[str]:
    module = _home(home)
    return [] if module is None else list(getattr(module, "__all__", ()))


def _home(name: str) -> ModuleType | None:
    return importlib.import_module(name) if importlib.util.find_spec(name) is not None else None


def _find(module: str, name: str) -> object:
    lent = _lend(module.partition(".")[0])
    renamed = lent.renamed.get(f"{module}.{name}")
    if renamed is not None:
        home, name_at_home = renamed
        return getattr(importlib.import_module(home), name_at_home)
    searched: list[str] = []
    candidates: list[str] = []
    for home in _homes_of(module) or ():
        values = _home(home)
        if values is None:  # its package is not installed
            continue
        if hasattr(values, name):
            return getattr(values, name)
        searched.append(home)
        candidates += _names(home)
    where = f"; it was looked for in {' and '.join(searched)}" if searched else ""
    hint = did_you_mean(name, candidates) or f"; {lent.instead}"
    raise ImportError(f"nel has no {name} to stand for {module}.{name}{where}{hint}")
