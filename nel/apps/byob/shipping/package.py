"""What a benchmark file becomes as a package: names, version, dependencies, entry points, files.

All of it stays in memory. The same file, rows and nel give the same package, byte for byte: its
version ends in a digest of its content. Names of distributions fold ``_`` and ``-``, so two
benchmarks may ask for one package name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel.apps.byob.shipping.source import (
    SourceFile,
    companions,
    local_dataset,
    portable_text,
)
from nel.authoring.benchmark import Benchmark
from nel.authoring.requirements import parse_requirement
from nel.datasets.table_form import split_form
from nel.errors import PluginError
from nel.version import DISTRIBUTION, __version__

KEYWORD: Final = "nel-byob"
"""Marks compiled packages in their metadata."""
_PREFIX: Final = "nel-byob-"
_BASE_VERSION: Final = "0.1.0"
_PLUGIN: Final = "plugin"
_IMPORTING: Final = '''\
"""The benchmarks of {file}, as nel finds them; made by nel byob compile."""

from dataclasses import replace

from nel import Benchmark

from {package} import {module} as source

_BENCHMARKS = {{
    value.name: value for value in vars(source).values() if isinstance(value, Benchmark)
}}
'''
_LOADING: Final = '''\
"""The benchmarks of {file}, as nel finds them; made by nel byob compile."""

from dataclasses import replace
from pathlib import Path

from nel.authoring.registry import benchmarks_in_file

_BENCHMARKS = benchmarks_in_file(Path(__file__).with_name("{module}.py"))
'''
"""For a file that imports another tool's names, which are there only while nel loads it."""
_FILES_BYTES_MAX: Final = 256 * 1024 * 1024
"""Of all files of a package together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package that was not written yet."""

    distribution: str
    """What pip calls it, ``nel-byob-NAME``."""
    version: str
    summary: str
    dependencies: tuple[str, ...]
    entry_points: Mapping[str, str]
    """Benchmark to ``module:attribute``."""
    files: Mapping[str, bytes]
    """Of the import package, by path from the package's root."""
    source: str
    """Name of the benchmark file."""
    notes: tuple[str, ...]
    """What a user should know before shipping it."""

    @property
    def module(self) -> str:
        """Return what Python imports, ``nel_byob_NAME``."""
        return self.distribution.replace("-", "_")

    @property
    def metadata(self) -> str:
        """Return the METADATA of its wheel."""
        lines = ["Metadata-Version: 2.1", f"Name: {self.distribution}", f"Version: {self.version}"]
        lines += [f"Summary: {self.summary}", f"Keywords: {KEYWORD}", "Requires-Python: >=3.11"]
        lines += [f"Requires-Dist: {requirement}" for requirement in self.dependencies]
        return "\n".join([*lines, ""])

    @property
    def entry_points_text(self) -> str:
        """Return the entry_points.txt of its wheel."""
        lines = (f"{name} = {target}" for name, target in self.entry_points.items())
        return "\n".join(["[nel.benchmarks]", *lines, ""])


def package_of(source: SourceFile) -> Package:
    """Return the package that a benchmark file makes, named by its first benchmark.

    Raises:
        PluginError: A dataset is missing or too large, or the file names a path of this machine.
        ConfigError: A requirement is none.
    """
    benchmark = next(iter(source.benchmarks.values()))
    distribution = _PREFIX + re.sub(r"[-_]+", "-", benchmark.name).strip("-")
    summary = _line(benchmark.description)
    module = distribution.replace("-", "_")
    files, uris = _data_files(source, module)
    text = portable_text(
        source, {str(source.benchmarks[name].dataset): uri for name, uri in uris.items()}
    )
    attributes = {
        name: f"benchmark_{number}" for number, name in enumerate(source.benchmarks, start=1)
    }
    files |= {
        f"{module}/__init__.py": f'"""{summary}"""\n'.encode(),
        f"{module}/{source.module}.py": text.encode(),
        f"{module}/{_PLUGIN}.py": _plugin_text(source, module, attributes, uris).encode(),
    }
    nel_itself = f"{DISTRIBUTION}>={'.'.join(__version__.split('.')[:2])}"
    dependencies = (nel_itself, *_requirements(source.benchmarks.values()))
    content = (sorted(files.items()), dependencies, sorted(attributes))
    digest = hashlib.sha256(repr(content).encode()).hexdigest()
    notes = map(_note, source.benchmarks.values())
    return Package(
        distribution=distribution,
        version=f"{_BASE_VERSION}+c{digest[:12]}",
        summary=summary,
        dependencies=dependencies,
        entry_points={
            name: f"{module}.{_PLUGIN}:{attribute}" for name, attribute in attributes.items()
        },
        files=dict(sorted(files.items())),
        source=source.path.name,
        notes=tuple(filter(None, notes)),
    )


