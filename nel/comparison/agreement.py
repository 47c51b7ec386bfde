"""Do the files of a benchmark say the same? Checked before a decision rests on them; does no I/O.

A hand-edited or mixed up directory is refused here where that costs next to nothing: shapes and
numbers of the small files, the identity's digest, and what results.jsonl adds up to. ``nel verify``
makes every file again, and finds the other edits: those that change no sum, or that were made in
every file alike.
"""

from __future__ import annotations

import math
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
from nel.comparison.lines import FAILED, NOT_ASKED, SCORED, UNSCORED, Columns, Floats
from nel.comparison.questions import metric_values
from nel.config.identity import Identity
from nel.core.paths import as_argument
from nel.core.reward_keys import OF_ANY_REWARD, REWARD_KEYS, aliases
from nel.errors import OutputError
from nel.metrics.accumulator import published_name, published_names
from nel.metrics.intervals import ANYTIME, LEVEL
from nel.metrics.question_intervals import Design, new_questions_interval
from nel.metrics.series import Series
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject

_ROUNDING: Final = 1e-9
"""Numbers closer than this are equal: a file's sums were made in another order."""
_STATES: Final = {
    "n_scored": SCORED,
    "n_model_failure": FAILED,
    "n_unscored": UNSCORED,
    "n_not_asked": NOT_ASKED,
}
_REDACTED_FROM: Final = "?"
"""Stands before a URL's query, whose values are not written: the written digest is another."""
_SHAPES: Final = {"metrics.json": MetricsFile, "eval-*.json": BundleFile}
_STRICT: Final = ConfigDict(strict=True, allow_inf_nan=False)


