"""Distributions of what was measured of each answer, as counts in narrow bins that add up batch by
batch. Does no I/O.

A bin is 1/64 of an octave, at most 1.6 % wide, for quantiles; a column of a chart is 1/8 octave.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from nel.config.schema import Price
from nel.core.strict_json import dumps
from nel.models.budget import cost_of
from nel.types import Response

_PER_OCTAVE: Final = 64
_ZERO: Final = -(10**6)
"""The bin of 0, below that of the least float: 2^-1074 is in bin -68,736."""
_IN_A_COLUMN: Final = 8
"""Bins."""
MEASURES: Final = {
    "latency": "Latency",
    "first_token": "Time to the first token",
    "characters": "Length of the answer",
    "completion_tokens": "Completion tokens",
    "reasoning_tokens": "Reasoning tokens",
    "prompt_tokens": "Prompt tokens",
    "cost": "Cost of an answer",
}
"""By name: its title."""
UNITS: Final = {"latency": "s", "first_token": "s", "characters": "characters", "cost": ""}
"""By name of a measure that is not counted in tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A distribution as columns on a logarithmic scale."""

    name: str
    n: int
    counts: Sequence[int]
    """Values in each column."""
    edges: Sequence[float]
    """Where each column begins, and where the last one ends."""
    n_zero: int
    """Values of 0, which are in no column."""
    median: float
    p90: float

    @property
    def data(self) -> str:
        """Return the columns as charts.js reads them."""
        return dumps(
            {
                "kind": "columns",
                "edges": list(self.edges),
                "counts": list(self.counts),
                "unit": UNITS.get(self.name, "tokens"),
            }
        )


def measures_of(response: Response, price: Price | None) -> dict[str, float]:
    """Return what is known of one answer."""
    usage = response.usage
    measures = {
        "latency": response.latency_seconds,
        "first_token": response.first_token_seconds,
        "characters": None if response.error is not None else len(response.text),
        "completion_tokens": usage.completion_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "prompt_tokens": usage.prompt_tokens,
        "cost": cost_of(usage, price),
    }
    return {
        name: float(value)
        for name, value in measures.items()
        if value is not None and 0 <= value < math.inf
    }


def bin_of(value: float) -> int:
    """Return the bin of a value of at least 0."""
    return math.floor(math.log2(value) * _PER_OCTAVE) if value else _ZERO


def edge_of(number: int) -> float:
    """Return where a bin begins, which is where the one before it ends.

    >>> edge_of(bin_of(3.7)) <= 3.7 < edge_of(bin_of(3.7) + 1)
    True
    """
    return float(2.0 ** (number / _PER_OCTAVE))


def chart_of(name: str, bins: Mapping[int, int]) -> Chart | None:
    """Return the chart of a distribution, None where all its values are 0 or there are none."""
    columns = Counter[int]()
    for number, count in bins.items():
        if number != _ZERO:
            columns[number // _IN_A_COLUMN] += count
    if not columns:
        return None
    start, end = min(columns), max(columns) + 1
    return Chart(
        name=name,
        n=sum(bins.values()),
        counts=[columns[column] for column in range(start, end)],
        edges=[edge_of(column * _IN_A_COLUMN) for column in range(start, end + 1)],
        n_zero=bins.get(_ZERO, 0),
        median=_quantile(bins, 0.5),
        p90=_quantile(bins, 0.9),
    )


def _quantile(bins: Mapping[int, int], share: float) -> float:
    # The first bin up to which there is the share of all values; of it, the middle.
    numbers = sorted(bins)
    reached = list(accumulate(bins[number] for number in numbers))
    number = numbers[bisect_left(reached, share * reached[-1])]
    return 0.0 if number == _ZERO else (edge_of(number) + edge_of(number + 1)) / 2
