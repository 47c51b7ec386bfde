"""Classes of this process that describe benchmarks, whatever tool's names their base class has.

Each has a class method ``described_benchmark`` that returns its `Benchmark`.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Final

REGISTERED: Final[dict[str, type]] = {}
"""By the benchmark's name, once the module of the class was imported."""


def describes_benchmark(value: object) -> bool:
    """Return whether a value is a class that was registered for a benchmark."""
    return (
        isinstance(value, type)
        and "benchmark_meta" in vars(value)
        and hasattr(value, "described_benchmark")
    )


def source_of(described: type) -> str:
    """Return the file that a class was defined in, else its module's name."""
    module = sys.modules.get(described.__module__)
    try:
        file = getattr(module, "__file__", None) or inspect.getfile(described)
    except (TypeError, OSError):
        return described.__module__
    return str(Path(file).resolve())
