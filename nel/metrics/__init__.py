"""From per-sample values to metrics with intervals. Does no I/O; knows nothing of runs and files."""

from nel.metrics.intervals import Interval, mean_interval, wilson_interval
from nel.metrics.passing import pass_at_k

__all__ = ["Interval", "mean_interval", "pass_at_k", "wilson_interval"]
