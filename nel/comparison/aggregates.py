"""Means over several benchmarks of two runs, compared by the pairs of their members."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from typing import Any, Protocol, TypeAlias

import numpy as np

from nel.artifacts.aggregates import HEADLINES, QUESTIONS_MAX
from nel.artifacts.files import directory_name
from nel.comparison.agreement import metric_keys
from nel.comparison.early_stop import without_interval
from nel.comparison.lines import Columns, Floats, Ints
from nel.comparison.measures import Measure, Settings, measure
from nel.comparison.pairing import Pairing
from nel.comparison.questions import questions_of
from nel.comparison.scores import (
    REWARD,
    Headline,
    Members,
    Scores,
    line_values,
    question_ends,
    scores_of,
)
from nel.comparison.sides import Side, SideBenchmark
from nel.config.schema.run import split_category
from nel.core.reward_keys import OF_ANY_REWARD
from nel.decide.paired import PairedDesign
from nel.decide.verdict import Verdict
from nel.types import JsonObject

MemberScores: TypeAlias = Mapping[tuple[str, str], Scores]
"""By the name of a member and of the metric."""


class PairedBenchmark(Protocol):
    """A benchmark that two sides have."""

    @property
    def baseline(self) -> SideBenchmark:
        """The baseline's side."""

    @property
    def pairing(self) -> Pairing:
        """The questions that both sides have."""

    @property
    def n_not_asked(self) -> int:
        """How many pairs a stop rule of either side left unasked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateComparison:
    """A mean of a candidate against the baseline's."""

    name: str
    is_part: bool
    """Whether another mean of the run has all its benchmarks and more."""
    benchmarks: Sequence[str]
    """The folders of its benchmarks."""
    weights: Mapping[str, float]
    missing: Mapping[str, str]
    """Members without a value on a side, and why."""
    blockers: Sequence[str]
    """Why nothing is decided in the candidate's favour, whatever the numbers are."""
    is_stopped: bool
    """Whether a stop rule left some of its questions unasked."""
    headline: Measure
    scores: Scores | None
    """None where the two sides are not means of the same."""


def benchmarks_of(row: JsonObject) -> list[str]:
    """Return the folders of the benchmarks of a mean."""
    names = (split_category(slot)[0] for slot in row["weights"])
    return list(dict.fromkeys(map(directory_name, names)))


def pairs_of_category(pairing: Pairing, name: str) -> Pairing:
    """Return the pairs whose question the baseline has in a category."""
    codes = pairing.baseline.codes_of("category")[pairing.left]
    names = pairing.baseline.columns.categories
    pairs = np.flatnonzero(codes == names.index(name)) if name in names else np.array([], int)
    return replace(pairing, left=pairing.left[pairs], right=pairing.right[pairs])


def member_scores(
    rows: Iterable[JsonObject], pairing: Pairing, benchmark: SideBenchmark
) -> dict[tuple[str, str], Scores]:
    """Return the scores of the members of means that are a benchmark, or a category of it.

    Args:
        rows: Of aggregates.json.
        pairing: Of the benchmark.
        benchmark: Of either side.
    """
    directory, headline = benchmark.directory, benchmark.headline
    scores = {}
    for metric, slot in {(row["name"], slot) for row in rows for slot in row["weights"]}:
        name, category = split_category(slot)
        if directory_name(name) != directory:
            continue
        pairs = pairs_of_category(pairing, category) if category else pairing
        key = _key_of(pairing.baseline.columns, metric, headline)
        if len(pairs) and key is not None:
            name = headline if isinstance(key, Headline) else key
            is_lower_better = name in benchmark.lower_is_better
            scores[slot, metric] = scores_of(pairs, key, is_lower_better=is_lower_better)
    return scores


