"""One benchmark of a run, resolved: what is asked, how it is scored, and its identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from nel.authoring.benchmark import Benchmark
from nel.config.identity import JUDGES_ADAPTED
from nel.config.schema import BenchmarkConfig, JudgeConfig, ModelConfig
from nel.datasets.source import Dataset
from nel.episodes.limits import Limits
from nel.metrics.requested import RequestedStatistics
from nel.models.adaptation import Changes, change_settings
from nel.types import Generation, Protocol

if TYPE_CHECKING:
    from nel.episodes.solver_names import BoundSolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One benchmark of a run, resolved."""

    slot: str
    """Unique in the run; names the artifact directory."""
    benchmark: Benchmark
    config: BenchmarkConfig
    statistics: RequestedStatistics
    """The metrics and reducers in addition to the mean."""
    dataset: Dataset
    unreadable: str | None = None
    """Why the dataset cannot be opened; a resume may continue with the samples in run.db."""
    generation: Generation
    model: str | None
    """None when recorded responses are scored."""
    protocol: Protocol
    fields: Mapping[str, Any]
    """The identity without the digests of the samples."""
    adapted: Changes = field(default_factory=dict)
    """Settings changed as the model's server asked before the first answer."""
    judges_adapted: Mapping[str, Changes] = field(default_factory=dict)
    """The same of its judges, by label."""
    unseen: tuple[str, ...] = ()
    """What its scorer may depend on that the identity does not cover."""
    notes: tuple[str, ...] = ()
    """Notes for the user, shown with the results."""
    judge: JudgeConfig | None = None
    """The judges of its answers and their settings."""
    model_roles: Mapping[str, ModelConfig] = field(default_factory=dict)
    """Models that its scorer may ask to judge, by name."""
    solver: BoundSolver | None = None
    """What answers its samples in many steps; None: one request, one answer."""
    limits: Limits = field(default_factory=Limits)
    """Of each episode, as far as benchmark and run set any."""

    @property
    def reducers(self) -> tuple[str, ...]:
        """Return the reducers of the run's configuration, else the benchmark's own."""
        return self.config.reducers or self.benchmark.reducers

    def adapting(self, changes: Changes) -> Plan:
        """Return the plan, and its identity, with settings changed as a server asks for."""
        if not changes or self.eval_only or self.protocol == "completions":
            return self
        generation, every = change_settings(self.generation, changes), {**self.adapted, **changes}
        own = {
            f"generation.{name}": getattr(generation, name)
            for name in ("max_tokens", "temperature", "top_p", "extra")
        }
        fields = {**self.fields, **own, "endpoint.adapted": every}
        return replace(self, generation=generation, adapted=every, fields=fields)

    def judged_as(self, stored: Mapping[str, Any]) -> Plan:
        """Return the plan with its judges' changed settings, from a stored identity.

        Those of a judge that is configured otherwise now are left out: it is another judge.
        """
        adapted = {
            label: changes
            for label, changes in (stored.get(JUDGES_ADAPTED) or {}).items()
            if _judge_called(label, stored) == _judge_called(label, self.fields)
        }
        if not adapted:
            return self
        return replace(
            self, judges_adapted=adapted, fields={**self.fields, JUDGES_ADAPTED: adapted}
        )

    @property
    def eval_only(self) -> bool:
        """Return whether recorded responses are scored instead of asking an endpoint."""
        return self.benchmark.response_field is not None


def _judge_called(label: str, fields: Mapping[str, Any]) -> list[Any]:
    entries = [*(fields.get("judge.panel") or ()), *(fields.get("judge.roles") or {}).values()]
    return [entry for entry in entries if entry["name"] == label]


def judging_models(plans: Sequence[Plan]) -> list[ModelConfig]:
    """Return every model other than the evaluated one that the plans' scorers may ask."""
    panels = [plan.judge.panel for plan in plans if plan.judge is not None]
    return [
        *(member for panel in panels for member in panel),
        *(model for plan in plans for model in plan.model_roles.values()),
    ]
