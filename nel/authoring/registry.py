"""Finds the benchmark a user names: an installed plugin, or a Python file that needs no installing.

A file is executed to be read. It runs with the user's rights, as any benchmark does.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import quote

from nel import plugins
from nel.authoring.benchmark import Benchmark
from nel.authoring.benchmark_group import BenchmarkGroup
from nel.authoring.lent_names import (
    DEFINED,
    check_later_imports,
    folders_of,
    is_installed,
    lend_names,
    roots,
    standing_in,
)
from nel.authoring.registered import REGISTERED, describes_benchmark, source_of
from nel.config.yaml_file import read_yaml
from nel.core.file_modules import FILES
from nel.core.paths import as_argument
from nel.datasets.files import folder_at
from nel.datasets.formats import SUFFIXES
from nel.errors import NelError, PluginError, did_you_mean

YAML_SUFFIXES: Final = (".yaml", ".yml")
DATA_SUFFIXES: Final = (*SUFFIXES, *(f"{suffix}.gz" for suffix in SUFFIXES))


TASK_FILES: Final = ("task.toml", "task.yaml")
_OBJECT: Final = "object:"
_SUITE: Final = "suite:"
_SUITE_KEY: Final = re.compile(r"[\"']?suite[\"']?\s*:")
"""A key that no benchmark has."""
_OBJECTS: Final[dict[str, Benchmark]] = {}
"""Benchmarks that this process was handed as objects, by name."""
_OPENED: Final[dict[str, Benchmark]] = {}
"""What bridges returned while groups were looked for, until it is asked for: a bridge is called once."""


def hold_object(benchmark: Benchmark) -> str:
    """Return the name by which `find_benchmark` finds a benchmark object in this process."""
    _OBJECTS[benchmark.name] = benchmark
    return f"{_OBJECT}{benchmark.name}"


def rows_problem(name: str) -> str:
    """Return what to do with rows, a file or folder, given as a benchmark or configuration."""
    return (
        f"{name} holds rows and no benchmark; nel byob new {as_argument(name)} writes a benchmark"
        f" for them, or give a benchmark these rows with --bench NAME --dataset {as_argument(name)}"
    )


def find_benchmark(name: str) -> Benchmark:
    """Return the benchmark of this name, or the one that a path (``./my_bench.py[:name]``, a YAML
    file) or URI names.

    ``package:name`` and ``package:scheme://…`` pick the plugin of one package.
    A URI ``scheme://…`` belongs to the plugin of that name in the group ``nel.bridges``: a function
    of the URI, which returns the benchmark.

    Raises:
        PluginError: There is none, it cannot be imported, or it is not a benchmark.
        NelError: What a bridge raises.
    """
    if name.startswith(_OBJECT):
        return _object(name)
    is_yaml = name.lower().endswith(YAML_SUFFIXES)
    if name.startswith(_SUITE) or (is_yaml and _is_suite(Path(name).expanduser())):
        raise PluginError(
            f"{name} is a suite of several benchmarks; run it with --bench {name}, or write its"
            " members as a sub-score of the other suite"
        )
    # Addresses before files: `lm-eval://task.yaml` is not a file.
    parts = plugins.split_uri(name)
    if parts is not None:
        return _OPENED.pop(name, None) or _from_bridge(*parts)
    if is_yaml:
        return _from_yaml(Path(name))
    path, name_in_file = split_file(name)
    if path is not None:
        return _from_file(path, name_in_file)
    folder = folder_at(name, None)
    if folder is not None and _holds_tasks(folder):
        return _from_bridge("tasks", f"tasks://{quote(str(folder))}")
    if name.lower().endswith(DATA_SUFFIXES) or folder is not None:
        raise PluginError(rows_problem(name))
    if name in REGISTERED and not any(ref.name == name for ref in plugins.discover("benchmarks")):
        return as_benchmark(REGISTERED[name])  # type: ignore[no-any-return]  # of a class that says so
    benchmark = as_benchmark(plugins.load("benchmarks", name))
    if not isinstance(benchmark, Benchmark):
        provider = plugins.find("benchmarks", name).provider
        raise PluginError(
            f'the benchmark "{name}" of {provider} is a {type(benchmark).__name__}, not a Benchmark'
        )
    return benchmark


def is_local(name: str) -> bool:
    """Return whether a benchmark's name is that of a file or a folder of tasks."""
    if name.startswith((_OBJECT, _SUITE)) or plugins.split_uri(name) is not None:
        return False
    if name.lower().endswith(YAML_SUFFIXES) or split_file(name)[0] is not None:
        return True
    folder = folder_at(name, None)
    return folder is not None and _holds_tasks(folder)


