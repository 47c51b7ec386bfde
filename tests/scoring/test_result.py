"""What a scorer returned becomes an outcome, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nel.errors import JudgeError, ScorerError
from nel.scoring.result import outcome_of
from nel.types import ModelFailure, Score, Scored


@pytest.mark.parametrize(
    ("result", "reward", "metrics"),
    [
        ({"correct": True}, 1.0, {"correct": 1.0}),
        ({"f1": 0.5, "precision": 1.0}, 0.5, {"f1": 0.5, "precision": 1.0}),
        ({"note": "x", "reward": np.float32(0.25)}, 0.25, {"reward": 0.25}),
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
    "result", [None, [], "C", {}, {"note": "x"}, {"correct": float("nan")}, float("inf"), Score(value="?")]
)
def test_what_is_no_score_is_refused(result: Any) -> None:
    """None, text, NaN and empty dicts are faults of the scorer, never a zero."""
    with pytest.raises(ScorerError):
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


def test_refusal_words_in_a_right_answer_are_no_failure() -> None:
    """A correct answer that opens like a refusal is correct."""
    assert isinstance(outcome_of({"correct": True, "extracted": "4"}, "I'm sorry, but it is 4."), Scored)


def test_a_judge_that_is_not_there_is_the_judges_fault() -> None:
    """A scorer that wants a judge is unscored by judge, not wrong."""
    with pytest.raises(JudgeError, match="there is none here"):
        outcome_of({"correct": False, "needs_judge": True}, "text")


def test_details_of_any_type_are_kept() -> None:
    """Sets, arrays and objects in a scorer's details become JSON; they never cost the verdict."""
    outcome = outcome_of({"correct": True, "matches": {2, 1}, "scores": np.array([1.5]), "rule": object}, "x")
    assert isinstance(outcome, Scored)
    assert outcome.details == {"matches": [1, 2], "scores": [1.5], "rule": "<class 'object'>"}
