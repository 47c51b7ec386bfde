"""Digests all that can change a scorer's verdict, so that an edit rescores stored answers.

That is the logic of its file and of what this imports from its own folder or distribution, the
versions of other distributions, the data that it declares, the rules of nel (`nel.scoring`,
`nel.judges`) and the sandbox. Comments, docstrings and the names of modules are not digested: see
`nel.engine.scorers.source_digest`.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import nel.core.thinking
import nel.engine.scorers.tool_calls
import nel.judges
import nel.scoring.result
from nel.authoring.benchmark import Benchmark
from nel.config.process_environment import variables_passed_on
from nel.core.file_modules import module_shown
from nel.engine.scorers.source_digest import combine, read_definitions, read_source
from nel.engine.scorers.sources import NEL, Sources, file_of, follow, room_of, words_in_nel
from nel.errors import ConfigError
from nel.judges.types import Case
from nel.prompts import is_template_file
from nel.reading.table import kind_of_module, rule_versions
from nel.scoring.declarations import data_files_of

_DECIDING: Final = (".py", ".toml", ".js", ".cpp", ".sh", ".go", ".rs", ".java")
_SCORING_ROOMS: Final = frozenset({"benchmarks", "byob", "core", "reading", "scorers", "scoring"})
"""Packages and modules of nel into which a scorer's imports are followed. The engine, the client
and the configuration cannot change a verdict; judges have a digest of their own."""
_READING: Final = "reading"
"""The room whose modules count by the version that it declares, see `nel.reading.forms`."""
_JUDGING_ROOMS: Final = frozenset({"core", "judges", "reading"})
_BEFORE_SCORING: Final = (nel.core.thinking, nel.engine.scorers.tool_calls, nel.scoring.result)
"""Decide what of a recorded answer its scorer sees, and what its return value means."""
_MEMBERS_MAX: Final = 256
"""Functions that are looked at in a composed scorer."""
_STATISTICS: Final = "stats"
"""The folder of `nel.judges` that only computes over finished verdicts."""


def scorer_digest(benchmark: Benchmark) -> str:
    """Return a digest of a scorer's files, data, options, nel's rules, its sandbox and ``extra``.

    Raises:
        ConfigError: Data that it declares does not exist.
    """
    whole = " whole" if benchmark.scores_conversation else ""
    identity = f"{_name_and_options(benchmark)} {dict(benchmark.extra)!r}{whole}"
    sources = _scorer_sources(benchmark)
    data = [
        digest
        for member in _members_of(benchmark.scorer)
        for digest in _data_digests(member, data_files_of(member))
    ]
    digest = sources.digest(
        without=filter(_is_reading, sources.files),
        more=[*data, *_sandbox_digests(benchmark.languages)],
    )
    return hashlib.sha256(f"{identity} {reading_versions(benchmark)} {digest}".encode()).hexdigest()


def code_digest(functions: Iterable[Any]) -> str:
    """Return a digest of functions or classes, of what they use of their own files, and of what
    those import.

    A scorer in the same file is not part of it unless they use it.
    """
    names = _names_by_file(functions)
    digests = [read_definitions(path, used).digest for path, used in names.items()]
    return follow(names, _SCORING_ROOMS).digest(without=names, more=digests)


def _names_by_file(functions: Iterable[Any]) -> dict[Path, set[str]]:
    """Return the top-level names under which functions and classes are defined, by file."""
    names: dict[Path, set[str]] = {}
    for function in functions:
        source = inspect.unwrap(_bare(function))
        name = str(getattr(source, "__qualname__", type(source).__qualname__))
        for path in file_of(str(getattr(source, "__module__", ""))):
            names.setdefault(path, set()).add(name.partition(".")[0])
    return names


def reading_versions(benchmark: Benchmark) -> dict[str, int]:
    """Return the versions of a scorer's reading rules; empty where it reads no answers."""
    files = filter(_is_reading, _scorer_sources(benchmark).files)
    kinds = {kind_of_module(words_in_nel(path)[2]) for path in files}
    return {kind: rule_versions()[kind] for kind in sorted(kinds)}


def _is_reading(path: Path) -> bool:
    return room_of(path) == _READING and path.stem != "__init__"


def unseen_dependencies(benchmark: Benchmark) -> tuple[str, ...]:
    """Return what a scorer reads beside its digest, by file and line: ``bench.py line 12: open()``.

    Empty where it declares data: that is taken to be all that it reads.
    """
    members = _members_of(benchmark.scorer)
    if any(map(data_files_of, members)):
        return ()
    names = _names_by_file(members)
    files = filter(_is_foreign, sorted(_scorer_sources(benchmark).files))
    calls: list[str] = []
    for path in files:
        # Beside the scorer there may be a function that reads the dataset.
        source = read_definitions(path, names[path]) if path in names else read_source(path)
        calls += [f"{path.name} {call}" for call in source.reads]
    return tuple(calls)


def _is_foreign(path: Path) -> bool:
    return room_of(path) is None


def withheld_variables(benchmark: Benchmark, tools: Iterable[Any]) -> list[str]:
    """Return the environment variables that are set here and are kept from a benchmark's scorer and
    tools, though their files read them by name.

    Args:
        benchmark: Its scorer is looked at, and what it declares.
        tools: The functions of its tools, and what makes its environment.
    """
    modules = {str(getattr(inspect.unwrap(_bare(tool)), "__module__", "")) for tool in tools}
    of_tools = follow((path for name in modules for path in file_of(name)), _SCORING_ROOMS).files
    files = {path for path in _scorer_sources(benchmark).files | of_tools if room_of(path) is None}
    names = {name for path in files for name in read_source(path).variables}
    return sorted((names & os.environ.keys()) - variables_passed_on(*benchmark.env).keys())


