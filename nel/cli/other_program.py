"""Says which command to type where the name `nel` belongs to another distribution too."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

import typer

from nel.version import DISTRIBUTION

_NAME: Final = "nel"
_SECOND_NAME: Final = "nel-eval"
"""The command that no other distribution has."""


def other_program() -> str | None:
    """Return what to type in place of `nel` in messages; None where `nel` is this program.

    Two distributions may install a command of one name, and the one that was installed last has
    it: NeMo Evaluator's launcher has a `nel` too.
    """
    # Called as `nel`, it is this program that has the name; `python -m nel` does not tell.
    if Path(sys.argv[0]).name == _NAME:
        return None
    distributions = {
        script.dist.name
        for script in entry_points(group="console_scripts", name=_NAME)
        if script.dist is not None
    } - {DISTRIBUTION}
    if not distributions:
        return None
    names = ", ".join(sorted(distributions))
    return f"{_NAME} may be the command of {names} here; type {_SECOND_NAME} in its place"


def say_other_program() -> None:
    """Print that on stderr, where it is so, after messages that name commands."""
    text = other_program()
    if text is not None:
        typer.echo(f"nel: {text}", err=True)
