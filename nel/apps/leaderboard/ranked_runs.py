"""Ranks runs by the scores of their rules: every pair compared on every benchmark.

Pairs are made by content, and refused where dataset, prompt, scorer, judge or decoding differ, as
`nel compare` does.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from nel.comparison.aggregates import (
    compare_aggregate,
    joined_scores,
    member_scores,
    with_members,
)
from nel.comparison.compare import common_benchmarks
from nel.comparison.early_stop import n_not_asked
from nel.comparison.fields import differences, refuse_unequal
from nel.comparison.measures import Measure, Settings, measure
from nel.comparison.pairing import Pairing, needs_rows, pair
from nel.comparison.questions import Questions
from nel.comparison.scores import REWARD, Scores, scores_of
from nel.comparison.sides import Side, SideBenchmark
from nel.core.scaling import mean_of
from nel.core.texts import count_text
from nel.decide.multiplicity import holm
from nel.decide.ranks import one_sided, rank_intervals
from nel.decide.verdict import Verdict
from nel.errors import UsageError
from nel.reports.run_warnings import texts_of
from nel.types import JsonObject
from nel.version import __version__

OVERALL: Final = "mean of all benchmarks"
METHOD: Final = "all pairs, one-sided tests of both directions, Holm over the table"
_FEWEST: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Duel:
    """Two runs on one benchmark, or on all."""

    benchmark: str
    left: int
    right: int
    difference: float | None
    """The left one's mean minus the right one's, over the pairs that both have scored."""
    n: int
    unit: Literal["rate", "number"]
    """Of the scores."""
    p_left: float
    """One-sided, that the left one is not better; 1 where the verdict of the comparison is not."""
    p_right: float
    """The same of the right one."""
    reason: str


def standings_json(
    sides: Sequence[Side],
    *,
    despite: Collection[str] = (),
    only: Sequence[str] = (),
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Return the leaderboard of runs on the benchmarks and means that all of them have.

    Args:
        sides: At least two, finished.
        despite: Parts that may differ.
        only: Names of the benchmarks and means; empty: all.
        level: All rank intervals of the table hold at once with this probability.
        seed: Of random sign flips, where there are too many to count.

    Raises:
        UsageError: There is one run alone, nothing in common, or a part differs.
        OutputError: A file is damaged.
    """
    if len(sides) < _FEWEST:
        raise UsageError("a leaderboard needs at least two runs")
    names = _common(sides, with_members(only, sides[0]))
    in_all = set(sides[0].aggregates).intersection(*(side.aggregates for side in sides))
    means = [title for title in sides[0].aggregates if title in in_all]
    if only:
        means = [title for title in means if title in only]
    settings = Settings(level=level, seed=seed)
    duels, scores_by_name = _compare_all(sides, names, means, settings, despite)
    # Each duel has two hypotheses, one after the other, and `holm` returns them in that order.
    p_values = holm([p for duel in duels for p in (duel.p_left, duel.p_right)])
    pairs_of_p = zip(p_values[::2], p_values[1::2], strict=True)
    tested = list(zip(duels, pairs_of_p, strict=True))
    warnings = []
    for name in names:
        for side in sides:
            texts = texts_of({"warnings": side.benchmarks[name].warnings})
            warnings += [f"{side.label}, {name}: {text}" for text in texts]
    return {
        "sdk": f"nel {__version__}",
        "level": level,
        "method": METHOD,
        "n_tests": len(p_values),
        "despite": sorted(despite),
        "runs": [
            {"label": side.label, "run_id": side.run_id, "models": list(side.models)}
            for side in sides
        ],
        "benchmarks": [
            _benchmark_json(name, scores, tested, 1 - level)
            for name, scores in scores_by_name.items()
        ],
        "warnings": warnings,
    }


