"""How often intervals miss the truth at each end, by simulation; `make coverage` prints it and fails above 3 %.

    python -m tests.coverage_of_intervals.simulation [--draws 1000] [--seed 1]

`points()` lists designs, `measure(point, draws, seed)` draws from one and returns its `Figures`, and `table(figures)` is
what is printed, so that a page of the documentation can be made of the same numbers. An end may miss 2.5 % of draws; more
than 3 % and the noise of so many draws is a fault.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nel.metrics.added_question import added_question_ends
from nel.metrics.intervals import Interval, wilson_interval
from nel.metrics.question_intervals import (
    Design,
    macro_interval,
    question_interval,
    values_interval,
)
from nel.metrics.series import Series
from nel.metrics.strata import QuestionStratum, stratified_interval
from tests.coverage_of_intervals.corrected import corrected_points

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[tuple[float, float] | None, float]]
"""Draws data once and returns the ends of its interval, and the truth that they should hold."""
Method = Callable[[Floats, tuple[float, float]], tuple[float, float]]

MISSES_MAX = 0.03
"""Of draws at one end; the nominal share is 0.025."""
NOISE = 3.0
"""Standard errors of a simulated share that are allowed above it."""
CHANCES = ("beta 0.2", "beta 1", "beta 10", "constant", "two-point", "half")
LEVELS = (0.5, 0.9, 0.97, 0.99)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A design to draw from."""

    kind: str
    """``mean``, ``graded``, ``difference``, ``groups``, ``whole groups``, ``differences in groups``, ``sample``,
    ``corrected``, ``labels``, ``wilson``, ``equivalence``, ``equivalence by t`` or ``macro``."""
    name: str
    draw: Draw
    misses_max: float = MISSES_MAX
    """Higher where the method is known not to hold; the page of numbers says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a number of draws from a point gave."""

    point: Point
    draws: int
    above: float
    """Share of draws whose lower end was above the truth."""
    below: float
    """Share of draws whose upper end was below it."""
    width: float

    @property
    def coverage(self) -> float:
        """Return the share of draws whose interval held the truth."""
        return 1 - self.above - self.below

    @property
    def is_within(self) -> bool:
        """Return whether no end misses more often than it may, but for noise."""
        limit = self.point.misses_max
        return max(self.above, self.below) <= limit + NOISE * math.sqrt(limit * (1 - limit) / self.draws)