def member_ends(
    row: JsonObject, benchmarks: Mapping[str, SideBenchmark]
) -> dict[str, tuple[Ints, Floats, Floats, Floats]]:
    """Return, by member of a mean, its questions with their scored means and bounds.

    A tuple has the numbers of the questions, their means over scored repeats (NaN where none is
    scored), and their least and greatest means had every repeat been scored. Members that are
    missing, or whose metric is not in the lines, are left out.

    Args:
        row: Of aggregates.json, of scores from 0 to 1.
        benchmarks: Of its run, by folder.
    """
    ends = {}
    directories = list(benchmarks)
    for slot in row["weights"].keys() - row["missing"].keys():
        name, category = split_category(slot)
        directory = directory_name(name)
        benchmark = benchmarks[directory]
        columns = benchmark.columns(rows=False)
        key = _key_of(columns, row["name"], benchmark.headline)
        if key is None:
            continue
        questions = questions_of(columns, "sample", str(benchmark.path))
        values = line_values(columns, key)
        positions = np.arange(len(questions))
        if category:
            if category not in columns.categories:
                continue
            code = columns.categories.index(category)
            positions = np.flatnonzero(questions.codes_of("category") == code)
        mean, (low, high) = question_ends(questions, values, positions, (0.0, 1.0))
        ends[slot] = positions + directories.index(directory) * QUESTIONS_MAX, mean, low, high
    return ends


def _key_of(columns: Columns, metric: str, headline: str) -> str | Headline | None:
    """Return the key of a mean's metric in lines; None where it is not certain."""
    if metric in (HEADLINES, headline):
        return REWARD
    key = metric_keys(columns, headline).get(metric)
    # A category names its headline by its own scores: accuracy if all happen to be 0 or 1, though
    # the benchmark's headline is a mean of other numbers.
    return REWARD if key is None and {metric, headline} <= {*OF_ANY_REWARD} else key


def compare_aggregates(
    baseline: Side,
    candidate: Side,
    compared: Sequence[PairedBenchmark],
    settings: Settings,
    only: Sequence[str] = (),
) -> list[AggregateComparison]:
    """Return the comparisons of means that both sides have; means that are part of others are last.

    A mean over a benchmark that a stop rule ended has no interval.

    Args:
        baseline: One side.
        candidate: The other.
        compared: The benchmarks that both have.
        settings: How differences are judged.
        only: Names of means; empty: all.
    """
    scores: dict[tuple[str, str], Scores] = {}
    unasked = {benchmark.baseline.directory for benchmark in compared if benchmark.n_not_asked}
    for benchmark in compared:
        rows = baseline.aggregates.values()
        scores |= member_scores(rows, benchmark.pairing, benchmark.baseline)
    aggregates = [
        compare_aggregate(name, row, candidate.aggregates[name], scores, settings, unasked)
        for name, row in baseline.aggregates.items()
        if name in candidate.aggregates and (not only or name in only)
    ]
    return sorted(aggregates, key=attrgetter("is_part"))


def with_members(names: Sequence[str], side: Side) -> list[str]:
    """Return names of benchmarks and means, with each mean replaced by its benchmarks."""
    titles = {benchmark.directory: name for name, benchmark in side.benchmarks.items()}
    members = {
        name: [titles[slot] for slot in benchmarks_of(row) if slot in titles]
        for name, row in side.aggregates.items()
        if name not in side.benchmarks
    }
    benchmarks = (members.get(name, [name]) for name in names)
    return list(dict.fromkeys(chain.from_iterable(benchmarks)))


