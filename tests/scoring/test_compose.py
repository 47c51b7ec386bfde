"""Scorers made of scorers, sync and async."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from nel.byob.scorers import contains, exact_match, f1_token
from nel.errors import ConfigError, DatasetError, ScorerError
from nel.scoring.compose import all_of, any_of
from nel.types import Score, ScorerInput

PARIS = ScorerInput(response="It is Paris.", target="Paris")


def _right(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": True}


def _wrong(sample: ScorerInput) -> dict[str, Any]:
    return {"correct": False}


def _failing(sample: ScorerInput) -> dict[str, Any]:
    raise ScorerError("no verdict")


@pytest.mark.parametrize(
    ("members", "any_right", "all_right"),
    [
        ((_right,), True, True),
        ((_wrong,), False, False),
        ((_right, _wrong), True, False),
        ((_right, _right), True, True),
        ((_wrong, _wrong), False, False),
    ],
)
def test_verdicts(members: tuple[Any, ...], any_right: bool, all_right: bool) -> None:
    """One right member is enough for any_of; all_of needs every one."""
    assert any_of(*members)(PARIS)["correct"] is any_right
    assert all_of(*members)(PARIS)["correct"] is all_right


def test_numbers_of_members_keep_their_names() -> None:
    """Each number of each member stands beside the verdict, under the member's name."""
    result = any_of(contains, exact_match)(PARIS)
    assert result == {"correct": True, "contains_correct": True, "exact_match_correct": False}


def test_a_part_of_the_credit_is_not_right() -> None:
    """A member is right at a reward of 1; 0.99 is not."""
    partly: Any = lambda sample: {"score": 0.99}  # noqa: E731
    fully: Any = lambda sample: 1.0  # noqa: E731
    assert any_of(partly, _wrong)(PARIS)["correct"] is False
    assert all_of(fully, _right)(PARIS)["correct"] is True


def test_members_that_are_not_binary() -> None:
    """A member without a verdict counts by its first number, which is kept."""
    result = any_of(f1_token, exact_match)(ScorerInput(response="Paris", target="Paris"))
    assert result["correct"] is True
    assert result["exact_match_correct"] is True


def test_a_member_may_return_a_score() -> None:
    """A Score, a bool and a grade are verdicts as good as a mapping."""
    graded: Any = lambda sample: Score(value="C", answer="Paris")  # noqa: E731
    plain: Any = lambda sample: True  # noqa: E731
    assert all_of(graded, plain)(PARIS)["correct"] is True


def test_no_members() -> None:
    """Without members there is nothing to compose, and the message says what to write."""
    with pytest.raises(ConfigError, match=r"any_of\(\) has no members; give it scorers"):
        any_of()
    with pytest.raises(ConfigError, match=r"all_of\(\) has no members"):
        all_of()


@pytest.mark.parametrize("compose", [any_of, all_of])
def test_sync_members_make_a_sync_scorer(compose: Any) -> None:
    """The result is a plain function that says what it is made of."""
    composed = compose(_right, _wrong)
    assert not inspect.iscoroutinefunction(composed)
    assert composed.__name__ == f"{compose.__name__}(_right, _wrong)"
    assert composed.members == (_right, _wrong)


@pytest.mark.parametrize(("compose", "settled"), [(any_of, _wrong), (all_of, _right)])
def test_a_failing_member_that_matters_leaves_no_verdict(compose: Any, settled: Any) -> None:
    """Where the failing member could have turned the verdict, there is none."""
    with pytest.raises(ScorerError, match="no verdict"):
        compose(settled, _failing)(PARIS)


@pytest.mark.parametrize(("compose", "settled", "verdict"), [(any_of, _right, True), (all_of, _wrong, False)])
def test_a_failing_member_that_cannot_matter(compose: Any, settled: Any, verdict: bool) -> None:
    """Where the others have settled the matter, a member that fails does not undo it."""
    assert compose(settled, _failing)(PARIS)["correct"] is verdict
    assert compose(_failing, settled)(PARIS)["correct"] is verdict


def test_errors_of_rows_pass_through() -> None:
    """A bad row is a bad row for the whole."""
    with pytest.raises(DatasetError, match="the target is empty"):
        any_of(contains, exact_match)(ScorerInput(response="", target=""))


def test_a_member_without_a_number() -> None:
    """A member that returns no number has failed, and so has the whole."""
    empty: Any = lambda sample: {}  # noqa: E731
    with pytest.raises(ScorerError, match="no number"):
        any_of(empty, _wrong)(PARIS)
