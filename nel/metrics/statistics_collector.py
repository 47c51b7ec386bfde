"""Collects the scores of a benchmark, and computes the statistics that a run requests: reducers over
repeats, and metrics over all samples.

A metric reads the rewards of the samples, with all their numbers as metadata, or the numbers of one
name. A model failure counts 0, an unscored answer is left out. A reducer such as ``pass_at_3`` has
no value for a sample with fewer scored answers; its row leaves such samples out, and its reason
counts them. A metric or reducer that raises has no value and is listed in
`StatisticsCollector.failed`. Depends on `nel.metrics` alone.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain, repeat
from typing import Any

from nel.core.scaling import mean_of
from nel.errors import UndefinedMetric, did_you_mean
from nel.metrics.accumulator import BoundsJson, MetricJson, Unit, interval_fields, unit_of
from nel.metrics.decorators import Metric, NamedReducer
from nel.metrics.intervals import LEVEL
from nel.metrics.question_intervals import Design
from nel.metrics.reducers import mean_score
from nel.metrics.requested import RequestedStatistics
from nel.metrics.row_names import MetricRows, name_of, rename_rows, with_unique_names
from nel.metrics.sample_metrics import group_sizes, macro_row, reads_scores_alone, unit_of_value
from nel.metrics.series import Series
from nel.types import ModelFailure, Outcome, SampleScore, Score, Unscored

_REWARD = ""
"""Stands among the names of numbers for the reward."""
_REASON_CHARACTERS_MAX = 500


class _BareScores(Sequence[SampleScore]):
    """Scores without sample data, created during iteration, with a number of zeros after them."""

    def __init__(self, values: array[float], zeros: int) -> None:
        self._values = values
        self._zeros = zeros

    def __len__(self) -> int:
        return len(self._values) + self._zeros

    def __iter__(self) -> Iterator[SampleScore]:
        values = chain(self._values, repeat(0.0, self._zeros))
        return (SampleScore(score=Score(value=value)) for value in values)

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]


@dataclass(slots=True)
class StatisticsCollector:
    """Collects the scores of a benchmark in dataset order, and computes what was requested."""

    requested: RequestedStatistics
    design: Design = field(default_factory=Design)
    """How the questions were drawn."""
    _groups: dict[int, str] = field(default_factory=dict)
    _repeats: list[Score] = field(default_factory=list)
    _n_missing: int = 0
    """Unscored repeats of the question."""
    _numbers: dict[str, list[float]] = field(default_factory=dict)
    _sample: SampleScore | None = None
    _question: int = -1
    _reduced: dict[str, Series] = field(default_factory=dict)
    _left_out: Counter[str] = field(default_factory=Counter)
    _ends: dict[str, tuple[array[float], array[float]]] = field(default_factory=dict)
    """By reducer, of each question: the value with its missing repeats as 0, and as 1."""
    _scores: dict[str, list[SampleScore]] = field(default_factory=dict)
    _values: dict[str, array[float]] = field(default_factory=dict)
    """Replaces `_scores` where every metric reads only the scores; a few bytes per sample."""
    _scores_suffice: bool = False
    _not_rates: set[str] = field(default_factory=set)
    """Names of numbers that have a value outside of [0, 1]."""
    _filled: dict[str, array[float]] = field(default_factory=dict)
    """As `_values` or `_scores`, with 0 for each model failure to which the scorer gave no such
    number."""
    _scored_with: Counter[str] = field(default_factory=Counter)
    """By name of a number, the scored answers that have it."""
    _n_scored_of_question: int = 0
    _failures_with: Counter[str] = field(default_factory=Counter)
    """The same of the model failures of the question."""
    _n_failed_questions: int = 0
    """Questions whose every answer is a model failure."""
    _failed_questions_with: Counter[str] = field(default_factory=Counter)
    """By name of a number, those of them that have it all the same."""
    _failed_questions: list[tuple[SampleScore, frozenset[str]]] = field(default_factory=list)
    """These questions as scores of 0, with the names of their numbers, where a metric reads more
    than the value."""
    _repeats_max: int = 0
    _n_scored: int = 0
    _answers: list[SampleScore] | None = None
    """Each answer with all its numbers and details, where a metric reads those."""
    _errors: dict[str, str] = field(default_factory=dict)
    """By reducer, the first error that it raised."""
    failed: list[str] = field(default_factory=list)
    """Names of the rows whose metric or reducer failed, once `rows` was called."""

    def __post_init__(self) -> None:
        reduced = [metric for _, metric in self.requested.metrics if not _reads_each_answer(metric)]
        self._scores_suffice = all(map(reads_scores_alone, reduced))
        self._answers = [] if len(reduced) < len(self.requested.metrics) else None

    def add(
        self, question: int, outcome: Outcome, sample: SampleScore, *, group: str | None = None
    ) -> None:
        """Add one outcome; `sample` carries the row, the target and the response.

        Args:
            group: The cluster that the question belongs to.
        """
        if self.requested.is_empty:
            return
        if question != self._question:
            self._flush()
            self._question = question
            if group is not None:
                self._groups[question] = group
        if isinstance(outcome, Unscored):
            self._n_missing += 1
            return
        self._sample = sample
        if isinstance(outcome, ModelFailure):
            self._repeats.append(Score(value=0.0, answer=None))
            self._failures_with.update(outcome.metrics.keys())
        else:
            self._n_scored += 1
            self._n_scored_of_question += 1
            self._scored_with.update(outcome.metrics.keys())
            self._repeats.append(Score(value=outcome.reward, answer=outcome.answer))
        if self._answers is not None:
            score = Score(
                value=dict(outcome.metrics), answer=outcome.answer, metadata=outcome.details
            )
            self._answers.append(replace(sample, score=score))
        for name, value in outcome.metrics.items():
            self._numbers.setdefault(name, []).append(value)

    def rows(self, headline: str, run_rows: Sequence[MetricJson] = ()) -> list[MetricJson]:
        """Return a row as in metrics.json for each reducer and metric, with names that occur once.

        Args:
            headline: Name of the metric that the rewards are.
            run_rows: The rows that the run has of its own.
        """
        self._flush()
        # The run's own rows are means over repeats already.
        names = dict.fromkeys(reducer.name for reducer in self.requested.reducers)
        names.pop("mean", None)
        reduced = [self._reduced_row(headline, name) for name in names]
        used_names = {row["name"] for row in run_rows}
        rows = rename_rows(reduced, [row["name"] for row in reduced], used_names)
        self.failed = []
        for row, name in zip(rows, names, strict=True):
            if name in self._errors:
                self.failed.append(row["name"])
        for named_rows in with_unique_names(list(self._metric_rows()), [*run_rows, *rows]):
            rows += named_rows.rows
            if named_rows.failed:
                self.failed += [row["name"] for row in named_rows.rows]
        uninstalled = [
            _row(name, None, n=0, reason="its plugin is not installed")
            for name in self.requested.missing_names
        ]
        used_names |= {row["name"] for row in rows}
        return rows + rename_rows(uninstalled, self.requested.missing_names, used_names)

    def _metric_rows(self) -> Iterator[MetricRows]:
        """Yield the rows of each metric, before names that occur twice are made unique."""
        numbers = [name for name in sorted(self._values or self._scores) if name]
        # A metric without a spec is the scorer's own.
        n_of_scorer = len(self.requested.metrics) - len(self.requested.specs)
        specs = [*self.requested.specs, *[""] * n_of_scorer]
        for (key, metric), spec in zip(self.requested.metrics, specs, strict=True):
            matching = [_REWARD]
            if key:
                matching = [name for name in numbers if fnmatchcase(name, key)]
            rows_of = partial(MetricRows, metric=metric, spec=spec)
            if not matching and self._n_scored:
                reason = (
                    f'failed: the scorer declares metrics of "{key}" and gives no number of that'
                    " name"
                )
                reason += did_you_mean(key, numbers, or_all="; it gives ")
                rows = [_row(f"{key}/{name_of(metric)}", None, n=0, reason=reason)]
                yield rows_of(prefix=f"{key}/", rows=rows, failed=True)
            if _reads_each_answer(metric):
                rows, failed = _rows_of(metric, self._answers or [], "", self._repeats_max)
                yield rows_of(prefix="", rows=rows, failed=failed)
                continue
            for name in matching:
                prefix = f"{name}/" if name else ""
                rows, failed = self._rows_of_number(metric, name, prefix)
                yield rows_of(prefix=prefix, rows=rows, failed=failed)

    def _rows_of_number(
        self, metric: Metric, name: str, prefix: str
    ) -> tuple[list[MetricJson], bool]:
        """Return the rows of a metric over one number of the scorer, and whether it failed."""
        unit = "number" if name in self._not_rates else unit_of_value(metric)
        scores = self._scores_of(name)
        rows, failed = _rows_of(metric, scores, prefix, self._repeats_max, unit)
        if unit == "rate":
            self._add_macro_interval(rows, metric, scores)
        if name and not self._is_universal(name):
            for row in rows:
                row["denominator"] = "samples that have this metric"
        return rows, failed

    def _add_macro_interval(
        self, rows: Sequence[MetricJson], metric: Metric, scores: Sequence[SampleScore]
    ) -> None:
        # `macro_row` has an interval for new questions, drawn one by one: not for groups, a sample
        # of a benchmark or a run that a stop rule ended.
        if self._groups or self.design.sizes or self.design.fixed or rows[0]["value"] is None:
            return
        macro = macro_row(metric, scores)
        if macro is None:
            return
        name, interval = macro
        for row in rows:
            if row["name"].endswith(f"/{name}"):
                row["ci_lower"], row["ci_upper"] = interval.lower, interval.upper
                row["ci_method"], row["reason"] = interval.method, interval.reason

    def _flush(self) -> None:
        """Reduce the repeats of the current question, once its last outcome was added."""
        n_asked = len(self._repeats) + self._n_missing
        is_unscored = self._sample is None and self._n_missing > 0
        for reducer in self.requested.reducers:
            if reducer.is_bounded and n_asked:
                self._note_ends(reducer)
            self._left_out[reducer.name] += is_unscored
        self._n_missing = 0
        if self._sample is None:
            return
        self._repeats_max = max(self._repeats_max, len(self._repeats))
        for reducer in self.requested.reducers:
            self._note_reduced(reducer)
        if self.requested.metrics:
            numbers = {name: mean_of(values) for name, values in self._numbers.items()}
            self._note_sample(_REWARD, replace(mean_score()(self._repeats), metadata=numbers))
            for name, mean in numbers.items():
                self._note_sample(name, Score(value=mean))
            self._note_failures()
        self._repeats, self._numbers, self._sample = [], {}, None
        self._n_scored_of_question, self._failures_with = 0, Counter()

    def _note_failures(self) -> None:
        """Note what the numbers of the question are with a 0 for each failure that lacks one."""
        n_failures = len(self._repeats) - self._n_scored_of_question
        for name, values in self._numbers.items():
            zeros = [0.0] * (n_failures - self._failures_with[name])
            self._filled.setdefault(name, array("d")).append(mean_of([*values, *zeros]))
        if self._n_scored_of_question:
            return
        self._n_failed_questions += 1
        self._failed_questions_with.update(self._numbers.keys())
        if _REWARD in self._scores:
            sample = replace(self._scores[_REWARD][-1], score=Score(value=0.0))
            self._failed_questions.append((sample, frozenset(self._numbers)))

    def _note_ends(self, reducer: NamedReducer) -> None:
        ends = self._ends.setdefault(reducer.name, (array("d"), array("d")))
        for values, fill in zip(ends, (0.0, 1.0), strict=True):
            repeats = [*self._repeats, *[Score(value=fill)] * self._n_missing]
            value = reducer(repeats).as_float()
            if not math.isnan(value):  # NaN: fewer than k answers were asked
                values.append(value)

    def _note_reduced(self, reducer: NamedReducer) -> None:
        try:
            value: object = reducer(self._repeats).value
            number = _number(value)[0] if isinstance(value, (bool, int, float)) else None
        except (UndefinedMetric, _NoNumber):
            number = None
        except (
            Exception,  # noqa: BLE001 - a plugin's reducer; its own row reports the failure
            SystemExit,
        ) as error:
            self._errors.setdefault(reducer.name, _failure(error))
            return
        if number is None:
            self._left_out[reducer.name] += 1
        else:
            series = self._reduced.setdefault(reducer.name, Series())
            series.add(self._question, number, scored=True)

    def _note_sample(self, name: str, score: Score) -> None:
        sample, value = self._sample, score.value
        assert sample is not None  # noqa: S101 - _flush returns early without a sample
        assert isinstance(value, (int, float))  # noqa: S101 - a mean of rewards or of numbers
        if not 0 <= value <= 1:
            self._not_rates.add(name)
        if self._scores_suffice:
            self._values.setdefault(name, array("d")).append(value)
        else:
            self._scores.setdefault(name, []).append(replace(sample, score=score))

    def _is_universal(self, name: str) -> bool:
        """Return whether every scored answer has a number, so that a failure without it counts 0."""
        return self._scored_with[name] == self._n_scored

    def _scores_of(self, name: str) -> Sequence[SampleScore]:
        """Return the scores that a metric receives; it may change the list, which is a copy."""
        counts_failures = name != _REWARD and self._is_universal(name)
        if name in self._values:
            if counts_failures:
                return _BareScores(
                    self._filled[name], self._n_failed_questions - self._failed_questions_with[name]
                )
            return _BareScores(self._values[name], 0)
        scores = list(self._scores.get(name, []))
        if counts_failures:
            pairs = zip(scores, self._filled.get(name, ()), strict=True)
            scores = [replace(score, score=Score(value=value)) for score, value in pairs]
            scores += [sample for sample, names in self._failed_questions if name not in names]
        return scores

    def _reduced_row(self, headline: str, name: str) -> MetricJson:
        title, repeats = f"{headline}/{name}", self._repeats_max
        if name in self._errors:
            return _row(title, None, self._errors[name], n=0, repeats=repeats)
        series, left_out = self._reduced.get(name, Series()), self._left_out[name]
        reason: str | None = None
        if left_out:
            reason = f"{left_out} samples left out: too few scored answers, or no number"
        lower, upper = self._ends.get(name, ((), ()))
        bounds: BoundsJson | None = None
        if lower:
            bounds = {"lower": mean_of(lower), "upper": mean_of(upper)}
        mean = series.mean()
        if mean is None:
            return {**_row(title, None, reason or "nothing was scored", n=0), "bounds": bounds}
        interval = interval_fields(series, replace(self.design, groups=self._groups))
        row = _row(title, mean, n=series.n, repeats=repeats, unit=unit_of(series))
        return {**row, **interval, "bounds": bounds, "reason": reason or interval["reason"]}


def _reads_each_answer(metric: Metric) -> bool:
    """Return whether a metric receives each answer, and not the mean over a sample's repeats."""
    return bool(getattr(metric, "reads_each_answer", False))


