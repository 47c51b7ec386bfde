"""Means by category, from rows of a results.jsonl that the caller has read. Does no I/O.

Rows of one sample are repeats of one question: the interval is over questions, since counting
repeats as questions would make it too narrow.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nel.core.scaling import mean_of
from nel.metrics.question_intervals import Design, new_questions_interval
from nel.metrics.series import Series


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryScore:
    """The mean reward of one category, with its 95 % interval."""

    category: str
    mean_reward: float | None
    """The mean over questions of each question's mean; None when nothing was scored."""
    n_samples: int
    """Rows that were scored."""
    n_unscored: int
    """Rows without a reward."""
    ci_lower: float | None
    ci_upper: float | None
    ci_method: str
    """``wilson``, ``added_question``, ``t`` or ``none``."""
    reason: str | None = None
    """Why there is no interval."""


def category_breakdown(results: Iterable[Mapping[str, Any]], key: str) -> list[CategoryScore]:
    """Return the mean reward of each category, sorted by category.

    Args:
        results: Rows as in results.jsonl: ``reward`` (a number, or None for unscored) and
            ``metadata``; rows of one ``sample_id`` are repeats of one question, rows without it are
            questions of their own.
        key: The key of a row's category, looked up in its metadata and then in the row itself.

    Returns:
        One entry per category. The interval is Wilson's where each question has one row that is
        right or wrong, otherwise that of one question more; Student's t where a reward is outside 0
        to 1.

    Raises:
        ValueError: A row has no reward or no category, or its reward is not a finite number.

    >>> rows = [{"reward": reward, "metadata": {"subject": "law"}} for reward in (1.0, 0.0, 1.0, None)]
    >>> [category] = category_breakdown(rows, "subject")
    >>> print(f"{category.category}: {category.mean_reward:.3f} ({category.n_samples} samples)")
    law: 0.667 (3 samples)
    """
    questions: dict[str, dict[tuple[str, object], list[float]]] = {}
    unscored: Counter[str] = Counter()
    n_rows: Counter[tuple[str, object]] = Counter()
    for position, row in enumerate(results):
        category = _category(row, key, position)
        reward = _reward(row, position)
        rewards = questions.setdefault(category, {})
        sample_id = row.get("sample_id")
        # A row without an id is a question of its own; the word keeps positions from equal ids.
        question = ("row", position) if sample_id is None else ("sample", sample_id)
        n_rows[question] += 1
        if reward is None:
            unscored[category] += 1
        else:
            rewards.setdefault(question, []).append(reward)
    design = Design(repeats=max(n_rows.values(), default=1))
    return [
        _category_score(category, list(questions[category].values()), unscored[category], design)
        for category in sorted(questions)
    ]


def _category(row: Mapping[str, Any], key: str, position: int) -> str:
    for fields in (row.get("metadata") or {}, row):
        if fields.get(key) is not None:
            return str(fields[key])
    raise ValueError(f'{_where(row, position)} has no "{key}", neither in its metadata nor itself')


def _reward(row: Mapping[str, object], position: int) -> float | None:
    if "reward" not in row:
        raise ValueError(f"{_where(row, position)} has no reward")
    reward = row["reward"]
    if reward is None:
        return None
    if not isinstance(reward, (bool, int, float)) or not math.isfinite(reward):
        raise ValueError(f"{_where(row, position)}: the reward {reward!r} is not a finite number")
    return float(reward)


def _where(row: Mapping[str, object], position: int) -> str:
    sample_id = row.get("sample_id")
    return f"row {position}" if sample_id is None else f"row {position} (sample {sample_id})"


def _category_score(
    category: str, questions: list[list[float]], n_unscored: int, design: Design
) -> CategoryScore:
    series = Series()
    for number, rewards in enumerate(sorted(questions, key=mean_of)):
        for reward in rewards:
            series.add(number, reward, scored=True)
    interval = new_questions_interval(series, design)
    return CategoryScore(
        category=category,
        mean_reward=series.mean(),
        n_samples=sum(map(len, questions)),
        n_unscored=n_unscored,
        ci_lower=interval.lower,
        ci_upper=interval.upper,
        ci_method=interval.method,
        reason=interval.reason,
    )
