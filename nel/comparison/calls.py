"""`nel.compare` and `nel.gate`: the two commands as calls in Python, around the same functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from nel.comparison.compare import Comparison
from nel.comparison.compare import compare as compare_sides
from nel.comparison.decision import decision_json
from nel.comparison.document import comparison_json
from nel.comparison.fields import check_parts
from nel.comparison.floors import Floor, hold
from nel.comparison.gate import gate as decide_sides
from nel.comparison.measures import Settings
from nel.comparison.policy_file import policy_of, read_policy
from nel.comparison.reading import named_path, read_sides
from nel.config.argument_words import arguments_for_flags
from nel.decide.policy import Policy
from nel.errors import EXIT_DONE, ConfigError, UsageError
from nel.reports import comparison as comparison_report
from nel.reports import decision as decision_report
from nel.reports.notebook import notebook_table, plain_table
from nel.reports.tables.columns import Column, ReportTable
from nel.types import JsonObject

FLIPS_MAX = 1000
"""Changed samples of each benchmark that a comparison holds."""
_ARGUMENTS: Final = {
    "--despite": "despite",
    "--bench": "benchmarks",
    "--margin": "margin",
    "--level": "level",
    "--fail-under": "floors",
}


class FinishedRun(Protocol):
    """What `nel.evaluate` returns, as far as a comparison reads it."""

    @property
    def run_dir(self) -> Path:
        """Return the run's directory."""


