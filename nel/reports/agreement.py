"""Do the files of a benchmark say the same? Checked wherever a number of a run is shown.

Reads the lines of results.jsonl, and does no other I/O.

A hand-edited or mixed up directory is refused here where that costs next to nothing: shapes and
numbers of the small files, the identity's digest, and what results.jsonl adds up to. ``nel verify``
makes every file again, and finds the other edits: those that change no sum, or that were made in
every file alike.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import GenericAlias
from typing import Any, Final, NoReturn

from pydantic import ConfigDict, TypeAdapter, ValidationError

from nel.artifacts.files import directory_name
from nel.artifacts.shapes.metrics import MetricsFile
from nel.artifacts.shapes.run_files import BundleFile
from nel.config.identity import Identity
from nel.core.paths import as_argument
from nel.core.reward_keys import aliases
from nel.errors import OutputError
from nel.metrics.series import Series
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject

ROUNDING: Final = 1e-9
"""Numbers closer than this are equal: a file's sums were made in another order."""
REWARDED: Final = ("scored", "model_failure")
"""States of a result in which it has a reward."""
STATES: Final = (*REWARDED, "unscored", "not_asked")
_REDACTED_FROM: Final = "?"
"""Stands before a URL's query, whose values are not written: the written digest is another."""
_SHAPES: Final = {"metrics.json": MetricsFile, "eval-*.json": BundleFile}
_STRICT: Final = ConfigDict(strict=True, allow_inf_nan=False)


@dataclass(slots=True, kw_only=True)
class LineTotals:
    """What the lines of results.jsonl add up to."""

    states: Mapping[str, int]
    """How many lines are of each of `STATES`; one that none is of may be missing."""
    n_failures_rewarded: int
    """Failures of the model with a reward that is not 0."""
    means: Mapping[str, float | None]
    """By the name of a metric, those that the lines give."""


@dataclass(slots=True)
class _Sums:
    states: Counter[str] = field(default_factory=Counter)
    n_failures_rewarded: int = 0
    questions: array[int] = field(default_factory=lambda: array("q"))
    rewards: array[float] = field(default_factory=lambda: array("d"))

    def add(self, result: JsonObject) -> None:
        state, reward = state_of(result), result.get("reward")
        self.states[state] += 1
        if reward is not None:
            self.questions.append(int(result["problem_idx"]))
            self.rewards.append(float(reward))
            self.n_failures_rewarded += state == "model_failure" and reward != 0

    def totals(self, headline: str) -> LineTotals:
        return LineTotals(
            states=self.states,
            n_failures_rewarded=self.n_failures_rewarded,
            means={headline: Series.of(self.questions, self.rewards).mean()},
        )


def state_of(result: JsonObject) -> str:
    """Return the state of a result, one of `STATES`; empty where it has none."""
    outcome = result.get("outcome")
    return str(outcome.get("state")) if isinstance(outcome, dict) else ""


def check_lines(files: BenchmarkFiles) -> None:
    """Check the lines of results.jsonl, and that they add up to the headline of metrics.json.

    Raises:
        OutputError: A line is damaged, its reward does not fit its outcome, or the lines do not add
            up to what metrics.json says.
    """
    sums = _Sums()
    for number, result in files.numbered_results():
        state, reward = state_of(result), result.get("reward")
        has_reward = isinstance(reward, int | float)
        is_question = isinstance(result.get("problem_idx"), int)
        if state not in STATES or has_reward != (state in REWARDED) or not is_question:
            raise OutputError(
                f"{files.directory.name}/results.jsonl, line {number}: the reward does not fit the"
                f" outcome; make it again with nel report {as_argument(files.directory.parent)}"
            )
        sums.add(result)
    check_totals(files, sums.totals(files.metrics["headline"]["metric"]))


def check_totals(files: BenchmarkFiles, totals: LineTotals) -> None:
    """Check that lines add up to the counts and scores of metrics.json.

    Raises:
        OutputError: They do not.
    """
    accounting = files.metrics["accounting"]
    n_lines = sum(totals.states.values())
    if n_lines != accounting["n_total"]:
        raise OutputError(
            f"{files.directory / 'results.jsonl'} has {n_lines:,} results and"
            f" {accounting['n_total']:,} were counted when it was written: it was cut off or"
            f" edited; write it again with nel report {as_argument(files.directory.parent)}"
        )
    for state in STATES:
        name = f"n_{state}"
        refuse_unequal(files, name, accounting[name], totals.states.get(state, 0))
    n_rewards = totals.n_failures_rewarded
    if n_rewards:
        refuse(files, f"{n_rewards:,} model failures have a reward, which is 0 for all of them")
    for row in files.metrics["metrics"]:
        if row["name"] in totals.means:
            refuse_unequal(files, row["name"], row["value"], totals.means[row["name"]])


