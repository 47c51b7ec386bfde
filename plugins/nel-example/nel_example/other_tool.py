"""What a bridge lends and recognises of another tool: here one that is called example_tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nel.authoring.lent_names import LentNames

NAMES = LentNames(
    homes={"example_tool": ("nel",)},
    renamed={"example_tool.task": ("nel", "benchmark")},
)
"""A file that imports ``task`` and ``scorer`` from example_tool runs with nel's."""


def configuration_problem(data: Mapping[str, Any]) -> str | None:
    """Return what stands in nel for a configuration of example_tool; None for any other file."""
    if "example_tool" not in data:
        return None
    return "this is a configuration of example_tool; in nel it is\n\nbenchmarks: [NAME]"
