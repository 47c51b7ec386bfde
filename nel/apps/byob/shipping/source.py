"""Reads a benchmark file as a package is made of it: its text, benchmarks, and files it names.

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
from nel.core.paths import is_pseudo_file
from nel.datasets.table_form import split_form
from nel.errors import PluginError

_NEL_MODULES: Final = ("nel", "nemo_evaluator")
"""Those that a package may import: nel, and the names that it stands in for."""
# ``rows-1.jsonl``, and neither ``.env``, ``rows.`` nor ``a"b.txt``.
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
        if not name or name[0].isdigit() or name in {"plugin", "data"}:
            return f"bench_{name}"
        return name

    @property
    def is_foreign(self) -> bool:
        """Return whether only nel's loader can run it: it has other tools' imports or adapters."""
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
    real_path = path.expanduser().resolve()
    text = real_path.read_text(encoding="utf-8")
    source = SourceFile(path=real_path, text=text, benchmarks=benchmarks)
    neighbours = sorted(_imported_from_beside(source))
    if neighbours:
        raise PluginError(
            f"{path} imports {neighbours[0]} from the folder it lies in, which a package of this"
            " file does not have; move that code into the file, or install it as a package and"
            " name it in requirements="
        )
    for benchmark in benchmarks.values():
        if benchmark.images_field is not None:
            raise PluginError(
                f"the images of {benchmark.name} are not packed; hand on the folder with"
                f" {path.name} and its rows"
            )
    return source


def local_dataset(benchmark: Benchmark) -> Path | None:
    """Return the local file that a benchmark reads its rows from, or None for a URI or a function.

    Raises:
        PluginError: The file is missing.
    """
    if not isinstance(benchmark.dataset, str) or plugins.split_uri(benchmark.dataset) is not None:
        return None
    name = Path(split_form(benchmark.dataset)[0]).expanduser()
    candidates = [name]
    if benchmark.base_dir is not None:  # joined to an absolute path it falls away
        candidates.insert(0, benchmark.base_dir / name)
    path = next((candidate.resolve() for candidate in candidates if candidate.is_file()), None)
    if path is None:
        raise PluginError(
            f'the dataset "{benchmark.dataset}" of {benchmark.name} is not a file here; check its path'
        )
    if is_pseudo_file(path):
        raise PluginError(
            f'the dataset "{benchmark.dataset}" of {benchmark.name} is not a file on a disk; check its'
            " path"
        )
    return path


def companions(source: SourceFile) -> dict[str, Path]:
    """Return the files below the benchmark file's folder that its text names, by relative path.

    They are templates, rows and the like; hidden ones are left out.

    Raises:
        PluginError: One has a name that a package cannot hold.
    """
    folder = source.path.parent
    reserved = ("__init__.py", "plugin.py", f"{source.module}.py")
    files: dict[str, Path] = {}
    for node in source.strings():
        name = Path(str(node.value))
        # Hidden files hold settings and keys; this leaves out the folder above (``..``) as well.
        if name.is_absolute() or any(part.startswith(".") for part in name.parts):
            continue
        file = _file_at(folder / name)
        if file is None or file == source.path or not file.is_relative_to(folder):
            continue
        relative = file.relative_to(folder)
        if relative.parts[0] in reserved or not all(map(_PORTABLE.fullmatch, relative.parts)):
            raise PluginError(
                f"{source.path.name} names {relative.as_posix()!a}, and a package cannot hold a"
                " file of that name; rename it"
            )
        files[relative.as_posix()] = file
    return files


def _file_at(path: Path) -> Path | None:
    """Return the file at a path with links followed; None where any text is not a path of one."""
    try:
        file = path.resolve()
        return file if file.is_file() else None
    except (OSError, RuntimeError, ValueError):  # too long, links in a circle, a zero byte
        return None


def portable_text(source: SourceFile, datasets: Mapping[str, str]) -> str:
    """Return the file's text for a package, with the datasets' paths on this machine replaced.

    Args:
        datasets: What the text calls a dataset, to the ``pkg://`` URI that it has in the package.

    Raises:
        PluginError: A path of this machine is left in the text; the message names the line.
    """
    # Columns of a syntax tree are counted in bytes.
    lines = source.text.encode().splitlines(keepends=True)
    edits: list[tuple[int, int, int, bytes]] = []
    for node in source.strings():
        name = str(node.value)
        if name not in datasets or not Path(name).is_absolute() or node.end_lineno != node.lineno:
            continue
        literal = repr(datasets[name]).encode()
        edits.append((node.lineno - 1, node.col_offset, node.end_col_offset or 0, literal))
    # The last one first, so that the columns of those before it stay.
    for line, start, end, literal in sorted(edits, reverse=True):
        lines[line] = lines[line][:start] + literal + lines[line][end:]
    text = b"".join(lines).decode()
    _refuse_local_paths(source, text)
    return text


def _refuse_local_paths(source: SourceFile, text: str) -> None:
    folders = {str(source.path.parent), f"{Path.home()}/"} - {"/"}
    for number, line in enumerate(text.splitlines(), start=1):
        if any(path in line for path in folders):
            raise PluginError(_leak(source, number, "a path of this machine"))
    portable = SourceFile(path=source.path, text=text, benchmarks=source.benchmarks)
    for node in portable.strings():
        name = str(node.value)
        if name.startswith("/") and _file_at(Path(name)) is not None:
            raise PluginError(_leak(source, node.lineno, name))


def _leak(source: SourceFile, line: int, what: str) -> str:
    return (
        f"{source.path.name}, line {line} names {what}, which exists on this machine only; put the"
        " file beside the benchmark and name it by its relative path"
    )


def _imported_from_beside(source: SourceFile) -> Iterator[str]:
    """Yield what the file imports from its own folder; it has run, so these modules are loaded."""
    folder = source.path.parent
    for node in ast.walk(ast.parse(source.text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield "." * node.level + (node.module or "")
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for module in {name.partition(".")[0] for name in names} - set(_NEL_MODULES):
            file = getattr(sys.modules.get(module), "__file__", None)
            path = None if file is None else Path(file).resolve()
            if path == folder / f"{module}.py":
                yield f"{module}.py"
            elif path == folder / module / "__init__.py":
                yield f"{module}/"