def _compare_all(
    sides: Sequence[Side],
    names: Sequence[str],
    means: Sequence[str],
    settings: Settings,
    despite: Collection[str],
) -> tuple[list[_Duel], dict[str, list[float | None]]]:
    """Return all duels, and the scores by benchmark; of several benchmarks also of their mean, and
    of the means that the runs name.
    """
    duels: list[_Duel] = []
    scores: dict[str, list[float | None]] = {}
    members = _Members(n_runs=len(sides))
    for name in names:
        of_benchmark, scores[name] = _duels(sides, name, settings, despite, members)
        duels += of_benchmark
    if len(names) > 1:
        duels += members.overall(len(names), settings)
        scores[OVERALL] = [_mean_of_all(of_run) for of_run in zip(*scores.values(), strict=True)]
    for title in means:
        rows = [side.aggregates[title] for side in sides]
        name = f"{title} (mean)" if title in scores else title
        duels += members.duels(name, rows, settings)
        scores[name] = [row["value"] for row in rows]
    return duels, scores


@dataclass(slots=True)
class _Members:
    """The pairs of all benchmarks so far, of which means are made."""

    n_runs: int
    scores: dict[tuple[int, int], dict[tuple[str, str], Scores]] = field(default_factory=dict)
    """By the two runs, then by the names of member and metric."""
    headlines: dict[tuple[int, int], dict[str, Scores]] = field(default_factory=dict)
    """By the two runs, then by the benchmark's folder."""
    unasked: dict[tuple[int, int], dict[str, int]] = field(default_factory=dict)
    """Likewise."""

    def add(
        self, runs: tuple[int, int], side: Side, name: str, pairing: Pairing, headline: Scores
    ) -> None:
        """Add a benchmark of two runs, of which the side is one."""
        benchmark = side.benchmarks[name]
        scores = member_scores(side.aggregates.values(), pairing, benchmark)
        self.scores.setdefault(runs, {}).update(scores)
        self.headlines.setdefault(runs, {})[benchmark.directory] = headline
        n_unasked = n_not_asked(pairing)
        if n_unasked:
            self.unasked.setdefault(runs, {})[benchmark.directory] = n_unasked

    def duels(self, name: str, rows: Sequence[JsonObject], settings: Settings) -> Iterator[_Duel]:
        """Yield every pair of runs on a mean, whose row each run has."""
        for left, right in itertools.combinations(range(self.n_runs), 2):
            unasked = self.unasked.get((left, right), {})
            scores = self.scores.get((left, right), {})
            compared = compare_aggregate(name, rows[right], rows[left], scores, settings, unasked)
            n_unasked = sum(unasked.get(directory, 0) for directory in compared.benchmarks)
            yield _duel(name, left, right, compared.headline, n_unasked)

    def overall(self, n_benchmarks: int, settings: Settings) -> Iterator[_Duel]:
        """Yield every pair of runs on the mean of all benchmarks, of which each weighs the same."""
        for left, right in itertools.combinations(range(self.n_runs), 2):
            headlines = self.headlines[left, right]
            weights = dict.fromkeys(headlines, 1 / n_benchmarks)
            compared = measure(joined_scores(headlines, weights), OVERALL, settings)
            n_unasked = sum(self.unasked.get((left, right), {}).values())
            yield _duel(OVERALL, left, right, compared, n_unasked)


def _common(sides: Sequence[Side], only: Sequence[str]) -> list[str]:
    common = [left for left, right in common_benchmarks(sides[0], sides[1], only) if left == right]
    names = [name for name in common if all(name in side.benchmarks for side in sides)]
    if not names:
        names_by_run = "; ".join(
            f"{side.label} has {', '.join(sorted(side.benchmarks))}" for side in sides
        )
        raise UsageError(f"no benchmark that all runs have: {names_by_run}")
    return names


def _duels(
    sides: Sequence[Side],
    name: str,
    settings: Settings,
    despite: Collection[str],
    members: _Members,
) -> tuple[list[_Duel], list[float | None]]:
    """Return every pair of runs on a benchmark, and the score of each run."""
    benchmarks = [side.benchmarks[name] for side in sides]
    rows = any(itertools.starmap(needs_rows, itertools.combinations(benchmarks, 2)))
    columns = [benchmark.columns(rows=rows) for benchmark in benchmarks]
    _refuse_lower(name, benchmarks)
    duels: list[_Duel] = []
    scores: list[float | None] = [None] * len(sides)
    for left, right in itertools.combinations(range(len(sides)), 2):
        # The right one is the baseline, so that a positive difference is the left one's lead.
        baseline, candidate = benchmarks[right], benchmarks[left]
        pairing = pair(
            baseline, columns[right], candidate, columns[left], by_position="pairing" in despite
        )
        what = f"{name} of {sides[left].label} and {sides[right].label}"
        refuse_unequal(differences(baseline, candidate, pairing), despite, what)
        paired = scores_of(pairing, REWARD)
        members.add((left, right), sides[right], name, pairing, paired)
        compared = measure(paired, candidate.headline, settings)
        duels.append(_duel(name, left, right, compared, n_not_asked(pairing)))
        scores[left], scores[right] = _mean_of(pairing.candidate), _mean_of(pairing.baseline)
    return duels, scores