def _holds_tasks(folder: Path) -> bool:
    """Return whether a folder is a task of an agent, or holds some."""
    # In the folder itself, or one level below it.
    patterns = [f"{parent}{name}" for parent in ("", "*/") for name in TASK_FILES]
    return any(next(folder.glob(pattern), None) for pattern in patterns)


def _object(name: str) -> Benchmark:
    bare = name.removeprefix(_OBJECT)
    if bare not in _OBJECTS:
        raise PluginError(
            f'the benchmark "{bare}" was an object of a Python program; go on there, with'
            " nel.evaluate(..., resume=True), or put it into a file and give its path"
        )
    return _OBJECTS[bare]


def as_benchmark(value: Any) -> Any:
    """Return the benchmark that a registered class describes, any other value as it is.

    Raises:
        ConfigError: The class cannot be used as it is registered.
    """
    return value.described_benchmark() if describes_benchmark(value) else value


def _from_yaml(path: Path) -> Benchmark:
    from nel.authoring.yaml_benchmark import read_benchmark  # noqa: PLC0415

    return read_benchmark(path)


def benchmarks_in_file(path: Path) -> dict[str, Benchmark]:
    """Return every benchmark a Python or YAML file defines, by name.

    Raises:
        PluginError: The file is missing, fails to run or defines no benchmark.
    """
    if path.name.lower().endswith(YAML_SUFFIXES):
        benchmark = _from_yaml(path)
        return {benchmark.name: benchmark}
    defined: list[object] = []
    token = DEFINED.set(defined)
    try:
        module = _execute(path)
    finally:
        DEFINED.reset(token)
    values = [*defined, *(_of_file(value, module, path) for value in vars(module).values())]
    benchmarks = {value.name: value for value in values if isinstance(value, Benchmark)}
    # Where a tool is installed nel lends no names, and the file has made benchmarks of the tool.
    tool = next((root for root in roots() if root in sys.modules and is_installed(root)), None)
    if not benchmarks and tool is not None:
        raise PluginError(
            f"{path} defines no benchmark of nel: {tool} is installed; import from nel.byob instead"
        )
    if not benchmarks:
        raise PluginError(
            f"{path} defines no benchmark; put @benchmark(name=..., dataset=..., prompt=...) around"
            " a @scorer function"
        )
    return benchmarks


def _of_file(value: object, module: ModuleType, path: Path) -> object:
    if not describes_benchmark(value):
        return value
    if getattr(value, "__module__", None) != module.__name__:
        return None  # imported, not defined here
    try:
        return as_benchmark(value)
    except NelError as error:
        raise PluginError(f"{path}: {error}") from error
    except Exception as error:
        raise PluginError(f"{path}: {type(error).__name__}: {error}") from error


def find_members(name: str) -> BenchmarkGroup | None:
    """Return the group that an address, a suite's name or a YAML file names; None for what is one
    benchmark.

    Raises:
        NelError: As `find_benchmark` says.
    """
    bare = name.removeprefix(_SUITE)
    if bare.lower().endswith(YAML_SUFFIXES):
        path = Path(bare).expanduser()
        return _suite(read_yaml(path), bare) if bare != name or _is_suite(path) else None
    if bare != name:
        return _suite(plugins.load("suites", bare), name)
    parts = plugins.split_uri(name)
    value = None if parts is None else _ask_bridge(*parts)
    if isinstance(value, Benchmark):
        _OPENED[name] = value
    return value if isinstance(value, BenchmarkGroup) else None


def _suite(document: object, where: str) -> BenchmarkGroup:
    from nel.authoring.suites import group_of  # noqa: PLC0415 - few runs have one

    return group_of(document, where)


def _is_suite(path: Path) -> bool:
    """Return whether a YAML file describes a suite, and not a benchmark."""
    try:
        return any(map(_SUITE_KEY.match, path.read_text(encoding="utf-8").splitlines()))
    except (OSError, ValueError):
        return False  # what reads it as a benchmark says what is wrong with it


def _from_bridge(name: str, uri: str) -> Benchmark:
    value = _ask_bridge(name, uri)
    if isinstance(value, BenchmarkGroup):
        raise PluginError(
            f"{uri} is a group of {len(value.members)} benchmarks; give one, such as"
            f" {value.members[0]}"
        )
    return value


