"""The benchmark API (adapter classes and what they are made of) and the built-in benchmarks.

The public names are below and are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nel.authoring.adapters.base import DataAdapter, DefaultDataAdapter
    from nel.authoring.adapters.choices import MultiChoiceAdapter
    from nel.authoring.adapters.filters import RegexFilter
    from nel.authoring.adapters.meta import BenchmarkMeta, Tags, register_benchmark
    from nel.authoring.adapters.report import Report
    from nel.authoring.adapters.samples import (
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
    from nel.authoring.benchmark import Benchmark

_HOMES = {
    "adapters.base": ("DataAdapter", "DefaultDataAdapter"),
    "adapters.choices": ("MultiChoiceAdapter",),
    "adapters.filters": ("RegexFilter",),
    "adapters.meta": ("BenchmarkMeta", "Tags", "register_benchmark"),
    "adapters.report": ("Report",),
    "adapters.samples": (
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
    "benchmark": ("Benchmark",),
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
    return getattr(import_module(f"nel.authoring.{home}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
