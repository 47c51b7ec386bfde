"""Distributions of what was measured of each answer, as counts in narrow bins that add up batch by
batch. Does no I/O.

A bin is 1/64 of an octave, at most 1.6 % wide, so that a chart may choose its own columns later.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nel.config.schema import Price
from nel.core.strict_json import dumps
from nel.models.budget import cost_of
from nel.types import Response

_PER_OCTAVE: Final = 64
_ZERO: Final = -(10**6)
"""The bin of 0."""
COLUMNS: Final = 36
_SHOWN_SHARE: Final = 0.99
"""Of the values; the few above are counted, since one slow answer would flatten the chart."""
_STEPS: Final = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
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
    """A distribution as columns."""

    name: str
    n: int
    counts: Sequence[int]
    """Values in each column, rounded."""
    upper: float
    """Where the last column ends; the first begins at 0."""
    n_above: int
    """Values beyond it."""
    median: float
    p90: float

    @property
    def data(self) -> str:
        """Return the columns as charts.js reads them."""
        return dumps(
            {
                "kind": "columns",
                "upper": self.upper,
                "counts": list(self.counts),
                "unit": UNITS.get(self.name, "tokens"),
            }
        )


def measured(response: Response, price: Price | None) -> dict[str, float]:
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
    if value == 0:
        return _ZERO
    fraction, exponent = math.frexp(value)
    return exponent * _PER_OCTAVE + int((fraction - 0.5) * 2 * _PER_OCTAVE)


def edges_of(number: int) -> tuple[float, float]:
    """Return where a bin begins and ends.

    >>> low, high = edges_of(bin_of(3.7))
    >>> low <= 3.7 < high
    True
    """
    if number == _ZERO:
        return 0.0, 0.0
    exponent, width = divmod(number, _PER_OCTAVE)
    low, high = (math.ldexp(0.5 + (width + more) / (2 * _PER_OCTAVE), exponent) for more in (0, 1))
    return low, high


def chart_of(name: str, bins: Mapping[int, int]) -> Chart | None:
    """Return the chart of a distribution, None where all its values are 0 or there are none."""
    ordered = sorted(bins.items())
    n = sum(count for _, count in ordered)
    if not n or ordered[-1][0] == _ZERO:
        return None
    upper = _round_up(_quantile(ordered, n, _SHOWN_SHARE))
    width = upper / COLUMNS
    sums = [0.0] * COLUMNS
    above = 0.0
    for number, count in ordered:
        low, high = edges_of(number)
        if low >= upper:
            above += count
            continue
        # A bin lies in two columns or more: its values are spread evenly over it.
        start = min(int(low / width), COLUMNS - 1)
        end = min(int(high / width), COLUMNS - 1)
        for column in range(start, end + 1):
            covered = min(high, (column + 1) * width) - max(low, column * width)
            sums[column] += count if start == end else count * covered / (high - low)
    return Chart(
        name=name,
        n=n,
        counts=[round(height) for height in sums],
        upper=upper,
        n_above=round(above),
        median=_quantile(ordered, n, 0.5),
        p90=_quantile(ordered, n, 0.9),
    )


def _quantile(ordered: Sequence[tuple[int, int]], n: int, share: float) -> float:
    """Return the middle of the bin in which a share of the values is reached."""
    seen = 0
    for number, count in ordered:
        seen += count
        if seen >= share * n:
            return sum(edges_of(number)) / 2
    return sum(edges_of(ordered[-1][0])) / 2


def _round_up(value: float) -> float:
    """Return the next round number above a value."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((step * power for step in _STEPS if step * power >= value), 10 * power)