def check_files(
    run_dir: Path,
    benchmarks: Sequence[BenchmarkFiles],
    plans: Mapping[str, JsonObject],
    run_id: str | None,
) -> None:
    """Check that the small files of a run are of one run, and agree.

    Args:
        run_dir: Of the run.
        benchmarks: Its benchmarks.
        plans: What the store planned, by the slot of each benchmark; empty where there is no store
            that can be read.
        run_id: That of the store, None where it has none.

    Raises:
        OutputError: A file is not what nel wrote, or two do not agree.
    """
    advice = f"write its files again with nel report {as_argument(run_dir)}"
    stored_plans = {directory_name(slot): plan for slot, plan in plans.items()}
    folders: dict[str, list[str]] = {}
    for files in benchmarks:
        folders.setdefault(files.title, []).append(files.directory.name)
    for files in benchmarks:
        name = files.directory.name
        if len(folders[files.title]) > 1:
            both = " and ".join(folders[files.title])
            raise OutputError(
                f"{run_dir} has two folders of {files.title}: {both}; leave the one that nel wrote"
            )
        problem = (
            _shape_problem(files)
            or _disagreement(files)
            or _other_identity(files, stored_plans.get(name) or {})
        )
        if problem:
            raise OutputError(f"{files.directory}: {problem}; {advice}")
    ids = {str(files.metrics["run_id"]) for files in benchmarks}
    if run_id is not None:
        ids.add(str(run_id))
    if len(ids) > 1:
        raise OutputError(
            f"{run_dir} holds results of the runs {' and '.join(sorted(ids))}; {advice}"
        )


def _shape_problem(files: BenchmarkFiles) -> str:
    """Return what is wrong with the shape of a file; empty where it is right."""
    if len(list(files.directory.glob("eval-*.json"))) > 1:
        return "there are two files eval-*.json, and one is not of this run"
    contents = {"metrics.json": files.metrics, "eval-*.json": files.bundle}
    for name, content in contents.items():
        if name == "eval-*.json" and not content:  # a run may be without bundles
            continue
        try:
            _adapter_of(name).validate_python([content])
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(map(str, problem["loc"][1:]))  # after its position in the list
            return f"{name}: {field}: {problem['msg']}"
    return ""


@cache
def _adapter_of(name: str) -> TypeAdapter[Any]:
    # A list, since pydantic takes a configuration for what is not a TypedDict itself.
    listed: Any = GenericAlias(list, _SHAPES[name])
    return TypeAdapter(listed, config=_STRICT)


def _disagreement(files: BenchmarkFiles) -> str:
    """Return in what metrics.json differs from the bundle or from itself; empty where it agrees."""
    metrics, bundle = files.metrics, files.bundle
    headline = metrics["headline"]
    name = headline["metric"]
    rows = [row for row in metrics["metrics"] if row["name"] == name]
    numbers = _numbers_of(headline)
    if not rows or any(_numbers_of(row) != numbers for row in rows):
        return f"metrics.json has the headline {name}, and no or another row of it"
    if not bundle:
        return ""
    pairs = {
        "run_id": (metrics["run_id"], bundle["run_id"]),
        "model": (metrics["model"], bundle["config"]["model"]),
        "benchmark": (metrics["benchmark"], bundle["benchmark"]["name"]),
        "number of results": (metrics["accounting"]["n_total"], bundle["n_results"]),
    }
    values = {row["name"]: row["value"] for row in metrics["metrics"]}
    of_aliases = aliases(name, values, is_binary=True)
    scores = bundle["benchmark"]["scores"]
    for shown, metric in {name: name, **of_aliases}.items():
        if shown in scores:
            pairs[shown] = (values[metric], scores[shown]["value"])
    differ = [f"{what} {a} and {b}" for what, (a, b) in pairs.items() if a != b]
    if not differ:
        return ""
    return f"metrics.json and eval-*.json differ in {', '.join(differ)}"


def _numbers_of(row: JsonObject) -> list[object]:
    return [row[key] for key in ("value", "ci_lower", "ci_upper", "bounds")]


def _other_identity(files: BenchmarkFiles, plan: JsonObject) -> str:
    """Return what is wrong with the bundle's identity; empty where it is right."""
    fields, digest = files.bundle.get("identity_fields"), files.bundle.get("identity")
    if not isinstance(fields, dict) or digest is None:
        return ""
    if plan:
        stored_fields = Identity(fields=plan.get("identity") or {}).shown
        if digest == plan.get("digest") and fields == stored_fields:
            return ""
        return "the identity in eval-*.json is not that of run.db"
    # Without a store, the digest can be made again where no field was redacted.
    is_whole = _REDACTED_FROM not in str(fields.get("endpoint.url"))
    if is_whole and Identity(fields=fields).digest != digest:
        return "identity_fields in eval-*.json do not have the digest that stands beside them"
    return ""


def refuse_unequal(
    files: BenchmarkFiles, what: str, stated: float | None, computed: float | None
) -> None:
    """Raise OutputError where a number of metrics.json is not the one that its lines give."""
    if stated is None or computed is None:
        is_equal = stated is computed
    else:
        is_equal = math.isclose(stated, computed, rel_tol=ROUNDING, abs_tol=ROUNDING)
    if not is_equal:
        refuse(
            files,
            f"{what} is {_number(stated)} in metrics.json and {_number(computed)} by its lines",
        )


def refuse(files: BenchmarkFiles, what: str) -> NoReturn:
    """Raise OutputError: results.jsonl and metrics.json do not agree in what is named."""
    run_dir = as_argument(files.directory.parent)
    raise OutputError(
        f"{files.directory / 'results.jsonl'} does not agree with metrics.json: {what}; one of the"
        f" two was edited or is of another run: nel verify {run_dir} says what was changed, nel"
        f" report {run_dir} writes both again"
    )


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.10g}"
