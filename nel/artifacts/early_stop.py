"""What a stop rule left: which questions count, and an interval that holds at any time.

Only the prefix of the drawn order at which the rule held counts. Answers that were in flight then
are in run.db, and count nowhere: else the number would depend on the concurrency.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from nel.config.schema import StopConfig
from nel.engine.asking.stop_rule_opening import rule_of
from nel.engine.asking.stop_rules import BASELINES, DECISIONS
from nel.engine.stopping.stop_rule import StopRule
from nel.engine.store.projections.results import results
from nel.engine.store.rows import outcome_in
from nel.engine.store.snapshot import Snapshot
from nel.metrics.intervals import ANYTIME, Interval
from nel.types import JsonObject

COVERS: Final = "all questions of the benchmark"
NO_INTERVAL: Final = Interval(
    lower=None,
    upper=None,
    method="none",
    covers=COVERS,
    reason=(
        "a stop rule ended the run, and an interval for a fixed number of questions would be too"
        " narrow"
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlyStop:
    """The stop rule of a benchmark, and what it came to."""

    config: StopConfig
    decision: JsonObject | None
    """None where no condition has held."""
    rule: StopRule | None = None
    """Fed with what counts; None without a decision."""
    counted: bytes = b""
    """By idx: whether a question counts; empty where all do."""
    baseline: str | None = None
    """The run that it compares with."""

    def counts(self, idx: int) -> bool:
        """Return whether a question counts."""
        return self.rule is None or bool(self.counted[idx])

    @property
    def interval(self) -> Interval | None:
        """Return the headline's interval; None where the usual one holds: every question asked."""
        if self.rule is None:
            return None
        if self.rule.unusable is not None:
            return replace(
                NO_INTERVAL, reason=f"there is none that holds at any time: {self.rule.unusable}"
            )
        mean = self.rule.mean
        return Interval(lower=mean.lower, upper=mean.upper, method=ANYTIME, covers=COVERS)

    def as_json(self, *, complete: bool, n_questions: int) -> dict[str, Any]:
        """Return ``stop_rule`` of metrics.json."""
        rule, decision = self.rule, self.decision
        reason = condition = n_asked = difference = None
        if decision is not None:
            reason, condition = decision["reason"], decision["condition"]
        elif complete:
            reason = "exhausted"
        if rule is not None and decision is not None:
            n_asked = rule.n_wanted_at(decision["n_clusters"])
        if rule is not None and rule.direction is not None:
            difference = {"lower": rule.direction.lower, "upper": rule.direction.upper}
        return {
            "when": [stop.name for stop in self.config.conditions],
            "seed": self.config.seed,
            "reason": reason,
            "condition": condition,
            "n_questions": n_questions,
            "n_questions_asked": n_asked,
            "baseline": self.baseline,
            "difference": difference,
        }


def read_early_stop(snapshot: Snapshot, key: int, slot: str, plan: JsonObject) -> EarlyStop | None:
    """Return the stop rule of a benchmark, None where it has none."""
    config, decision = _decision(snapshot, slot)
    if not config.when:
        return None
    baseline = (snapshot.meta(BASELINES) or {}).get(slot)
    early_stop = EarlyStop(
        config=config, decision=decision, baseline=baseline and baseline["run_id"]
    )
    if decision is None:
        return early_stop
    # The rule is fed once more, with the prefix alone: its interval is then that of the decision.
    repeats = plan["repeats"]
    rule = rule_of(snapshot, key, slot, config, repeats, looking=False)
    is_counted = _counted_by_idx(rule, decision)
    rule.start()
    for result in results(snapshot, key, repeats):
        if is_counted[result.sample.idx] and result.outcome is not None:
            rule.add(result.sample.idx, result.repeat, outcome_in(result.outcome))
    return replace(early_stop, rule=rule, counted=is_counted)


def counted_questions(snapshot: Snapshot, key: int, slot: str, plan: JsonObject) -> bytes:
    """Return by idx whether a question counts, reading no outcome; empty before any decision."""
    config, decision = _decision(snapshot, slot)
    if not config.when or decision is None:
        return b""
    rule = rule_of(snapshot, key, slot, config, plan["repeats"], looking=False)
    return _counted_by_idx(rule, decision)


def _decision(snapshot: Snapshot, slot: str) -> tuple[StopConfig, JsonObject | None]:
    config = StopConfig.model_validate((snapshot.meta("config") or {}).get("stop") or {})
    return config, (snapshot.meta(DECISIONS) or {}).get(slot)


def _counted_by_idx(rule: StopRule, decision: JsonObject) -> bytes:
    # A byte for each question of the benchmark, 1 where it is in the first clusters of the draw.
    is_counted = bytearray(len(rule.order.order))
    for idx in rule.order.first(decision["n_clusters"]):
        is_counted[idx] = 1
    return bytes(is_counted)
