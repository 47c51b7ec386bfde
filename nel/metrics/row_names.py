"""Names of the rows of requested metrics, each once: the metric's own, or as it was asked for.

A metric is shown by its own name while that is unique. Where several have one name, the one that a
run asks for without options keeps it, and each other is shown as it was asked for
(``length:unit=words``), one of a scorer by its arguments. So is one whose name is a number of the
run's own. A number after the name (``accuracy@2``) tells apart what is still equal. Depends on
`nel.metrics` alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nel.metrics.accumulator import MetricJson, free_name
from nel.metrics.decorators import Metric, NamedMetric

_OWN_PACKAGE = "nel.metrics."


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRows:
    """The rows of one metric over the rewards, or over the numbers of one name."""

    metric: Metric
    prefix: str
    """``number/`` of a metric over numbers; empty over the rewards."""
    spec: str
    """How a run asks for it, such as ``length:unit=words``; empty where a scorer declares it."""
    rows: Sequence[MetricJson]
    """Named by the prefix and the metric's own name."""
    failed: bool

    @property
    def base(self) -> str:
        """Return the name that the metric has by itself."""
        return self.prefix + name_of(self.metric)


def name_of(metric: Metric) -> str:
    """Return the name that a metric has by itself."""
    return str(getattr(metric, "name", getattr(metric, "__name__", type(metric).__name__)))


def with_unique_names(
    rows: Sequence[MetricRows], run_rows: Sequence[MetricJson]
) -> list[MetricRows]:
    """Return the rows with names that occur once, without those that repeat another metric or a
    number of the run.

    Args:
        rows: In the order in which they are shown.
        run_rows: The rows that the run has of its own; their names are taken.
    """
    distinct = list(_distinct(rows, {row["name"]: row for row in run_rows}))
    used_names = {row["name"] for row in run_rows}
    bases = Counter(candidate.base for candidate in distinct)
    optionless = Counter(candidate.base for candidate in distinct if _has_no_options(candidate))
    renamed = []
    for candidate in distinct:
        base = candidate.base
        keeps_base = bases[base] == 1 or (optionless[base] == 1 and _has_no_options(candidate))
        label = base
        if not keeps_base or base in used_names:
            label = candidate.prefix + (candidate.spec or _with_arguments(candidate.metric))
        names = [label + row["name"].removeprefix(base) for row in candidate.rows]
        renamed.append(replace(candidate, rows=rename_rows(candidate.rows, names, used_names)))
    return renamed


def _has_no_options(row: MetricRows) -> bool:
    """Return whether a run asks for a metric, and without options."""
    return bool(row.spec) and "=" not in row.spec


def rename_rows(
    rows: Sequence[MetricJson], names: Iterable[str], used_names: set[str]
) -> list[MetricJson]:
    """Return rows under these names, numbered where taken, and add them to ``used_names``."""
    renamed_rows: list[MetricJson] = []
    for row, base in zip(rows, names, strict=True):
        name = free_name(base, used_names)
        used_names.add(name)
        renamed_rows.append({**row, "name": name})
    return renamed_rows


def _distinct(
    rows: Sequence[MetricRows], run_rows: Mapping[str, MetricJson]
) -> Iterator[MetricRows]:
    signatures: set[object] = set()
    for candidate in rows:
        metric = candidate.metric
        # A metric that a run asks for and a scorer declares as well is shown once. The values are
        # compared too, since a function among the arguments is not part of the name.
        values = tuple((row["name"], row["value"], row["reason"]) for row in candidate.rows)
        signature = candidate.prefix, _origin(metric), _with_arguments(metric), values
        if signature not in signatures and not _repeats_own(candidate, run_rows):
            signatures.add(signature)
            yield candidate


def _repeats_own(candidate: MetricRows, run_rows: Mapping[str, MetricJson]) -> bool:
    """Return whether a metric repeats a number of the run, as `accuracy` of rewards does."""
    row = run_rows.get(candidate.base)
    is_own = str(_origin(candidate.metric)[0]).startswith(_OWN_PACKAGE)
    if row is None or len(candidate.rows) != 1 or not is_own:
        return False
    run_value, value = row["value"], candidate.rows[0]["value"]
    if run_value is None or value is None:
        return run_value is value
    return math.isclose(run_value, value, rel_tol=1e-9)


def _origin(metric: Metric) -> tuple[object, object]:
    """Return where the function of a metric is defined."""
    function = metric.function if isinstance(metric, NamedMetric) else metric
    home = function if hasattr(function, "__qualname__") else type(function)
    return getattr(home, "__module__", None), getattr(home, "__qualname__", None)


def _with_arguments(metric: Metric) -> str:
    """Return a metric's name with its arguments, as a run would ask for it."""
    params = getattr(metric, "params", None) or {}
    arguments = [f"{key}={value}" for key, value in params.items() if value is not None]
    if not arguments:
        return name_of(metric)
    return f"{name_of(metric)}:{','.join(arguments)}"
