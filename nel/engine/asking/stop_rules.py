"""The stop rules of a session, one for each benchmark: fed with its outcomes, stored when one held.

`nel.engine.asking.stop_rule_opening` makes them; a run without a rule needs neither it nor its
statistics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from nel.engine.asking.work import Job, n_unanswered
from nel.engine.planning.plan import Plan
from nel.engine.store.log import Log
from nel.engine.store.snapshot import Snapshot
from nel.errors import ResumeRefused
from nel.types import Outcome, SampleKey

if TYPE_CHECKING:
    from nel.engine.stopping.stop_rule import StopRule

DECISIONS: Final = "stopped"
"""The key of run.db under which the decisions are stored, by benchmark."""
BASELINES: Final = "stop_baselines"
"""The key under which the scores of baselines are stored, by benchmark."""


class StopRules:
    """The rules of a session; empty where the run has none."""

    def __init__(
        self, rules: Mapping[int, StopRule] | None = None, slots: Mapping[int, str] | None = None
    ) -> None:
        self._rules = rules or {}
        self._slots = slots or {}

    def of(self, job: int) -> StopRule | None:
        """Return the rule of a benchmark, None where it has none."""
        return self._rules.get(job)

    def ended_by(self, key: SampleKey, outcome: Outcome) -> StopRule | None:
        """Take an outcome that is on disk; return the rule if it has just ended its benchmark."""
        rule = self._rules.get(key.benchmark)
        if rule is None or rule.has_ended:
            return None
        rule.add(key.idx, key.repeat, outcome)
        return rule if rule.has_ended else None

    def n_left_out(self, snapshot: Snapshot, jobs: Sequence[Job]) -> int:
        """Return how many (sample, repeat) pairs are not asked because a rule has ended."""
        ended = [
            (job, rule) for job in jobs if (rule := self.of(job.key)) is not None and rule.has_ended
        ]
        return sum(n_unanswered(snapshot, job, rule, first=rule.n_wanted) for job, rule in ended)

    def notes(self) -> list[str]:
        """Return what the user should know of rules that cannot be applied."""
        return [
            f"{self._slots[key]}: the stop rule cannot be applied ({rule.unusable}); every question"
            " is asked"
            for key, rule in self._rules.items()
            if rule.unusable is not None
        ]

    def store(self, store: Log) -> None:
        """Store the decisions, so that no later session looks again.

        Raises:
            StoreError: It cannot be written.
        """
        decisions = {
            self._slots[key]: rule.decision for key, rule in self._rules.items() if rule.decision
        }
        if decisions:
            store.set_meta(DECISIONS, decisions)


def refuse_growth(plan: Plan, n_stored: int, n_now: int) -> None:
    """Raise ResumeRefused where a stop rule has drawn from another number of questions."""
    if "stop.when" in plan.fields and n_stored and n_now != n_stored:
        raise ResumeRefused(
            f"cannot resume {plan.slot}: its stop rule draws from {n_stored:,} questions and the"
            f" dataset has {n_now:,} now; give the same dataset"
        )
