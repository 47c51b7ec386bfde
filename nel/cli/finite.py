"""Refuses infinity for an option that takes any number from a least one on."""

from __future__ import annotations

import math

import typer


def finite(value: float | None) -> float | None:
    """Return the value of an option.

    Raises:
        typer.BadParameter: It is infinite, or NaN.
    """
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f'"{value}" is not a finite number')
    return value
