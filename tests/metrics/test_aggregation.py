"""Means by category, from rows as results.jsonl has them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nel.metrics import added_question_ends, category_breakdown, wilson_interval


def row(reward: Any, category: Any = "law", **fields: Any) -> dict[str, Any]:
    """Return a row with its category in the metadata."""
    return {"reward": reward, "metadata": {"subject": category}, **fields}


def test_binary_rewards_get_wilsons_interval() -> None:
    """Eight of ten, with the published interval."""
    [law] = category_breakdown([row(1.0)] * 8 + [row(0.0)] * 2, "subject")
    assert (law.category, law.mean_reward, law.n_samples, law.n_unscored) == ("law", 0.8, 10, 0)
    assert (law.ci_lower, law.ci_upper) == pytest.approx((0.490162, 0.943318), abs=5e-7)
    assert law.ci_method == "wilson"


def test_other_rewards_get_the_interval_of_one_question_more() -> None:
    """Partial credit has it; a category without any has Wilson's, which is the same where there is none."""
    rewards = [0.1, 0.5, 0.9, 1.0]
    [art, law] = category_breakdown([*(row(reward) for reward in rewards), row(1.0, "art")], "subject")
    assert ((law.ci_lower, law.ci_upper), law.ci_method) == (added_question_ends(rewards), "added_question")
    assert art.ci_method == "wilson"


def test_unscored_rows_are_counted_apart() -> None:
    """A row without a reward is in no mean; a category of only such rows has none, with the reason."""
    law, maths = category_breakdown([row(None, "maths"), row(1.0), row(None), row(0.0)], "subject")
    assert (law.mean_reward, law.n_samples, law.n_unscored) == (0.5, 2, 1)
    assert (maths.mean_reward, maths.n_samples, maths.n_unscored) == (None, 0, 1)
    assert (maths.ci_lower, maths.ci_upper, maths.ci_method) == (None, None, "none")
    assert maths.reason == "nothing was scored"


def test_repeats_are_one_question() -> None:
    """Rows of one sample make one mean, so ten copies of a question do not narrow the interval."""
    rows = [row(reward, sample_id=str(i)) for i, reward in enumerate([1.0, 0.0, 1.0])]
    [once], [often] = category_breakdown(rows, "subject"), category_breakdown(rows * 10, "subject")
    assert (often.ci_lower, often.ci_upper) == added_question_ends([1.0, 0.0, 1.0])
    assert (often.n_samples, often.ci_method) == (30, "added_question")
    assert (once.ci_lower, once.ci_upper) == (wilson_interval(2, 3).lower, wilson_interval(2, 3).upper)


def test_category_is_looked_up_in_the_row_too() -> None:
    """Metadata first, then the row itself; any value becomes text."""
    rows = [{"reward": 1, "subset": 7}, {"reward": True, "metadata": {"subset": 8}, "subset": 9}]
    assert [one.category for one in category_breakdown(rows, "subset")] == ["7", "8"]
    assert category_breakdown([{"reward": 1, "metadata": None, "subset": "x"}], "subset")[0].category == "x"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"metadata": {"subject": "x"}}, "row 1 has no reward"),
        (row("1.0", sample_id="q7"), r"row 1 \(sample q7\): the reward '1.0' is not a finite number"),
        (row(math.nan), "not a finite number"),
        ({"reward": 1.0}, 'row 1 has no "subject"'),
        (row(1.0, None), 'row 1 has no "subject"'),
    ],
)
def test_errors_name_the_row(bad: dict[str, Any], message: str) -> None:
    """A row that cannot be counted is named, never skipped."""
    with pytest.raises(ValueError, match=message):
        category_breakdown([row(1.0), bad], "subject")
