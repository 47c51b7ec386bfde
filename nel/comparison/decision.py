"""A decision and how it follows from its benchmarks, and as JSON (decision.json). Does no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol

from nel.comparison.compare import BenchmarkComparison
from nel.comparison.document import benchmark_json, measure_json, side_json
from nel.comparison.measures import Measure
from nel.comparison.sides import Side
from nel.decide.policy import Direction, Policy, ResolvedRule
from nel.decide.verdict import GateDecision
from nel.errors import EXIT_DONE, EXIT_GATE_FAILED, EXIT_GATE_INCONCLUSIVE
from nel.metrics.accumulator import Unit
from nel.version import __version__

FORMAT: Final = 1
WORDS: Final = {
    GateDecision.GO: "GO",
    GateDecision.NO_GO: "NO-GO",
    GateDecision.INCONCLUSIVE: "INCONCLUSIVE",
}
EXIT_CODES: Final = {
    GateDecision.GO: EXIT_DONE,
    GateDecision.NO_GO: EXIT_GATE_FAILED,
    GateDecision.INCONCLUSIVE: EXIT_GATE_INCONCLUSIVE,
}
_STATUS: Final = {
    GateDecision.GO: "pass",
    GateDecision.NO_GO: "breach",
    GateDecision.INCONCLUSIVE: "inconclusive",
}


_EVIDENCE: Final = (
    "pairs",
    "differs",
    "unchecked",
    "fields_differ",
    "n_prompts_differ",
    "models",
    "causes",
    "moved",
    "slices",
    "cautions",
)
"""What of a comparison stands in a decision, beside the numbers of flips."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCheck:
    """One demand and how it turned out."""

    kind: str
    """``drop``, ``relative_drop`` or ``floor``."""
    limit: float
    status: GateDecision
    reason: str = ""
    lower: float | None = None
    """Lower end of the interval, every unscored sample counted against the candidate."""
    upper: float | None = None
    """Upper end of the interval, every unscored sample counted for the candidate."""
    level: float | None = None
    method: str | None = None
    """Of the interval."""
    breach_level: float | None = None
    """The level at which Holm's procedure found the breach; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedBenchmark:
    """One benchmark of a decision."""

    name: str
    rule: ResolvedRule
    metric: str
    checks: Sequence[DecisionCheck]
    blockers: Sequence[str]
    """Why it cannot pass, whatever the numbers are."""
    is_missing: bool = False
    compared: BenchmarkComparison | None = None
    measured: Measure | None = None
    """The difference that decides, candidate minus baseline; None without a baseline."""
    value: float | None = None
    """The score, where it is held against a floor."""
    unit: Unit = "number"
    """Of the scores."""

    @property
    def status(self) -> str:
        """Return ``missing``, ``breach``, ``inconclusive`` or ``pass``; harm is decided first."""
        if self.is_missing:
            return "missing"
        states = {check.status for check in self.checks}
        if GateDecision.NO_GO in states:
            return _STATUS[GateDecision.NO_GO]
        if self.blockers or states != {GateDecision.GO}:
            return _STATUS[GateDecision.INCONCLUSIVE]
        return _STATUS[GateDecision.GO]

    @property
    def reasons(self) -> list[str]:
        """Return what speaks against the benchmark."""
        return [*self.blockers, *(check.reason for check in self.checks if check.reason)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """GO, NO-GO or INCONCLUSIVE."""

    decision: GateDecision
    reasons: Sequence[str]
    benchmarks: Sequence[GatedBenchmark]
    level: float

    @property
    def exit_code(self) -> int:
        """Return 0 for GO, 4 for NO-GO and 5 for INCONCLUSIVE."""
        return EXIT_CODES[self.decision]


def decide(benchmarks: Sequence[GatedBenchmark], level: float) -> Decision:
    """Return the decision over all benchmarks, of which advisory ones have no say.

    Where nothing was measured the decision is never GO.
    """
    gated = [benchmark for benchmark in benchmarks if benchmark.rule.is_gated]
    by_status: dict[str, list[str]] = {}
    for benchmark in gated:
        title = f"{benchmark.name} ({benchmark.rule.tier})"
        by_status.setdefault(benchmark.status, []).append(title)
    reasons = [
        f"{status}: {', '.join(by_status[status])}"
        for status in ("breach", "missing", "inconclusive")
        if status in by_status
    ]
    if "breach" in by_status:
        decision = GateDecision.NO_GO
    elif reasons:
        decision = GateDecision.INCONCLUSIVE
    elif not gated:
        decision = GateDecision.INCONCLUSIVE
        reasons = ["nothing was gated: every benchmark is advisory, or there is none"]
    else:
        decision = GateDecision.GO
        reasons = [f"pass: {len(gated)} of {len(gated)} gated benchmarks"]
    order = {"critical": 0, "supporting": 1, "advisory": 2}
    ordered = sorted(
        benchmarks,
        key=lambda benchmark: (order[benchmark.rule.tier], benchmark.name, benchmark.metric),
    )
    return Decision(decision=decision, reasons=reasons, benchmarks=ordered, level=level)


class Tested(Protocol):
    """What can be breached: a demand on a difference, or a floor."""

    def is_breached(self, level: float) -> bool:
        """Return whether it is breached at a level."""
        ...


def would_pass(questions: int | None) -> str:
    """Return with how many questions a run as it is would pass; empty without a number."""
    return "" if questions is None else f"as it is, it would pass with {questions:,} questions"


def breaches(tests: Sequence[Tested], level: float) -> dict[int, float]:
    """Return the level at which each breached test fails, by the `id` of the test.

    Holm's step-down procedure: each test that fails leaves more of the error for the others.

    Args:
        tests: All that decide.
        level: Of them together.
    """
    remaining, levels = list(tests), dict[int, float]()
    while remaining:
        # Each of m tests has alpha / m; one alone has the level itself, to its last bit.
        step = level if len(remaining) == 1 else 1 - (1 - level) / len(remaining)
        failures = {id(test): step for test in remaining if test.is_breached(step)}
        if not failures:
            break
        levels |= failures
        remaining = [test for test in remaining if id(test) not in failures]
    return levels


def decision_json(
    decision: Decision,
    *,
    baseline: Side | None,
    candidate: Side,
    policy: Policy | None,
    despite: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the content of decision.json; the same runs and policy give the same."""
    return {
        "format": FORMAT,
        "sdk": f"nel {__version__}",
        "decision": WORDS[decision.decision],
        "exit_code": decision.exit_code,
        "reasons": list(decision.reasons),
        "level": decision.level,
        "despite": sorted(despite),
        "baseline": None if baseline is None else side_json(baseline),
        "candidate": side_json(candidate),
        "policy": None if policy is None else policy.model_dump(mode="json", exclude_none=True),
        "benchmarks": [_benchmark_json(benchmark) for benchmark in decision.benchmarks],
    }


def _benchmark_json(gated: GatedBenchmark) -> dict[str, object]:
    evidence = None
    if gated.compared is not None:
        compared = benchmark_json(gated.compared, flips_max=0)
        flips = {name: compared["flips"][name] for name in ("n_lost", "n_won")}
        evidence = {**{name: compared[name] for name in _EVIDENCE}, "flips": flips}
    return {
        "benchmark": gated.name,
        "metric": gated.metric,
        "tier": str(gated.rule.tier),
        "direction": str(gated.rule.direction or Direction.HIGHER),
        "why_this_tier": gated.rule.reason,
        "status": gated.status,
        "reasons": gated.reasons,
        "unit": gated.unit,
        "value": gated.value,
        "measure": None if gated.measured is None else measure_json(gated.measured),
        "checks": [
            {**asdict(check), "status": _STATUS[check.status], "reason": check.reason or None}
            for check in gated.checks
        ],
        "evidence": evidence,
    }
