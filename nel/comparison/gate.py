"""Decides GO, NO-GO or INCONCLUSIVE by a policy, on the ends of intervals alone.

Two errors are bounded. A false GO: every gated benchmark must pass its own test, so that the chance
that a candidate with harm beyond its margin passes is at most that of the one check. A false NO-GO:
a breach must hold after Holm's adjustment over all tests of the policy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from nel.comparison.aggregates import AggregateComparison, compare_aggregates
from nel.comparison.compare import (
    BenchmarkComparison,
    calibration_warnings,
    common_benchmarks,
    compare_benchmark,
)
from nel.comparison.decision import Decision, GatedBenchmark, breaches, decide
from nel.comparison.demands import Demand, check_demand
from nel.comparison.early_stop import anytime_difference, without_interval
from nel.comparison.fields import NEVER_GO
from nel.comparison.measures import Measure, Settings, measure
from nel.comparison.pairing import needs_rows
from nel.comparison.scores import Scores, scores_of
from nel.comparison.sides import Side, SideBenchmark
from nel.core.reward_keys import MEAN_REWARD, aliases
from nel.core.texts import count_text
from nel.decide.policy import Direction, Policy, ResolvedRule, Tier
from nel.decide.verdict import meaningless_margin
from nel.errors import ConfigError, did_you_mean


@dataclass(slots=True)
class _Entry:
    """A benchmark, or a mean over several, on the way to its decision."""

    name: str
    rule: ResolvedRule
    metric: str
    mean: AggregateComparison | None = None
    compared: BenchmarkComparison | None = None
    scores: Scores | None = None
    demands: list[Demand] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)
    """Why it cannot pass, whatever the numbers are."""


def gate(
    baseline: Side, candidate: Side, policy: Policy, *, despite: frozenset[str], seed: int = 0
) -> Decision:
    """Return the decision.

    Args:
        baseline: What the candidate is held against.
        candidate: What may be released.
        policy: What is demanded.
        despite: Parts that may differ; see `nel.comparison.fields`.
        seed: Of random sign flips.

    Raises:
        UsageError: The sides may not be compared, or the policy names a metric that neither has.
    """
    settings = Settings(level=policy.level, seed=seed)
    shared = dict(common_benchmarks(baseline, candidate))
    wholes = {name for name, row in baseline.aggregates.items() if not row["is_part"]}
    demanded = {*policy.benchmarks, *baseline.benchmarks, *wholes}
    absent = sorted(demanded - shared.keys() - (baseline.aggregates.keys() & candidate.aggregates))
    entries = [_missing(name, baseline, candidate, policy) for name in absent]
    benchmarks: dict[str, BenchmarkComparison] = {}
    for name in sorted(shared):
        before, after = baseline.benchmarks[name], candidate.benchmarks[shared[name]]
        compared = compare_benchmark(
            before,
            before.columns(rows=needs_rows(before, after)),
            after,
            settings,
            despite=despite,
            what=f"{name} of {baseline.label} and {candidate.label}",
        )
        benchmarks[before.directory] = compared
        entries.append(_entry(compared, policy, settings))
    means = compare_aggregates(baseline, candidate, [*benchmarks.values()], settings)
    entries += [_mean_entry(mean, benchmarks, policy, settings) for mean in means]
    # Advisory benchmarks decide nothing, so they are not in the family that is adjusted for.
    tests = [demand for entry in entries if entry.rule.is_gated for demand in entry.demands]
    breached = breaches(tests, policy.level)
    gated = [_gate_entry(entry, breached, policy.level) for entry in entries]
    return decide(gated, policy.level)


def _missing(name: str, baseline: Side, candidate: Side, policy: Policy) -> _Entry:
    of_baseline = {*baseline.benchmarks, *baseline.aggregates}
    names = {*of_baseline, *candidate.benchmarks, *candidate.aggregates}
    if name in names:
        side = candidate if name in of_baseline else baseline
        reason = f"{side.label} does not have it"
    else:
        hint = did_you_mean(name, sorted(names), or_all="; they have ")
        reason = f"the policy names it, and neither run has it{hint}"
    rule = policy.resolve(name)
    return _Entry(name=name, rule=rule, metric=rule.metric or "", blockers=[reason])


def _entry(compared: BenchmarkComparison, policy: Policy, settings: Settings) -> _Entry:
    rule = policy.resolve(compared.name)
    metric, scores = _metric(compared, rule)
    rule, scores = _orient(rule, scores)
    # Of a run that was stopped early, only the interval that its stop rule left can be tested.
    ends = None
    if compared.scores is scores:
        ends = anytime_difference(compared.baseline, compared.candidate)
    entry = _Entry(name=compared.name, rule=rule, metric=metric, compared=compared, scores=scores)
    _demand(entry, scores, settings, is_stopped=compared.n_not_asked > 0, anytime=ends)
    entry.blockers += _pair_blockers(scores, policy)
    entry.blockers += _benchmark_blockers(compared, policy, metric)
    return entry


def _mean_entry(
    mean: AggregateComparison,
    members: Mapping[str, BenchmarkComparison],
    policy: Policy,
    settings: Settings,
) -> _Entry:
    """Return a mean; one that is part of another has a say only where the policy names it."""
    rule = policy.resolve(mean.name)
    if mean.is_part and mean.name not in policy.benchmarks:
        rule = rule.model_copy(update={"tier": Tier.ADVISORY})
    metric, scores = mean.headline.metric, mean.scores
    entry = _Entry(name=mean.name, rule=rule, metric=metric, mean=mean)
    entry.blockers += mean.blockers
    if rule.metric not in (None, metric, MEAN_REWARD):
        entry.blockers.append(f"the policy asks for {rule.metric}, and it is a mean of {metric}")
    for compared in (members[name] for name in mean.benchmarks if name in members):
        reasons = _benchmark_blockers(compared, policy, metric)
        entry.blockers += [f"{compared.name}: {reason}" for reason in reasons]
    if scores is None:
        return entry
    entry.rule, scores = _orient(rule, scores)
    entry.scores = scores
    entry.blockers += _pair_blockers(scores, policy)
    _demand(entry, scores, settings, is_stopped=mean.is_stopped)
    return entry


def _orient(rule: ResolvedRule, scores: Scores) -> tuple[ResolvedRule, Scores]:
    """Return a rule with its direction, and the scores turned so that more is better."""
    is_lower_better = scores.is_lower_better
    if rule.direction is not None:
        is_lower_better = rule.direction is Direction.LOWER
    if not (is_lower_better or scores.is_lower_better):
        return rule, scores
    # The policy has the last word on the direction, whatever the results say of themselves.
    scores = replace(scores, is_lower_better=is_lower_better)
    if not is_lower_better:
        return rule.model_copy(update={"direction": Direction.HIGHER}), scores
    return rule.model_copy(update={"direction": Direction.LOWER}), scores.negate()


def _demand(
    entry: _Entry,
    scores: Scores,
    settings: Settings,
    *,
    is_stopped: bool,
    anytime: tuple[float, float] | None = None,
) -> None:
    """Add what the rule of an entry demands of its scores; `anytime` is of the drop alone."""
    rule = entry.rule
    drop = Demand(
        kind="drop",
        limit=rule.max_drop,
        scores=scores,
        margin=rule.max_drop,
        settings=settings,
        is_stopped=is_stopped,
        anytime=anytime,
    )
    is_relative = rule.max_relative_drop is not None and _is_relative(scores, rule)
    _check_margin(entry.name, rule, are_shares=scores.unit == "rate", is_relative=is_relative)
    entry.demands.append(drop)
    if is_relative:
        relative = _relative(scores, rule.max_relative_drop or 0.0, settings)
        entry.demands.append(replace(relative, is_stopped=is_stopped))


def _check_margin(name: str, rule: ResolvedRule, *, are_shares: bool, is_relative: bool) -> None:
    """Refuse a rule that any candidate would pass.

    Raises:
        ConfigError: Its drop is one that scores cannot have, and no other drop is demanded of this
            baseline.
    """
    problem = meaningless_margin(rule.max_drop, are_shares=are_shares)
    if problem is None or not rule.is_gated or (is_relative and rule.max_drop <= 1):
        return
    if rule.max_relative_drop is not None and not is_relative:
        problem += "; its max_relative_drop does not count at this score of the baseline"
    raise ConfigError(f"the policy gives {name} a max_drop of {rule.max_drop:g}: {problem}")


def _metric(compared: BenchmarkComparison, rule: ResolvedRule) -> tuple[str, Scores]:
    """Return the metric that a rule names, with its scores.

    Raises:
        ConfigError: The benchmark does not have it.
    """
    headline = compared.candidate.headline
    name = rule.metric or headline
    sides = [side.columns for side in (compared.pairing.baseline, compared.pairing.candidate)]
    names = set(sides[0].metric_names) & set(sides[1].metric_names)
    rewards = np.concatenate([columns.numbers("reward") for columns in sides])
    is_binary = bool(np.isin(rewards[~np.isnan(rewards)], (0.0, 1.0)).all())
    of_aliases = aliases(headline, names, is_binary=is_binary)
    if of_aliases.get(name, name) == headline:
        return name, compared.scores
    if name not in names:
        all_names = ", ".join(sorted({headline, *of_aliases, *names}))
        hint = did_you_mean(name, names) or f"; it has {all_names}"
        raise ConfigError(
            f'the policy asks for the metric "{name}" of {compared.name}, which it does not'
            f" have{hint}"
        )
    is_lower_better = name in compared.lower_is_better
    return name, scores_of(compared.pairing, name, is_lower_better=is_lower_better)


def _is_relative(scores: Scores, rule: ResolvedRule) -> bool:
    mean = _baseline_mean(scores)
    # A share of 0 is 0, so nothing is relative to it.
    if not mean:
        return False
    return rule.relative_guard_below is None or abs(mean) < rule.relative_guard_below


def _relative(scores: Scores, limit: float, settings: Settings) -> Demand:
    """Return the test of ``candidate - (baseline - limit |baseline|) >= 0``; both means vary."""
    # b - limit |b| = (1 - limit) b for a mean above 0, and (1 + limit) b below, as where scores of
    # which less is better have their sign turned.
    factor = 1 - math.copysign(limit, _baseline_mean(scores) or 0.0)
    scaled = scores.scale_baseline(factor)
    return Demand(kind="relative_drop", limit=limit, scores=scaled, margin=0.0, settings=settings)


def _baseline_mean(scores: Scores) -> float | None:
    of_baseline = scores.only(~np.isnan(scores.baseline))
    return of_baseline.mean(of_baseline.baseline)


def _benchmark_blockers(compared: BenchmarkComparison, policy: Policy, metric: str) -> list[str]:
    reasons, pairing = [], compared.pairing
    parts = sorted({differ.part for differ in compared.differs} & NEVER_GO)
    if pairing.key == "position":
        reasons.append("paired by position alone")
    if parts:
        reasons.append(f"the sides differ in {' and '.join(parts)}")
    if compared.n_not_asked and anytime_difference(compared.baseline, compared.candidate) is None:
        reasons.append(f"a stop rule left {count_text(compared.n_not_asked, 'sample')} unasked")
    for side, name in ((compared.baseline, "baseline"), (compared.candidate, "candidate")):
        reasons += _side_blockers(side, name, metric, policy)
    return reasons


def _pair_blockers(scores: Scores, policy: Policy) -> list[str]:
    reasons = []
    n_scored = int(scores.scored.sum())
    n_open = len(scores.baseline) - n_scored
    if n_open > policy.max_unscored * len(scores.baseline):
        reasons.append(
            f"{n_open:,} of {count_text(len(scores.baseline), 'pair')} unscored, more than"
            f" {policy.max_unscored:.4g}"
        )
    if n_scored < policy.min_pairs:
        reasons.append(
            f"only {count_text(n_scored, 'pair')} scored, fewer than {policy.min_pairs:,}"
        )
    return reasons


def _side_blockers(side: SideBenchmark, name: str, metric: str, policy: Policy) -> list[str]:
    reasons = [
        f"calibration of the {name}'s judge: {warning}" for warning in calibration_warnings(side)
    ]
    if side.kind == "imported":
        reasons.append(f"the {name} was imported, and its source does not record what was left out")
    if metric in side.failed_metrics:
        reasons.append(f"the metric {metric} of the {name} failed")
    is_judged = side.judging is not None
    if policy.require_calibration and is_judged and not (side.judging or {}).get("calibration"):
        reasons.append(f"the {name}'s judge was never calibrated, and the policy requires it")
    return reasons


def _gate_entry(entry: _Entry, breached: Mapping[int, float], level: float) -> GatedBenchmark:
    checks = [
        check_demand(
            demand,
            level,
            breach_level=breached.get(id(demand)),
            is_gated=entry.rule.is_gated,
            is_blocked=bool(entry.blockers),
        )
        for demand in entry.demands
    ]
    measured = _measure(entry, level)
    return GatedBenchmark(
        name=entry.name,
        rule=entry.rule,
        metric=entry.metric,
        checks=checks,
        blockers=entry.blockers,
        is_missing=entry.compared is None and entry.mean is None,
        compared=entry.compared,
        measured=measured,
        unit="number" if measured is None else measured.unit,
    )


def _measure(entry: _Entry, level: float) -> Measure | None:
    """Return candidate minus baseline, whichever way is better."""
    compared, scores = entry.compared, entry.scores
    if entry.mean is not None:
        return entry.mean.headline
    if compared is None or scores is None:
        return None
    if compared.n_not_asked and compared.scores is scores:
        return replace(compared.headline, metric=entry.metric)
    # What is shown has the sign of the metric itself; the tests had it turned where less is better.
    if entry.rule.direction is Direction.LOWER:
        scores = scores.negate()
    measured = measure(scores, entry.metric, Settings(level=level))
    if compared.n_not_asked:
        return without_interval(measured)
    return measured
