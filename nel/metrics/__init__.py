"""Metrics of samples, with intervals; reducers over repeats. Depends on `nel.core` and `nel.types`,
and does no I/O.
"""

from nel.metrics.added_question import added_question_ends
from nel.metrics.aggregation import CategoryScore, category_breakdown
from nel.metrics.bootstrap import BootstrapInterval, bootstrap_ci
from nel.metrics.decorators import (
    Metric,
    MetricOfAnswers,
    MetricProtocol,
    NamedMetric,
    NamedReducer,
    ScoreReducer,
    metric,
    score_reducer,
)
from nel.metrics.intervals import Interval, wilson_interval
from nel.metrics.pass_at_k import pass_at_k, pass_hat_k
from nel.metrics.question_intervals import macro_interval
from nel.metrics.reducers import (
    at_least,
    collect_score,
    k_of,
    max_score,
    mean_score,
    median_score,
    mode_score,
    pass_at,
    pass_k,
    reducer_named,
    vote_at,
)
from nel.metrics.sample_metrics import (
    accuracy,
    aggregate,
    bootstrap_stderr,
    ci,
    grouped,
    mean,
    std,
    stderr,
    var,
)
from nel.metrics.score_values import ValueToFloat, value_to_float

__all__ = [
    "BootstrapInterval",
    "CategoryScore",
    "Interval",
    "Metric",
    "MetricOfAnswers",
    "MetricProtocol",
    "NamedMetric",
    "NamedReducer",
    "ScoreReducer",
    "ValueToFloat",
    "accuracy",
    "added_question_ends",
    "aggregate",
    "at_least",
    "bootstrap_ci",
    "bootstrap_stderr",
    "category_breakdown",
    "ci",
    "collect_score",
    "grouped",
    "k_of",
    "macro_interval",
    "max_score",
    "mean",
    "mean_score",
    "median_score",
    "metric",
    "mode_score",
    "pass_at",
    "pass_at_k",
    "pass_hat_k",
    "pass_k",
    "reducer_named",
    "score_reducer",
    "std",
    "stderr",
    "value_to_float",
    "var",
    "vote_at",
    "wilson_interval",
]
