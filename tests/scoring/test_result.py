"""What a scorer returned becomes an outcome, or is refused."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from nel.errors import JudgeError, ScorerError
from nel.scoring.result import mean_of_turns, outcome_of
from nel.types import ModelFailure, Score, Scored, Unscored


@pytest.mark.parametrize(
    ("result", "reward", "metrics"),
    [
        ({"correct": True}, 1.0, {"correct": 1.0}),
        ({"f1": 0.5, "precision": 1.0}, 0.5, {"f1": 0.5, "precision": 1.0}),
        ({"note": "x", "reward": np.float32(0.25)}, 0.25, {"reward": 0.25}),
        ({"correct": Decimal("0.25")}, 0.25, {"correct": 0.25}),
        ({"correct": np.True_, "label": np.str_("C"), "at": np.datetime64("2020-01-01")}, 1.0, {"correct": 1.0}),
        (True, 1.0, {"correct": 1.0}),
        (0.5, 0.5, {"score": 0.5}),
        (Score(value="P"), 0.5, {"correct": 0.5}),
        (Score(value={"a": 1, "b": 0}), 1.0, {"a": 1.0, "b": 0.0}),
    ],
)
def test_results_become_scores(result: Any, reward: float, metrics: dict[str, float]) -> None:
    """Dicts, bools, numbers and Score objects all carry a reward."""
    outcome = outcome_of(result, "text")
    assert isinstance(outcome, Scored)
    assert (outcome.reward, dict(outcome.metrics)) == (reward, metrics)


@pytest.mark.parametrize(
    "result",
    [None, [], "C", {}, {"note": "x"}, {"correct": float("nan")}, float("inf"), Score(value="?"), {"correct": 10**400}, {"correct": Decimal("NaN")}, {"correct": np.complex128(1)}, {"correct": 2}, {"correct": -1}, {"correct": 100, "parsed": False}, {"correct": "no", "f1": 0.9}, {"correct": None, "f1": 0.9}, {"score": "B", "f1": 1}]
)  # fmt: skip
def test_what_is_no_score_is_refused(result: Any) -> None:
    """None, text, NaN and empty dicts are faults of the scorer, never a zero; another number is no verdict either."""
    with pytest.raises(ScorerError):
        outcome_of(result, "text")


@pytest.mark.parametrize(("share", "reward"), [(1.0000000000000002, 1.0), (-1e-17, 0.0), (0.25, 0.25)])
def test_a_share_is_from_0_to_1(share: float, reward: float) -> None:
    """What a computation adds by rounding is taken away."""
    outcome = outcome_of({"correct": share}, "text")
    assert isinstance(outcome, Scored)
    assert (outcome.reward, outcome.metrics["correct"]) == (reward, reward)


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _doubled(times: int) -> list[Any]:
    value: list[Any] = [0]
    for _ in range(times):
        value = [value, value]
    return value


HOLDS_ITSELF: dict[str, Any] = {"correct": True}
HOLDS_ITSELF["again"] = HOLDS_ITSELF


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (HOLDS_ITSELF, "holds itself"),
        ({"correct": True, "deep": _nested(100_000)}, "nested deeper than 100 levels"),
        ({"correct": True, "many": _doubled(40)}, "more than 1,000,000 values"),
    ],
    ids=["holds-itself", "deep", "many"],
)
def test_a_result_without_end_is_refused_in_words(result: Any, words: str) -> None:
    """It is what the scorer returned that is at fault, not the code that copies it."""
    with pytest.raises(ScorerError, match=words):
        outcome_of(result, "text")


@pytest.mark.parametrize(
    ("response", "kind"),
    [("I am not sure", "no_answer"), ("I'm sorry, I cannot help.", "refusal"), ("Sorry, no.", "refusal")],
)
def test_no_answer_and_refusal_are_model_failures(response: str, kind: str) -> None:
    """A result that found nothing is a model failure; an opening refusal names it."""
    outcome = outcome_of({"correct": False, "extracted": None, "guess": 0.1}, response)
    assert isinstance(outcome, ModelFailure)
    assert (outcome.kind, dict(outcome.metrics)) == (kind, {"correct": 0.0, "guess": 0.1})


@pytest.mark.parametrize("result", [{"f1": 0.4, "extracted": None}, {"score": 0.4, "parsed": False}])
def test_credit_without_an_extracted_answer_counts(result: Any) -> None:
    """Only a result without any credit can be a failure of the model."""
    outcome = outcome_of(result, "I'm sorry, it may be 4.")
    assert isinstance(outcome, Scored)
    assert outcome.reward == 0.4


def test_a_judge_that_is_not_there_is_the_judges_fault() -> None:
    """A scorer that wants a judge is unscored by judge, not wrong."""
    with pytest.raises(JudgeError, match="there is none here"):
        outcome_of({"correct": False, "needs_judge": True}, "text")


def test_details_of_any_type_are_kept() -> None:
    """Sets, arrays and objects in a scorer's details become JSON; they never cost the verdict."""
    outcome = outcome_of({"correct": True, "matches": {2, 1}, "scores": np.array([1.5]), "rule": object}, "x")
    assert isinstance(outcome, Scored)
    assert outcome.details == {"matches": [1, 2], "scores": [1.5], "rule": "<class 'object'>"}


RIGHT = Scored(reward=1.0, metrics={"correct": 1.0}, answer="4")
FAILED = ModelFailure(kind="no_answer", metrics={"correct": 0.0})


def test_turns_become_their_mean() -> None:
    """A turn in which the model gave no answer counts 0, and each turn's number is kept."""
    outcome = mean_of_turns([FAILED, RIGHT])
    assert isinstance(outcome, Scored)
    assert (outcome.reward, outcome.answer) == (0.5, "4")
    assert outcome.metrics == {"correct": 0.5, "correct_turn_1": 0.0, "correct_turn_2": 1.0}


def test_a_turn_without_a_score_leaves_the_sample_without_one() -> None:
    """A fault of the machinery in one turn is not averaged away by the others."""
    fault = Unscored(cause="scorer", kind="raised")
    assert mean_of_turns([RIGHT, fault, RIGHT]) is fault
    assert mean_of_turns([FAILED, FAILED]) is FAILED
