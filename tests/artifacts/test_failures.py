"""failure_analysis.json: what counts as a failure, and of which kind."""

from __future__ import annotations

import pytest

from nel.artifacts.failures import FailureAnalysis
from nel.artifacts.results import Result
from nel.types import ModelFailure, Outcome, Scored, Unscored


def analysis_of(*outcomes: Outcome) -> FailureAnalysis:
    found = FailureAnalysis()
    for idx, outcome in enumerate(outcomes):
        found.add(Result(idx, f"s{idx}", 0, None, None, outcome, True))
    return found


@pytest.mark.parametrize(
    ("outcome", "category"),
    [
        (Scored(reward=1.0, metrics={}), None),
        (Scored(reward=0.25, metrics={}), None),
        (Scored(reward=0.0, metrics={}), "wrong_answer"),
        (Scored(reward=-0.5, metrics={}), "wrong_answer"),
        (Scored(reward=0.0, metrics={}, details={"verdict": "timeout"}), "timeout"),
        (Scored(reward=0.0, metrics={}, details={"verdict": "wrong"}), "wrong_answer"),
        (ModelFailure(kind="refusal"), "refusal"),
        (Unscored(cause="judge", kind="no_verdict"), "judge:no_verdict"),
    ],
)
def test_what_counts_as_a_failure(outcome: Outcome, category: str | None) -> None:
    """An answer with some credit is none; a program's verdict, the model's failure and the unscored's cause name it."""
    found = analysis_of(outcome, Scored(reward=1.0, metrics={})).as_json()
    assert found["categories"] == ({} if category is None else {category: {"count": 1, "rate": 0.5}})
    assert found["total_failures"] == (category is not None)


def test_five_exemplars_of_each_kind_are_kept() -> None:
    """The first five in dataset order; all are counted."""
    found = analysis_of(*[ModelFailure(kind="empty")] * 7).as_json()
    assert [one["problem_idx"] for one in found["exemplars"]] == [0, 1, 2, 3, 4]
    assert found["categories"]["empty"] == {"count": 7, "rate": 1.0}
