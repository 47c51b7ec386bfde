"""Lets a benchmark file written for NeMo Evaluator or EvalScope run as it stands: its imports
resolve to nel meanwhile.

Does nothing where that tool is installed. Nothing of it may stay in ``sys.modules``, or a tool
installed later in the same process would be half nel; a file that imports inside a function is
given its own ``__import__``, which lends the names for that moment.
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
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final

from nel.benchmarks.api.evalscope_imports import EVALSCOPE, EVALSCOPE_HOMES, EVALSCOPE_OTHERWISE
from nel.errors import did_you_mean

ROOT: Final = "nemo_evaluator"
ROOTS: Final = (ROOT, EVALSCOPE)
_BYOB: Final = ("nel.byob.nemo", "nel.byob", "nel.types")
_METRICS: Final = "nel.byob.nemo_metrics"
_TEXT: Final = "nel.byob.nemo_text"
_FORMS: Final = "nel.byob.nemo_forms"
_SCORING: Final = ("nel.scoring", "nel.types", _METRICS)
_JUDGE: Final = ("nel.byob.judge", "nel.byob.nemo_judge")
_ENVIRONMENTS: Final = ("nel.byob", "nel.types")
HOMES: Final[Mapping[str, Sequence[str]]] = {
    ROOT: ("nel", "nel.byob", "nel.scoring"),
    f"{ROOT}.contrib": (),
    **{
        f"{ROOT}.{prefix}byob{part}": homes
        for prefix in ("contrib.", "")
        for part, homes in {
            "": (*_BYOB, *_JUDGE),
            ".decorators": _BYOB,
            ".scorers": (_FORMS,),
            ".judge": _JUDGE,
        }.items()
    },
    f"{ROOT}.environments": _ENVIRONMENTS,
    f"{ROOT}.environments.base": _ENVIRONMENTS,
    f"{ROOT}.environments.custom": _ENVIRONMENTS,
    **dict.fromkeys(
        (
            f"{ROOT}.scoring{part}"
            for part in ("", ".text", ".pattern", ".json_schema", ".types", ".code_execution")
        ),
        _SCORING,
    ),
    **dict.fromkeys((f"{ROOT}.scoring.{part}" for part in ("metric", "contracts")), (_METRICS,)),
    f"{ROOT}.scoring.judge": (*_SCORING, *_JUDGE),
    f"{ROOT}.scorers": (_FORMS,),
    f"{ROOT}.metrics": ("nel.metrics", _METRICS),
    f"{ROOT}.metrics.exact_match": (_METRICS,),
    f"{ROOT}.metrics.aggregation": ("nel.metrics.aggregation",),
    **EVALSCOPE_HOMES,
}
"""Modules of both tools, and where nel has their names, the first home first."""

_LATER: Final = (ROOT, f"{ROOT}.environments", f"{ROOT}.environments.custom")
_FIRST: Final = tuple(
    f"{ROOT}.{prefix}byob{part}" for prefix in ("contrib.", "") for part in ("", ".decorators")
)
_OTHERWISE: Final[Mapping[str, tuple[str, str]]] = {
    **EVALSCOPE_OTHERWISE,
    **{f"{module}.benchmark": ("nel.byob.nemo", "benchmark_of_text") for module in _LATER},
    **{f"{module}.scorer": (_FORMS, "scorer") for module in (*_LATER, *_FIRST)},
    **{
        f"{module}.answer_line": (_TEXT, "answer_line")
        for module in (ROOT, f"{ROOT}.scoring", f"{ROOT}.scoring.pattern")
    },
    f"{ROOT}.scoring.text._normalize": (_TEXT, "normalised"),
    f"{ROOT}.scoring.pattern._normalize_math": (_TEXT, "normalised_formula"),
}
"""Names that nel has under another name."""

DEFINED: Final[ContextVar[list[object] | None]] = ContextVar("nel-defined", default=None)
"""The benchmarks that the file being loaded has defined by NeMo Evaluator's decorator, which need
no name in it.
"""


class _StandIn(ModuleType):
    """A module of the other tool, made of nel's names."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        full = f"{self.__name__}.{name}"
        if full in HOMES:
            with standing_in():
                return importlib.import_module(full)
        return _find(self.__name__, name)


