"""The drawing of the rooms in docs/explanation/architecture.md, made of the contracts that `make check` proves."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/explanation/architecture.md"
DRAWING = re.compile(
    r"(<!-- rooms: written by make docs -->\n).*?(<!-- end of rooms -->)", re.DOTALL
)


def architecture() -> str:
    """Return the page with its drawing made anew."""
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    drawing = f"\n{_layers()}\n\n{_prohibitions()}\n"
    return DRAWING.sub(lambda match: f"{match[1]}{drawing}{match[2]}", page)


def _contracts() -> list[dict[str, Any]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    return contracts


def _layers() -> str:
    """Return a line for each layer, those that import above those that are imported."""
    layers = next(contract["layers"] for contract in _contracts() if contract["type"] == "layers")
    return "\n".join(f"    {re.sub('[:|]', ' ', layer).replace('nel.', '')}" for layer in layers)


def _prohibitions() -> str:
    """Return what rooms may not import beyond the order of the layers, a line for each contract."""
    lines = []
    for contract in _contracts():
        if contract["type"] == "independence":
            rooms = ", ".join(f"`{name.removeprefix('nel.')}`" for name in contract["modules"])
            lines.append(f"- {contract['name'].capitalize()}: {rooms}.")
        elif contract["type"] == "forbidden":
            barred = ", ".join(
                f"`{name.removeprefix('nel.')}`" for name in contract["forbidden_modules"]
            )
            lines.append(f"- {contract['name'].capitalize()}: they do not import {barred}.")
    return "\n".join(lines)
