"""What a gate demands of a candidate: the form of a policy. Depends on pydantic alone.

NeMo Evaluator's policies are of this form, with fewer keys, and mean the same, but the relative
drop too is decided on an interval, and what was not measured is never GO.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from nel.config.schema.strict import Strict

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Drop = Annotated[float, Field(ge=0.0)]


class Tier(StrEnum):
    """How much a benchmark counts."""

    CRITICAL = "critical"
    SUPPORTING = "supporting"
    ADVISORY = "advisory"
    """Reported, and without a say in the decision."""


class Direction(StrEnum):
    """Which way is better."""

    HIGHER = "higher_is_better"
    LOWER = "lower_is_better"


class Rule(Strict):
    """What is demanded of one benchmark; a key that is not given has the value of ``defaults``."""

    tier: Tier | None = None
    """``critical`` and ``supporting`` benchmarks decide, ``advisory`` ones are reported."""
    max_drop: Drop | None = None
    """The largest drop that is tolerated, as a score: 0.01 is one point. Default 0.015."""
    max_relative_drop: Share | None = None
    """The largest drop as a share of the baseline's score, demanded in addition."""
    relative_guard_below: Share | None = None
    """The relative drop counts only where the baseline's score is below this."""
    metric: Annotated[str, Field(min_length=1)] | None = None
    """Default: the headline. ``mean_reward`` and ``pass@1`` are the headline too, the latter of
    scores of 0 and 1.
    """
    direction: Direction | None = None
    """Default: as the results say of the metric, else ``higher_is_better``."""
    reason: str | None = None
    """Why the benchmark has this tier and margin; shown with the decision."""


class ResolvedRule(Strict):
    """What is demanded of one benchmark, with nothing left open."""

    tier: Tier = Tier.SUPPORTING
    max_drop: Drop = 0.015
    max_relative_drop: Share | None = None
    relative_guard_below: Share | None = None
    metric: str | None = None
    direction: Direction | None = None
    reason: str | None = None

    @property
    def is_gated(self) -> bool:
        """Return whether the benchmark has a say in the decision."""
        return self.tier is not Tier.ADVISORY


class Policy(Strict):
    """A whole policy; benchmarks that it does not name are held to ``defaults``."""

    version: Literal[1] = 1
    level: Annotated[float, Field(ge=0.5, lt=1.0)] = 0.95
    """Of the two-sided intervals that decide: each end errs in ``(1 - level) / 2`` of cases."""
    max_unscored: Share = 0.05
    """With a larger share of pairs unscored on a side, a benchmark cannot pass."""
    min_pairs: Annotated[int, Field(ge=2)] = 10
    """With fewer scored pairs a benchmark cannot pass."""
    require_calibration: bool = False
    """Whether a judged benchmark can pass only where people's labels measured its judge."""
    defaults: Rule = Rule()
    benchmarks: dict[str, Rule] = Field(default_factory=dict)

    def resolve(self, benchmark: str) -> ResolvedRule:
        """Return what is demanded of a benchmark: its own keys over the defaults."""
        rule = self.benchmarks.get(benchmark, Rule())
        fields = {
            **self.defaults.model_dump(exclude_none=True),
            **rule.model_dump(exclude_none=True),
        }
        return ResolvedRule.model_validate(fields)
