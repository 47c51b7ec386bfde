"""Confidence sequences and e-processes: intervals and tests that hold at every look, however often
one looks.

An interval for a fixed number of questions errs in 27 % of runs that look twenty times and stop at
the first sign. Those here err in at most alpha over all looks together (Ville's inequality). They
hold for questions in random order; the order of a file is none. Depends on numpy and
`nel.decide.pairs`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from nel.decide.pairs import Floats, Integers
from nel.metrics.intervals import LEVEL

GRID: Final = 10_000
"""Steps between 0 and 1 of the means that are tested; an interval is at most two of them wider than
it could be.
"""
_SHARE_BET: Final = 0.5
"""At most so much of the wealth is bet at once, so that no single value can lose it all."""
_CHUNK: Final = 4096
_CELLS: Final = 1 << 16
"""Values times means that are computed at once."""


def paired_e_value(wins: int, losses: int) -> float:
    """Return the e-value of discordant pairs against both being equally likely: ``2^(b+c) B(b+1,
    c+1)``.

    The likelihood ratio of all shares of wins alike to one half (Robbins 1970; Grünwald et al.
    2024). A run may stop at any time when it reaches ``1 / alpha``: without a difference it ever
    does so with probability alpha at most.

    Args:
        wins: Questions so far that only the candidate has right.
        losses: Those that only the baseline has right.

    Raises:
        ValueError: A count is negative.

    >>> [round(paired_e_value(*counts), 3) for counts in ((8, 0), (10, 2), (30, 10))]
    [28.444, 4.774, 31.637]
    """
    log = paired_log_e_value(wins, losses)
    return math.exp(log) if log < math.log(1e308) else math.inf


def paired_log_e_value(wins: int, losses: int) -> float:
    """Return the natural logarithm of `paired_e_value`, finite at any counts."""
    if wins < 0 or losses < 0:
        raise ValueError(f"counts of wins and losses cannot be negative: {wins}, {losses}")
    total = wins + losses
    return (
        total * math.log(2)
        + math.lgamma(wins + 1)
        + math.lgamma(losses + 1)
        - math.lgamma(total + 2)
    )


def paired_log_e_process(wins: Integers, losses: Integers) -> Floats:
    """Return the logarithm of the e-value at each look, for streams in rows or in one row.

    Args:
        wins: Counts so far at each look, along the last axis.
        losses: The same of losses.

    Raises:
        ValueError: A count is negative or the shapes differ.

    >>> paired_log_e_process(np.array([0, 8]), np.array([0, 0])).round(3).tolist()
    [0.0, 3.348]
    """
    wins, losses = np.asarray(wins), np.asarray(losses)
    if wins.shape != losses.shape or (wins.size and min(int(wins.min()), int(losses.min())) < 0):
        raise ValueError(
            f"wins of shape {wins.shape} and losses of shape {losses.shape} are no counts of one"
            " stream"
        )
    total = wins + losses
    most = int(total.max(initial=0)) + 1
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])
    log_wealth: Floats = (
        total * math.log(2)
        + log_factorials[wins]
        + log_factorials[losses]
        - log_factorials[total + 1]
    )
    return log_wealth


class _Bets:
    """The predictable plug-in bets of Waudby-Smith and Ramdas 2024 (JRSS B 86, equation 26), stream
    by stream.
    """

    def __init__(self, level: float) -> None:
        self._log_odds = 2 * math.log(2 / (1 - level))
        self._count = 0
        self._total: Floats = np.zeros(1)
        self._squares: Floats = np.zeros(1)

    def next(self, values: Floats) -> Floats:
        """Return the bet on each of the next values along the last axis; it depends on those before
        it alone.
        """
        steps = self._count + np.arange(1, values.shape[-1] + 1)
        totals = self._total[..., None] + np.cumsum(values, axis=-1)
        means = (0.5 + totals) / (steps + 1)
        squares = self._squares[..., None] + np.cumsum((values - means) ** 2, axis=-1)
        # The variance that a bet uses is that of the values before it.
        before = np.concatenate(
            [
                np.broadcast_to(self._squares[..., None], (*squares.shape[:-1], 1)),
                squares[..., :-1],
            ],
            axis=-1,
        )
        variances = (0.25 + before) / steps
        self._count, self._total, self._squares = int(steps[-1]), totals[..., -1], squares[..., -1]
        bets: Floats = np.sqrt(self._log_odds / (variances * steps * np.log1p(steps)))
        return bets


class ConfidenceSequence:
    """The hedged betting confidence sequence of a mean of values in a known range, one batch of
    values at a time.

    Each mean that the truth could be has a wealth, made by betting that it is not the truth; the
    true one's grows beyond ``1 / alpha`` with probability alpha at most, at all times together
    (Waudby-Smith and Ramdas 2024, section 4). A mean whose wealth has done so once stays excluded,
    so the interval never widens. Memory does not grow.
    """

    def __init__(
        self,
        *,
        level: float = LEVEL,
        low: float = 0.0,
        high: float = 1.0,
        population: int | None = None,
    ) -> None:
        """Start with all that is possible.

        Args:
            level: Strictly between 0 and 1.
            low: The least value there can be: 0 for scores, -1 for their differences.
            high: The largest.
            population: The size of the benchmark that the questions are drawn from without
                replacement; the interval is then that of its mean over all questions, and closes
                when all are asked. None for the mean over all questions that could have been
                written.

        Raises:
            ValueError: The level or the range is none, or the population is empty.
        """
        if not 0 < level < 1:
            raise ValueError(f"the level must be between 0 and 1, not {level}")
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ValueError(f"values from {low} to {high} have no range")
        if population is not None and population < 1:
            raise ValueError(f"the population must have a member, not {population}")
        self._low, self._width, self._population = low, high - low, population
        self._bets = _Bets(level)
        self._odds = 2 / (1 - level)
        self._means: Floats = np.linspace(0.0, 1.0, GRID + 1)
        self._up: Floats = np.ones(GRID + 1)
        self._down: Floats = np.ones(GRID + 1)
        self._betting_ends = (0.0, 1.0)
        self._ends = (0.0, 1.0)
        self._total = 0.0
        self.n = 0

    @property
    def lower(self) -> float:
        """Return the lower end now, in the unit of the values."""
        return self._low + self._width * self._ends[0]

    @property
    def upper(self) -> float:
        """Return the upper end now, in the unit of the values."""
        return self._low + self._width * self._ends[1]

    def extend(self, values: Sequence[float] | Floats) -> tuple[Floats, Floats]:
        """Take the next values and return the ends after each of them.

        Raises:
            ValueError: A value is NaN or outside the range, or there are more than the population
                has.
        """
        array = np.asarray(values, dtype=np.float64)
        _check_range(array, self._low, self._low + self._width)
        if self._population is not None and self.n + len(array) > self._population:
            raise ValueError(f"{self.n + len(array)} values of a population of {self._population}")
        shares = np.clip((array - self._low) / self._width, 0.0, 1.0)
        ends = np.empty((len(shares), 2))
        first = 0
        while first < len(shares):
            block = shares[first : first + min(max(_CELLS // max(len(self._means), 1), 8), _CHUNK)]
            ends[first : first + len(block)] = self._add(block, self._bets.next(block).ravel())
            first += len(block)
        return self._low + self._width * ends[:, 0], self._low + self._width * ends[:, 1]

    def _add(self, shares: Floats, bets: Floats) -> Floats:
        """Take values, and return both ends after each."""
        totals = self._total + np.cumsum(shares)
        means, logical = self._means[None, :], None
        if self._population is not None:
            # Without replacement the mean of what is left follows from the mean of all and from
            # what was seen.
            left = (self._population - self.n - np.arange(len(shares)))[:, None]
            means = (means * self._population - (totals - shares)[:, None]) / left
            # What was seen is certain, and what is left lies in the range.
            logical = totals / self._population, (totals + left[:, 0] - 1) / self._population
        self._total, self.n = float(totals[-1]), self.n + len(shares)
        ends = self._bet_on(means, shares[:, None], bets[:, None])
        if logical is not None:
            ends = np.clip(ends, logical[0][:, None], logical[1][:, None])
        self._ends = (float(ends[-1, 0]), float(ends[-1, 1]))
        return ends

    def _wealth(self, means: Floats, shares: Floats, bets: Floats) -> tuple[Floats, Floats]:
        """Return the wealth after each value of bets that each mean is too low, and too high."""
        distance = shares - means
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            up = 1 + np.minimum(bets, _SHARE_BET / np.maximum(means, 0)) * distance
            down = 1 - np.minimum(bets, _SHARE_BET / np.maximum(1 - means, 0)) * distance
            return self._up * np.cumprod(up, axis=0), self._down * np.cumprod(down, axis=0)

    def _bet_on(self, means: Floats, shares: Floats, bets: Floats) -> Floats:
        """Bet on each value (rows) against each mean (columns), and return the ends of the means
        left after each.
        """
        if not len(self._means):
            return np.tile(self._betting_ends, (len(shares), 1))
        up, down = self._wealth(means, shares, bets)
        excluded = (means < 0) | (means > 1) | (up >= self._odds) | (down >= self._odds)
        is_kept: NDArray[np.bool_] = np.logical_not(np.logical_or.accumulate(excluded, axis=0))
        alive: NDArray[np.bool_] = np.asarray(is_kept.any(axis=1))
        first, last = is_kept.argmax(axis=1), is_kept.shape[1] - 1 - is_kept[:, ::-1].argmax(axis=1)
        ends = self._ends_of(alive, first, last)
        self._betting_ends = (float(ends[-1, 0]), float(ends[-1, 1]))
        live = slice(int(first[-1]), int(last[-1]) + 1) if alive[-1] else slice(0)
        self._keep(live, up[-1], down[-1])
        return ends

    def _ends_of(
        self, alive: NDArray[np.bool_], first: NDArray[np.intp], last: NDArray[np.intp]
    ) -> Floats:
        """Return the ends after each value, which never move apart."""
        # Between the last mean that is excluded and the first that is not, the end is not known:
        # the outer one. Where all are excluded, the truth lies between two of them, and the ends
        # stay.
        lower = np.where(alive, self._means[first] - 1 / GRID, 0.0)
        upper = np.where(alive, self._means[last] + 1 / GRID, 1.0)
        lowest, highest = self._betting_ends
        lower = np.maximum.accumulate(np.maximum(lower, lowest))
        upper = np.minimum.accumulate(np.minimum(upper, highest))
        return np.stack([lower, upper], axis=1)

    def _keep(self, live: slice, up: Floats, down: Floats) -> None:
        """Go on with the means that are left."""
        self._means, self._up, self._down = self._means[live], up[live], down[live]


def betting_wealth(
    values: Floats, mean: float, *, level: float = LEVEL, population: int | None = None
) -> Floats:
    """Return the hedged wealth against one mean after each value: an e-process, of streams in rows
    or of one.

    It is ``max(up, down) / 2`` of bets on a higher and on a lower mean. With differences mapped
    from [-1, 1] to [0, 1] and a mean of one half it is the e-process of a paired comparison with
    partial credit.

    Args:
        values: In 0 to 1, along the last axis.
        mean: Strictly between 0 and 1.
        level: For which the bets are tuned; the wealth is an e-process at any.
        population: As for `ConfidenceSequence`.

    Raises:
        ValueError: A value is NaN or outside 0 to 1, the mean is not between them, or the level is
            none.
    """
    if not 0 < mean < 1 or not 0 < level < 1:
        raise ValueError(
            f"no wealth against a mean of {mean} at level {level}: both are strictly between 0"
            " and 1"
        )
    _check_range(values, 0.0, 1.0)
    bets = _Bets(level)
    lambdas = bets.next(np.atleast_2d(values)).reshape(values.shape)
    means = np.full(values.shape, mean)
    if population is not None:
        steps = np.arange(values.shape[-1])
        means = (population * mean - (np.cumsum(values, axis=-1) - values)) / (population - steps)
    possible = (means >= 0) & (means <= 1)
    clipped = np.clip(means, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        up = np.cumprod(1 + np.minimum(lambdas, _SHARE_BET / clipped) * (values - clipped), axis=-1)
        down = np.cumprod(
            1 - np.minimum(lambdas, _SHARE_BET / (1 - clipped)) * (values - clipped), axis=-1
        )
    excluded = np.logical_or.accumulate(~possible, axis=-1)
    wealth: Floats = np.where(excluded, math.inf, np.maximum(up, down) / 2)
    return wealth


class StopReason(StrEnum):
    """Why a run can stop asking."""

    BETTER = "better"
    WORSE = "worse"
    NARROW = "narrow"
    FUTILE = "futile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Where a stream of values stopped, with the interval that holds at any time."""

    n: int
    reason: StopReason | None
    """None where the values ended before any reason."""
    lower: float
    upper: float


