"""Several benchmarks under one address. Depends on nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkGroup:
    """What a bridge returns for an address that stands for several benchmarks of one run."""

    members: tuple[str, ...]
    """Their addresses."""
    aggregates: tuple[Mapping[str, object], ...] = ()
    """Means over them, as entries of ``aggregates`` in a run's configuration."""
