"""Which of the numbers of a scorer is the reward, decided once. Depends on nothing of nel."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

REWARD_KEYS: Final = ("correct", "reward", "score")
"""A number of one of these names is the reward, the first of them before the others."""

OF_ANY_REWARD: Final = ("accuracy", "mean_reward")
"""Names of a headline whose scores do not all name their reward alike."""

MEAN_REWARD: Final = "mean_reward"
"""The headline's name in NeMo Evaluator; ``pass@1`` too, where each reward is 0 or 1."""


def reward_key(names: Iterable[str]) -> str:
    """Return the name of the number that is the reward: one of `REWARD_KEYS`, or the first.

    Args:
        names: At least one.

    >>> reward_key(["f1", "score"]), reward_key(["f1", "acc"])
    ('score', 'f1')
    """
    ordered = list(names)
    return next((key for key in REWARD_KEYS if key in ordered), ordered[0])


def aliases(headline: str, names: Collection[str], *, is_binary: bool) -> dict[str, str]:
    """Return the metrics that other names stand for, by these names, which no metric has itself.

    Args:
        headline: Its own name.
        names: Of all metrics.
        is_binary: Whether every reward is 0 or 1.

    >>> aliases("accuracy", ["accuracy", "accuracy/pass_at_5"], is_binary=True)
    {'mean_reward': 'accuracy', 'pass@5': 'accuracy/pass_at_5', 'pass@1': 'accuracy'}
    """
    metrics = {MEAN_REWARD: headline}
    if is_binary:
        reducer = f"{headline}/pass_at_"
        of_k = [name for name in names if name.startswith(reducer)]
        metrics |= {f"pass@{name.removeprefix(reducer)}": name for name in of_k}
        metrics["pass@1"] = headline
    return {alias: name for alias, name in metrics.items() if alias not in names}


def with_headline(values: Mapping[str, float], main: str) -> dict[str, float]:
    """Return the numbers of a score so named that the main one is the reward.

    Args:
        values: The main one among them.
        main: Its name.

    >>> with_headline({"f1": 0.5, "acc": 1.0}, "acc")
    {'acc': 1.0, 'f1': 0.5}
    >>> with_headline({"score": 0.5, "acc": 1.0}, "acc")
    {'acc': 1.0, 'score@2': 0.5}
    """
    numbers = {main: values[main]}
    for name, value in values.items():
        if name != main:
            # Under such a name, another number would be taken for the reward.
            numbers[f"{name}@2" if name in REWARD_KEYS else name] = value
    return numbers
