"""Digests all that can change a scorer's verdict, so that an edit rescores stored answers.

Depends on the rules of nel (`nel.scoring`, `nel.judges`), on the sandbox, and on the files of the
project that defines
a scorer: its modules, also those imported inside a function or by a constant name, and the data
files that its source names. Installed packages of others are not followed. Comments, docstrings and
the names of modules are not digested: see `nel.engine.scorers.source_digest`. What cannot be told
from the source is listed by `unseen_dependencies`.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import nel.core.thinking
import nel.engine.scorers.tool_calls
import nel.judges
import nel.scoring.result
from nel.authoring.benchmark import Benchmark
from nel.config.process_environment import variables_passed_on
from nel.engine.scorers.dependencies import (
    DataFiles,
    Dependencies,
    data_files,
    digest_of_data,
    read_dependencies,
)
from nel.engine.scorers.source_digest import combine, definitions_digest, read_source
from nel.judges.types import Case
from nel.prompts import is_template_file
from nel.reading.table import kind_of_module, rule_versions

_PACKAGE: Final = __name__.partition(".")[0]
_DECIDING: Final = (".py", ".toml", ".js", ".cpp", ".sh", ".go", ".rs", ".java")
_SCORING_ROOMS: Final = frozenset({"benchmarks", "byob", "core", "reading", "scorers", "scoring"})
"""Packages and modules of nel into which a scorer's imports are followed. The engine, the client
and the configuration cannot change a verdict; judges have a digest of their own."""
_AUTHORING: Final = frozenset(
    {"nel.authoring.decorators", "nel.authoring.benchmark", "nel.authoring.card"}
)
"""Modules that define benchmarks and no verdict; a run's identity has prompts and rows."""
_READING: Final = "reading"
"""The room whose modules count by the version that it declares, see `nel.reading.forms`."""
_JUDGING_ROOMS: Final = frozenset({"core", "judges", "reading"})
_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
"""Folders shared by many projects; of a plugin that is one file there, only that file counts."""
_THINKING: Final = Path(nel.core.thinking.__file__)
_BEFORE_SCORING: Final = (_THINKING, Path(nel.engine.scorers.tool_calls.__file__))
"""Decide what of a recorded answer its scorer sees."""
_PROTOCOL: Final = Path(nel.scoring.result.__file__)
"""Decides what a scorer's return value means."""
_NEL: Final = _THINKING.parents[1]
_SANDBOX: Final = _NEL / "sandbox"
_PARTS_MAX: Final = 256
"""Functions that are looked at in a composed scorer."""
_STATISTICS: Final = "stats"
"""The folder of `nel.judges` that only computes over finished verdicts."""


def scorer_digest(benchmark: Benchmark) -> str:
    """Return a digest of a scorer's files, options, nel's rules, its sandbox and ``extra``."""
    named = (
        f"{_name_and_options(benchmark)}"
        f" {dict(benchmark.extra)!r}{' whole' if benchmark.scores_conversation else ''}"
    )
    files = _scorer_files(benchmark)
    reading = reading_versions(benchmark)
    files -= {path for path in files if _is_reading(path)}
    data = {path for source in files for path in _data_of(source).files} - _dataset_files(benchmark)
    parts = [
        _digest_of(path) for path in (*files, *(data - files), *_sandbox_files(benchmark.languages))
    ]
    return hashlib.sha256(f"{named} {reading} {combine(parts)}".encode()).hexdigest()


def code_digest(functions: Iterable[Any]) -> str:
    """Return a digest of functions or classes, of what they use of their own files, and of the
    files that those import.

    A scorer in the same file is not part of it unless they use it.
    """
    names: dict[Path, set[str]] = {}
    for function in functions:
        source = inspect.unwrap(_bare(function))
        for path in _file_of(str(getattr(source, "__module__", ""))):
            names.setdefault(path, set()).add(source.__qualname__.partition(".")[0])
    own = [definitions_digest(path, used) for path, used in names.items()]
    others = _closure(sorted(names), _SCORING_ROOMS) - names.keys()
    return combine([*own, *map(_digest_of, others)])


