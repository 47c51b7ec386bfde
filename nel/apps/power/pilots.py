"""Reads earlier runs for what a plan needs: variances, discordant pairs, clusters, and costs.

Depends on `nel.comparison` for the lines of a run and their pairing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from nel.comparison.compare import common_benchmarks
from nel.comparison.lines import Columns, Floats, Ints
from nel.comparison.pairing import pair
from nel.comparison.questions import Key, Questions, cluster_ids, questions_of
from nel.comparison.reading import read_sides
from nel.comparison.sides import Side, SideBenchmark
from nel.decide.plans import Pilot, Resources
from nel.decide.power import Variances
from nel.decide.repeats import variance_parts_of_sums
from nel.errors import UndefinedMetric, UsageError, did_you_mean
from nel.metrics.clusters import cluster_codes, grouped_variance
from nel.metrics.intervals import FEWEST
from nel.reports.whole_run import read_run
from nel.types import JsonObject

CORRELATION: Final = 0.5
"""Of two models' scores of the same questions, where it is unknown; published: 0.3 to 0.7."""
Bools = np.ndarray[tuple[int], np.dtype[np.bool_]]
_HOUR: Final = 3600
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What a person says in place of a run or beside it; None leaves it to the runs."""

    score: float | None = None
    """Expected mean score of both, 0 to 1."""
    correlation: float | None = None
    within: float | None = None
    """Variance of the answers to one question."""
    discordant: float | None = None
    questions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotSource:
    """Where a pilot's numbers are from."""

    kind: str
    """``two runs``, ``one run`` or ``assumptions``."""
    runs: Sequence[str]
    benchmark: str | None
    pilot: Pilot
    resources: Resources
    notes: Sequence[str]
    score: float | None
    """The mean score of the baseline, or the assumed one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moments:
    counts: Ints
    totals: Floats
    squares: Floats
    is_binary: bool
    is_share: bool
    """Whether all scores lie between 0 and 1."""

    @property
    def means(self) -> Floats:
        means: Floats = self.totals / self.counts
        return means

    def noise(self, within: float) -> float:
        """Return the variance of the means that a variance of the answers to one question makes."""
        # That of the mean of k answers is within / k; the counts may differ, so 1 / k is averaged.
        return within * float((1 / self.counts).mean())

    @property
    def within(self) -> float | None:
        """Return the variance of the answers to one question, None where none was asked twice."""
        try:
            return variance_parts_of_sums(self.counts, self.totals, self.squares).within
        except UndefinedMetric:
            return None


def read_source(
    arguments: Sequence[str], benchmark: str | None, assumptions: Assumptions
) -> PilotSource:
    """Return a pilot from two runs, one run, or assumptions alone.

    Raises:
        OutputError: A run cannot be read or is not finished.
        UsageError: There are more than two runs, the benchmark is not there or not told, or the
            numbers plan nothing.
    """
    try:
        if not arguments:
            return _from_assumptions(assumptions)
        if assumptions.score is not None or assumptions.discordant is not None:
            raise UsageError("--score and --discordant are for a plan without a run")
        sides = read_sides(arguments)
        if len(sides) == 1:
            return _from_one(sides[0], benchmark, assumptions)
        if len(sides) == FEWEST:
            return _from_two(sides[0], sides[1], benchmark, assumptions)
    except ValueError as error:
        raise UsageError(f"no plan can be made: {error}") from error
    raise UsageError(
        f"a plan needs one run or two (baseline and a run like the candidate), not {len(sides)}"
    )


def _from_assumptions(assumptions: Assumptions) -> PilotSource:
    if assumptions.score is None and assumptions.discordant is None:
        raise UsageError("give the directory of an earlier run, or assume --score or --discordant")
    notes: list[str] = []
    within = assumptions.within or 0.0
    if assumptions.score is not None:
        _check_score(assumptions.score, within, assumptions.discordant)
    if assumptions.discordant is not None:
        if assumptions.correlation is not None:
            raise UsageError(
                "--discordant says how alike the two models are; leave out --correlation"
            )
        between = _between_of_discordant(assumptions.discordant, 2 * within)
    else:
        score = assumptions.score or 0.0
        correlation = CORRELATION if assumptions.correlation is None else assumptions.correlation
        # Single answers of 0 or 1 vary by p (1 - p), to which those of one question add `within`.
        # Of a difference of two that vary by v each: Var(B - A) = 2 v (1 - correlation).
        between_of_one = max(score * (1 - score) - within, 0.0)
        between = 2 * between_of_one * (1 - correlation)
        if assumptions.correlation is None:
            notes.append(
                f"a correlation of {CORRELATION} between the two models is assumed (--correlation)"
            )
    if assumptions.within is None:
        notes.append(
            "what repeats buy is not known and taken as nothing; assume --within to plan them"
        )
    pilot = Pilot(
        variances=Variances(
            between=between,
            within_baseline=within,
            within_candidate=within,
        ),
        discordant=assumptions.discordant,
        questions=assumptions.questions,
        is_within_known=assumptions.within is not None,
        largest=1.0,
    )
    return PilotSource(
        kind="assumptions",
        runs=(),
        benchmark=None,
        pilot=pilot,
        resources=Resources(),
        notes=notes,
        score=assumptions.score,
    )


def _check_score(score: float, within: float, discordant: float | None = None) -> None:
    """Refuse variances that scores from 0 to 1 with a mean cannot have.

    Raises:
        UsageError: The variance of the answers, or the discordant share, is larger than the mean
            allows.
    """
    # Numbers from 0 to 1 vary most if each is 0 or 1: by p (1 - p).
    largest_variance = score * (1 - score)
    if within > largest_variance + _ROUNDING:
        raise UsageError(
            f"scores from 0 to 1 with a mean of {score:.4g} vary by {largest_variance:.4g} at"
            f" most, and answers to one question by no more; --within cannot be {within:g}"
        )
    # Most of them if no question is right for both, or, of scores above a half, wrong for both.
    most_discordant = 2 * min(score, 1 - score)
    if discordant is not None and discordant > most_discordant + _ROUNDING:
        raise UsageError(
            f"two models that both score {score:.4g} differ on {most_discordant:.4g} of"
            f" the questions at most; --discordant cannot be {discordant:g}"
        )


def _between_of_discordant(share: float, within: float) -> float:
    """Return the variance of a difference between questions that is left of the discordant share.

    Args:
        share: Of discordant questions. The variance of the difference of two single answers of 0 or
            1 is this less the square of their mean difference, which is small beside it.
        within: Variances of the answers to one question, of both models together.

    Raises:
        UsageError: Answers to one question alone are more often discordant.
    """
    if within > share + _ROUNDING:
        raise UsageError(
            f"answers to one question vary so much that two of them are discordant on {within:.4g}"
            f" of the questions; --discordant cannot be {share:g}"
        )
    return max(share - within, 0.0)


def _from_one(side: Side, benchmark_name: str | None, assumptions: Assumptions) -> PilotSource:
    benchmark = side.benchmarks[_choose(list(side.benchmarks), benchmark_name, side.label)]
    columns = benchmark.columns()
    questions = questions_of(columns, _key_of(columns), str(benchmark.path))
    indices = np.arange(len(questions))
    moments = _moments(questions, indices)
    scored_rows = _scores(questions, indices)
    correlation = CORRELATION if assumptions.correlation is None else assumptions.correlation
    hint = " (--correlation; two runs tell it)" if assumptions.correlation is None else ""
    alike = f"with a correlation of {correlation:g}{hint}"
    notes = [f"the candidate is taken to vary as this run does, {alike}"]
    within = _within(moments, assumptions, notes)
    means = moments.means
    # Var(B - A) = 2 v (1 - correlation), where both vary by v between questions.
    between_of_one = max(_variance(means) - moments.noise(within), 0.0)
    variances = Variances(
        between=2 * between_of_one * (1 - correlation),
        within_baseline=within,
        within_candidate=within,
        design_effect=_design_effect(means, questions.codes_of("group")[scored_rows]),
    )
    return PilotSource(
        kind="one run",
        runs=(side.label,),
        benchmark=benchmark.name,
        pilot=_pilot(variances, None, len(questions), [moments], assumptions),
        resources=_resources(side, benchmark),
        notes=notes,
        score=float(means.mean()),
    )


def _from_two(
    baseline: Side, candidate: Side, benchmark_name: str | None, assumptions: Assumptions
) -> PilotSource:
    if assumptions.correlation is not None:
        raise UsageError("two runs tell how alike they are; leave out --correlation")
    left, right = _common(baseline, candidate, benchmark_name)
    pairing = pair(left, left.columns(), right, right.columns(), by_position=False)
    is_before_scored = _is_scored(pairing.baseline, pairing.left)
    scored_by_both = is_before_scored & _is_scored(pairing.candidate, pairing.right)
    before = _moments(pairing.baseline, pairing.left[scored_by_both])
    after = _moments(pairing.candidate, pairing.right[scored_by_both])
    sides, notes = [before, after], list[str]()
    within = [_within(moments, assumptions, notes) for moments in sides]
    differences = after.means - before.means
    if not (any(within) or differences.any()):
        raise UsageError(
            f"{baseline.label} and {candidate.label} differ on no question, which tells nothing of"
            " how models differ; plan from one run, or from two that differ"
        )
    noise = before.noise(within[0]) + after.noise(within[1])
    groups = pairing.baseline.codes_of("group")[pairing.left[scored_by_both]]
    variances = Variances(
        between=max(_variance(differences) - noise, 0.0),
        within_baseline=within[0],
        within_candidate=within[1],
        design_effect=_design_effect(differences, groups),
    )
    return PilotSource(
        kind="two runs",
        runs=(baseline.label, candidate.label),
        benchmark=left.name,
        pilot=_pilot(
            variances,
            _discordant(differences, sides),
            len(pairing.baseline),
            sides,
            assumptions,
        ),
        resources=_resources(candidate, right),
        notes=sorted(set(notes)),
        score=float(before.means.mean()),
    )


def _common(
    baseline: Side, candidate: Side, benchmark_name: str | None
) -> tuple[SideBenchmark, SideBenchmark]:
    names = dict(common_benchmarks(baseline, candidate))
    name = _choose(list(names), benchmark_name, "both runs")
    return baseline.benchmarks[name], candidate.benchmarks[names[name]]


def _discordant(differences: Floats, sides: Sequence[_Moments]) -> float | None:
    """Return the share of discordant questions of two runs with single answers of 0 or 1."""
    if not all(side.is_binary and int(side.counts.max()) == 1 for side in sides):
        return None
    return float(np.count_nonzero(differences) / len(differences)) or None


def _pilot(
    variances: Variances,
    discordant: float | None,
    questions: int,
    sides: Sequence[_Moments],
    assumptions: Assumptions,
) -> Pilot:
    is_within_known = all(side.within is not None for side in sides)
    return Pilot(
        variances=variances,
        discordant=discordant,
        questions=assumptions.questions or questions,
        is_within_known=assumptions.within is not None or is_within_known,
        largest=1.0 if all(side.is_share for side in sides) else None,
    )


def _choose(names: Sequence[str], name: str | None, what: str) -> str:
    if name is None:
        if len(names) > 1:
            raise UsageError(
                f"{what}: there are {len(names)} benchmarks; choose one with --bench:"
                f" {', '.join(names)}"
            )
        return names[0]
    if name not in names:
        raise UsageError(f'{what}: there is no benchmark "{name}"{did_you_mean(name, names)}')
    return name


def _key_of(columns: Columns) -> Key:
    if columns.has_samples:
        return "sample"
    return "question" if columns.has_questions else "position"


def _is_scored(questions: Questions, indices: Ints) -> Bools:
    values = questions.values(questions.columns.numbers("reward"))
    is_scored: Bools = values.n_scored[indices] > 0
    return is_scored


def _scores(questions: Questions, indices: Ints) -> Ints:
    return indices[_is_scored(questions, indices)]


def _moments(questions: Questions, indices: Ints) -> _Moments:
    """Return the scores of those of the chosen questions that have one.

    Raises:
        UsageError: Fewer than two have one.
    """
    rewards = questions.columns.numbers("reward")
    values = questions.values(rewards)
    scored_rows = _scores(questions, indices)
    if len(scored_rows) < FEWEST:
        raise UsageError(
            f"{len(scored_rows)} scored questions tell nothing of how scores vary; a plan needs at"
            " least two"
        )
    numbers = rewards[~np.isnan(rewards)]
    return _Moments(
        counts=values.n_scored[scored_rows],
        totals=values.scored_sum[scored_rows],
        squares=values.squares[scored_rows],
        is_binary=bool(np.all((numbers == 0) | (numbers == 1))),
        is_share=bool(np.all((numbers >= 0) & (numbers <= 1))),
    )


def _within(side: _Moments, assumptions: Assumptions, notes: list[str]) -> float:
    """Return the variance of the answers to one question, as assumed or measured.

    Raises:
        UsageError: It is assumed larger than the run's mean allows.
    """
    if assumptions.within is not None:
        if side.is_share:
            _check_score(float(side.means.mean()), assumptions.within)
        return assumptions.within
    variance = side.within
    if variance is None:
        notes.append(
            "no question was asked twice, so what repeats buy is not known and taken as nothing:"
            " run a few questions with --repeats 4, or assume --within"
        )
        return 0.0
    return variance


def _design_effect(values: Floats, groups: Ints) -> float:
    """Return by how much clusters raise the variance of the mean; 1 where questions are alone."""
    naive = _variance(values)
    if (groups < 0).all() or not naive or len(np.unique(groups)) < FEWEST:
        return 1.0
    codes, _ = cluster_codes(cluster_ids(groups).tolist())
    variance_of_mean, _ = grouped_variance(values, codes)
    # Over s² / n, that of the mean of independent questions. Below 1 it is taken as chance.
    return max(1.0, variance_of_mean * len(values) / naive)


def _variance(values: Floats) -> float:
    return float(values.var(ddof=1))


def _resources(side: Side, benchmark: SideBenchmark) -> Resources:
    """Return what an answer took in a run of nel that sent requests."""
    if side.kind != "nel":
        return Resources()
    files = read_run(benchmark.path.parent.parent)
    runtime: JsonObject = next(
        (files_of.runtime for files_of in files if files_of.directory == benchmark.path.parent), {}
    )
    tokens, cost = runtime.get("tokens") or {}, runtime.get("cost") or {}
    # The time is that of the whole run, so the answers of all its benchmarks were made in it.
    elapsed = runtime.get("elapsed_seconds") or 0.0
    n_answered_by_run = sum(files_of.runtime.get("n_answered") or 0 for files_of in files)
    answers_per_hour = None
    if elapsed and n_answered_by_run:
        answers_per_hour = n_answered_by_run / elapsed * _HOUR
    completed = (runtime.get("requests") or {}).get("completed") or 0
    n_answered = runtime.get("n_answered") or 0
    requests_per_answer = completed / n_answered if n_answered else 0.0
    n_reported = tokens.get("reported") or 0
    n_priced = completed - (cost.get("unknown") or 0)
    return Resources(
        prompt_tokens=_scale(tokens.get("prompt"), n_reported, requests_per_answer),
        completion_tokens=_scale(tokens.get("completion"), n_reported, requests_per_answer),
        cost=_scale(cost.get("total"), n_priced, requests_per_answer),
        answers_per_hour=answers_per_hour,
    )


def _scale(amount: float | None, n_requests: int, requests_per_answer: float) -> float | None:
    """Return an amount per answer, from its sum over the requests that reported it."""
    if amount is None or not n_requests or not requests_per_answer:
        return None
    return amount / n_requests * requests_per_answer
