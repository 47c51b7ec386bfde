"""Reads a benchmark file as what a package is made of: its text, its benchmarks, and the files that
it names.

Runs the file to know its benchmarks, as a run does. A package is used on other machines, so every
path of this one is taken out of the text, or refused.
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
from nel.datasets.table_form import split_form
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

    def strings(self) -> list[ast.Constant]:
        """Return the text constants of the file, in no order."""
        nodes = ast.walk(ast.parse(self.text))
        return [
            node for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]


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
    wanted = Path(split_form(benchmark.dataset)[0]).expanduser()
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

    Hidden ones are left out.

    Raises:
        PluginError: One has a name that a package cannot hold.
    """
    folder = source.path.parent
    own = ("__init__.py", "plugin.py", f"{source.module}.py")
    files: dict[str, Path] = {}
    for node in source.strings():
        name = str(node.value)
        if not name or len(name) > 255 or "\n" in name or "\0" in name or Path(name).is_absolute():  # noqa: PLR2004
            continue
        try:
            file = (folder / name).resolve()
        except (OSError, RuntimeError):  # links in a circle
            continue
        if any(segment.startswith(".") for segment in Path(name).parts):
            continue  # hidden files hold settings and keys
        if file.is_file() and file.is_relative_to(folder) and file != source.path:
            inside = file.relative_to(folder).as_posix()
            parts = inside.split("/")
            if parts[0] in own or not all(map(_PORTABLE.fullmatch, parts)):
                raise PluginError(
                    f"{source.path.name} names {inside!a}, and a package cannot hold a file of that"
                    " name; rename it"
                )
            files[inside] = file
    return files


def portable_text(source: SourceFile, datasets: Mapping[str, str]) -> str:
    """Return the file's text for a package: paths of datasets on this machine replaced by those
    inside it.

    Args:
        datasets: What the text calls a dataset, to the ``pkg://`` URI that it has in the package.

    Raises:
        PluginError: A path of this machine is left in the text; the message names the line.
    """
    lines = source.text.encode().splitlines(keepends=True)
    edits: list[tuple[int, int, int, bytes]] = []
    for node in source.strings():
        uri = datasets.get(str(node.value))
        if (
            uri is not None
            and Path(str(node.value)).is_absolute()
            and node.end_lineno == node.lineno
        ):
            edits.append(
                (node.lineno - 1, node.col_offset, node.end_col_offset or 0, repr(uri).encode())
            )
    for line, start, end, new in sorted(edits, reverse=True):
        lines[line] = lines[line][:start] + new + lines[line][end:]
    text = b"".join(lines).decode()
    _refuse_local_paths(source, text)
    return text


def _refuse_local_paths(source: SourceFile, text: str) -> None:
    private = {str(source.path.parent), f"{Path.home()}/"} - {"/"}
    for number, line in enumerate(text.splitlines(), start=1):
        if any(path in line for path in private):
            raise PluginError(_leak(source, number, "a path of this machine"))
    left = SourceFile(path=source.path, text=text, benchmarks=source.benchmarks)
    for node in left.strings():
        name = str(node.value)
        if name.startswith("/") and "\n" not in name and "\0" not in name and _is_file(name):
            raise PluginError(_leak(source, node.lineno, name))


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # too long for a name
        return False


def _leak(source: SourceFile, line: int, what: str) -> str:
    return (
        f"{source.path.name}, line {line} names {what}, which exists on this machine only; put the"
        " file beside the benchmark and name it by its relative path"
    )


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
