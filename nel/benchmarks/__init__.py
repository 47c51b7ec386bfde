"""The benchmark API (adapter classes and what they are made of) and the built-in benchmarks.

The public names are below and are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nel.authoring.benchmark import Benchmark
    from nel.compat.evalscope.base import DataAdapter, DefaultDataAdapter
    from nel.compat.evalscope.filters import RegexFilter
    from nel.compat.evalscope.meta import BenchmarkMeta, Tags, register_benchmark
    from nel.compat.evalscope.own_choices import MultiChoiceAdapter
    from nel.compat.evalscope.report import Report
    from nel.compat.evalscope.samples import (
        AggScore,
        ChatMessage,
        ChatMessageUser,
        Dataset,
        DatasetDict,
        ModelOutput,
        Sample,
        SampleScore,
        Score,
        TaskState,
    )

_HOMES = {
    "compat.evalscope.base": ("DataAdapter", "DefaultDataAdapter"),
    "compat.evalscope.own_choices": ("MultiChoiceAdapter",),
    "compat.evalscope.filters": ("RegexFilter",),
    "compat.evalscope.meta": ("BenchmarkMeta", "Tags", "register_benchmark"),
    "compat.evalscope.report": ("Report",),
    "compat.evalscope.samples": (
        "AggScore",
        "ChatMessage",
        "ChatMessageUser",
        "Dataset",
        "DatasetDict",
        "ModelOutput",
        "Sample",
        "SampleScore",
        "Score",
        "TaskState",
    ),
    "authoring.benchmark": ("Benchmark",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "AggScore",
    "Benchmark",
    "BenchmarkMeta",
    "ChatMessage",
    "ChatMessageUser",
    "DataAdapter",
    "Dataset",
    "DatasetDict",
    "DefaultDataAdapter",
    "ModelOutput",
    "MultiChoiceAdapter",
    "RegexFilter",
    "Report",
    "Sample",
    "SampleScore",
    "Score",
    "Tags",
    "TaskState",
    "register_benchmark",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'nel.benchmarks' has no attribute {name!r}")
    return getattr(import_module(f"nel.{home}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
