"""Turns nel/discovery/extension_points.py and the plugins of plugins/nel-example into a page of the
reference.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from nel.discovery.extension_points import EXTENSION_POINTS, ExtensionPoint

EXAMPLE = Path(__file__).resolve().parents[1] / "plugins" / "nel-example"
INTRODUCTION = """# Extension points

A plugin is an object that an installed package names in an entry point of one of these groups. nel's own plugins are
registered in the same groups. An entry point in any other group `nel.*` is reported as broken by `nel list`.
[How to write a plugin](../how-to/write-a-plugin.md) goes through a whole package; the examples below are those of
`plugins/nel-example`. In code the page is `nel/discovery/extension_points.py`.

Names match `[a-z0-9][a-z0-9_-]*`. `package:name` stands for the plugin of one package wherever a name is accepted, with
options after it as after any name: `package:name:key=value`. A built-in keeps its bare name where another package
provides it too; a bare name that several other packages provide is an error that lists them.

| group | signature | named by |
|---|---|---|
"""


def extension_points() -> str:
    """Return the page with every extension point."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    points = EXTENSION_POINTS.values()
    cells = ((point, _short(point).replace("|", "\\|")) for point in points)
    rows = (
        f"| [`{point.group}`](#{_anchor(point.group)}) | `{cell}` | {point.used_by} |"
        for point, cell in cells
    )
    sections = (_section(point, project["entry-points"][point.group]) for point in points)
    return INTRODUCTION + "\n".join([*rows, "", *sections])


def _section(point: ExtensionPoint, declared: dict[str, str]) -> str:
    name, target = next(iter(declared.items()))
    facts = {"Called": point.called, "Errors": point.errors}
    if point.signature is not None:
        facts = {"Returns": _returned(point), **facts}
    listed = "\n".join(f"- {label}: {text}" for label, text in facts.items())
    declaration = f'[project.entry-points."{point.group}"]\n{name} = "{target}"'
    code = f"```toml\n{declaration}\n```\n\n```python\n{_source(target)}\n```"
    return f"## {point.group}\n\n{point.what}\n\n{listed}\n\n{code}\n"


def _returned(point: ExtensionPoint) -> str:
    """Return what the function returns, from the docstring of its protocol."""
    text = re.sub(r"\s+", " ", point.contract.__call__.__doc__ or "")
    return text.removeprefix("Return ").replace("``", "`")


def _short(point: ExtensionPoint) -> str:
    """Return the signature as one line, or the class that the object is an instance of."""
    if point.signature is None:
        return f"nel.{point.contract.__name__}"
    parameters = [str(one).replace("'", "") for one in point.signature.parameters.values()]
    returned = str(point.signature.return_annotation).strip("'")
    return f"({', '.join(parameters)}) -> {returned}"


def _source(target: str) -> str:
    """Return the code of ``module:attribute`` in the example package, without what stands around
    it.
    """
    module, _, attribute = target.partition(":")
    text = (EXAMPLE / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
    (found,) = (node for node in ast.parse(text).body if attribute in _names(node))
    first = min([found.lineno, *(one.lineno for one in getattr(found, "decorator_list", ()))])
    return "\n".join(text.splitlines()[first - 1 : found.end_lineno])


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (one.id for one in node.targets if isinstance(one, ast.Name))


def _anchor(heading: str) -> str:
    """Return the anchor that a Markdown renderer gives a heading."""
    return re.sub(r"[^a-z0-9_ -]", "", heading.lower()).replace(" ", "-")
