"""The metrics that an adapter's `metric_list` names, each from a prediction and the target to a number.

EvalScope scores a metric that raises as 0; here its sample is unscored, since that says nothing of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from nel.errors import ConfigError, did_you_mean
from nel.scoring.choice import gold_labels
from nel.scoring.labels import labels_for
from nel.scoring.numeric.math_answer import math_equal
from nel.scoring.numeric.numbers import numbers_equal, numeric_match
from nel.scoring.overlap import bleu, f1_token, rouge
from nel.types import ScorerInput

MetricFunction: TypeAlias = "Callable[..., float]"
"""``(prediction, reference, **options)`` to a number."""


def accuracy(prediction: str, reference: str, *, allow_inclusion: bool = False, numeric: bool = False) -> float:
    """Return 1.0 where both are equal, case and outer spaces apart; an empty prediction never is.

    Args:
        allow_inclusion: The reference may also stand anywhere in the prediction.
        numeric: Equal numbers are equal, however they are written.

    >>> accuracy(" B ", "b"), accuracy("1,200", "1200", numeric=True), accuracy("", "")
    (1.0, 1.0, 0.0)
    """
    given, gold = prediction.strip().casefold(), reference.strip().casefold()
    if not given:
        return 0.0
    if given == gold or (allow_inclusion and gold and gold in given):
        return 1.0
    return float(numeric and numbers_equal(given, gold))


def multi_choice_accuracy(prediction: str, reference: str) -> float:
    """Return the share of the right labels that were chosen; 0.0 when any wrong one was.

    >>> multi_choice_accuracy("AC", "ACD"), multi_choice_accuracy("AB", "ACD")
    (0.6666666666666666, 0.0)
    """
    labels = labels_for(26)
    gold = set(gold_labels(reference, labels))
    chosen = set(gold_labels(prediction, labels)) if prediction.strip() else set()
    return len(chosen) / len(gold) if chosen and chosen <= gold else 0.0


def _of(scorer: Callable[[ScorerInput], Mapping[str, Any]], key: str = "correct") -> MetricFunction:
    return lambda prediction, reference: float(scorer(ScorerInput(response=prediction, target=reference))[key])


METRICS: Final[Mapping[str, MetricFunction]] = {
    "acc": accuracy,
    "accuracy": accuracy,
    "exact_match": accuracy,
    "numeric_match": _of(numeric_match),
    "math_acc": _of(math_equal),
    "multi_choice_acc": multi_choice_accuracy,
    "f1": _of(f1_token, "f1"),
    "bleu": _of(bleu, "bleu_4"),
    "rouge_l": _of(rouge, "rouge_l"),
}


def named_metrics(metric_list: Sequence[object]) -> list[tuple[str, MetricFunction, dict[str, Any]]]:
    """Return name, function and options of each metric in a list of names and ``{name: options}``.

    Raises:
        ConfigError: A name is unknown, or the list is empty.
    """
    found = []
    for entry in metric_list:
        for name, options in entry.items() if isinstance(entry, Mapping) else ((entry, {}),):
            if name not in METRICS:
                hint = did_you_mean(str(name), METRICS) or f"; there are {', '.join(METRICS)}"
                raise ConfigError(f'metric_list: there is no metric "{name}"{hint}; or override match_score')
            found.append((str(name), METRICS[name], dict(options or {})))
    if not found:
        raise ConfigError("metric_list is empty; name at least one metric")
    return found