def reading_versions(benchmark: Benchmark) -> dict[str, int]:
    """Return the versions of a scorer's reading rules; empty where it reads no answers."""
    modules = {
        _module_in_package(path)[2] for path in _scorer_files(benchmark) if _is_reading(path)
    }
    return {kind: rule_versions()[kind] for kind in sorted(map(kind_of_module, modules))}


def _is_reading(path: Path) -> bool:
    return _module_in_package(path)[1:2] == (_READING,) and path.stem != "__init__"


def _module_in_package(path: Path) -> tuple[str, ...]:
    """Return the dotted name of a file of nel as words; an empty tuple for other files."""
    top, root = _project_of(path)
    return path.relative_to(root).with_suffix("").parts if top == _PACKAGE else ()


def unseen_dependencies(benchmark: Benchmark) -> tuple[str, ...]:
    """Return what a scorer may depend on beside its digest, with files; empty as a rule."""
    files = sorted(_scorer_files(benchmark))
    return tuple(
        f"{path.name} {reason}"
        for path in files
        for reason in (*_data_of(path).unseen, *_unfound(path))
    )


def withheld_variables(benchmark: Benchmark, tools: Iterable[Any]) -> list[str]:
    """Return the environment variables that are set here and are kept from a benchmark's scorer and
    tools, though their files read them by name.

    Args:
        benchmark: Its scorer is looked at, and what it declares.
        tools: The functions of its tools, and what makes its environment.
    """
    modules = {str(getattr(inspect.unwrap(_bare(tool)), "__module__", "")) for tool in tools}
    of_tools = _closure((path for name in modules for path in _file_of(name)), _SCORING_ROOMS)
    files = _scorer_files(benchmark) | of_tools
    names = {name for path in files for name in _dependencies_of(path).variables}
    return sorted((names & os.environ.keys()) - variables_passed_on(*benchmark.env).keys())


def _scorer_files(benchmark: Benchmark) -> set[Path]:
    """Return the source files of a scorer, of all that it is made of, and of the rules of nel."""
    scorer = _bare(benchmark.scorer)
    members = _parts_of(benchmark.scorer)
    modules = {
        str(getattr(member, "__module__", None) or type(member).__module__) for member in members
    }
    # Python's own modules are not followed: that of every `partial` is functools.
    written = {name for name in modules if name.partition(".")[0] not in sys.stdlib_module_names}
    own = {path for name in written for path in _file_of(name)}
    starts = [*_BEFORE_SCORING, _PROTOCOL, *_file_of(inspect.unwrap(scorer).__module__)]
    return _closure(
        [*starts, *(path for path in sorted(own) if _may_follow(path, _SCORING_ROOMS))],
        _SCORING_ROOMS,
    )


def _parts_of(scorer: Any) -> list[Any]:
    """Return a scorer and its functions: members, options, and what its closures hold."""
    members: list[Any] = []
    waiting = [scorer]
    while waiting and len(members) < _PARTS_MAX:
        member = waiting.pop()
        if not callable(member) or any(member is known for known in members):
            continue
        members.append(member)
        bare = _bare(member)
        source = inspect.unwrap(bare)
        waiting += [
            bare,
            source,
            getattr(bare, "inner", None),
            *_held_in(getattr(bare, "members", None)),
        ]
        if isinstance(member, partial):
            waiting += [*member.args, *member.keywords.values()]
        waiting += _held_in(getattr(bare, "params", None))
        for cell in getattr(source, "__closure__", None) or ():
            with suppress(ValueError):  # a cell that is still empty
                waiting += _held_in(cell.cell_contents)
    return members


def _held_in(value: object) -> list[Any]:
    """Return what a plain collection of a plugin holds, or the value itself."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _dataset_files(benchmark: Benchmark) -> set[Path]:
    """Return the files of a benchmark's own datasets, whose rows are compared one by one."""
    sources = (benchmark.dataset, benchmark.fewshot.dataset)
    named = [source for source in sources if isinstance(source, str) and "://" not in source]
    return {(benchmark.base_dir or Path()) / source for source in named} | {
        Path(source).absolute() for source in named
    }


