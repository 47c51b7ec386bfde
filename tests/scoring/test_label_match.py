"""The scorer of classifications: where its labels come from, and what is a bad row."""

from __future__ import annotations

import pytest

from nel.errors import DatasetError
from nel.scoring.label_match import label_match
from nel.types import ScorerInput


def test_labels_are_the_choices_of_the_row() -> None:
    """Its choices or options, unless the scorer is given labels."""
    sample = ScorerInput(response="Label: spam", target="Spam", metadata={"choices": ["spam", "ham"]})
    assert label_match(sample)["correct"] is True
    assert label_match(sample, labels="spam, eggs")["extracted"] == "spam"


def test_any_of_several_gold_labels_counts() -> None:
    """A list of targets accepts any."""
    sample = ScorerInput(response="Label: ham", target=["spam", "ham"])
    assert label_match(sample, labels=["spam", "ham", "eggs"])["correct"] is True


def test_a_row_without_labels_is_bad() -> None:
    """The message names the next step."""
    with pytest.raises(DatasetError, match="give it choices or options, or give the scorer labels="):
        label_match(ScorerInput(response="spam", target="spam"))


def test_a_gold_label_that_is_not_permitted_is_a_bad_row() -> None:
    """It could never be right."""
    with pytest.raises(DatasetError, match="the gold label 'eggs' is none of spam, ham"):
        label_match(ScorerInput(response="spam", target="eggs"), labels=["spam", "ham"])


@pytest.mark.parametrize(
    ("response", "label"),
    [("Answer: Mg", "Mg"), ("Answer: mg", "mg"), ("It is MG.", "MG"), ("Answer: mG", None)],
)
def test_labels_that_differ_by_capitals_alone_are_compared_exactly(response: str, label: str | None) -> None:
    """Capitals count among labels that nothing else tells apart."""
    result = label_match(ScorerInput(response=response, target="mg"), labels=["Mg", "mg", "MG"])
    assert (result["extracted"], result["correct"]) == (label, label == "mg")
