"""Normal forms, shuffles and likeness of the benchmarks of knowledge."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from nel.benchmarks.knowledge import gpqa, nq_open, triviaqa
from nel.benchmarks.knowledge.mmlu import generative as mmlu
from nel.benchmarks.knowledge.truthfulqa import generative as truthfulqa
from nel.datasets import RawRow, open_dataset
from nel.engine.planning.golds import with_gold_kind
from nel.scoring.gold_choices import choice_gold
from nel.types import ScorerInput

QUESTION = {
    "Record ID": "rec1",
    "Question": "Which? \n",
    "Correct Answer": "right\n",
    "Incorrect Answer 1": "w1",
    "Incorrect Answer 2": "w2",
    "Incorrect Answer 3": "w3",
    "High-level domain": "Physics",
}


def scored(found: Any, response: str, target: Any, **metadata: Any) -> dict[str, Any]:
    return dict(found.scorer(ScorerInput(response=response, target=target, metadata=metadata)))


def test_gpqa_order_depends_on_the_question_alone() -> None:
    """The golden orders below must never change, or runs of other days would not be comparable."""
    orders = [gpqa.with_shuffled_choices({**QUESTION, "Record ID": f"rec{n}"})["choices"] for n in range(4)]
    golden = [
        "w3 right w2 w1",
        "w2 w3 w1 right",
        "w2 w1 right w3",
        "w2 right w1 w3",
    ]
    assert [" ".join(order) for order in orders] == golden
    again = gpqa.with_shuffled_choices({**QUESTION, "Explanation": "more"})
    assert again["choices"] == orders[1]
    assert again["choices"][again["answer"]] == "right"


def test_gpqa_is_asked_and_scored_by_letter() -> None:
    """The letter of the shuffled place is right."""
    sample = gpqa.gpqa_diamond.sample(QUESTION, sample_id="rec1")
    assert "Which?\n\nA) " in str(sample.input)
    assert sample.subset == "Physics"
    letter = "ABCD"[sample.target]
    made = ScorerInput(response=f"Answer: {letter}", target=sample.target, metadata=dict(sample.metadata))
    assert gpqa.gpqa_diamond.scorer(made)["correct"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("response", "accepted", "exact", "f1"),
    [
        ("The Beatles", ["Beatles"], True, 1.0),
        ("AC/DC", ["ac dc"], True, 1.0),
        ("New York City", ["New York"], False, 0.8),
        ("Answer: Paris", ["Paris", "City of Light"], True, 1.0),
        ("Rome", ["Paris"], False, 0.0),
    ],
)
def test_triviaqa_aliases(response: str, accepted: list[str], exact: bool, f1: float) -> None:
    """Any alias counts, in the official normal form; F1 is with the nearest."""
    found = scored(triviaqa.triviaqa, response, accepted)
    assert (found["exact_match"], found["f1"]) == (exact, pytest.approx(f1))


def test_triviaqa_accepts_every_spelling_of_the_row() -> None:
    """The value and all aliases, each once."""
    answer = {"value": "Sunset Blvd", "aliases": ["Sunset Blvd", "West Sunset"], "normalized_aliases": ["sunset blvd"]}
    assert triviaqa.with_accepted({"answer": answer})["accepted"] == ["Sunset Blvd", "West Sunset", "sunset blvd"]
    with pytest.raises(ValueError, match="neither a value nor aliases"):
        triviaqa.with_accepted({"answer": {"value": "", "aliases": []}})


@pytest.mark.parametrize(
    ("response", "golds", "exact"),
    [
        ("14 December 1972", ["14 December 1972 UTC", "December 1972"], False),
        ("The December 1972.", ["14 December 1972 UTC", "December 1972"], True),
        ("U.S.A", ["USA"], True),
        ("", ["x"], False),
    ],
)
def test_nq_open_exact_match(response: str, golds: list[str], exact: bool) -> None:
    """SQuAD's normal form, any of the answers."""
    assert scored(nq_open.nq_open, response, golds)["exact_match"] is exact