def _rows_of(
    metric: Metric, scores: Sequence[SampleScore], prefix: str, repeats: int, unit: Unit = "number"
) -> tuple[list[MetricJson], bool]:
    """Return the rows of a metric, and whether it failed: it raised, or gave no number."""
    name = prefix + name_of(metric)
    try:
        value = metric(scores)
    except UndefinedMetric as error:
        return [_row(name, None, n=len(scores), repeats=repeats, reason=str(error))], False
    except (
        Exception,  # noqa: BLE001 - a plugin's metric; its own row reports the failure
        SystemExit,
    ) as error:
        reason = _failure(error)
        return [_row(name, None, n=len(scores), repeats=repeats, reason=reason)], True
    numbers: dict[str, object] = {name: value}
    if isinstance(value, Mapping):
        numbers = {f"{name}/{key}": number for key, number in value.items()}
    elif isinstance(value, (list, tuple)):
        numbers = {f"{name}/{position}": number for position, number in enumerate(value, start=1)}
    if not numbers:
        nothing = "failed: it gave no number at all"
        return [_row(name, None, nothing, n=len(scores), repeats=repeats, unit=unit)], True
    rows = []
    failed = False
    sizes = group_sizes(metric, scores)
    for row_name, number in numbers.items():
        try:
            finite, why = _number(number)
        except _NoNumber as error:
            finite, why = None, f"failed: {error}"
            failed = True
        n = sizes.get(row_name.removeprefix(f"{name}/"), len(scores))
        rows.append(_row(row_name, finite, why, n=n, repeats=repeats, unit=unit))
    return rows, failed