Result: TypeAlias = "str | Path | FinishedRun"
"""A run's directory, or what `nel.evaluate` returned; ``NAME=PATH`` names one, and other tools'
results are read as `nel compare` reads them."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ComparisonResult:
    """Candidates against a baseline."""

    document: JsonObject
    """What ``nel compare --json`` prints."""

    @property
    def verdicts(self) -> dict[str, dict[str, str]]:
        """Return the verdict on each benchmark and each mean, by candidate and name."""
        return {
            candidate["label"]: {
                row.name: row.measure["verdict"]
                for row in map(comparison_report.compared_of, comparison_report.rows_of(candidate))
            }
            for candidate in self.document["candidates"]
        }

    def __repr__(self) -> str:
        return plain_table(self._table())

    def _repr_html_(self) -> str:
        """Return the table as a notebook shows it."""
        return notebook_table(self._table())

    def _table(self) -> ReportTable:
        level = self.document["settings"]["level"]
        tables = [
            (candidate["label"], comparison_report.benchmarks_table(candidate, level))
            for candidate in self.document["candidates"]
        ]
        run = Column("run", of=itemgetter(0))
        rows = [(label, row) for label, table in tables for row in table.rows]
        return ReportTable([run, *map(_of_second, tables[0][1].columns)], rows)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DecisionResult:
    """Whether a run may go; true for GO alone."""

    document: JsonObject
    """What decision.json holds."""

    @property
    def decision(self) -> str:
        """Return ``GO``, ``NO-GO`` or ``INCONCLUSIVE``."""
        return str(self.document["decision"])

    @property
    def exit_code(self) -> int:
        """Return the exit code of the command: 0, 4 or 5."""
        return int(self.document["exit_code"])

    def __bool__(self) -> bool:
        return self.exit_code == EXIT_DONE

    def __repr__(self) -> str:
        """Return the decision, its table and its reasons."""
        table = plain_table(decision_report.gated_table(self.document))
        reasons = decision_report.reason_lines(self.document)
        return "\n".join([self.decision, table, *reasons])

    def _repr_html_(self) -> str:
        """Return the decision and its table as a notebook shows them."""
        table = notebook_table(decision_report.gated_table(self.document))
        return f"<div>{self.decision}</div>{table}"


def compare(
    baseline: Result,
    *candidates: Result,
    margin: float = 0.0,
    level: float = 0.95,
    seed: int = 0,
    flips: int = FLIPS_MAX,
    despite: Sequence[str] = (),
    benchmarks: Sequence[str] = (),
) -> ComparisonResult:
    """Compare finished runs with a baseline, sample by sample, as ``nel compare`` does.

    Args:
        baseline: A run's directory, or what `nel.evaluate` returned.
        candidates: At least one.
        margin: The largest difference that does not matter, as a score: 0.01 is one point.
        level: Of the intervals.
        seed: Of random sign flips.
        flips: So many changed samples of each benchmark are in the document.
        despite: Parts that may differ: dataset, prompt, scorer, judge, decoding, repeats, pairing.
        benchmarks: Names of those to compare; empty: all that both have.

    Raises:
        UsageError: The runs cannot be compared.
        OutputError: There is no finished run, or a file is damaged.
    """
    if not candidates:
        raise UsageError("compare needs a candidate beside the baseline; give two runs")
    settings = Settings(margin=margin, level=level, seed=seed)
    sides = [_side(result) for result in (baseline, *candidates)]
    with arguments_for_flags(_ARGUMENTS):
        compared = comparison_of(sides, settings, despite=despite, only=benchmarks)
        return ComparisonResult(document=comparison_json(compared, flips_max=flips))


def gate(
    baseline: Result,
    candidate: Result | None = None,
    *,
    policy: str | Path | Mapping[str, object] | None = None,
    floors: Mapping[str, float] | None = None,
    despite: Sequence[str] = (),
    seed: int = 0,
    output_dir: str | Path | None = None,
) -> DecisionResult:
    """Decide GO, NO-GO or INCONCLUSIVE, as ``nel gate`` does; the result is true for GO alone.

    Args:
        baseline: What the candidate is held against; with ``floors`` the one run.
        candidate: What may be released.
        policy: What is demanded: a YAML file, or the mapping that one holds.
        floors: The least score of each metric, ``{"accuracy": 0.8}``, for one run alone.
        despite: Parts that may differ, as for `compare`.
        seed: Of random sign flips.
        output_dir: Where decision.json, decision.md and decision.junit.xml are written; None:
            nothing is written.

    Raises:
        ConfigError: The policy is wrong, or does not fit the runs.
        UsageError: The runs cannot be compared.
        OutputError: There is no finished run, or a file is damaged or cannot be written.
    """
    if floors is not None:
        if candidate is not None or policy is not None or despite:
            raise ConfigError("floors hold one run alone; leave candidate, policy and despite out")
        demanded_floors = [Floor(metric=name, value=value) for name, value in floors.items()]
        with arguments_for_flags(_ARGUMENTS):
            document = floors_decision(_side(baseline), demanded_floors)
    elif candidate is None or policy is None:
        raise ConfigError("gate needs a candidate and a policy, or floors={...} for one run alone")
    else:
        if isinstance(policy, Mapping):
            rules = policy_of(policy, where="policy")
        else:
            rules = read_policy(Path(policy))
        sides = [_side(baseline), _side(candidate)]
        with arguments_for_flags(_ARGUMENTS):
            document = gate_decision(sides, rules, despite=despite, seed=seed)
    if output_dir is not None:
        decision_report.write_decision(document, Path(output_dir))
    return DecisionResult(document=document)


def comparison_of(
    sides: Sequence[str], settings: Settings, *, despite: Sequence[str], only: Sequence[str]
) -> Comparison:
    """Return the comparison of the first side with the others, each as `read_sides` takes it."""
    return compare_sides(read_sides(sides), settings, despite=check_parts(despite), only=only)


def gate_decision(
    sides: Sequence[str], policy: Policy, *, despite: Sequence[str], seed: int
) -> dict[str, Any]:
    """Return the content of decision.json of a candidate against a baseline."""
    parts = check_parts(despite)
    baseline, candidate = read_sides(sides)
    decision = decide_sides(baseline, candidate, policy, despite=parts, seed=seed)
    return decision_json(
        decision, baseline=baseline, candidate=candidate, policy=policy, despite=sorted(parts)
    )


def floors_decision(side: str, floors: Sequence[Floor]) -> dict[str, Any]:
    """Return the content of decision.json of one run against floors.

    Raises:
        ConfigError: It is not a run of nel.
    """
    (run,) = read_sides([side])
    if run.kind != "nel":
        raise ConfigError(
            f"--fail-under reads metrics.json of a run of nel; {side} is a result of {run.kind}"
        )
    return decision_json(
        hold(directory_of(side), floors), baseline=None, candidate=run, policy=None
    )


def directory_of(argument: str) -> Path:
    """Return the directory of a result: that of its file where it is one."""
    _, path = named_path(argument)
    return path if path.is_dir() else path.parent


def _side(result: Result) -> str:
    return str(result if isinstance(result, str | Path) else result.run_dir)


def _of_second(column: Column) -> Column:
    """Return a column of rows that are the second of a pair."""
    return Column(column.key, column.kind, lambda pair: column.value(pair[1]), column.heading)