def added(values: Floats, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of the interval that nel gives."""
    return added_question_ends(values, low=bounds[0], high=bounds[1])


def chances_of(kind: str, mu: float, n: int, rng: np.random.Generator) -> Floats:
    """Return the chance of each of n questions to be answered rightly; their mean over many questions is mu."""
    if kind.startswith("beta"):
        prior = float(kind.split()[1])
        return rng.beta(mu * prior, (1 - mu) * prior, n)
    if kind == "constant":
        return np.full(n, mu)
    if kind == "two-point":  # impossible, or nearly certain
        share = min(1.0, mu / 0.995)
        return np.where(rng.random(n) < share, max(0.995, mu), 0.0)
    share = 2 * min(mu, 1 - mu)  # half: a coin, or certain
    return np.where(rng.random(n) < share, 0.5, float(mu > 0.5))


def mean_of_repeats(kind: str, n: int, repeats: int, mu: float, method: Method = added) -> Draw:
    """Return draws of question means; K of 0 is a number from 1 to 8 that differs between questions."""

    def draw(rng: np.random.Generator) -> tuple[tuple[float, float], float]:
        answers = rng.integers(1, 9, n) if repeats == 0 else np.full(n, repeats)
        values = rng.binomial(answers, chances_of(kind, mu, n, rng)) / answers
        return method(values, (0.0, 1.0)), mu

    return draw


def difference_of_runs(kind: str, n: int, repeats: tuple[int, int], mu: float, method: Method = added) -> Draw:
    """Return draws of differences: equal runs, or ``loses P`` or ``flips P`` per cent of questions wholly."""
    change, _, share = kind.partition(" ")
    rate = float(share or 0) / 100

    def draw(rng: np.random.Generator) -> tuple[tuple[float, float], float]:
        chances = chances_of("beta 1" if change != "constant" else "constant", mu, n, rng)
        other, truth = chances, 0.0
        if change == "loses":  # questions that were certain are lost
            chances = np.ones(n)
            other, truth = np.where(rng.random(n) < rate, 0.0, 1.0), -rate
        elif change == "flips":
            chances = (rng.random(n) < mu).astype(np.float64)
            turned = rng.random(n) < rate
            other, truth = np.where(turned, 1 - chances, chances), rate * (1 - 2 * mu)
        elif change == "independent":
            other = chances_of("beta 1", mu, n, rng)
        before, after = (rng.binomial(k, p) / k for k, p in zip(repeats, (chances, other), strict=True))
        return method(after - before, (-1.0, 1.0)), truth

    return draw


def _ends(interval: Interval) -> tuple[float, float] | None:
    return None if interval.lower is None or interval.upper is None else (interval.lower, interval.upper)


def graded_answers(kind: str, n: int, mu: float) -> Draw:
    """Return draws of one graded answer to each question: of a beta law, in five steps, nearly all 0.99 with rare zeros,
    or right and wrong with a tenth of the answers half right.
    """

    def draw(rng: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        truth = mu
        if kind == "steps":
            values = rng.binomial(4, rng.beta(2 * mu, 2 * (1 - mu), n)) / 4
        elif kind == "rare zeros":
            values, truth = np.where(rng.random(n) < mu, 0.99, 0.0), 0.99 * mu
        elif kind == "part credit":
            values = np.where(rng.random(n) < 0.1, 0.5, (rng.random(n) < mu).astype(np.float64))
            truth = 0.05 + 0.9 * mu
        else:
            prior = float(kind.split()[1])
            values = rng.beta(mu * prior, (1 - mu) * prior, n)
        series = Series.of(np.arange(n), values)
        return _ends(question_interval(series, Design())), truth

    return draw


def losses_in_groups(n_groups: int, size: int, rate: float) -> Draw:
    """Return draws of differences of two runs: a share of groups is wholly lost, and a few answers flip either way."""

    def draw(rng: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        codes = np.repeat(np.arange(n_groups), size)
        flips = (rng.random((2, n_groups * size)) < 0.02).astype(np.float64)
        lost = (rng.random(n_groups) < rate)[codes]
        values = np.where(lost, -1.0, flips[0] - flips[1])
        return _ends(values_interval(values, bounds=(-1.0, 1.0), codes=codes)), -rate

    return draw


def in_groups(n_groups: int, sizes: tuple[int, int], repeats: int, mu: float, prior: float) -> Draw:
    """Return draws of questions in groups that share a chance, drawn from a beta law."""

    def draw(rng: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        size = rng.integers(sizes[0], sizes[1] + 1, n_groups)
        codes = np.repeat(np.arange(n_groups), size)
        chances = rng.beta(mu * prior, (1 - mu) * prior, n_groups)[codes]
        values = rng.binomial(repeats, chances) / repeats
        return _ends(values_interval(values, codes=codes)), mu

    return draw


def of_benchmark(m: int, size: int, repeats: int, mu: float) -> Draw:
    """Return draws of m of the questions of a benchmark with two strata, all answers of which are settled."""
    fixed = np.random.default_rng(size)
    chances = np.concatenate([fixed.beta(9 * part, 9 * (1 - part), size // 2) for part in (mu, mu * 0.95)])
    whole = fixed.binomial(repeats, chances) / repeats

    def draw(rng: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        strata = [
            QuestionStratum(values=rng.choice(part, m // 2, replace=False), size=len(part))
            for part in np.split(whole, 2)
        ]
        return _ends(stratified_interval(strata, is_single=False)), float(whole.mean())

    return draw


def single_answers(n: int, mu: float) -> Draw:
    """Return draws of one answer to each question, right or wrong, with Wilson's interval."""

    def draw(rng: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        return _ends(wilson_interval(float(rng.binomial(n, mu)), n)), mu

    return draw


def students_t(values: Floats, bounds: tuple[float, float], level: float = 0.95) -> tuple[float, float]:
    """Return Student's ends; no width without a spread."""
    interval = values_interval(values, bounds=None, level=level)
    mean = float(values.mean())
    return (mean, mean) if interval.lower is None or interval.upper is None else (interval.lower, interval.upper)


def equivalence(values: Floats, bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of level 90 % on which EQUIVALENT rests."""
    return added_question_ends(values, low=bounds[0], high=bounds[1], level=0.9)


def macro_of(sizes: Sequence[int], repeats: int, mu: float) -> Draw:
    """Return draws of a plain mean over benchmarks of several sizes."""

    def draw(rng: np.random.Generator) -> tuple[tuple[float, float] | None, float]:
        parts = [rng.binomial(repeats, chances_of("beta 1", mu, n, rng)) / repeats for n in sizes]
        return _ends(macro_interval(parts)), mu

    return draw


def points() -> Iterator[Point]:
    """Yield all designs."""
    yield from _means()
    yield from _means_by_t()
    yield from _differences()
    yield from _groups()
    yield from _graded()
    yield from _others()


def _means() -> Iterator[Point]:
    for n in (5, 10, 30, 100, 164, 500):
        for repeats in (2, 4, 8, 0):
            for mu in LEVELS:
                for kind in CHANCES:
                    name = f"{kind}, n {n}, K {repeats or '1 to 8'}, mu {mu:g}"
                    yield Point(kind="mean", name=name, draw=mean_of_repeats(kind, n, repeats, mu))


def _means_by_t() -> Iterator[Point]:
    for n, mu in ((30, 0.5), (30, 0.97), (100, 0.99)):
        for kind in CHANCES:
            draw = mean_of_repeats(kind, n, 4, mu, students_t)
            yield Point(kind="mean by t", name=f"{kind}, n {n}, K 4, mu {mu:g}", draw=draw, misses_max=1.0)


def _differences() -> Iterator[Point]:
    changes = ("equal", "constant", "independent", *(f"{what} {p}" for what in ("loses", "flips") for p in (1, 3, 10)))
    for n in (10, 30, 100):
        for both in ((2, 2), (4, 4), (8, 8), (1, 4), (4, 1)):
            for mu in (0.5, 0.9, 0.97):
                for kind in changes:
                    name = f"{kind}, n {n}, K {both[0]} and {both[1]}, mu {mu:g}"
                    yield Point(kind="difference", name=name, draw=difference_of_runs(kind, n, both, mu))


def _groups() -> Iterator[Point]:
    for n_groups in (5, 7, 10, 20, 100):
        for sizes in ((1, 8), (2, 6), (20, 40), (1, 100)):
            for mu in (0.5, 0.7, 0.88, 0.97):
                for prior in (0.2, 0.5, 4.0, 1000.0):
                    name = f"{n_groups} groups of {sizes[0]} to {sizes[1]}, beta {prior:g}, mu {mu:g}"
                    kind = "whole groups" if prior < 1 else "groups"
                    repeats = 1 if n_groups == 7 else 4
                    yield Point(kind=kind, name=name, draw=in_groups(n_groups, sizes, repeats, mu, prior))
    for n_groups, size in ((10, 5), (10, 30), (30, 5), (30, 30), (100, 5)):
        for rate in (0.0, 0.01, 0.03, 0.1):
            name = f"{n_groups} groups of {size}, {rate:.0%} lost"
            draw = losses_in_groups(n_groups, size, rate)
            yield Point(kind="differences in groups", name=name, draw=draw, misses_max=0.06)


def _graded() -> Iterator[Point]:
    for n in (5, 10, 30, 100, 164, 500):
        for mu in (0.3, 0.5, 0.9, 0.97, 0.99):
            for kind in ("beta 0.5", "beta 4", "beta 40", "steps", "rare zeros", "part credit"):
                draw = graded_answers(kind, n, mu)
                limit = 0.1 if kind in ("part credit", "rare zeros") else MISSES_MAX  # nearly Wilson's, near 1
                yield Point(
                    kind=kind if limit > MISSES_MAX else "graded",
                    name=f"{kind}, n {n}, mu {mu:g}",
                    draw=draw,
                    misses_max=limit,
                )


def _others() -> Iterator[Point]:
    for m in (20, 100, 400, 1000):
        for mu in (0.6, 0.9, 0.98):
            yield Point(kind="sample", name=f"{m} of 1,326, K 4, mu {mu:g}", draw=of_benchmark(m, 1326, 4, mu))
    for kind, name, drawing in corrected_points():
        yield Point(kind=kind, name=name, draw=drawing)
    for n in (5, 10, 30, 100, 300):
        for mu in (0.5, 0.9, 0.97, 0.99):
            yield Point(kind="wilson", name=f"n {n}, K 1, mu {mu:g}", draw=single_answers(n, mu), misses_max=1.0)
    for n, what, repeats in ((30, "loses 3", 4), (30, "loses 3", 8), (100, "loses 1", 4), (100, "loses 3", 4)):
        for kind, method, limit in (
            ("equivalence", equivalence, 0.055),
            ("equivalence by t", partial(students_t, level=0.9), 1.0),
        ):
            draw = difference_of_runs(what, n, (repeats, repeats), 0.9, method)
            yield Point(kind=kind, name=f"{what} %, n {n}, K {repeats}", draw=draw, misses_max=limit)
    for sizes in ((10, 30, 100, 300, 1000), tuple([10, 20, 50] * 19)):
        for mu in (0.5, 0.9, 0.97):
            name = f"{len(sizes)} benchmarks of {min(sizes)} to {max(sizes)}, K 4, mu {mu:g}"
            yield Point(kind="macro", name=name, draw=macro_of(sizes, 4, mu))


def worst_points(method: Method = added) -> Iterator[Point]:
    """Yield twelve designs at which Student's t misses most."""
    means = [
        ("beta 0.2", 30, 4, 0.97),
        ("constant", 30, 4, 0.99),
        ("beta 1", 100, 4, 0.99),
        ("two-point", 30, 8, 0.97),
        ("beta 0.2", 100, 2, 0.99),
        ("half", 30, 4, 0.9),
        ("beta 10", 10, 8, 0.9),
        ("beta 0.2", 100, 0, 0.97),
    ]
    for kind, n, repeats, mu in means:
        draw = mean_of_repeats(kind, n, repeats, mu, method)
        yield Point(kind="mean", name=f"{kind}, n {n}, K {repeats or '1 to 8'}, mu {mu:g}", draw=draw)
    for kind, n, repeats in (("loses 3", 30, 4), ("loses 1", 100, 4), ("loses 10", 10, 8), ("flips 3", 30, 2)):
        draw = difference_of_runs(kind, n, (repeats, repeats), 0.9, method)
        yield Point(kind="difference", name=f"{kind}, n {n}, K {repeats}", draw=draw)


def measure(point: Point, draws: int, seed: int) -> Figures:
    """Return what so many draws from a point give; the same seed gives the same figures."""
    rng = np.random.default_rng(seed)
    above = below = 0
    width = 0.0
    for _ in range(draws):
        ends, truth = point.draw(rng)
        lower, upper = ends or (-math.inf, math.inf)
        above += lower > truth + 1e-12
        below += upper < truth - 1e-12
        width += upper - lower if ends else 0.0
    return Figures(point=point, draws=draws, above=above / draws, below=below / draws, width=width / draws)


def table(figures: Sequence[Figures]) -> str:
    """Return the worst points of each kind, and a line for every one that misses too often."""
    lines = [f"{'kind':21} {'points':>6} {'coverage':>9} {'above':>6} {'below':>6} {'width':>6}  worst point"]
    for kind in dict.fromkeys(one.point.kind for one in figures):
        group = [one for one in figures if one.point.kind == kind]
        worst = max(group, key=lambda one: max(one.above, one.below))
        lines.append(
            f"{kind:21} {len(group):6} {min(one.coverage for one in group):9.1%}"
            f" {max(one.above for one in group):6.1%} {max(one.below for one in group):6.1%}"
            f" {sum(one.width for one in group) / len(group):6.3f}  {worst.point.name}"
        )
    lines += [*means_by_questions(figures), *widths_beside_t(figures)]
    lines += [
        f"MISSES: {one.point.kind}, {one.point.name}: {one.above:.1%} above, {one.below:.1%} below"
        for one in figures
        if not one.is_within
    ]
    return "\n".join(lines)


def means_by_questions(figures: Sequence[Figures]) -> Iterator[str]:
    """Yield the table of the page: by questions and score the worst coverage of a mean, and its ends."""
    means = [one for one in figures if one.point.kind == "mean" and "K 1 to 8" not in one.point.name]
    for n in (10, 30, 100, 164, 500) if means else ():
        cells = []
        for mu in LEVELS:
            cell = [one for one in means if f"n {n}," in one.point.name and one.point.name.endswith(f"mu {mu:g}")]
            above, below = max(one.above for one in cell), max(one.below for one in cell)
            cells.append(f"{min(one.coverage for one in cell):.1%} ({above:.1%}, {below:.1%})")
        yield f"{n:4} questions at {', '.join(map(str, LEVELS))}: {', '.join(cells)}"


def widths_beside_t(figures: Sequence[Figures]) -> Iterator[str]:
    """Yield how wide the intervals of means are beside Student's t, and what that covers."""
    ours = {one.point.name: one for one in figures if one.point.kind == "mean"}
    pairs = [(one, ours[one.point.name]) for one in figures if one.point.kind == "mean by t" and one.point.name in ours]
    for end in dict.fromkeys(by_t.point.name.partition(", ")[2] for by_t, _ in pairs):
        same = [(by_t, own) for by_t, own in pairs if by_t.point.name.endswith(end)]
        ratios = sorted(own.width / by_t.width for by_t, own in same if by_t.width)
        worst = min(by_t.coverage for by_t, _ in same)
        above = max(by_t.above for by_t, _ in same)
        yield f"{end}: {ratios[0]:.2f} to {ratios[-1]:.2f} times as wide as t, which covers {worst:.1%} ({above:.1%} above)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the exit code says whether every end holds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="")
    parser.add_argument("--all", action="store_true", help="a line for each point")
    chosen = parser.parse_args(arguments)
    figures = [
        measure(point, chosen.draws, chosen.seed + number)
        for number, point in enumerate(points())
        if chosen.kind in ("", point.kind)
    ]
    if chosen.all:
        for one in figures:
            sys.stdout.write(
                f"{one.point.kind}; {one.point.name}; {one.coverage:.4f}; {one.above:.4f}; {one.below:.4f}; {one.width:.4f}\n"
            )
    sys.stdout.write(table(figures) + "\n")
    return 0 if all(one.is_within for one in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