def project_files(package: Package) -> dict[str, bytes]:
    """Return the files beside the import package in its directory: pyproject.toml, README.md."""
    entries = "\n".join(
        f"{name} = {_quote(target)}" for name, target in package.entry_points.items()
    )
    pyproject = f"""\
[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = {_quote(package.distribution)}
version = {_quote(package.version)}
description = {_quote(package.summary)}
keywords = [{_quote(KEYWORD)}]
requires-python = ">=3.11"
dependencies = [{", ".join(map(_quote, package.dependencies))}]

[project.entry-points."nel.benchmarks"]
{entries}

[tool.hatch.build]
ignore-vcs = true

[tool.hatch.build.targets.wheel]
packages = [{_quote(package.module)}]
"""
    runs = "\n".join(f"    {run_command(name)}" for name in package.entry_points)
    readme = (
        f"# {package.distribution}\n\n{package.summary}.\n\nMade of {package.source} by `nel byob"
        " compile`; edit that file and compile it again, not this package.\n\nIt needs nel, which"
        " is on no package index; where it is not installed, CHECKOUT is its folder.\n\n    pip"
        f" install CHECKOUT .\n{runs}\n"
    )
    return {"pyproject.toml": pyproject.encode(), "README.md": readme.encode()}


def run_command(benchmark: str) -> str:
    """Return the command that runs an installed benchmark, with the endpoint left to fill in."""
    return (
        f"nel eval run --bench {benchmark} --model-url https://HOST/v1 --model-id NAME"
        " --api-key-env MY_KEY"
    )


def _data_files(source: SourceFile, module: str) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return the data files of the package, and the URI in it of each benchmark's local dataset.

    Raises:
        PluginError: They cannot be read, or are too large together.
    """
    names = {path: name for name, path in companions(source).items()}
    uris: dict[str, str] = {}
    for name, benchmark in source.benchmarks.items():
        path = local_dataset(benchmark)
        if path is None:
            continue
        if path not in names:
            file_name = _portable(path.name)
            if f"data/{file_name}" in names.values():  # files of one name in two folders
                file_name = f"{name}-{file_name}"
            names[path] = f"data/{file_name}"
        dataset = str(benchmark.dataset)
        form = dataset.removeprefix(split_form(dataset)[0])
        uris[name] = f"pkg://{module}/{names[path]}{form}"
    try:
        if sum(path.stat().st_size for path in names) > _FILES_BYTES_MAX:
            raise PluginError(
                f"the files that {source.path.name} names are larger than"
                f" {_FILES_BYTES_MAX // 1024**2} MiB together; put the rows on a hub and name them as"
                " hf://org/name?revision=COMMIT"
            )
        return {f"{module}/{name}": path.read_bytes() for path, name in names.items()}, uris
    except OSError as error:
        raise PluginError(
            f"{error.filename} cannot be packed: {error.strerror or error}"
        ) from error


def _portable(name: str) -> str:
    """Return a file name that every system and every URI can hold."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name)


def _plugin_text(
    source: SourceFile, module: str, attributes: Mapping[str, str], uris: Mapping[str, str]
) -> str:
    """Return the module that the entry points name, with an attribute for each benchmark."""
    text = _LOADING if source.is_foreign else _IMPORTING
    lines = [text.format(file=_line(source.path.name), package=module, module=source.module)]
    for name, attribute in attributes.items():
        value = f'_BENCHMARKS["{name}"]'
        if name in uris:
            value = f"replace({value}, dataset={uris[name]!r})"
        lines.append(f"{attribute} = {value}\n")
    return "".join(lines)


def _requirements(benchmarks: Iterable[Benchmark]) -> list[str]:
    texts = [
        str(parse_requirement(requirement))
        for benchmark in benchmarks
        for requirement in benchmark.requirements
    ]
    return list(dict.fromkeys(texts))


def _note(benchmark: Benchmark) -> str | None:
    """Return what a user should know of rows that are not in the package."""
    name, dataset = benchmark.name, benchmark.dataset
    if not isinstance(dataset, str):
        return f"{name}: its rows come from a function; see that it reads nothing of this machine"
    if dataset.startswith(("hf://", "ms://")) and "revision=" not in dataset:
        return f"{name}: {dataset} may change from run to run; pin it with revision=COMMIT"
    if dataset.startswith("pkg://"):
        owner = dataset.removeprefix("pkg://").partition("/")[0]
        return f"{name}: its rows come from the package {owner}; name it in requirements="
    if dataset.startswith("file://"):
        return f"{name}: {Path(dataset).name} is not packed; give its path without file://"
    return None


def _line(text: str) -> str:
    """Return a text on one line that can stand in any of the files."""
    text = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(text.replace('"', "'").replace("\\", "/").split())


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