def test_truthfulqa_references_end_in_a_full_stop() -> None:
    """As lm-evaluation-harness has it: blank ones go, and having no comment is always true."""
    row = truthfulqa.with_references(
        {"question": " Q? ", "correct_answers": ["Nothing happens", " "], "incorrect_answers": ["You die."]}
    )
    assert row["true_references"] == ["Nothing happens.", "I have no comment."]
    assert row["false_references"] == ["You die."]
    with pytest.raises(ValueError, match="no incorrect answers"):
        truthfulqa.with_references({"question": "Q", "correct_answers": ["a"], "incorrect_answers": []})


def test_truthfulqa_likeness() -> None:
    """An answer that is a true reference leads by every measure; one that is a false reference trails."""
    true, false = ["Nothing at all happens to you."], ["Dogs would surely bite."]
    good = truthfulqa.compare(true[0], true, false)
    assert [good[f"{name}_acc"] for name in ("bleu", "rouge1", "rouge2", "rougeL")] == [1.0] * 4
    assert good["bleu_max"] == pytest.approx(100)
    assert good["rouge1_diff"] == pytest.approx(100)
    bad = truthfulqa.compare(false[0], true, false)
    assert bad["bleu_acc"] == 0.0
    assert bad["rouge1_diff"] == pytest.approx(-100)
    assert bad["bleu_max"] < 10


def test_mmlu_examples_answer_as_the_prompt_asks() -> None:
    """A dev row ends in its letter, after the words that the prompt wants."""
    row = {"question": "Q?", "subject": "law", "choices": ["a", "b", "c", "d"], "answer": 2}
    bound = replace(mmlu.mmlu_generative, num_fewshot=1).with_shots([RawRow(number=1, data=row)], source="dev")
    asked = str(bound.sample({**row, "question": "Other?"}, sample_id="1").input)
    assert "D) d\n\nAnswer: C\n\n" in asked
    assert asked.endswith("D) d")


def test_mmlu_without_a_hub_is_the_whole_test_set() -> None:
    """All 14,042 rows of 57 subjects, each with four choices and a letter; D is gold most often."""
    rows = [row.data for row in open_dataset(mmlu.mmlu_generative_offline.dataset).read()]
    assert len(rows) == 14_042
    assert len({row["subject"] for row in rows}) == 57
    golds = Counter(row["answer"] for row in rows)
    assert golds == {"A": 3_222, "B": 3_462, "C": 3_582, "D": 3_776}
    assert all(mmlu.mmlu_generative.sample(row, sample_id="1").choices for row in rows[:500])


def test_every_gold_letter_of_mmlu_is_right() -> None:
    """The gold letter as the answer scores 1 in all 14,042 rows, also where a choice is a letter itself."""
    dataset = open_dataset(mmlu.mmlu_generative_offline.dataset)
    benchmark = with_gold_kind(mmlu.mmlu_generative_offline, dataset)
    samples = (benchmark.sample(row.data, sample_id="1") for row in dataset.read())
    right = (choice_gold(ScorerInput(response="", target=one.target, sample=one)) == (one.target,) for one in samples)
    assert Counter(right) == {True: 14_042}


@pytest.mark.parametrize(
    ("response", "right"),
    [
        ("It is Paris.", True),
        ("The capital of France is Paris.", True),
        ("The capital of France is not Paris.", False),
        ("It is Paris or Rome.", False),
        ("It is Paris' suburb.", False),
    ],
)
def test_a_sentence_says_its_short_answer(response: str, right: bool) -> None:
    """A sentence counts by what it says; one that denies, reports or offers two says no answer."""
    assert scored(triviaqa.triviaqa, response, ["Paris"])["exact_match"] is right
    assert scored(nq_open.nq_open, response, ["Paris"])["exact_match"] is right


@pytest.mark.parametrize(
    ("response", "gold", "right"),
    [
        ("In 1969.", "in 1969", True),
        ("On July 20, 1969.", "July 20, 1969", True),
        ("In 1968.", "1969", False),
        ("Life Is Beautiful", "Beautiful", False),
    ],
)
def test_dates_and_titles_as_short_answers(response: str, gold: str, right: bool) -> None:
    """A date counts with its preposition or without; a title is not a sentence."""
    assert scored(nq_open.nq_open, response, [gold])["exact_match"] is right
