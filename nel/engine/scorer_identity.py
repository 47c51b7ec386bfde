"""Names a scorer by everything that can change its verdict, so that an edited one scores stored answers anew.

Trap: only modules that lie beside the scorer's own are followed; what it uses of other packages is not in the digest.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import nel.judges
import nel.sandbox
import nel.scoring
from nel.benchmarks.base import Benchmark
from nel.judges.base import Case
from nel.judges.find import judge_for
from nel.prompts import is_template_file
from nel.sandbox.languages import find_language
from nel.version import __version__

_DECIDING: Final = (".py", ".toml", ".js", ".cpp", ".sh", ".go", ".rs", ".java")


def scorer_digest(benchmark: Benchmark) -> str:
    """Return a digest of the scorer's own modules, its options, the rules of nel and its sandbox, and ``extra``."""
    digest = hashlib.sha256(f"{__version__} {scorer_name(benchmark)} {dict(benchmark.extra)!r}".encode())
    files = _own_files(inspect.unwrap(_bare(benchmark.scorer)).__module__)
    for path in [*sorted(files), *sorted(Path(nel.scoring.__path__[0]).glob("*.py"))]:
        digest.update(path.read_bytes())
    for path in _sandbox_files(benchmark.languages):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def judge_digest(template: str | None) -> str:
    """Return a digest of how nel's judges ask and read, and of a run's own template: its file, or its plugin's modules.

    Args:
        template: As the run configures it; None where scorers decide.
    """
    digest = hashlib.sha256(__version__.encode())
    files = set(Path(nel.judges.__path__[0]).glob("*.py"))
    if template is not None:
        judge = judge_for(Case(template=template))
        files |= _own_files(inspect.unwrap(_bare(judge.ask)).__module__)
        if is_template_file(template):
            digest.update(Path(template).read_bytes())
    for path in sorted(files):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sandbox_files(languages: Sequence[str]) -> list[Path]:
    """Return the files that decide what a program's verdict is; none where no program is run."""
    if not languages:
        return []
    folders = [Path(nel.sandbox.__path__[0]), *(find_language(name).folder for name in sorted(languages))]
    return [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in _DECIDING]


def scorer_name(benchmark: Benchmark) -> str:
    """Return ``module:name`` of a benchmark's scorer, with its options behind it where it has any."""
    bare = _bare(benchmark.scorer)
    source = inspect.unwrap(bare)
    name = getattr(bare, "name", None) or getattr(source, "__qualname__", type(source).__qualname__)
    options = benchmark.scorer.keywords if isinstance(benchmark.scorer, partial) else getattr(bare, "params", {})
    shown = ", ".join(f"{key}={_shown(value)}" for key, value in sorted(options.items()))
    return f"{source.__module__}:{name}" + (f"({shown})" if shown else "")


def _shown(value: Any) -> str:
    """Return an option as text that is the same in every process; a function by its name."""
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return repr(value)


def _bare(scorer: Any) -> Any:
    return scorer.func if isinstance(scorer, partial) else scorer


def _own_files(module_name: str) -> set[Path]:
    """Return the files of a scorer's module and of what it imports from the same directory, near or far."""
    files: set[Path] = set()
    names = [module_name]
    while names:
        module = sys.modules.get(names.pop())
        source = getattr(module, "__file__", None)
        path = Path(source) if isinstance(source, str) else None
        if module is None or path is None or path in files or not path.is_file():
            continue
        if files and not any(path.is_relative_to(known.parent) for known in files):
            continue
        files.add(path)
        names += [_module_of(value) for value in vars(module).values()]
    return files


def _module_of(value: Any) -> str:
    name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
    return name if isinstance(name, str) else ""
