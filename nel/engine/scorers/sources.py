"""Follows what code imports: files of its own folder or distribution, and other distributions.

A module that no installed distribution holds counts with its file, wherever Python finds it; of an
installed one the version counts. Of nel itself only the rooms that can change a verdict are
followed. Nothing is imported, and no path in the source is looked at: see `@scorer(data=...)`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from nel.engine.scorers.source_digest import combine, read_source

NEL: Final = Path(__file__).parents[2]
_PACKAGE: Final = NEL.name
_AUTHORING: Final = frozenset(
    {"nel.authoring.decorators", "nel.authoring.benchmark", "nel.authoring.card"}
)
"""Modules that define benchmarks and no verdict; a run's identity has prompts and rows."""
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
"""Folders of distributions; of a plugin that is one file there, only that file counts."""


@dataclass(frozen=True, slots=True)
class Sources:
    """All that some code is made of."""

    files: frozenset[Path]
    distributions: frozenset[str]
    """Name and version of each, ``numpy 2.4.6``."""

    def digest(self, *, without: Iterable[Path] = (), more: Iterable[str] = ()) -> str:
        """Return a digest of the files' logic and of the distributions.

        Args:
            without: Files that are left out.
            more: Digests of what else counts.
        """
        logic = (read_source(path).digest for path in self.files - set(without))
        return combine([*logic, *self.distributions, *more])


def follow(starts: Iterable[Path], rooms: frozenset[str]) -> Sources:
    """Return some files and all that they import, directly or not.

    Args:
        starts: Python files.
        rooms: Packages and modules of nel that may be entered.
    """
    files, distributions = set[Path](), set[str]()
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path in files:
            continue
        files.add(path)
        for source in _imported_by(path):
            if isinstance(source, str):
                distributions.add(source)
            elif room_of(source) in (None, *rooms):
                waiting.append(source)
    return Sources(frozenset(files), frozenset(distributions))


def words_in_nel(path: Path) -> tuple[str, ...]:
    """Return the dotted name of a file of nel as words; an empty tuple for other files."""
    top, root = _project_of(path)
    return path.relative_to(root).with_suffix("").parts if top == _PACKAGE else ()


def room_of(path: Path) -> str | None:
    """Return the package or module of nel that a file belongs to; None for other files."""
    words = words_in_nel(path)
    return words[1] if words else None


def file_of(module_name: str) -> list[Path]:
    """Return the file of a loaded module, if it has one."""
    source = getattr(sys.modules.get(module_name), "__file__", None)
    return [Path(source)] if isinstance(source, str) and Path(source).is_file() else []


def _imported_by(path: Path) -> Iterator[Path | str]:
    imports = read_source(path).imports
    yield from _imported_from_nel(imports)
    top, root = _project_of(path)
    for name in imports:
        words = [word for word in name.split(".") if word not in ("", "*")]
        dots = len(name) - len(name.lstrip("."))
        if dots:  # "..helpers.numbers": two dots are the folder above
            yield from _files_named(path.parents[dots - 1], words)
        elif words[0] == top != _PACKAGE:  # of its own package
            yield from _files_named(root, words)
        elif words[0] != _PACKAGE and words[0] not in sys.stdlib_module_names:
            # A lone script may import what lies beside it, which Python finds only when it is run.
            beside = _files_on_way(path.parent, words) if _is_alone(path) else []
            yield from beside or _found_by_python(words)


def _is_alone(path: Path) -> bool:
    return _project_of(path)[0] is None and path.parent.name not in _INSTALLED


def _found_by_python(words: Sequence[str]) -> list[Path | str]:
    """Return the files of a module, or the distribution where it is installed."""
    folder = _folder_of(words[0])
    if folder is None:
        return []
    if _INSTALLED.isdisjoint(folder.parts):
        return _files_on_way(folder, words)
    return list(_distributions_of(words[0])) or _files_on_way(folder, words[:1])


@lru_cache(maxsize=1024)
def _folder_of(top: str) -> Path | None:
    """Return the folder in which Python finds a module or package; None where it finds none."""
    try:
        spec = find_spec(top)
    except (ImportError, ValueError, AttributeError):  # not importable, or loaded by hand
        return None
    if spec is None:
        return None
    locations = [*(spec.submodule_search_locations or ()), *filter(None, [spec.origin])]
    return Path(locations[0]).parent if locations else None


@cache
def _distributions_of(top: str) -> tuple[str, ...]:
    """Return the distributions that have a package, most often that of the same name."""
    try:
        return (f"{top} {version(top)}",)
    except PackageNotFoundError:  # every distribution says what it has, which takes 0.3 s
        names = packages_distributions().get(top, ())
        return tuple(f"{name} {version(name)}" for name in sorted(set(names)))


def _files_on_way(folder: Path, words: Sequence[str]) -> list[Path | str]:
    """Return the files that importing a module runs, those of the packages around it first."""
    ends = range(1, len(words) + 1)
    return [file for end in ends for file in _files_named(folder, words[:end])]


def _files_named(folder: Path, words: Sequence[str]) -> list[Path]:
    base = folder.joinpath(*words)
    files = (base.with_suffix(".py"), base / "__init__.py")
    return [file for file in files if words and file.is_file()]


@lru_cache(maxsize=4096)
def _imported_from_nel(imports: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the modules of nel that define what is imported; none comes or goes in a run.

    Of ``from nel import numeric_match`` that is the module that defines the function, not all that
    nel exports.
    """
    names = {name for name in imports if name.partition(".")[0] == _PACKAGE}
    parents = {name.rpartition(".")[0] for name in names if not name.endswith(".*")}
    leaves = (name.removesuffix(".*") for name in names if name not in parents)
    return tuple(sorted({path for name in leaves for path in _defining(name)}))


@lru_cache(maxsize=4096)
def _defining(name: str) -> tuple[Path, ...]:
    """Return the files of nel that define a module, or a name that a module exports."""
    if name in _AUTHORING or name.rpartition(".")[0] in _AUTHORING:
        return ()
    file_of_nel = _module_of_nel(name)
    if file_of_nel is not None:
        return (file_of_nel,)
    module, _, attribute = name.rpartition(".")
    file = _module_of_nel(module)
    if file is None:
        return ()
    origins = [
        origin
        for origin in read_source(file).imports
        if origin.endswith(f".{attribute}") and origin != name
    ]
    return tuple(path for origin in origins for path in _defining(origin)) if origins else (file,)


def _module_of_nel(name: str) -> Path | None:
    return next(iter(_files_named(NEL.parent, name.split("."))), None)


@lru_cache(maxsize=4096)
def _project_of(path: Path) -> tuple[str | None, Path]:
    """Return the name of a file's outermost package, None for a file that lies in none, and the
    folder it lies in.
    """
    root, top = path.parent, None
    while (root / "__init__.py").is_file():
        root, top = root.parent, root.name
    return top, root
