"""What a scorer asks a judge with, under the module name that NeMo Evaluator's pages give.

`judge_score` belongs to a room above this one; it is fetched from nel's public names when it is
first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from nel.scoring.delegation import needs_judge

__all__ = ["judge_score", "needs_judge"]  # noqa: F822 - by __getattr__


def __getattr__(name: str) -> Any:
    """Return ``judge_score``."""
    if name == "judge_score":
        return import_module("nel").judge_score
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