def judge_digest(template: str | None) -> str:
    """Return a digest of nel's judging rules and a custom template's file or plugin modules.

    Args:
        template: As the run configures it; None where the scorer chooses one.
    """
    folder = Path(nel.judges.__path__[0])
    starts = [path for path in sorted(folder.rglob("*.py")) if _STATISTICS not in path.parts]
    parts = []
    if template is not None:
        from nel.judges.registry import (  # noqa: PLC0415 - a run without a judge reads no reply
            judge_for,
        )

        judge = judge_for(Case(template=template))
        starts += _file_of(inspect.unwrap(_bare(judge.ask)).__module__)
        if is_template_file(template):
            parts.append(hashlib.sha256(Path(template).read_bytes()).hexdigest())
    files = _closure(starts, _JUDGING_ROOMS)
    data = {path for source in files for path in _data_of(source).files}
    data |= set(folder.rglob("*.toml"))
    parts += [_digest_of(path) for path in (*files, *(data - files))]
    return combine(parts)


def _digest_of(path: Path) -> str:
    return read_source(path).digest if path.suffix == ".py" else digest_of_data(path)


def _sandbox_files(languages: Sequence[str]) -> list[Path]:
    """Return the files that determine a program's verdict; none where no program is run."""
    if not languages:
        return []
    from nel.sandbox.isolation.languages import (  # noqa: PLC0415 - few scorers run programs
        find_language,
    )

    folders = [_SANDBOX, *(find_language(name).folder for name in sorted(languages))]
    return [
        path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in _DECIDING
    ]


def scorer_name(benchmark: Benchmark) -> str:
    """Return ``module:name`` of a benchmark's scorer, followed by its options if it has any."""
    return f"{inspect.unwrap(_bare(benchmark.scorer)).__module__}:{_name_and_options(benchmark)}"


def _name_and_options(benchmark: Benchmark) -> str:
    bare = _bare(benchmark.scorer)
    source = inspect.unwrap(bare)
    name = getattr(bare, "name", None) or getattr(source, "__qualname__", type(source).__qualname__)
    options = (
        benchmark.scorer.keywords
        if isinstance(benchmark.scorer, partial)
        else getattr(bare, "params", {})
    )
    text = ", ".join(f"{key}={_stable_repr(value)}" for key, value in sorted(options.items()))
    return f"{name}({text})" if text else str(name)


def _stable_repr(value: object) -> str:
    """Return an option as text equal in every process: a function by name, not address."""
    if callable(value):
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return repr(value)


def _bare(scorer: Any) -> Any:
    return scorer.func if isinstance(scorer, partial) else scorer


def _file_of(module_name: str) -> list[Path]:
    """Return the file of a loaded module, if it has one."""
    source = getattr(sys.modules.get(module_name), "__file__", None)
    return [Path(source)] if isinstance(source, str) and Path(source).is_file() else []


def _closure(starts: Iterable[Path], rooms: frozenset[str]) -> set[Path]:
    """Return the files and all that they import of their own project, directly or not.

    Args:
        starts: Python files.
        rooms: Packages and modules of nel that may be entered; other projects are followed as a
            whole.
    """
    closure: set[Path] = set()
    waiting = list(starts)
    while waiting:
        path = waiting.pop()
        if path not in closure:
            closure.add(path)
            waiting += [file for file in _imported_files(path) if _may_follow(file, rooms)]
    return closure


def _may_follow(path: Path, rooms: frozenset[str]) -> bool:
    top, root = _project_of(path)
    return top != _PACKAGE or path.relative_to(root).with_suffix("").parts[1] in rooms


def _imported_files(path: Path) -> Iterable[Path]:
    """Return the files, of its project and others not installed, that a file imports anywhere."""
    imports = read_source(path).imports
    if _project_of(path)[0] == _PACKAGE:
        return _imported_from_nel(imports)
    names = (*imports, *_dependencies_of(path).imports)
    sources = [file for file in _data_of(path).files if file.suffix == ".py"]
    modules = [file for name in names for file in _module_files(path, name)]
    return [*modules, *_imported_from_nel(names), *sources]


def _dependencies_of(path: Path) -> Dependencies:
    """Return what a file depends on beside imports; nothing for files of nel's own."""
    is_own = _project_of(path)[0] == _PACKAGE or path.suffix != ".py"
    return Dependencies() if is_own else read_dependencies(path)


