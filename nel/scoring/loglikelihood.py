"""Scores of choices ranked by log-likelihood, as lm-evaluation-harness counts them.

Depends on `nel.scoring.choice` for the gold label and the log-likelihoods. Note: two rules are
called ``acc_norm``. Here the sum is divided by the characters of the bare choice, without the
delimiter; `nel.scoring.choice.multiple_choice_acc` keeps NeMo Evaluator's, by UTF-8 bytes of the
choice as it is given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nel.errors import ConfigError, DatasetError
from nel.reading.letters import labels_for
from nel.scoring.choice import finite_or_none, first_best, log_likelihoods, ranked_gold
from nel.scoring.declarations import in_process
from nel.scoring.gold_choices import choice_gold
from nel.scoring.golds import reads_gold
from nel.types import ScorerInput


@in_process
@reads_gold(choice_gold)
def ranked_choice(sample: ScorerInput, *, headline: str = "acc") -> dict[str, Any]:
    """Rank the choices by log-likelihood, with lm-evaluation-harness' three accuracies.

    Rule: ``acc`` is 1 when the choice of the largest sum is the gold; ``acc_norm`` when that of the
    largest sum per character (code point) of the bare choice is; ``acc_bytes`` per UTF-8 byte.
    Equal values go to the first. Source: lm-evaluation-harness,
    ``ConfigurableTask.process_results``. The gold is an index, a letter or a text; one that is not
    a choice leaves the sample unscored, where lm-evaluation-harness warns and counts it wrong.

    Args:
        headline: The metric that is the sample's reward: ``acc``, ``acc_norm`` or ``acc_bytes``.

    Raises:
        ConfigError: There is no such metric.
        ScorerError: The metadata has no log-likelihoods, or lists of different lengths, or one is
            not a number.
        DatasetError: The gold is not a choice.

    >>> metadata = {"_choices": ["no", "surely"], "_choices_logprobs": [-2.0, -4.0]}
    >>> ranked_choice(ScorerInput(response="no", target=1, metadata=metadata))
    {'acc': 0.0, 'acc_norm': 1.0, 'acc_bytes': 1.0, 'extracted': 'A', 'logprobs': [-2.0, -4.0]}
    """
    choices, sums, _ = log_likelihoods(sample.metadata)
    labels, gold = ranked_gold(sample, choices)
    leaders = {
        "acc": first_best(sums),
        "acc_norm": first_best(_per_unit(sums, [len(choice) for choice in choices])),
        "acc_bytes": first_best(
            _per_unit(sums, [len(choice.encode("utf-8", "replace")) for choice in choices])
        ),
    }
    if headline not in leaders:
        raise ConfigError(f'headline "{headline}" is unknown; use {", ".join(leaders)}')
    order = [headline, *(name for name in leaders if name != headline)]
    return {
        **{name: float(leaders[name] == gold) for name in order},
        "extracted": labels[leaders[headline]],
        "logprobs": finite_or_none(sums),
    }


@in_process
def choice_mass(sample: ScorerInput, gold_indices: Sequence[int]) -> dict[str, Any]:
    """Share out probability 1 among the choices, and return what falls on the right ones.

    Rule: the sum of ``exp(sum)`` over the right choices, divided by that over all; no division by
    length. Source: lm-evaluation-harness, ``truthfulqa_mc2``, under the name ``acc``. Here every
    sum is first reduced by the largest, so that long choices do not underflow to 0 / 0.

    Args:
        gold_indices: Indices of the right choices, from 0.

    Raises:
        ScorerError: As `ranked_choice`.
        DatasetError: No index is given, or one is out of range.

    >>> choice_mass(ScorerInput(response="", target=[0], metadata={"_choices": ["a", "b"],
    ...     "_choices_logprobs": [-1.0, -1.0]}), [0])
    {'acc': 0.5, 'extracted': 'A', 'logprobs': [-1.0, -1.0]}
    """
    choices, sums, _ = log_likelihoods(sample.metadata)
    if not gold_indices or not all(0 <= index < len(choices) for index in gold_indices):
        raise DatasetError(
            f"the right choices {list(gold_indices)} are not among {len(choices)}; indices start at 0"
        )
    top = max(sums)
    weights = [math.exp(value - top) for value in sums]
    mass = math.fsum(weights[index] for index in set(gold_indices)) / math.fsum(weights)
    return {
        "acc": mass,
        "extracted": labels_for(len(choices))[first_best(sums)],
        "logprobs": finite_or_none(sums),
    }


def _per_unit(sums: Sequence[float], sizes: Sequence[int]) -> list[float]:
    """Return the sums by size; an empty choice gets minus infinity, so it is never the best."""
    return [total / size if size else -math.inf for total, size in zip(sums, sizes, strict=True)]
