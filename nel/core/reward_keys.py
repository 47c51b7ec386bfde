"""Which of the numbers of a scorer is the reward, decided once. Depends on nothing of nel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

REWARD_KEYS: Final = ("correct", "reward", "score")
"""A number of one of these names is the reward, the first of them before the others."""

OF_ANY_REWARD: Final = ("accuracy", "mean_reward")
"""Names of a headline whose scores do not all name their reward alike."""


def reward_key(names: Iterable[str]) -> str:
    """Return the name of the number that is the reward: one of `REWARD_KEYS`, or the first.

    Args:
        names: At least one.

    >>> reward_key(["f1", "score"]), reward_key(["f1", "acc"])
    ('score', 'f1')
    """
    ordered = list(names)
    return next((key for key in REWARD_KEYS if key in ordered), ordered[0])


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
    others = {
        f"{name}@2" if name in REWARD_KEYS else name: value
        for name, value in values.items()
        if name != main
    }
    return {main: values[main], **others}