def compare_aggregate(
    title: str,
    before: JsonObject,
    after: JsonObject,
    scores: MemberScores,
    settings: Settings,
    unasked: Collection[str] = (),
) -> AggregateComparison:
    """Return the comparison of a mean; one that lacks a member has bounds alone.

    Args:
        title: Its name.
        before: The baseline's row of aggregates.json.
        after: The candidate's.
        scores: Of the pairs of its members.
        settings: How the difference is judged.
        unasked: Folders of benchmarks that a stop rule ended.
    """
    metric, weights = before["name"], before["weights"]
    missing = {**before["missing"], **after["missing"]}
    for slot in weights:
        if (slot, metric) not in scores:
            missing.setdefault(slot, "it has no pair")
    present = {slot: scores[slot, metric] for slot in weights if slot not in missing}
    mismatch = _mismatch(before, after)
    if len({member.is_lower_better for member in present.values()}) > 1:
        mismatch = mismatch or "of some of its members more is better, and of others less"
    without = [f"without {name}: {reason}" for name, reason in missing.items()]
    stopped = [f"a stop rule ended {slot}" for slot in benchmarks_of(before) if slot in unasked]
    joined = None
    headline = _empty_measure(before, mismatch or "nothing is paired")
    if present and not mismatch:
        joined = joined_scores(present, weights)
        headline = measure(joined, metric, settings)
        if stopped:
            headline = without_interval(headline)
        if without:
            headline = replace(headline, reason="; ".join(without))
    return AggregateComparison(
        name=title,
        is_part=before["is_part"],
        benchmarks=benchmarks_of(before),
        weights=weights,
        missing=missing,
        blockers=[*filter(None, [mismatch]), *without, *stopped],
        is_stopped=bool(stopped),
        headline=headline,
        scores=joined,
    )


def _empty_measure(row: JsonObject, reason: str) -> Measure:
    """Return the measure of a mean that has no value."""
    return Measure(
        metric=row["name"],
        n_pairs=0,
        n_scored=0,
        baseline=None,
        candidate=None,
        tested=None,
        bounds=None,
        verdict=Verdict.INCONCLUSIVE,
        reason=reason,
        unit=row["unit"],
    )


def _mismatch(before: JsonObject, after: JsonObject) -> str:
    """Return how two means differ in benchmarks, weights or metric; empty if they do not."""
    weights, others = before["weights"], after["weights"]
    if not weights or not others:
        return str((after if weights else before)["reason"])
    for slot in sorted({*weights, *others}):
        pair = weights.get(slot, 0.0), others.get(slot, 0.0)
        if not math.isclose(*pair, rel_tol=0, abs_tol=1e-9):
            return f"{slot} weighs {pair[0]:.4g} in the baseline's and {pair[1]:.4g} here"
    if before["name"] == after["name"]:
        return ""
    return f"it is a mean of {before['name']}, and of {after['name']} here"


def joined_scores(scores: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    """Return the scores of a mean: those of its members, one after another.

    Args:
        scores: Of each member that has pairs, by its slot; at least one.
        weights: Of all members.
    """
    parts = list(scores.values())

    def values_of(name: str, end: int | None = None) -> Any:
        values = [getattr(part, name) for part in parts]
        return np.concatenate(values if end is None else [ends[end] for ends in values])

    codes = np.repeat(np.arange(len(parts)), [len(part.baseline) for part in parts])
    # An offset keeps questions and clusters of different benchmarks apart; categories of one
    # benchmark share it. Without clusters each question is one, counted down from -1 so that its
    # number is not that of a cluster.
    benchmarks = [split_category(slot)[0] for slot in scores]
    firsts = np.array([benchmarks.index(name) for name in benchmarks])[codes] * QUESTIONS_MAX
    clusters = None
    if any(part.clusters is not None for part in parts):
        of_parts = [
            -1 - part.questions if part.clusters is None else part.clusters for part in parts
        ]
        clusters = np.concatenate(of_parts) + firsts
    is_rate = all(part.unit == "rate" for part in parts)
    return Scores(
        baseline=values_of("baseline"),
        candidate=values_of("candidate"),
        baseline_ends=(values_of("baseline_ends", 0), values_of("baseline_ends", 1)),
        candidate_ends=(values_of("candidate_ends", 0), values_of("candidate_ends", 1)),
        clusters=clusters,
        design=PairedDesign(bounds=(-1.0, 1.0) if is_rate else (-math.inf, math.inf)),
        questions=values_of("questions") + firsts,
        members=Members(codes=codes, weights=[weights[slot] for slot in scores]),
        is_lower_better=parts[0].is_lower_better,
    )
