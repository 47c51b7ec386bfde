"""BIG-Bench Hard: what is taken for the answer, and the examples that come with nel."""

from __future__ import annotations

import pytest

from nel.authoring.fewshot_loading import bind_examples
from nel.benchmarks.reasoning.bbh import bbh
from nel.benchmarks.reasoning.bbh_answers import read_answer, same_answer
from nel.benchmarks.reasoning.bbh_tasks import TASKS
from nel.datasets import open_dataset
from nel.reading.response import own_response
from nel.types import ScorerInput


@pytest.mark.parametrize(
    ("response", "gold", "right"),
    [
        ("So the answer is (B).", "(B)", True),
        ("So the answer is (C).", "(B)", False),
        (r"The answer is \boxed{(B)}", "(B)", True),
        ("So the answer is (A). Wait. So the answer is (B).", "(B)", True),
        ("So the answer is yes. I hope that this helps.", "Yes", True),
        ("So the answer is invalid.", "valid", False),
        ("So the answer is -50.", "50", False),
        ("So the answer is ] } ].", "] } ]", True),
        ("So the answer is costume, counterpart, oven.", "costume counterpart oven", True),
        ("(B)", "(B)", True),
        ("So the answer is (A) or (B).", "(A)", False),
    ],
)
def test_answers(response: str, gold: str, right: bool) -> None:
    """Each form of gold answer has its own idea of equal; a reply of one line is its own answer."""
    found = bbh.scorer(ScorerInput(response=response, target=gold))
    assert found["correct"] is right  # type: ignore[index]


def test_the_examples_declare_their_answers() -> None:
    """Three for each of the 27 tasks, and what each declares can be extracted."""
    rows = [row.data for row in open_dataset("pkg://nel/benchmarks/data/bbh_examples.jsonl").read()]
    assert {task: sum(row["config"] == task for row in rows) for task in TASKS} == dict.fromkeys(TASKS, 3)
    golds = [row["target"].rpartition("So the answer is ")[2].strip().rstrip(".") for row in rows]
    answers = [
        read_answer(own_response(row["target"]), gold, row["input"]) for row, gold in zip(rows, golds, strict=True)
    ]
    assert [gold for gold, answer in zip(golds, answers, strict=True) if not same_answer(answer or "", gold)] == []


def test_a_problem_is_asked_with_examples_of_its_own_task() -> None:
    """The authors' description, three worked examples, then the problem."""
    bound, note = bind_examples(bbh, dataset="rows.jsonl")
    assert note is None
    sample = bound.sample({"input": "not True is", "target": "False", "config": "boolean_expressions"}, sample_id="1")
    text = str(sample.input)
    assert text.startswith("Evaluate the result of a random Boolean expression.\n")
    assert text.endswith("So the answer is True.\n\nQ: not True is\nA: Let's think step by step.")
    assert text.count("A: Let's think step by step.\n") == 3
    assert sample.subset == "boolean_expressions"
