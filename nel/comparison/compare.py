"""Compares candidates with a baseline, benchmark by benchmark, into a `Comparison` without texts.

Reading, pairing, refusal, statistics and multiplicity in this order; nothing is computed of sides
that may not be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nel.comparison.aggregates import (
    AggregateComparison,
    compare_aggregates,
    pairs_of_category,
    with_members,
)
from nel.comparison.early_stop import n_not_asked, with_honest_verdict, without_interval
from nel.comparison.fields import Difference, differences, refuse_unequal, unchecked_fields
from nel.comparison.lines import Columns, Ints
from nel.comparison.measures import Measure, Settings, measure
from nel.comparison.pairing import Pairing, needs_rows, pair
from nel.comparison.questions import Questions, is_universal
from nel.comparison.scores import REWARD, Scores, scores_of
from nel.comparison.sides import Side, SideBenchmark
from nel.decide.multiplicity import benjamini_hochberg, holm
from nel.decide.repeats import VarianceParts, variance_parts_of_sums
from nel.decide.verdict import meaningless_margin
from nel.errors import UndefinedMetric, UsageError, did_you_mean
from nel.reports.run_warnings import CALIBRATION, texts_of

_FEWEST = 2
_SLICES_MAX = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkComparison:
    """One benchmark of a candidate against the baseline's."""

    name: str
    baseline: SideBenchmark
    candidate: SideBenchmark
    pairing: Pairing
    differs: Sequence[Difference]
    """Parts that differ, and that the user waved through."""
    unchecked: Sequence[str]
    """Parts of which the files say nothing."""
    headline: Measure
    scores: Scores
    """Of the headline."""
    metrics: Sequence[Measure] = ()
    slices: Sequence[Measure] = ()
    """Of the headline, by category."""
    repeats: tuple[VarianceParts | None, VarianceParts | None] = (None, None)
    cautions: Sequence[str] = ()

    @property
    def lower_is_better(self) -> frozenset[str]:
        """Return the metrics of which either side says that less is better."""
        return self.baseline.lower_is_better | self.candidate.lower_is_better

    @property
    def n_not_asked(self) -> int:
        """Return how many pairs a stop rule of either side left unasked."""
        return n_not_asked(self.pairing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A candidate with its benchmarks against the baseline's."""

    side: Side
    benchmarks: Sequence[BenchmarkComparison]
    aggregates: Sequence[AggregateComparison]
    """Means over several of them."""
    only_baseline: Sequence[str]
    """Benchmarks and means that the candidate does not have."""
    only_candidate: Sequence[str]

    @property
    def decisive(self) -> list[Measure]:
        """Return the measures of its benchmarks, and of the means that are not part of another."""
        means = [mean.headline for mean in self.aggregates if not mean.is_part]
        return [*(benchmark.headline for benchmark in self.benchmarks), *means]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Candidates against one baseline."""

    baseline: Side
    candidates: Sequence[Candidate]
    settings: Settings
    despite: frozenset[str] = field(default_factory=frozenset)

    @property
    def family(self) -> int:
        """Return the number of comparisons that Holm's adjustment covers."""
        return sum(
            measured.tested is not None for side in self.candidates for measured in side.decisive
        )


def compare(
    sides: Sequence[Side], settings: Settings, *, despite: frozenset[str], only: Sequence[str] = ()
) -> Comparison:
    """Return the comparison of the first side with each other one.

    Args:
        sides: The baseline, then at least one candidate.
        settings: How differences are judged.
        despite: Parts that may differ.
        only: Names of the benchmarks and means to compare; empty: all that both have.

    Raises:
        UsageError: The sides may not be compared, have no benchmark in common, or hold what cannot
            be paired.
        OutputError: A file is damaged.
    """
    baseline, *others = sides
    columns: dict[tuple[str, bool], Columns] = {}
    candidates = [_candidate(baseline, side, settings, despite, only, columns) for side in others]
    return _adjust(
        Comparison(baseline=baseline, candidates=candidates, settings=settings, despite=despite)
    )


def _candidate(
    baseline: Side,
    side: Side,
    settings: Settings,
    despite: frozenset[str],
    only: Sequence[str],
    columns: dict[tuple[str, bool], Columns],
) -> Candidate:
    shared = common_benchmarks(baseline, side, with_members(only, baseline))
    compared = []
    for name, side_name in shared:
        before, after = baseline.benchmarks[name], side.benchmarks[side_name]
        # The baseline is read once for all candidates: they differ at most in whether rows matter.
        key = name, needs_rows(before, after)
        if key not in columns:
            columns[key] = before.columns(rows=key[1])
        what = f"{name} of {baseline.label} and {side.label}"
        compared.append(
            compare_benchmark(before, columns[key], after, settings, despite=despite, what=what)
        )
    side_names = {side_name for _, side_name in shared}
    mean_names, side_mean_names = baseline.aggregates.keys(), side.aggregates.keys()
    lost_names = [
        *sorted(baseline.benchmarks.keys() - dict(shared).keys()),
        *sorted(mean_names - side_mean_names),
    ]
    new_names = [
        *sorted(side.benchmarks.keys() - side_names),
        *sorted(side_mean_names - mean_names),
    ]
    return Candidate(
        side=side,
        benchmarks=compared,
        aggregates=compare_aggregates(baseline, side, compared, settings, only),
        only_baseline=[] if only else lost_names,
        only_candidate=[] if only else new_names,
    )


def common_benchmarks(
    baseline: Side, candidate: Side, only: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Return the names of benchmarks that both sides have, each as it is called on either side.

    Results of two tools match by name up to case and separators, or by being the only benchmark of
    both.

    Raises:
        UsageError: There is none, or one of `only` is missing.
    """
    folded_names = {_fold(name): name for name in candidate.benchmarks}
    pairs = [(name, name) for name in baseline.benchmarks if name in candidate.benchmarks]
    if baseline.kind != candidate.kind:
        pairs = [
            (name, folded_names[_fold(name)])
            for name in baseline.benchmarks
            if _fold(name) in folded_names
        ]
        if not pairs and len(baseline.benchmarks) == len(candidate.benchmarks) == 1:
            pairs = list(zip(baseline.benchmarks, candidate.benchmarks, strict=True))
    names = [name for name, _ in pairs]
    for name in only:
        if name not in names:
            raise UsageError(
                f'{baseline.label} and {candidate.label} have no benchmark "{name}" in'
                f" common{did_you_mean(name, names)}"
            )
    if not pairs:
        raise UsageError(
            f"no benchmark in common: {baseline.label} has"
            f" {', '.join(sorted(baseline.benchmarks))}; {candidate.label} has"
            f" {', '.join(sorted(candidate.benchmarks))}"
        )
    return sorted(names for names in pairs if not only or names[0] in only)


def compare_benchmark(
    baseline: SideBenchmark,
    columns: Columns,
    candidate: SideBenchmark,
    settings: Settings,
    *,
    despite: Collection[str],
    what: str,
) -> BenchmarkComparison:
    """Return the comparison of one benchmark.

    Raises:
        UsageError: The sides differ in a part that was not waved through, or fewer than two samples
            are in common.
    """
    others = candidate.columns(rows=needs_rows(baseline, candidate))
    pairing = pair(baseline, columns, candidate, others, by_position="pairing" in despite)
    differing = differences(baseline, candidate, pairing)
    refuse_unequal(differing, despite, what)
    if len(pairing) < _FEWEST:
        n = "one sample" if len(pairing) else "no sample"
        raise UsageError(
            f"{what}: {n} in common, and a comparison needs at least two; nothing is decided"
        )
    lower_names = baseline.lower_is_better | candidate.lower_is_better
    is_lower_better = candidate.headline in lower_names
    scores = scores_of(pairing, REWARD, is_lower_better=is_lower_better)
    _refuse_margin(settings.margin, what, are_shares=scores.unit == "rate")
    headline = measure(scores, candidate.headline, settings)
    metrics = _other_metrics(pairing, lower_names, settings)
    slices = _slices(pairing, settings, is_lower_better=is_lower_better)
    if n_not_asked(pairing):
        headline = with_honest_verdict(headline, baseline, candidate, settings)
        metrics, slices = (list(map(without_interval, measures)) for measures in (metrics, slices))
    return BenchmarkComparison(
        name=baseline.name,
        baseline=baseline,
        candidate=candidate,
        pairing=pairing,
        differs=differing,
        unchecked=unchecked_fields(baseline, candidate),
        headline=headline,
        scores=scores,
        metrics=metrics,
        slices=slices,
        repeats=(
            _variances(pairing.baseline, pairing.left),
            _variances(pairing.candidate, pairing.right),
        ),
        cautions=_cautions(baseline, candidate, pairing),
    )


def check_before_asking(side: Side, margin: float) -> None:
    """Refuse what a comparison with this side would refuse, before the other one is paid for.

    Raises:
        UsageError: The margin is larger than scores can differ.
        OutputError: A file is damaged, or the files do not agree.
    """
    for benchmark in side.benchmarks.values():
        rewards = benchmark.columns(rows=False).numbers("reward")
        scores = rewards[~np.isnan(rewards)]
        are_shares = bool(((scores >= 0) & (scores <= 1)).all())
        _refuse_margin(margin, f"{benchmark.name} of {side.label}", are_shares=are_shares)


def _refuse_margin(margin: float, what: str, *, are_shares: bool) -> None:
    problem = meaningless_margin(margin, are_shares=are_shares)
    if problem is not None:
        raise UsageError(f"{what}: margin {margin:g}: {problem}")


def _other_metrics(
    pairing: Pairing, lower_names: Collection[str], settings: Settings
) -> list[Measure]:
    """Return the metrics that both sides have, without those that repeat the reward."""
    columns = pairing.baseline.columns, pairing.candidate.columns
    measures = []
    for name in columns[0].metric_names:
        if name not in columns[1].metric_names or all(_is_reward(side, name) for side in columns):
            continue
        scores = scores_of(pairing, name, is_lower_better=name in lower_names)
        if len(scores.baseline):
            is_bounded = all(is_universal(side, name) for side in columns)
            measures.append(measure(scores, name, settings, is_bounded=is_bounded))
    return measures


def _is_reward(columns: Columns, name: str) -> bool:
    values, rewards = columns.metric(name), columns.numbers("reward")
    has_value = ~np.isnan(values)
    return bool((values[has_value] == rewards[has_value]).all() and is_universal(columns, name))


def _slices(pairing: Pairing, settings: Settings, *, is_lower_better: bool) -> list[Measure]:
    """Return the headline by category of the baseline's samples, unless there are too many."""
    names = pairing.baseline.columns.categories
    if not 1 < len(names) <= _SLICES_MAX:
        return []
    by_name = {name: pairs_of_category(pairing, name) for name in sorted(names)}
    return [
        measure(scores_of(pairs, REWARD, is_lower_better=is_lower_better), name, settings)
        for name, pairs in by_name.items()
        if len(pairs)
    ]


def _variances(questions: Questions, positions: Ints) -> VarianceParts | None:
    """Return the variance within and between questions, None without repeats."""
    if int(questions.n_repeats.max()) < _FEWEST:
        return None
    values = questions.values(questions.columns.numbers("reward"))
    scored = positions[values.n_scored[positions] > 0]
    if not np.isfinite(values.squares[scored]).all():  # squares of the largest numbers overflow
        return None
    try:
        return variance_parts_of_sums(
            values.n_scored[scored], values.scored_sum[scored], values.squares[scored]
        )
    except UndefinedMetric:
        return None  # fewer than two questions, or none of which two answers have a score


def _cautions(baseline: SideBenchmark, candidate: SideBenchmark, pairing: Pairing) -> list[str]:
    cautions = []
    if pairing.key == "position":
        cautions.append("paired by position alone: a file in another order gives another result")
    for side, name in ((baseline, "baseline"), (candidate, "candidate")):
        cautions += [f"the {name}: {text}" for text in texts_of({"warnings": side.warnings})]
    n_left_out = n_not_asked(pairing)
    if n_left_out:
        cautions.append(
            f"a stop rule ended a run early: {len(pairing) - n_left_out:,} of {len(pairing):,}"
            " pairs were asked on both sides, and intervals of a fixed number of samples do not"
            " hold for them"
        )
    return cautions


def calibration_warnings(side: SideBenchmark) -> list[str]:
    """Return what the calibration of a side's judge speaks against."""
    return texts_of({"warnings": side.warnings}, (CALIBRATION,))


def _adjust(comparison: Comparison) -> Comparison:
    """Return the comparison with p-values that are adjusted for the number of tests.

    By Holm over benchmarks and whole means, since each decides; by Benjamini-Hochberg over slices
    and metrics of a benchmark, and over parts of means.
    """
    alpha = 1 - comparison.settings.level
    every = [measured for side in comparison.candidates for measured in side.decisive]
    # Taken one by one below, in the order of `decisive`: benchmarks of a side, then its means.
    headlines = iter(_in_family(every, holm, alpha, "Holm's adjustment"))

    def adjust(benchmark: BenchmarkComparison) -> BenchmarkComparison:
        explored = _in_exploration([*benchmark.slices, *benchmark.metrics], alpha)
        n = len(benchmark.slices)
        return replace(
            benchmark, headline=next(headlines), slices=explored[:n], metrics=explored[n:]
        )

    def adjust_means(side: Candidate) -> list[AggregateComparison]:
        parts = [mean.headline for mean in side.aggregates if mean.is_part]
        explored = iter(_in_exploration(parts, alpha))
        return [
            replace(mean, headline=next(explored if mean.is_part else headlines))
            for mean in side.aggregates
        ]

    candidates = [
        replace(side, benchmarks=[*map(adjust, side.benchmarks)], aggregates=adjust_means(side))
        for side in comparison.candidates
    ]
    return replace(comparison, candidates=candidates)


def _in_exploration(measures: Sequence[Measure], alpha: float) -> list[Measure]:
    """Return measures that decide nothing with their p-values adjusted for their number."""
    return _in_family(measures, benjamini_hochberg, alpha, "Benjamini and Hochberg's adjustment")


def _in_family(
    measures: Sequence[Measure],
    adjust: Callable[[list[float]], list[float]],
    alpha: float,
    name: str,
) -> list[Measure]:
    p_values = [measured.p_value for measured in measures if measured.p_value is not None]
    adjusted_values = iter(adjust(p_values))
    family = f"{name} over {len(p_values)}" if len(p_values) > 1 else ""
    results = []
    for measured in measures:
        if measured.p_value is None:
            results.append(measured)
        else:
            p_value = next(adjusted_values)
            results.append(measured.adjust(p_value, alpha=alpha, family=family))
    return results


def _fold(name: str) -> str:
    # "GSM8K-CoT" and "gsm8k_cot" are the same benchmark.
    return "".join(character for character in name.casefold() if character.isalnum())
