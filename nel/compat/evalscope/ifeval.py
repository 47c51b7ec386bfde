"""EvalScope's IFEval on nel's checks of instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nel.benchmarks.instructions.rules import instructions_of, numbers_followed

__all__ = ["process_results"]


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, float]:
    """Return the shares of prompts and of instructions that a reply follows, strictly and loosely.

    Raises:
        ValueError: An instruction is unknown or lacks a parameter, or there is none.
    """
    numbers = numbers_followed(results[0], instructions_of(doc))
    return {
        name.removesuffix("_acc"): float(value)
        for name, value in numbers.items()
        if name != "not_followed"
    }