class _Finder(MetaPathFinder, Loader):
    """Finds modules of the tools that are not installed, and no others."""

    def __init__(self, roots: Sequence[str]) -> None:
        self.roots = roots

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        root = fullname.partition(".")[0]
        if root not in self.roots:
            return None
        if fullname not in HOMES:
            known = ", ".join(sorted(name for name in HOMES if name.partition(".")[0] == root))
            raise ModuleNotFoundError(
                f"nel has nothing to stand for {fullname}; it stands for {known}", name=fullname
            )
        return ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        names = [name for home in HOMES[module.__name__] for name in _names(home)]
        module.__dict__["__all__"] = sorted({name for name in names if not name.startswith("__")})


@contextmanager
def standing_in() -> Iterator[None]:
    """Let nel stand for NeMo Evaluator and EvalScope until the block ends, each unless it is
    installed.
    """
    roots = [root for root in ROOTS if not is_installed(root)]
    if not roots:
        yield
        return
    finder = _Finder(roots)
    sys.meta_path.insert(0, finder)  # before a mere folder of that name
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if not any(isinstance(other, _Finder) for other in sys.meta_path):
            for name in [
                name for name, module in sys.modules.items() if isinstance(module, _StandIn)
            ]:
                del sys.modules[name]


def check_later_imports(source: str) -> None:
    """Refuse a file whose functions import what nel has nothing to stand for, before one of them
    runs.

    Args:
        source: The text of a file written for EvalScope; it has been executed, so that its own
            imports are there.

    Raises:
        ImportError: A function imports such a name, or a module beside the file.
    """
    if is_installed(EVALSCOPE):
        return
    with standing_in():
        for function in ast.walk(ast.parse(source)):
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for node in (node for node in ast.walk(function) if isinstance(node, ast.ImportFrom)):
                if node.level:
                    raise _relative(function.name, "." * node.level + (node.module or ""))
                if (node.module or "").partition(".")[0] == EVALSCOPE:
                    found = importlib.import_module(str(node.module))
                    for name in node.names:
                        getattr(found, name.name)


def _relative(importer: str, module: str) -> ImportError:
    return ImportError(
        f"{importer} imports {module} from its package, and nel reads a benchmark from one file;"
        " write what it imports into the file"
    )


def lend_names(module: ModuleType) -> None:
    """Let the imports inside a module's functions find the same names, whenever they are run."""

    def import_lending(name: str, *rest: Any, **options: Any) -> object:
        level = options.get("level", rest[3] if len(rest) > 3 else 0)  # noqa: PLR2004 - after globals, locals, fromlist
        if level:
            raise _relative("the file", "." * level + name)
        if name.partition(".")[0] not in ROOTS:
            return builtins.__import__(name, *rest, **options)
        with standing_in():
            return builtins.__import__(name, *rest, **options)

    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": import_lending}


def is_installed(root: str) -> bool:
    """Return whether a tool itself can be imported."""
    if root in sys.modules:
        return not isinstance(sys.modules[root], _StandIn)
    others = [
        finder
        for finder in sys.meta_path
        if not isinstance(finder, _Finder) and hasattr(finder, "find_spec")
    ]
    specs = [spec for finder in others if (spec := finder.find_spec(root, None)) is not None]
    return any(spec.origin is not None for spec in specs)


def _names(home: str) -> list[str]:
    module = _home(home)
    return [] if module is None else list(getattr(module, "__all__", ()))


def _home(name: str) -> ModuleType | None:
    return importlib.import_module(name) if importlib.util.find_spec(name) is not None else None


def _find(module: str, name: str) -> object:
    if f"{module}.{name}" in _OTHERWISE:
        home, other = _OTHERWISE[f"{module}.{name}"]
        return getattr(importlib.import_module(home), other)
    homes = [(home, _home(home)) for home in HOMES[module]]
    for _, found in homes:
        if found is not None and hasattr(found, name):
            return getattr(found, name)
    places = " and ".join(home for home, found in homes if found is not None) or "nothing"
    hint = (
        did_you_mean(name, [known for home, _ in homes for known in _names(home)])
        or "; change that line of the file"
    )
    raise ImportError(
        f"nel has no {name} to stand for {module}.{name}; it was looked for in {places}{hint}"
    )