def _refuse_lower(name: str, benchmarks: Sequence[SideBenchmark]) -> None:
    """Refuse to rank by a metric of which less is better.

    Raises:
        UsageError: A run says that of its headline.
    """
    for benchmark in benchmarks:
        if benchmark.headline in benchmark.lower_is_better:
            raise UsageError(
                f"{name}: less is better of {benchmark.headline}, and a leaderboard ranks by what"
                " more is better of; compare two runs with nel compare, or name other benchmarks"
                " with --bench"
            )


def _duel(name: str, left: int, right: int, compared: Measure, n_unasked: int) -> _Duel:
    difference, reason = compared.tested, compared.reason
    if n_unasked:
        reason = (
            f"a stop rule left {count_text(n_unasked, 'pair')} unasked, and these intervals are for a"
            " fixed number of samples"
        )
    duel = _Duel(
        benchmark=name,
        left=left,
        right=right,
        difference=None if difference is None else difference.estimate,
        n=compared.n_scored,
        unit=compared.unit,
        p_left=1.0,
        p_right=1.0,
        reason=reason,
    )
    if difference is None or n_unasked:
        return duel
    tests = [difference]
    reason = ""
    if compared.bounds is not None:
        tests += compared.bounds
        reason = "the order has to hold however the unscored samples would be scored"
    # The claim needs the verdict and every test, so the largest p-value counts (an
    # intersection-union test).
    p_values = [one_sided(test.estimate, test.p_value) for test in tests]
    p_left, p_right = map(max, zip(*p_values, strict=True))
    return replace(
        duel,
        p_left=p_left if compared.verdict is Verdict.BETTER else 1.0,
        p_right=p_right if compared.verdict is Verdict.WORSE else 1.0,
        reason=reason,
    )


def _benchmark_json(
    name: str,
    scores: Sequence[float | None],
    duels: Sequence[tuple[_Duel, tuple[float, float]]],
    alpha: float,
) -> dict[str, Any]:
    duels = [(duel, p_values) for duel, p_values in duels if duel.benchmark == name]
    claims = [(duel.left, duel.right) for duel, (p_left, _) in duels if p_left <= alpha]
    claims += [(duel.right, duel.left) for duel, (_, p_right) in duels if p_right <= alpha]
    intervals = rank_intervals(len(scores), claims)
    return {
        "name": name,
        "unit": "rate" if all(duel.unit == "rate" for duel, _ in duels) else "number",
        "ranks": [
            {
                "run": run,
                "score": scores[run],
                "rank": _rank(scores, run),
                "rank_lower": lower,
                "rank_upper": upper,
            }
            for run, (lower, upper) in enumerate(intervals)
        ],
        "pairs": [
            {
                "left": duel.left,
                "right": duel.right,
                "difference": duel.difference,
                "n": duel.n,
                "p_left_better": p_left,
                "p_right_better": p_right,
                "reason": duel.reason,
            }
            for duel, (p_left, p_right) in duels
        ],
    }


def _rank(scores: Sequence[float | None], run: int) -> int | None:
    score = scores[run]
    if score is None:
        return None
    return 1 + sum(rival is not None and rival > score for rival in scores)


def _mean_of(questions: Questions) -> float | None:
    """Return a run's own score: the mean over its scored questions of the mean of each."""
    values = questions.values(questions.columns.numbers("reward"))
    has_score = values.n_scored > 0
    return mean_of(values.mean[has_score].tolist()) if has_score.any() else None


def _mean_of_all(scores: Sequence[float | None]) -> float | None:
    numbers = [score for score in scores if score is not None]
    return sum(numbers) / len(numbers) if len(numbers) == len(scores) else None