def _ask_bridge(name: str, uri: str) -> Benchmark | BenchmarkGroup:
    """Return what the bridge ``scheme`` or ``package:scheme`` makes of a URI."""
    package, _, scheme = name.rpartition(":")
    installed = sorted({ref.name for ref in plugins.discover("bridges")})
    if scheme not in installed and not package:
        if any(ref.name == scheme for ref in plugins.discover("datasets")):
            raise PluginError(rows_problem(uri))
        hint = did_you_mean(scheme, installed) or "; install the plugin that provides it"
        raise PluginError(f'{uri}: no bridge for "{scheme}://" is installed{hint}')
    ref = plugins.find("bridges", name)
    bridge = plugins.load_ref(ref)
    try:
        value = as_benchmark(bridge(uri))
    except NelError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        raise PluginError(
            f'{uri}: the bridge "{scheme}" of {ref.provider} failed: {what}'
        ) from error
    if not isinstance(value, Benchmark | BenchmarkGroup):
        raise PluginError(
            f'{uri}: the bridge "{scheme}" of {ref.provider} returned a {type(value).__name__}'
        )
    return value


def is_new_file(name: str) -> bool:
    """Return whether a name is that of a YAML file which is still to be written.

    Raises:
        PluginError: It names a Python file that is not there, or a YAML file whose name is not a
            benchmark's.
    """
    path, _ = split_file(name)
    if path is not None and not path.exists() and plugins.split_uri(name) is None:
        raise PluginError(
            f"there is no file {path}; nel byob new writes a benchmark in Python, nel init one in"
            " YAML"
        )
    if not name.lower().endswith(YAML_SUFFIXES) or Path(name).expanduser().exists():
        return False
    if not re.search(r"[a-z0-9]", Path(name).stem.lower()):
        raise PluginError(
            f'"{name}" is not a name for a benchmark; use a-z, 0-9, - and _, as in questions.yaml'
        )
    return True


def split_file(name: str) -> tuple[Path | None, str | None]:
    """Return path and name of ``path.py[:name]``; None where it is not a Python file."""
    head, separator, tail = name.rpartition(":")
    if separator and head.endswith(".py"):
        return Path(head), tail
    return (Path(name), None) if name.endswith(".py") else (None, None)


def _from_file(path: Path, name: str | None) -> Benchmark:
    imported = _imported_adapter(path, name)
    if imported is not None:
        return imported
    benchmarks = benchmarks_in_file(path)
    if name is None and len(benchmarks) == 1:
        return next(iter(benchmarks.values()))
    if name is None:
        raise PluginError(
            f"{path} defines {', '.join(sorted(benchmarks))}; choose one with {path}:NAME"
        )
    if name not in benchmarks:
        hint = did_you_mean(name, sorted(benchmarks), or_all="; it has ")
        raise PluginError(f'{path} defines no benchmark "{name}"{hint}')
    return benchmarks[name]


def _imported_adapter(path: Path, name: str | None) -> Benchmark | None:
    """Return an adapter already imported from the file, which need not be executed again."""
    adapter = REGISTERED.get(name or "")
    if (
        adapter is None
        or adapter.__module__.startswith(FILES)
        or source_of(adapter) != str(path.resolve())
    ):
        return None
    return as_benchmark(adapter)  # type: ignore[no-any-return]  # as above


class _FileModule(ModuleType):
    """A file that modules beside it are imported through; they do not replace its own names.

    A file may import a function ``prompt`` of its tool, and later texts of a ``prompt.py`` beside
    it, as CMMU's adapter does.
    """

    def __setattr__(self, name: str, value: object) -> None:
        # Python sets each imported submodule as an attribute of its package.
        if getattr(value, "__name__", None) != f"{self.__name__}.{name}":
            super().__setattr__(name, value)


def _execute(path: Path) -> ModuleType:
    file = path.expanduser().resolve()
    if not file.is_file():
        raise PluginError(f"there is no benchmark file {path}; give the path of a Python file")
    # By its path, since two files of different folders may have one name.
    name = f"{FILES}{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(
        name, file, submodule_search_locations=folders_of(file)
    )
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} cannot be loaded as a Python module")
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _FileModule
    sys.modules[name] = module
    source = file.read_bytes()
    if any(root.encode() in source for root in roots()):
        lend_names(module)
    try:
        with standing_in():
            spec.loader.exec_module(module)
        check_later_imports(source.decode("utf-8", "replace"), module)
    except KeyboardInterrupt:
        raise
    except NelError as error:
        raise PluginError(f"{path}: {error}") from error
    except BaseException as error:
        raise PluginError(f"{path} cannot be imported: {type(error).__name__}: {error}") from error
    return module
