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


def judged(template: str, grade: str) -> Scored:
    return Scored(reward=0.0, metrics={}, details={"judgements": [{"template": template, "grade": grade}]})


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (Scored(reward=0.25, metrics={}), None),
        (Scored(reward=0.0, metrics={}), "wrong_answer"),
        (Scored(reward=0.0, metrics={}, details={"verdict": "timeout"}), "timeout"),
        (Scored(reward=0.0, metrics={}, details={"verdict": "wrong"}), "wrong_answer"),
        (ModelFailure(kind="refusal"), "refusal"),
        (judged("refusal", "REFUSES"), "judged_refusal"),
        (judged("refusal", "COMPLIES"), "wrong_answer"),
        (Unscored(cause="judge", kind="no_verdict"), "judge:no_verdict"),
    ],
)
def test_what_counts_as_a_failure(outcome: Outcome, kind: str | None) -> None:
    """An answer with some credit is none; a program's verdict, the model's failure and the unscored's cause name it."""
    found = analysis_of(outcome, Scored(reward=1.0, metrics={})).as_json()
    assert {name: (one["count"], one["rate"]) for name, one in found["kinds"].items()} == (
        {} if kind is None else {kind: (1, 0.5)}
    )
    assert found["total_failures"] == (kind is not None)


def test_five_exemplars_of_each_kind_are_kept() -> None:
    """The first five in dataset order; all are counted."""
    found = analysis_of(*[ModelFailure(kind="empty")] * 7).as_json()
    assert [one["problem_idx"] for one in found["exemplars"]] == [0, 1, 2, 3, 4]
    assert found["categories"]["empty"] == {"count": 7, "rate": 1.0}


def test_the_documented_categories_take_the_kinds_that_belong_to_them() -> None:
    """Both tables add up to all failures, every exemplar names both, and every kind has a hint."""
    found = analysis_of(
        Unscored(cause="infra", kind="timeout"),
        Unscored(cause="infra", kind="rate_limit"),
        ModelFailure(kind="refusal"),
        judged("refusal", "REFUSES"),
        ModelFailure(kind="empty"),
        ModelFailure(kind="no_answer"),
        Unscored(cause="scorer", kind="unheard_of"),
        Scored(reward=1.0, metrics={}),
    ).as_json()
    counts = {name: one["count"] for name, one in found["categories"].items()}
    assert counts == {
        "timeout": 1, "rate_limit": 1, "refusal": 2, "empty": 1, "format_error": 1, "scorer:unheard_of": 1,
    }  # fmt: skip
    assert sum(counts.values()) == sum(one["count"] for one in found["kinds"].values()) == found["total_failures"]
    assert ("format_error", "no_answer") in {(one["category"], one["kind"]) for one in found["exemplars"]}
    assert all(one["hint"] for one in found["kinds"].values())
    assert found["kinds"]["scorer:unheard_of"]["hint"] == "correct the scorer, then nel eval score DIR"
