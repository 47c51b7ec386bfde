"""The benchmark API (adapter classes and what they are made of) and the built-in benchmarks.

The public names are below and are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nel.authoring.benchmark import Benchmark
    from nel.compat.evalscope.adapters import DefaultDataAdapter
    from nel.compat.evalscope.adapting import register_benchmark
    from nel.compat.evalscope.data_adapter import DataAdapter
    from nel.compat.evalscope.filters import RegexFilter
    from nel.compat.evalscope.kinds import MarkedChoiceAdapter as MultiChoiceAdapter
    from nel.compat.evalscope.meta import BenchmarkMeta, Tags
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

_EVALSCOPE = "nel.compat.evalscope"
_HOMES = {
    "nel.authoring.benchmark": ("Benchmark",),
    f"{_EVALSCOPE}.adapters": ("DefaultDataAdapter",),
    f"{_EVALSCOPE}.adapting": ("register_benchmark",),
    f"{_EVALSCOPE}.data_adapter": ("DataAdapter",),
    f"{_EVALSCOPE}.filters": ("RegexFilter",),
    f"{_EVALSCOPE}.kinds": ("MultiChoiceAdapter",),
    f"{_EVALSCOPE}.meta": ("BenchmarkMeta", "Tags"),
    f"{_EVALSCOPE}.report": ("Report",),
    f"{_EVALSCOPE}.samples": (
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
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_NAMES_AT_HOME = {"MultiChoiceAdapter": "MarkedChoiceAdapter"}
"""Multiple choice is read by nel's rule, which guesses nothing."""

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
    return getattr(import_module(home), _NAMES_AT_HOME.get(name, name))


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
