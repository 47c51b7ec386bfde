"""Built-ins, plugins and documented examples import what nel/doors.py lists, and nothing else of nel."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import nel
from nel.doors import CONTRACTS, PUBLIC, RULES, is_door

ROOT = Path(__file__).resolve().parents[1]
_BUILT_IN_DOOR = ROOT / "nel" / "benchmarks" / "__init__.py"


def _imports(source: str) -> Iterator[str]:
    """Yield the modules of nel that a source imports from."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            children = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in children if _is_module(name)]
            yield from modules or [node.module]


def _is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def _internal(source: str) -> list[str]:
    return [name for name in _imports(source) if re.match(r"nel(\.|$)", name) and not is_door(name)]


def test_built_in_benchmarks_import_doors() -> None:
    """What nel's own benchmarks need, another's have too; they may also share code with each other."""
    files = sorted((ROOT / "nel" / "benchmarks").rglob("*.py"))
    internal = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        if path != _BUILT_IN_DOOR
        for name in _internal(path.read_text(encoding="utf-8"))
        if not name.startswith("nel.benchmarks.")
    }
    assert internal == set()


def test_plugins_import_doors() -> None:
    """Those of this repository, which others copy."""
    files = [path for path in sorted((ROOT / "plugins").glob("nel-*/nel_*/**/*.py")) if "nel-broken" not in path.parts]
    internal = {
        f"{path.relative_to(ROOT)}: {name}" for path in files for name in _internal(path.read_text(encoding="utf-8"))
    }
    assert internal == set()


def test_documented_examples_import_doors() -> None:
    """Each line of the documentation that imports from nel, in a block of Python or a file."""
    internal = set()
    for path in sorted(ROOT.glob("docs/**/*")):
        if path.suffix in (".md", ".py"):
            for module in re.findall(
                r"^ *(?:from|import) (nel(?:\.\w+)*)", path.read_text(encoding="utf-8"), re.MULTILINE
            ):
                if not is_door(module):
                    internal.add(f"{path.relative_to(ROOT)}: {module}")
    assert internal == set()


@pytest.mark.parametrize("module", [*PUBLIC, *CONTRACTS, *(name.removesuffix(".*") for name in RULES)])
def test_each_door_is_there(module: str) -> None:
    """It can be imported, and says what it is."""
    assert import_module(module).__doc__


def test_public_names_come_from_nel() -> None:
    """Every name of `nel.__all__` can be taken from it."""
    assert all(getattr(nel, name) is not None for name in nel.__all__)