def _failure(error: BaseException) -> str:
    return f"failed: {type(error).__name__}: {error}"[:_REASON_CHARACTERS_MAX]


class _NoNumber(Exception):
    """A metric gave what cannot be a number."""


def _number(value: Any) -> tuple[float | None, str | None]:
    """Return a finite number, or why there is none.

    Raises:
        _NoNumber: It is a fault of the metric.
    """
    if value is None:
        return None, "undefined for these samples"
    if isinstance(value, (str, bytes, bytearray)):
        raise _NoNumber(f"it is a {type(value).__name__}, not a number")
    try:
        number = float(value)
    except OverflowError:
        raise _NoNumber("it is a number that no float holds") from None
    except Exception as error:  # an object of a plugin, whose conversion may raise anything
        raise _NoNumber(f"it is a {type(value).__name__}, not a number") from error
    if not math.isfinite(number):
        return None, f"is {number}"
    return number, None


def _row(
    name: str,
    value: float | None,
    reason: str | None = None,
    *,
    n: int,
    repeats: int = 0,
    unit: Unit = "number",
) -> MetricJson:
    return {
        "name": name,
        "value": value,
        "n": n,
        "n_questions": n,
        "repeats": repeats,
        "ci_lower": None,
        "ci_upper": None,
        "ci_level": LEVEL,
        "ci_method": "none",
        "ci_covers": "new questions",
        "bounds": None,
        "denominator": "scored and model failures",
        "unit": unit,
        "reason": reason or "no interval of its own",
    }
