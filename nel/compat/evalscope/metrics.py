"""The metrics that an adapter's `metric_list` names, each a number of a prediction and the target.

A target is a text, or a list of answers, any of which is right; for `multi_choice_acc` the list of
all right labels. EvalScope scores a metric that raises as 0; here its sample is unscored, since
that says nothing of the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from nel.compat.evalscope.mathematics import compare_answers
from nel.compat.evalscope.text_metrics import anls
from nel.errors import ConfigError, did_you_mean
from nel.scoring.answers import numeric_match
from nel.scoring.golds import reads_gold, text_gold, texts_in
from nel.scoring.overlap import bleu, f1_token, rouge
from nel.types import ScorerInput

MetricFunction: TypeAlias = "Callable[..., float]"
"""``(prediction, reference, **options)`` to a number; the reference is a text or a list."""


def _normal(text: str) -> str:
    return text.strip().lower()


@reads_gold(text_gold)
def accuracy(
    prediction: str,
    reference: str | Sequence[str],
    *,
    allow_inclusion: bool = False,
    numeric: bool = False,
) -> float:
    """Return 1.0 where the prediction is an answer, case and outer spaces apart.

    Args:
        prediction: What was extracted of the answer.
        reference: The right answer, or several, each of which is right.
        allow_inclusion: EvalScope's word for several right answers, which are always taken.
        numeric: Expressions that mean the same are equal, however they are written.

    Raises:
        DatasetError: There is no reference.

    >>> accuracy(" B ", "b"), accuracy("1,200", "1200", numeric=True), accuracy("", "b")
    (1.0, 1.0, 0.0)
    >>> accuracy("Lutetia", ["Paris", "Lutetia"]), accuracy("Paris", "Paris, France", allow_inclusion=True)
    (1.0, 0.0)
    """
    golds = texts_in(reference)
    if numeric:
        return float(any(compare_answers(prediction, gold).matched for gold in golds))
    return float(_normal(prediction) in map(_normal, golds))


@reads_gold(text_gold)
def math_accuracy(prediction: str, reference: str | Sequence[str]) -> float:
    """Return 1.0 where the answer that a reply gives means the same as the reference."""
    return float(
        any(
            compare_answers(prediction, gold, prediction_mode="output").matched
            for gold in texts_in(reference)
        )
    )


@reads_gold(text_gold)
def multi_choice_accuracy(prediction: str, reference: str | Sequence[str]) -> float:
    """Return the share of the right labels that were chosen; 0.0 when any wrong one was.

    >>> multi_choice_accuracy("AC", "ACD"), multi_choice_accuracy("AB", "ACD")
    (0.6666666666666666, 0.0)
    """
    labels, gold = set(prediction.strip().upper()), set("".join(reference).strip().upper())
    return len(labels) / len(gold) if gold and labels <= gold else 0.0


def _of(scorer: Callable[[ScorerInput], Mapping[str, Any]], key: str = "correct") -> MetricFunction:
    def metric(prediction: str, reference: str | Sequence[str]) -> float:
        return float(scorer(ScorerInput(response=prediction, target=reference))[key])

    return reads_gold(scorer.takes_gold)(metric)  # type: ignore[attr-defined] # every rule that is listed below has one


METRICS: Final[Mapping[str, MetricFunction]] = {
    "acc": accuracy,
    "accuracy": accuracy,
    "exact_match": accuracy,
    "numeric_match": _of(numeric_match),
    "math_acc": math_accuracy,
    "anls": anls,
    "multi_choice_acc": multi_choice_accuracy,
    "f1": _of(f1_token, "f1"),
    "bleu": _of(bleu, "bleu_4"),
    "rouge_l": _of(rouge, "rouge_l"),
}


def named_metrics(
    metric_list: Sequence[object],
) -> list[tuple[str, MetricFunction, dict[str, Any]]]:
    """Return name, function and options of each metric in a list of names and ``{name: options}``.

    A metric that the list names several times has its options in its name: ``acc`` and
    ``acc:numeric=True``.

    Raises:
        ConfigError: A name is unknown, or the list is empty.
    """
    entries: list[tuple[str, dict[str, Any]]] = []
    for entry in metric_list:
        if isinstance(entry, Mapping):
            entries += [(str(name), dict(options or {})) for name, options in entry.items()]
        else:
            entries.append((str(entry), {}))
    counts = Counter(name for name, _ in entries)
    functions: dict[str, tuple[MetricFunction, dict[str, Any]]] = {}
    for name, options in entries:
        if name not in METRICS:
            hint = did_you_mean(name, METRICS, or_all="; there are ")
            raise ConfigError(
                f'metric_list: there is no metric "{name}"{hint}; or override match_score'
            )
        label = name
        if counts[name] > 1 and options:
            label += ":" + ",".join(f"{key}={value}" for key, value in options.items())
        functions[label] = METRICS[name], options
    if not functions:
        raise ConfigError("metric_list is empty; name at least one metric")
    return [(label, *metric) for label, metric in functions.items()]
