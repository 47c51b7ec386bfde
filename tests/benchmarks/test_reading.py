"""Golden values of the official DROP and SQuAD scripts' edge cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nel.benchmarks.reading import drop, squad
from nel.benchmarks.short_answers import short_answer
from nel.datasets import RawRow
from nel.reading.response import own_response
from nel.types import ScorerInput


@pytest.mark.parametrize(
    ("response", "gold", "exact", "f1"),
    [
        ("Answer: 16", [["16"]], 1.0, 1.0),
        ("Answer: 17", [["16"]], 0.0, 0.0),
        ("Answer: 16 yards", [["17 yards"]], 0.0, 0.0),
        ("Answer: 16 yards", [["16"]], 0.0, 0.67),
        ("Answer: Smith; Jones", [["Jones", "Smith"]], 1.0, 1.0),
        ("Answer: Smith", [["Jones", "Smith"]], 0.0, 0.5),
        ("Answer: Smith; Smith", [["Smith"]], 0.0, 0.5),
        ("Answer: 2 May 1900", [["3"], ["2 May 1900"]], 1.0, 1.0),
        ("Answer: May 1900", [["2 May 1900"]], 0.0, 0.8),
        ("", [["16"]], 0.0, 0.0),
    ],
)
def test_drop(response: str, gold: list[list[str]], exact: float, f1: float) -> None:
    """Numbers must be equal, parts are paired, articles and hyphens do not count; F1 has two decimals."""
    found: Any = drop.drop.scorer(ScorerInput(response=response, target=gold))
    assert (found["exact_match"], found["f1"]) == (exact, f1)


def test_drop_gives_the_best_of_all_validated_answers() -> None:
    """The answer and its validations, each once; a date is put together; an empty one does not count."""
    nothing = {"day": "", "month": "", "year": ""}
    row = {
        "answer": {"number": "", "date": nothing, "spans": ["A", "B"]},
        "validated_answers": {
            "number": ["3", "", "", ""],
            "date": [nothing, {"day": "2", "month": "May", "year": "1900"}, nothing, nothing],
            "spans": [[], [], ["A", "B"], []],
        },
    }
    assert drop.with_answers(row)["answers"] == [["A", "B"], ["3"], ["2 May 1900"]]
    with pytest.raises(ValueError, match="none of its answers"):
        drop.with_answers({"answer": {"number": "", "date": nothing, "spans": []}})


@pytest.mark.parametrize(
    ("response", "spans", "exact", "f1"),
    [
        ("Denver Broncos", ["Denver Broncos", "the Broncos"], 1.0, 1.0),
        ("The Denver Broncos!", ["Denver Broncos"], 1.0, 1.0),
        ("Broncos", ["Denver Broncos", "Carolina"], 0.0, 2 / 3),
        ("a an the", ["Denver"], 0.0, 0.0),
        ("Denver\nbecause it says so", ["Denver"], 1.0, 1.0),
        ("", ["Denver"], 0.0, 0.0),
    ],
)
def test_squad(response: str, spans: list[str], exact: float, f1: float) -> None:
    """Articles, punctuation and case do not count; the best span does."""
    found: Any = squad.squad.scorer(ScorerInput(response=response, target=spans))
    assert (found["exact_match"], found["f1"]) == (exact, pytest.approx(f1))


@pytest.mark.parametrize(
    ("response", "spans", "exact", "kind"),
    [
        ("unanswerable", [], 1.0, "no_answer"),
        ("Denver", [], 0.0, "no_answer"),
        ("unanswerable", ["Denver"], 0.0, "has_answer"),
        ("Denver", ["Denver"], 1.0, "has_answer"),
    ],
)
def test_squad_v2(response: str, spans: list[str], exact: float, kind: str) -> None:
    """Saying that there is no answer is right exactly where there is none, and both kinds have numbers of their own."""
    found: Any = squad.squad_v2.scorer(ScorerInput(response=response, target=spans))
    assert found["exact_match"] == found[f"{kind}_exact_match"] == exact
    assert found["f1"] == found[f"{kind}_f1"] == exact
    assert found["parsed"]


def test_questions_on_one_passage_are_one_cluster() -> None:
    """The paragraph groups questions; a question without an answer says so in an example."""
    row = {"id": "1", "context": "Denver won.", "question": "Who?", "answers": {"text": [], "answer_start": []}}
    other = {**row, "id": "2", "question": "What?"}
    assert squad.squad_v2.sample(row, sample_id="1").group == squad.squad_v2.sample(other, sample_id="2").group
    assert squad.with_passage(row)["shown"] == "unanswerable"


def test_drop_shows_a_whole_answer_in_examples() -> None:
    """An example ends as the prompt asks for it."""
    nothing = {"day": "", "month": "", "year": ""}
    row = {"passage": "p", "question": "q?", "answer": {"number": "", "date": nothing, "spans": ["A", "B"]}}
    assert drop.with_answers(row)["shown"] == "A; B"
    bound = replace(drop.drop, num_fewshot=1).with_shots([RawRow(number=1, data=row)], source="train")
    asked = str(bound.sample({**row, "question": "other?"}, sample_id="1").input)
    assert "Question: q?\n\nAnswer: A; B\n\n" in asked
    assert asked.endswith("Question: other?")


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("Answer: Rome\n\nWait, no. Answer: Paris", "Paris"),
        ("Answer:\n\n24 points", "24 points"),
        ("```\n24\n```", "24"),
        ("Answer:\n<answer>\nParis\n</answer>", "Paris"),
        ("Answer:", None),
    ],
)
def test_a_short_answer_is_what_the_response_keeps(response: str, answer: str | None) -> None:
    """A list below the marker is one answer of several parts, and what is taken back is none."""
    assert short_answer(own_response(response)) == answer


@pytest.mark.parametrize(
    ("response", "gold", "exact"),
    [
        ("Answer: Smith, Jones, and Brown", ["Smith", "Jones", "Brown"], 1.0),
        ("Answer: Smith and Jones", ["Smith and Jones"], 1.0),
        ("Answer: Denver, Colorado", ["Denver, Colorado"], 1.0),
        ('Answer: ["Smith", "Jones"]', ["Smith", "Jones"], 1.0),
        ("Answer: 34 - 10 = 24", ["24"], 1.0),
        ("Answer: $5.50", ["$5.50"], 1.0),
        ("Answer: twenty-four", ["24"], 1.0),
        ("Answer: 34 yards - 10 yards = 24 yards", ["34"], 0.0),
        ("Answer: 24\n\nQuestion: How many more?\nAnswer: 3", ["24"], 1.0),
    ],
)
def test_drop_reads_lists_and_calculations(response: str, gold: list[str], exact: float) -> None:
    """A list names the parts of a gold answer in whatever way it is written, and a calculation its result."""
    found = drop.drop.scorer(ScorerInput(response=response, target=[gold]))
    assert found["exact_match"] == exact, found  # type: ignore[index]
