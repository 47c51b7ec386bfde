"""Confidence sequences: intervals that hold at every look, however often one looks.

An interval for a fixed number of questions errs in 27 % of runs that look twenty times and stop at
the first sign. Those here err in at most alpha over all looks together (Ville's inequality). They
hold for questions in random order; the order of a file is none. Depends on numpy.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Final

import numpy as np

from nel.decide.pairs import Floats
from nel.metrics.intervals import LEVEL

GRID: Final = 10_000
"""Steps between 0 and 1 of the means that are tested.

An interval is at most two of them wider than it could be.
"""
_SHARE_BET: Final = 0.5
"""At most so much of the wealth is bet at once, so that no single value can lose it all."""


class StopReason(StrEnum):
    """Why a run can stop asking."""

    BETTER = "better"
    WORSE = "worse"
    NARROW = "narrow"
    FUTILE = "futile"


class ConfidenceSequence:
    """The hedged betting confidence sequence of the mean of a finite population of values, drawn
    one by one without replacement.

    Each mean that the truth could be has a wealth, made by betting that it is not the truth; the
    true one's grows beyond ``1 / alpha`` with probability alpha at most, at all times together
    (Waudby-Smith and Ramdas 2024, JRSS B 86, section 4). The interval never widens, and closes when
    all values are drawn. Memory does not grow.
    """

    def __init__(
        self, *, population: int, level: float = LEVEL, low: float = 0.0, high: float = 1.0
    ) -> None:
        """Start with all that is possible.

        Args:
            population: How many values there are.
            level: Strictly between 0 and 1.
            low: The least value there can be: 0 for scores, -1 for their differences.
            high: The largest.
        """
        self._low, self._width, self._population = low, high - low, population
        # Half of the wealth bets that the truth lies higher, half that it lies lower: the sum
        # exceeds 1 / alpha where either half has grown by 2 / alpha.
        self._odds = 2 / (1 - level)
        # The means that are not excluded yet, scaled to 0 to 1, and by what each bet has grown.
        self._means: Floats = np.linspace(0.0, 1.0, GRID + 1)
        self._up: Floats = np.ones(GRID + 1)
        self._down: Floats = np.ones(GRID + 1)
        # By the bets alone, and with what is certain from the values that were drawn.
        self._betting_ends = (0.0, 1.0)
        self._ends = (0.0, 1.0)
        self._total = 0.0
        self._squares = 0.0
        self._n = 0

    @property
    def lower(self) -> float:
        """Return the lower end now, in the unit of the values."""
        return self._low + self._width * self._ends[0]

    @property
    def upper(self) -> float:
        """Return the upper end now, in the unit of the values."""
        return self._low + self._width * self._ends[1]

    def add(self, value: float) -> None:
        """Take the next value.

        Raises:
            ValueError: It is NaN or outside the range, or there are more than the population has.
        """
        if not self._low <= value <= self._low + self._width:
            raise ValueError(
                f"value {self._n} is {value}, not between {self._low} and {self._low + self._width}"
            )
        n_remaining = self._population - self._n
        if not n_remaining:
            raise ValueError(f"{self._n + 1} values of a population of {self._population}")
        share = min(max((value - self._low) / self._width, 0.0), 1.0)
        bet = self._next_bet(share)
        # The mean of what is left follows from the mean of all and from what was seen.
        total_before = self._total - share
        means_left = (self._means * self._population - total_before) / n_remaining
        self._bet_on(means_left, share, bet)
        # What was seen is certain, and what is left lies in the range.
        floor = self._total / self._population
        ceiling = (self._total + n_remaining - 1) / self._population
        lower, upper = (min(max(end, floor), ceiling) for end in self._betting_ends)
        self._ends = lower, upper

    def _next_bet(self, share: float) -> float:
        """Return the predictable plug-in bet (equation 26): of the values before this one alone."""
        # With t for the number of this value: lambda_t = sqrt(2 log(2 / alpha) / (v t log(1 + t))),
        # v = (1/4 + sum of (x_i - m_i)² before t) / t and m_i = (1/2 + sum of x up to i) / (i + 1).
        variance_sum = self._squares
        self._n += 1
        self._total += share
        deviation = share - (0.5 + self._total) / (self._n + 1)
        self._squares += deviation * deviation
        variance = (0.25 + variance_sum) / self._n
        spread = variance * self._n * float(np.log1p(self._n))
        return math.sqrt(2 * math.log(self._odds) / spread)

    def _bet_on(self, means: Floats, share: float, bet: float) -> None:
        """Bet against each mean that is left, and drop those at the ends that are excluded."""
        distance = share - means
        # The most that a bet can lose is its size times the mean, or times what the mean lacks of
        # 1; at a mean of 0 or 1 one of the two can lose nothing, and is not limited.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            bet_up = np.minimum(bet, _SHARE_BET / np.maximum(means, 0))
            bet_down = np.minimum(bet, _SHARE_BET / np.maximum(1 - means, 0))
            self._up *= 1 + bet_up * distance
            self._down *= 1 - bet_down * distance
        is_impossible = (means < 0) | (means > 1)
        is_rich = (self._up >= self._odds) | (self._down >= self._odds)
        possible = np.flatnonzero(~(is_impossible | is_rich))
        live = slice(0)
        if len(possible):
            live = slice(int(possible[0]), int(possible[-1]) + 1)
            # Between the last mean that is excluded and the first that is not, the end is not
            # known: the outer one. Where all are excluded, the ends stay.
            lowest, highest = self._betting_ends
            self._betting_ends = (
                max(lowest, float(self._means[possible[0]]) - 1 / GRID),
                min(highest, float(self._means[possible[-1]]) + 1 / GRID),
            )
        self._means, self._up, self._down = self._means[live], self._up[live], self._down[live]