def _scorer_sources(benchmark: Benchmark) -> Sources:
    """Return what a scorer, all that it is made of, and the rules of nel come from."""
    names = {
        str(getattr(member, "__module__", None) or type(member).__module__)
        for member in _members_of(benchmark.scorer)
    }
    # Python's own modules are not followed: that of every `partial` is functools.
    names = {name for name in names if name.partition(".")[0] not in sys.stdlib_module_names}
    files = (path for name in sorted(names) for path in file_of(name))
    starts = [path for path in files if room_of(path) in (None, *_SCORING_ROOMS)]
    rules = (Path(str(module.__file__)) for module in _BEFORE_SCORING)
    main = file_of(inspect.unwrap(_bare(benchmark.scorer)).__module__)
    return follow([*rules, *main, *starts], _SCORING_ROOMS)


def _members_of(scorer: Any) -> list[Any]:
    """Return a scorer and its functions: members, options, and what its closures hold."""
    members: list[Any] = []
    waiting = [scorer]
    while waiting and len(members) < _MEMBERS_MAX:
        member = waiting.pop()
        if not callable(member) or any(member is other for other in members):
            continue
        members.append(member)
        bare = _bare(member)
        source = inspect.unwrap(bare)
        waiting += [bare, source, getattr(bare, "inner", None)]
        if isinstance(member, partial):
            waiting += [*member.args, *member.keywords.values()]
        for held in (getattr(bare, "members", None), getattr(bare, "params", None)):
            waiting += _held_in(held)
        for cell in getattr(source, "__closure__", None) or ():
            with suppress(ValueError):  # a cell that is still empty
                waiting += _held_in(cell.cell_contents)
    return members


def _held_in(value: object) -> list[Any]:
    """Return what a plain collection of a plugin holds, or the value itself."""
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _data_digests(function: Any, names: Iterable[str | Path]) -> Iterator[str]:
    """Yield digests of the files and folders that are declared beside a function or class."""
    module = file_of(str(getattr(inspect.unwrap(function), "__module__", "")))
    for name in names:
        path = (module[0].parent if module else Path()) / name
        if not path.exists():
            raise ConfigError(
                f"{_name_of(function)} declares the data {name}, and there is no {path}"
            )
        yield digest_of_data(path)


def digest_of_data(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, or of all files in a folder with their names in it.

    Raises:
        OSError: One cannot be read.
    """
    if path.is_dir():
        files = (file for file in path.rglob("*") if file.is_file())
        digests = {str(file.relative_to(path)): digest_of_data(file) for file in files}
        return combine(f"{name} {digest}" for name, digest in digests.items())
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def judge_digest(template: str | None) -> str:
    """Return a digest of nel's judging rules and a custom template's file or plugin modules.

    Args:
        template: As the run configures it; None where the scorer chooses one.
    """
    folder = Path(nel.judges.__path__[0])
    starts = [path for path in sorted(folder.rglob("*.py")) if _STATISTICS not in path.parts]
    data = list(map(digest_of_data, folder.rglob("*.toml")))
    if template is not None:
        from nel.judges.registry import (  # noqa: PLC0415 - a run without a judge reads no reply
            judge_for,
        )

        judge = judge_for(Case(template=template))
        starts += file_of(inspect.unwrap(_bare(judge.ask)).__module__)
        data += _data_digests(_bare(judge.ask), judge.data)
        if is_template_file(template):
            data.append(digest_of_data(Path(template)))
    return follow(starts, _JUDGING_ROOMS).digest(more=data)


def _sandbox_digests(languages: Sequence[str]) -> Iterator[str]:
    """Yield digests of the files that determine a program's verdict, where one is run."""
    if not languages:
        return
    from nel.sandbox.isolation.languages import (  # noqa: PLC0415 - few scorers run programs
        find_language,
    )

    folders = [NEL / "sandbox", *(find_language(name).folder for name in sorted(languages))]
    for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
        if path.suffix in _DECIDING:
            yield read_source(path).digest if path.suffix == ".py" else digest_of_data(path)


def scorer_name(benchmark: Benchmark) -> str:
    """Return ``module:name`` of a benchmark's scorer, followed by its options if it has any."""
    module = module_shown(inspect.unwrap(_bare(benchmark.scorer)))
    return f"{module}:{_name_and_options(benchmark)}"


def _name_and_options(benchmark: Benchmark) -> str:
    bare = _bare(benchmark.scorer)
    options = (
        benchmark.scorer.keywords
        if isinstance(benchmark.scorer, partial)
        else getattr(bare, "params", {})
    )
    text = ", ".join(f"{key}={_stable_repr(value)}" for key, value in sorted(options.items()))
    return f"{_name_of(bare)}({text})" if text else _name_of(bare)


def _name_of(scorer: Any) -> str:
    source = inspect.unwrap(scorer)
    name = getattr(scorer, "name", None)
    return str(name or getattr(source, "__qualname__", type(source).__qualname__))


def _stable_repr(value: object) -> str:
    """Return an option as text equal in every process: a function by name, not address."""
    if callable(value):
        return str(getattr(value, "__qualname__", type(value).__qualname__))
    return repr(value)


def _bare(scorer: Any) -> Any:
    return scorer.func if isinstance(scorer, partial) else scorer