def _data_of(path: Path) -> DataFiles:
    return data_files(_dependencies_of(path), path)


def _unfound(path: Path) -> list[str]:
    """Return a file's imports that cannot be found, if it changes the search path."""
    if not _dependencies_of(path).changes_search_path:
        return []
    names = {name for name in read_source(path).imports if not name.startswith(".")}
    tops = sorted({name.partition(".")[0] for name in names} - {_PACKAGE} - sys.stdlib_module_names)
    return [
        f"imports {top}" for top in tops if _spec_of(top) is None and not _folders_with(path, top)
    ]


def _module_files(path: Path, name: str) -> Iterator[Path]:
    """Yield the files of a module, outside nel, that a file imports by a name."""
    top, root = _project_of(path)
    words = [word for word in name.split(".") if word]
    dots = len(name) - len(name.lstrip("."))
    if dots or words[0] == top:
        yield from _files_named(path.parents[dots - 1] if dots else root, words)
    elif words[0] != _PACKAGE and words[0] not in sys.stdlib_module_names:
        for folder in _folders_with(path, words[0]):
            for end in range(1, len(words) + 1):
                yield from _files_named(folder, words[:end])


def _files_named(folder: Path, words: Sequence[str]) -> list[Path]:
    base = folder.joinpath(*words)
    files = (base.with_suffix(".py"), base / "__init__.py")
    return [file for file in files if words and file.is_file()]


def _folders_with(path: Path, top: str) -> list[Path]:
    """Return the folders with a module that is not installed: beside the file that imports it,
    where Python finds it, or near by, for a file that changes where Python looks.
    """
    is_alone = _project_of(path)[0] is None and path.parent.name not in _INSTALLED
    if is_alone and _files_named(path.parent, [top]):
        return [path.parent]
    spec = _spec_of(top)
    if spec is not None:
        locations = [*(spec.submodule_search_locations or ()), *filter(None, [spec.origin])]
        root = Path(locations[0]).parent if locations and spec.loader else None
        return [] if root is None or _INSTALLED & set(root.parts) else [root]
    near = [path.parent.parent]
    with suppress(OSError):  # a folder that may not be listed
        near += sorted(folder for folder in path.parent.iterdir() if folder.is_dir())
    return [folder for folder in near if _files_named(folder, [top])]


def _spec_of(top: str) -> ModuleSpec | None:
    try:
        return find_spec(top)
    except (ImportError, ValueError, AttributeError):  # not importable, or loaded by hand
        return None


@lru_cache(maxsize=4096)
def _imported_from_nel(imports: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the modules of nel that define what is imported; none comes or goes in a run.

    Of ``from nel import numeric_match`` that is the module that defines the function, not all that
    nel exports.
    """
    names = {name for name in imports if name.partition(".")[0] == _PACKAGE}
    parents = {name.rpartition(".")[0] for name in names if not name.endswith(".*")}
    wanted = (name.removesuffix(".*") for name in names if name not in parents)
    return tuple(sorted({path for name in wanted for path in _defining(name)}))


@lru_cache(maxsize=4096)
def _defining(name: str) -> tuple[Path, ...]:
    """Return the files of nel that define a module or what a module exports under a name."""
    if name in _AUTHORING or name.rpartition(".")[0] in _AUTHORING:
        return ()
    own = _module_file(name)
    if own is not None:
        return (own,)
    module, _, attribute = name.rpartition(".")
    file = _module_file(module)
    if file is None:
        return ()
    origins = [
        origin
        for origin in read_source(file).imports
        if origin.endswith(f".{attribute}") and origin != name
    ]
    return tuple(path for origin in origins for path in _defining(origin)) if origins else (file,)


def _module_file(name: str) -> Path | None:
    """Return the file of a module of nel, or None where there is none."""
    return next(iter(_files_named(_NEL.parent, name.split("."))), None)


@lru_cache(maxsize=4096)
def _project_of(path: Path) -> tuple[str | None, Path]:
    """Return the name of a file's outermost package, None for a file that lies in none, and the
    folder it lies in.
    """
    root, top = path.parent, None
    while (root / "__init__.py").is_file():
        root, top = root.parent, root.name
    return top, root
