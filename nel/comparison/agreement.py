"""Do the files of a benchmark say the same? Checked before a decision rests on them; does no I/O.

A hand-edited or mixed up directory is refused here where that costs next to nothing: shapes and
numbers of the small files, the identity's digest, and what results.jsonl adds up to. ``nel verify``
makes every file again, and finds the rest: an edit that changes no sum, one of an interval, or one
that was made in every file alike.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import GenericAlias
from typing import Any, Final, NoReturn

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from nel.artifacts.files import directory_name
from nel.artifacts.shapes.metrics import MetricsFile
from nel.artifacts.shapes.run_files import BundleFile
from nel.comparison.lines import FAILED, NOT_ASKED, SCORED, UNSCORED, Columns
from nel.config.identity import Identity
from nel.errors import OutputError
from nel.reports.run_files import BenchmarkFiles

_ROUNDING: Final = 1e-9
_STATES: Final = {
    "n_scored": SCORED,
    "n_model_failure": FAILED,
    "n_unscored": UNSCORED,
    "n_not_asked": NOT_ASKED,
}
_REDACTED_FROM: Final = "?"
"""The values of an URL's query are not written, so that the digest of what is written is
another.
"""
_SHAPES: Final = {"metrics.json": MetricsFile, "eval-*.json": BundleFile}
_STRICT: Final = ConfigDict(strict=True, allow_inf_nan=False)


def check_files(
    run_dir: Path, benchmarks: Sequence[BenchmarkFiles], plans: Mapping[str, Mapping[str, Any]]
) -> None:
    """Check that the small files of a run are of one run, and agree.

    Args:
        run_dir: Of the run.
        benchmarks: Its benchmarks.
        plans: What the store planned, by the slot of each benchmark; empty where there is no store
            that can be read.

    Raises:
        OutputError: A file is not what nel wrote, or two do not agree.
    """
    again = f"write its files again with nel report {run_dir}"
    stored = {directory_name(slot): plan for slot, plan in plans.items()}
    titles = Counter(files.title for files in benchmarks)
    for files in benchmarks:
        name = files.directory.name
        if titles[files.title] > 1:
            both = " and ".join(
                benchmark_files.directory.name
                for benchmark_files in benchmarks
                if benchmark_files.title == files.title
            )
            raise OutputError(
                f"{run_dir} has two folders of {files.title}: {both}; leave the one that nel wrote"
            )
        if stored and name not in stored:
            raise OutputError(
                f"{files.directory} is not a benchmark of this run, by its run.db; move it away"
            )
        wrong = (
            shape_problem(files)
            or _disagreement(files)
            or _other_identity(files, stored.get(name) or {})
        )
        if wrong:
            raise OutputError(f"{files.directory}: {wrong}; {again}")
    ids = sorted({str(files.metrics["run_id"]) for files in benchmarks})
    if len(ids) > 1:
        raise OutputError(f"{run_dir} holds results of the runs {' and '.join(ids)}; {again}")


def check_results(files: BenchmarkFiles, columns: Columns) -> None:
    """Check that results.jsonl adds up to the counts and the headline of metrics.json.

    Raises:
        OutputError: It does not.
    """
    metrics = files.metrics
    states = np.bincount(columns.states, minlength=len(_STATES))
    for name, state in _STATES.items():
        _refuse_unequal(files, name, metrics["accounting"][name], int(states[state]))
    wrong = (columns.states == FAILED) & (columns.numbers("reward") != 0)
    if wrong.any():
        n_wrong = int(wrong.sum())
        _refuse(files, f"{n_wrong:,} model failures have a reward, which is 0 for all of them")
    known = ~np.isnan(columns.numbers("reward"))
    if known.any():
        rewards = columns.numbers("reward")[known]
        _, questions = np.unique(columns.integers("position")[known], return_inverse=True)
        means = np.bincount(questions, weights=rewards) / np.bincount(questions)
        headline = metrics["headline"]
        _refuse_unequal(files, headline["metric"], headline["value"], float(means.mean()))


def shape_problem(files: BenchmarkFiles) -> str:
    """Return what is wrong with the shape of a file, empty where nothing is."""
    if len(list(files.directory.glob("eval-*.json"))) > 1:
        return "there are two files eval-*.json, and one is not of this run"
    contents = {"metrics.json": [files.metrics], "eval-*.json": [files.bundle] * bool(files.bundle)}
    for name, content in contents.items():
        try:
            _adapter_of(name).validate_python(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            return f"{name}: {'.'.join(map(str, first['loc'][1:]))}: {first['msg']}"
    return ""


@cache
def _adapter_of(name: str) -> TypeAdapter[Any]:
    # A list, since pydantic takes a configuration for what is not a TypedDict itself.
    listed: Any = GenericAlias(list, _SHAPES[name])
    return TypeAdapter(listed, config=_STRICT)


def _disagreement(files: BenchmarkFiles) -> str:
    """Return in what metrics.json and the bundle differ, or the former from itself; empty in
    nothing.
    """
    metrics, bundle = files.metrics, files.bundle
    headline = metrics["headline"]
    name = headline["metric"]
    rows = [row for row in metrics["metrics"] if row["name"] == name]
    if not rows or any(
        row[key] != headline[key]
        for row in rows
        for key in ("value", "ci_lower", "ci_upper", "bounds")
    ):
        return f"metrics.json has the headline {name}, and no or another row of it"
    if not bundle:
        return ""
    pairs = {
        "run_id": (metrics["run_id"], bundle["run_id"]),
        "benchmark": (metrics["benchmark"], bundle["benchmark"]["name"]),
        "number of results": (metrics["accounting"]["n_total"], bundle["n_results"]),
    }
    # A metric of the run may have the name mean_reward, which otherwise is the headline's too.
    aliases = {"mean_reward"} - {row["name"] for row in metrics["metrics"]}
    scores = bundle["benchmark"]["scores"]
    for alias in (name, *aliases):
        if alias in scores:
            pairs[alias] = (headline["value"], scores[alias]["value"])
    differ = [
        f"{what} {ours} and {other}" for what, (ours, other) in pairs.items() if ours != other
    ]
    return f"metrics.json and eval-*.json differ in {', '.join(differ)}" if differ else ""


def _other_identity(files: BenchmarkFiles, plan: Mapping[str, Any]) -> str:
    """Return that the bundle's identity is not that of the store, or has another digest; empty
    where it holds.
    """
    fields, digest = files.bundle.get("identity_fields"), files.bundle.get("identity")
    if not isinstance(fields, dict) or digest is None:
        return ""
    if plan:
        stored = Identity(fields=plan.get("identity") or {}).shown
        is_stored = digest == plan.get("digest") and fields == stored
        return "" if is_stored else "the identity in eval-*.json is not that of run.db"
    is_whole = _REDACTED_FROM not in str(fields.get("endpoint.url"))
    if is_whole and Identity(fields=fields).digest != digest:
        return "identity_fields in eval-*.json do not have the digest that stands beside them"
    return ""


def _refuse_unequal(
    files: BenchmarkFiles, what: str, stated: float | None, computed: float | None
) -> None:
    if stated is None or computed is None:
        is_equal = stated is computed
    else:
        is_equal = math.isclose(stated, computed, rel_tol=_ROUNDING, abs_tol=_ROUNDING)
    if not is_equal:
        _refuse(
            files,
            f"{what} is {_number(stated)} in metrics.json and {_number(computed)} by its lines",
        )


def _refuse(files: BenchmarkFiles, what: str) -> NoReturn:
    run_dir = files.directory.parent
    raise OutputError(
        f"{files.directory / 'results.jsonl'} does not agree with metrics.json: {what}; one of the"
        f" two was edited or is of another run: nel verify {run_dir} says what was changed, nel"
        f" report {run_dir} writes both again"
    )


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.10g}"
