"""Shows the checks of a benchmark or a plugin, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from nel.cli.terminal import plain

if TYPE_CHECKING:
    from nel.discovery.benchmark_checks import Check


def show_checks(checks: Sequence[Check], *, indent: str = "  ") -> None:
    """Print one line for each check."""
    for check in checks:
        verdict = "ok  " if check.passed else "FAIL"
        detail = f": {check.detail}" if check.detail else ""
        typer.echo(plain(f"{indent}{verdict}  {check.name}{detail}"))