def check_files(
    run_dir: Path, benchmarks: Sequence[BenchmarkFiles], plans: Mapping[str, JsonObject]
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
        if stored_plans and name not in stored_plans:
            raise OutputError(
                f"{files.directory} is not a benchmark of this run, by its run.db; move it away"
            )
        problem = (
            shape_problem(files)
            or _disagreement(files)
            or _other_identity(files, stored_plans.get(name) or {})
        )
        if problem:
            raise OutputError(f"{files.directory}: {problem}; {advice}")
    ids = sorted({str(files.metrics["run_id"]) for files in benchmarks})
    if len(ids) > 1:
        raise OutputError(f"{run_dir} holds results of the runs {' and '.join(ids)}; {advice}")


def check_results(files: BenchmarkFiles, columns: Columns) -> None:
    """Check that results.jsonl adds up to the counts and scores of metrics.json.

    Raises:
        OutputError: It does not.
    """
    metrics = files.metrics
    states = np.bincount(columns.states, minlength=len(_STATES))
    for name, state in _STATES.items():
        _refuse_unequal(files, name, metrics["accounting"][name], int(states[state]))
    is_rewarded = (columns.states == FAILED) & (columns.numbers("reward") != 0)
    n_rewards = int(is_rewarded.sum())
    if n_rewards:
        _refuse(files, f"{n_rewards:,} model failures have a reward, which is 0 for all of them")
    repeats = columns.integers("repeat")
    n_repeats = files.bundle["benchmark"].get("repeats")
    if n_repeats is not None and not 0 <= int(repeats.min()) <= int(repeats.max()) < n_repeats:
        _refuse(files, f"each sample was asked {n_repeats} times, and a line is of another repeat")
    for row in metrics["metrics"]:
        values = _values_of(columns, row["name"], metrics["headline"]["metric"])
        if values is not None:
            _refuse_unequal(files, row["name"], row["value"], _series(columns, values).mean())


def check_interval(files: BenchmarkFiles, columns: Columns, row: JsonObject) -> None:
    """Check a metric's interval and bounds against its values in results.jsonl, if it has them.

    Raises:
        OutputError: They are those of other values or of another level.
    """
    _check_own_ends(files, row)
    name, headline = row["name"], files.metrics["headline"]["metric"]
    values = _values_of(columns, name, headline)
    if values is None or row["ci_method"] == ANYTIME or (columns.states == NOT_ASKED).any():
        return
    series = _series(columns, values)
    _check_ends(files, columns, row, series)
    if row["bounds"] is not None:
        # Every unscored sample as 0, then as 1; where there is none, the value to its last bit.
        n_unscored = int((columns.states == UNSCORED).sum())
        lowest = row["value"]
        if n_unscored:
            lowest = series.total / len(columns)
        highest = lowest + n_unscored / len(columns)
        _refuse_unequal(files, f"lower bound of {name}", row["bounds"]["lower"], lowest)
        _refuse_unequal(files, f"upper bound of {name}", row["bounds"]["upper"], highest)


def series_of(columns: Columns, row: JsonObject, headline: str) -> tuple[Series, Series]:
    """Return the values of a metric with every unscored sample as wrong, and as right; the same
    twice where all are scored, and nothing where lines do not give its values.

    Args:
        columns: The lines.
        row: Of metrics.json.
        headline: The name of the metric that the rewards are.
    """
    values = _values_of(columns, row["name"], headline)
    if values is None:
        return Series(), Series()
    is_open = (columns.states == UNSCORED) & (row["bounds"] is not None)
    lowest = _series(columns, np.where(is_open, 0.0, values))
    highest = _series(columns, np.where(is_open, 1.0, values))
    return lowest, highest


def design_of(columns: Columns) -> Design:
    """Return how the questions of new samples were asked, as far as lines tell."""
    repeats = int(columns.integers("repeat").max()) + 1
    return Design(repeats=repeats, groups=_groups(columns))


def _check_own_ends(files: BenchmarkFiles, row: JsonObject) -> None:
    """Check that the interval and the bounds of a metric fit each other."""
    name, lower, upper = row["name"], row["ci_lower"], row["ci_upper"]
    if lower is None or upper is None:
        is_interval = lower is upper  # both ends are missing, or none
    else:
        is_interval = lower <= upper
    if row["ci_level"] != LEVEL or not is_interval:
        _refuse(files, f"the interval of {name} is none of level {LEVEL:g}")
    bounds, value = row["bounds"], row["value"]
    n_questions = max(metric["n_questions"] for metric in files.metrics["metrics"])
    is_of_all = row["n_questions"] == n_questions  # bounds are of those left out too
    if bounds and is_of_all and value is not None and not _is_within(value, bounds):
        _refuse(files, f"the bounds of {name} do not hold its value")


def _check_ends(files: BenchmarkFiles, columns: Columns, row: JsonObject, series: Series) -> None:
    """Check that the interval is the one that the values give."""
    kind = (files.metrics.get("selection") or {}).get("kind")
    lower = upper = None
    if kind != "first":  # the first so many questions have no interval
        recomputed = new_questions_interval(series, design_of(columns))
        lower, upper = recomputed.lower, recomputed.upper
    # The interval of a sample is of the whole benchmark; that for new questions stands beside it.
    stated = row["new_questions"] if kind == "sample" else row
    _refuse_unequal(files, f"ci_lower of {row['name']}", stated["ci_lower"], lower)
    _refuse_unequal(files, f"ci_upper of {row['name']}", stated["ci_upper"], upper)


def shape_problem(files: BenchmarkFiles) -> str:
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


def _values_of(columns: Columns, name: str, headline: str) -> Floats | None:
    """Return the values of a metric in lines, NaN for none; None where its key is not certain."""
    if name == headline:
        return columns.numbers("reward")
    key = metric_keys(columns, headline).get(name)
    return None if key is None else metric_values(columns, key)


def metric_keys(columns: Columns, headline: str) -> dict[str, str]:
    """Return the names of values in lines by the names of their metrics, where these are certain.

    Which value is the reward is written nowhere, and how the others are published depends on it: a
    name is certain where every value that may be the reward gives the same.
    """
    keys = columns.metric_names
    if columns.is_cut or not keys:
        return {}
    rewards = [key for key in keys if published_name(key) == headline]
    if not rewards or headline in OF_ANY_REWARD:
        rewards = [key for key in keys if key in rewards or key in REWARD_KEYS] or keys
    # The names under each assumption of what the reward is; those that all share are certain.
    pairs_by_reward = []
    for reward in rewards:
        names = published_names(keys, headline, reward)
        pairs_by_reward.append({(name, key) for key, name in names.items()})
    return dict(set.intersection(*pairs_by_reward))


def _series(columns: Columns, values: Floats) -> Series:
    """Return the values in the order of the dataset."""
    lines = np.flatnonzero(~np.isnan(values))
    positions = columns.integers("position")[lines]
    order = np.argsort(positions, kind="stable")
    return Series.of(positions[order], values[lines][order])


def _groups(columns: Columns) -> dict[int, str]:
    codes = columns.integers("group")
    is_in_group = codes >= 0
    positions = columns.integers("position")[is_in_group].tolist()
    names = [columns.groups[code] for code in codes[is_in_group].tolist()]
    return dict(zip(positions, names, strict=True))


def _is_within(value: float, bounds: Mapping[str, float]) -> bool:
    # Bounds and value are sums in different orders, so their last digits differ.
    nearest = min(max(value, bounds["lower"]), bounds["upper"])
    return math.isclose(value, nearest, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


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
    run_dir = as_argument(files.directory.parent)
    raise OutputError(
        f"{files.directory / 'results.jsonl'} does not agree with metrics.json: {what}; one of the"
        f" two was edited or is of another run: nel verify {run_dir} says what was changed, nel"
        f" report {run_dir} writes both again"
    )


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.10g}"
