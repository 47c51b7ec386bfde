"""The statistics that a run requests; `nel.metrics.statistics_collector` computes them.

A module of its own, since a plan needs them before anything is sent.
"""

from __future__ import annotations

from dataclasses import dataclass

from nel.metrics.decorators import Metric, NamedReducer


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedStatistics:
    """The reducers and metrics that a run requests."""

    reducers: tuple[NamedReducer, ...] = ()
    metrics: tuple[tuple[str, Metric], ...] = ()
    """``(key, metric)``: over the numbers whose names match the key, or the rewards if it is empty.
    """
    specs: tuple[str, ...] = ()
    """How a run asks for each of `metrics`, such as ``ci:level=0.9``; empty for a scorer's own."""
    missing_names: tuple[str, ...] = ()
    """Names of requested metrics whose plugin is no longer installed."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to compute."""
        return not (self.reducers or self.metrics or self.missing_names)
