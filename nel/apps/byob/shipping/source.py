"""Reads a benchmark file as what a package is made of: its text, its benchmarks, and the files that
it names.

Runs the file to know its benchmarks, as a run does.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nel import plugins
from nel.authoring.benchmark import Benchmark
from nel.authoring.registry import YAML_SUFFIXES, benchmarks_in_file
from nel.core.paths import is_made_up
from nel.errors import PluginError

_OWN_MODULES: Final = ("nel", "nemo_evaluator")
_PORTABLE: Final = re.compile(r"[\w-](?:[\w. -]*[\w-])?")
"""Names of files and folders that every system can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A benchmark file, read and run."""

    path: Path
    """Absolute, links followed."""
    text: str
    benchmarks: Mapping[str, Benchmark]
    """By name, in the order of their definition."""

    @property
    def module(self) -> str:
        """Return the file's name as that of a module inside a package."""
        name = re.sub(r"\W+", "_", self.path.stem, flags=re.ASCII).strip("_").lower()
        return (
            name
            if name and not name[0].isdigit() and name not in {"plugin", "data"}
            else f"bench_{name}"
        )

    @property
    def is_foreign(self) -> bool:
        """Return whether only nel's own loader can run the file: it has other tools' imports, or
        adapter classes.
        """
        return "nemo_evaluator" in self.text or "register_benchmark" in self.text


def read_source(path: Path) -> SourceFile:
    """Run a benchmark file and return it.

    Raises:
        PluginError: It is missing, fails to run, defines no benchmark, or imports a module that
            lies beside it.
    """
    if path.name.lower().endswith(YAML_SUFFIXES):
        raise PluginError(
            f"{path} needs no package: hand on the file with its rows, and run it with --bench"
            f" {path}"
        )
    benchmarks = benchmarks_in_file(path)
    full = path.expanduser().resolve()
    source = SourceFile(path=full, text=full.read_text(encoding="utf-8"), benchmarks=benchmarks)
    beside = sorted(_imported_from_beside(source))
    if beside:
        raise PluginError(
            f"{path} imports {beside[0]} from the folder it lies in, which a package of this file"
            " does not have; move that code into the file, or install it as a package and name it"
            " in requirements="
        )
    pictured = next(
        (benchmark for benchmark in benchmarks.values() if benchmark.images_field is not None), None
    )
    if pictured is not None:
        raise PluginError(
            f"the images of {pictured.name} are not packed; hand on the folder with {path.name} and"
            " its rows"
        )
    return source


def local_dataset(benchmark: Benchmark) -> Path | None:
    """Return the local file that a benchmark reads its rows from, or None for a URI or a function.

    Raises:
        PluginError: The file is missing.
    """
    if not isinstance(benchmark.dataset, str) or plugins.split_uri(benchmark.dataset) is not None:
        return None
    wanted = Path(benchmark.dataset).expanduser()
    places = (
        [wanted]
        if wanted.is_absolute() or benchmark.base_dir is None
        else [benchmark.base_dir / wanted, wanted]
    )
    path = next((candidate.resolve() for candidate in places if candidate.is_file()), None)
    if path is None:
        raise PluginError(
            f'the dataset "{benchmark.dataset}" of {benchmark.name} is not a file here; check its path'
        )
    if is_made_up(path):
        raise PluginError(
            f'the dataset "{benchmark.dataset}" of {benchmark.name} is not a file on a disk; check its'
            " path"
        )
    return path


def companions(source: SourceFile) -> dict[str, Path]:
    """Return the files below the benchmark file's folder that its text names, by relative path:
    templates, rows, …

    Hidden ones are left out: they hold settings and keys.

    Raises:
        PluginError: One has a name that a package cannot hold.
    """
    folder = source.path.parent
    files: dict[str, Path] = {}
    for node in ast.walk(ast.parse(source.text)):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        name = node.value
        try:
            file = (folder / name).resolve()
            is_there = file.is_file() and file.is_relative_to(folder) and file != source.path
        except (OSError, ValueError, RuntimeError):  # not a file name, or links in a circle
            continue
        if is_there and not any(segment.startswith(".") for segment in Path(name).parts):
            inside = file.relative_to(folder).as_posix()
            parts = inside.split("/")
            own = ("__init__.py", "plugin.py", f"{source.module}.py")
            if parts[0] in own or not all(map(_PORTABLE.fullmatch, parts)):
                raise PluginError(
                    f"{source.path.name} names {inside!a}, and a package cannot hold a file of that"
                    " name; rename it"
                )
            files[inside] = file
    return files


def _imported_from_beside(source: SourceFile) -> Iterator[str]:
    folder = source.path.parent
    for node in ast.walk(ast.parse(source.text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level:
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for top in {name.partition(".")[0] for name in names} - set(_OWN_MODULES):
            file = getattr(sys.modules.get(top), "__file__", None)
            if isinstance(file, str) and Path(file).resolve() in {
                folder / f"{top}.py",
                folder / top / "__init__.py",
            }:
                yield f"{top}.py" if (folder / f"{top}.py").exists() else f"{top}/"
