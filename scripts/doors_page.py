"""Turns nel/doors.py into a page of the reference."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from nel.doors import CONTRACTS, PUBLIC, RULES

INTRODUCTION = """# Public modules

A module of nel that is not on this page is internal: it may change or go with any version. In code the page is `nel/doors.py`,
and tests hold the built-in benchmarks, the plugins of this repository and the examples of the documentation to it.
"""


def public_modules() -> str:
    """Return the page with every module that other code may import."""
    return "\n".join(
        [
            INTRODUCTION,
            "## For benchmarks, scorers and programs\n",
            _table(PUBLIC, has_names=True),
            "## Rules\n\nWhat built-in benchmarks are made of. A change of a rule is a change of the scorers that use it.\n",
            _table(RULES),
            "## For plugins of further kinds\n\nThese follow nel's needs; the changelog says what changed.\n",
            _table(CONTRACTS),
        ]
    )


def _table(modules: Mapping[str, str], *, has_names: bool = False) -> str:
    head = "| module | for | names |\n|---|---|---|" if has_names else "| module | for |\n|---|---|"
    rows = (
        f"| `{module}` | {purpose} |" + (f" {_names(module)} |" if has_names else "")
        for module, purpose in modules.items()
    )
    return "\n".join([head, *rows, ""])


def _names(module: str) -> str:
    names = getattr(import_module(module), "__all__", ())
    return ", ".join(f"`{name}`" for name in sorted(names)) or "all without an underscore"
