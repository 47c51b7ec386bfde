"""The forms of Inspect's page: metrics by position, parts of a score, a metric of one key, intermediate scoring."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from types import SimpleNamespace
from typing import Any

import pytest

from nel.errors import ConfigError, UndefinedMetric
from nel.scorers import (
    UNCHANGED,
    MetricProtocol,
    SampleScore,
    Score,
    ScoreEdit,
    accuracy,
    aggregate,
    mean,
    score,
    scorer,
    stderr,
    value_to_float,
)
from nel.scoring.protocol import metrics_of, scoring
from nel.types import ScorerInput


@pytest.mark.parametrize("declared", [[accuracy(), stderr()], (accuracy(), stderr()), {"a": [accuracy(), stderr()]}])
def test_metrics_stand_first_in_the_decorator(declared: Any) -> None:
    """``@scorer([accuracy(), stderr()])`` declares them as ``@scorer(metrics=…)`` does."""

    @scorer(declared, name="mine")
    def factory(strict: bool = False) -> Any:
        async def graded(state: Any, target: Any) -> Score:
            return Score(value="C" if strict else "I")

        return graded

    built = factory(strict=True)
    assert (built.name, metrics_of(built)) == ("mine", declared)
    with pytest.raises(ConfigError, match="not a int"):
        scorer(3)  # type: ignore[call-overload]  # what a mistake gives


def test_a_score_says_what_it_is_made_of() -> None:
    """Its parts by name, the edits that made it, and a changed copy; the score itself stays as it is."""
    first = Score(value="I", answer="4")
    edited = first.edited(ScoreEdit(value="C", provenance="read again"))
    assert (edited.value, edited.answer, edited.history[0].answer) == ("C", "4", UNCHANGED)
    assert edited.model_dump() == {
        "value": "C",
        "answer": "4",
        "explanation": None,
        "metadata": None,
        "history": [{"value": "C", "provenance": "read again"}],
    }
    assert first.model_copy(update={"answer": "5"}).answer == "5"
    assert SampleScore(score=first, sample_id=1).model_dump()["score"] == first.model_dump()
    with pytest.raises(FrozenInstanceError):
        first.value = "C"  # type: ignore[misc]  # the point


def samples(*values: Any) -> list[SampleScore]:
    """Return the scores of samples with these values."""
    return [SampleScore(score=Score(value=value), sample_id=place) for place, value in enumerate(values)]


def test_a_metric_of_one_key() -> None:
    """Missing entries are an error, left out or 0, as is said; NaN and samples without a score are left out."""
    found: MetricProtocol = aggregate("a", mean())
    assert found(samples({"a": 1}, {"a": 0, "b": 2}, {"a": math.nan}, math.nan)) == 0.5
    lacking = samples({"a": 1}, {"b": 1}, {"a": None})
    with pytest.raises(UndefinedMetric, match="sample 1: the score has no a"):
        found(lacking)
    assert aggregate("a", mean(), on_missing="skip")(lacking) == 1.0
    assert aggregate("a", mean(), on_missing="zero")(lacking) == pytest.approx(1 / 3)
    assert aggregate("a", mean(), to_float=value_to_float())(samples({"a": "C"}, {"a": "I"})) == 0.5
    with pytest.raises(UndefinedMetric, match="nothing was scored"):
        aggregate("b", mean(), on_missing="skip")(samples({"a": 1}))
    with pytest.raises(UndefinedMetric, match="no mapping"):
        found(samples(1))
    with pytest.raises(ValueError, match="on_missing"):
        aggregate("a", mean(), on_missing="drop")  # type: ignore[arg-type]  # the point


async def test_whatever_has_messages_and_an_output_can_be_scored() -> None:
    """The state of an agent, as well as a `TaskState`."""

    @scorer
    def same(sample: ScorerInput) -> dict[str, bool]:
        return {"correct": sample.response == sample.target}

    state: Any = SimpleNamespace(output=SimpleNamespace(completion="4"), messages=[{"role": "user", "content": "?"}])
    with scoring(same, ScorerInput(response="", target="4")):
        assert await score(state) == [{"correct": True}]
