"""Do the lines of a benchmark give the numbers that its files say? Checked before a decision
rests on them; does no I/O.

Beside the headline, which every reader of a run checks (`nel.reports.agreement`): every metric
whose values the lines hold, its interval and its bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from nel.comparison.lines import FAILED, NOT_ASKED, STATES, UNSCORED, Columns, Floats
from nel.comparison.questions import metric_values
from nel.core.reward_keys import OF_ANY_REWARD, REWARD_KEYS
from nel.metrics.accumulator import published_name, published_names
from nel.metrics.intervals import ANYTIME, LEVEL
from nel.metrics.question_intervals import Design, new_questions_interval
from nel.metrics.series import Series
from nel.reports.agreement import ROUNDING, LineTotals, check_totals, refuse, refuse_unequal
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject


def check_results(files: BenchmarkFiles, columns: Columns) -> None:
    """Check that results.jsonl adds up to the counts and scores of metrics.json.

    Raises:
        OutputError: It does not.
    """
    metrics = files.metrics
    counts = np.bincount(columns.states, minlength=len(STATES))
    is_rewarded = (columns.states == FAILED) & (columns.numbers("reward") != 0)
    values_by_name = {
        row["name"]: _values_of(columns, row["name"], metrics["headline"]["metric"])
        for row in metrics["metrics"]
    }
    totals = LineTotals(
        states={name: int(counts[state]) for name, state in STATES.items()},
        n_failures_rewarded=int(is_rewarded.sum()),
        means={
            name: _series(columns, values).mean()
            for name, values in values_by_name.items()
            if values is not None
        },
    )
    check_totals(files, totals)
    repeats = columns.integers("repeat")
    n_repeats = files.bundle["benchmark"].get("repeats")
    if n_repeats is not None and not 0 <= int(repeats.min()) <= int(repeats.max()) < n_repeats:
        refuse(files, f"each sample was asked {n_repeats} times, and a line is of another repeat")


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
        refuse_unequal(files, f"lower bound of {name}", row["bounds"]["lower"], lowest)
        refuse_unequal(files, f"upper bound of {name}", row["bounds"]["upper"], highest)


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
        refuse(files, f"the interval of {name} is none of level {LEVEL:g}")
    bounds, value = row["bounds"], row["value"]
    n_questions = max(metric["n_questions"] for metric in files.metrics["metrics"])
    is_of_all = row["n_questions"] == n_questions  # bounds are of those left out too
    if bounds and is_of_all and value is not None and not _is_within(value, bounds):
        refuse(files, f"the bounds of {name} do not hold its value")


def _check_ends(files: BenchmarkFiles, columns: Columns, row: JsonObject, series: Series) -> None:
    """Check that the interval is the one that the values give."""
    kind = (files.metrics.get("selection") or {}).get("kind")
    lower = upper = None
    if kind != "first":  # the first so many questions have no interval
        recomputed = new_questions_interval(series, design_of(columns))
        lower, upper = recomputed.lower, recomputed.upper
    # The interval of a sample is of the whole benchmark; that for new questions stands beside it.
    stated = row["new_questions"] if kind == "sample" else row
    refuse_unequal(files, f"ci_lower of {row['name']}", stated["ci_lower"], lower)
    refuse_unequal(files, f"ci_upper of {row['name']}", stated["ci_upper"], upper)


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
    lines = np.flatnonzero(~np.isnan(values))
    return Series.of(columns.integers("position")[lines], values[lines])


def _groups(columns: Columns) -> dict[int, str]:
    codes = columns.integers("group")
    is_in_group = codes >= 0
    positions = columns.integers("position")[is_in_group].tolist()
    names = [columns.groups[code] for code in codes[is_in_group].tolist()]
    return dict(zip(positions, names, strict=True))


def _is_within(value: float, bounds: Mapping[str, float]) -> bool:
    # Bounds and value are sums in different orders, so their last digits differ.
    nearest = min(max(value, bounds["lower"]), bounds["upper"])
    return math.isclose(value, nearest, rel_tol=ROUNDING, abs_tol=ROUNDING)