def paired_stop_at(outcomes: Sequence[float] | Floats, *, level: float = LEVEL) -> Stopped:
    """Return the first question at which the e-process of discordant pairs decides for one of the
    two runs.

    For scores of 0 and 1; it decides sooner than the interval of the differences, which stands
    beside it.

    Args:
        outcomes: 1 where only the candidate is right, -1 where only the baseline is, else 0, in
            random order.
        level: It errs in at most ``1 - level`` of runs without a difference.

    Raises:
        ValueError: An outcome is none of these, or the level is none.

    >>> paired_stop_at([1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]).n
    10
    """
    array = np.asarray(outcomes, dtype=np.float64)
    if not np.isin(array, (-1.0, 0.0, 1.0)).all():
        raise ValueError("outcomes of pairs scored 0 or 1 are -1, 0 or 1")
    wins, losses = np.cumsum(array > 0, dtype=np.int64), np.cumsum(array < 0, dtype=np.int64)
    over = np.flatnonzero(paired_log_e_process(wins, losses) >= math.log(1 / (1 - level)))
    n = int(over[0]) + 1 if len(over) else len(array)
    lower, upper = -1.0, 1.0
    if n:
        sequence = ConfidenceSequence(level=level, low=-1.0, high=1.0)
        sequence.extend(array[:n])
        lower, upper = sequence.lower, sequence.upper
    reason = None
    if len(over):
        reason = StopReason.BETTER if wins[n - 1] > losses[n - 1] else StopReason.WORSE
    return Stopped(n=n, reason=reason, lower=lower, upper=upper)


def _check_range(values: Floats, low: float, high: float) -> None:
    bad = np.flatnonzero(~((values >= low) & (values <= high)))
    if len(bad):
        raise ValueError(
            f"value {int(bad[0])} is {values.ravel()[bad[0]]}, not between {low} and {high}"
        )
