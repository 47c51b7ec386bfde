"""The final answer of a response is compared with the target as mathematics."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from nel.authoring.benchmark import Benchmark
from nel.engine.scorers.call import ScoringTask
from nel.errors import DatasetError
from nel.prompts import compile_template
from nel.scoring.declarations import runs_in_process
from nel.scoring.mathematics.answer import final_expression, math_equal
from nel.types import ModelFailure, Response, Sample, SampleKey, Scored, ScorerInput
from tests.support.scoring import score_all


def _score(response: str, target: Any) -> dict[str, Any]:
    return math_equal(ScorerInput(response=response, target=target))


@pytest.mark.parametrize(
    ("response", "target", "extracted"),
    [
        ("So \\boxed{4}", "4", "4"),
        ("First \\boxed{3}, then \\boxed{4}", "4", "4"),
        ("\\boxed{\\frac{1}{2}} is it", "0.5", "\\frac{1}{2}"),
        ("Answer: $\\frac{1}{2}$", "0.5", "\\frac{1}{2}"),
        ("Answer: 7\n\nAnswer: 8", "8", "8"),
        ("\\boxed{4}\nAnswer: 3", "4", "4"),
        ("The answer is 42", "42", "42"),
        ("\\boxed{yes}", "\\text{yes}", "yes"),
        ("\\boxed{5}", 5, "5"),
    ],
)
def test_what_is_taken_for_the_final_answer(response: str, target: Any, extracted: str) -> None:
    """The last box, else the last marked answer, else the last expression."""
    assert _score(response, target) == {"correct": True, "parsed": True, "extracted": extracted}


@pytest.mark.parametrize(
    ("response", "target"),
    [("\\boxed{4} then \\boxed{3}", "4"), ("Answer: 8\nAnswer: 7", "8"), ("8", "7")],
)
def test_an_earlier_answer_does_not_count(response: str, target: str) -> None:
    """A right answer that was taken back is wrong."""
    scored = _score(response, target)
    assert (scored["correct"], scored["parsed"]) == (False, True)


@pytest.mark.parametrize("response", ["", "no idea", "\\boxed{}", "\\boxed{5} or \\boxed{}", "maybe 5 but also 7"])
def test_a_response_without_an_expression_is_no_answer(response: str) -> None:
    """Nothing extracted is not parsed."""
    assert _score(response, "5") == {"correct": False, "parsed": False, "extracted": None}


@pytest.mark.parametrize("target", ["", "  ", None])
@pytest.mark.parametrize("response", ["", "5", "\\boxed{5}", "None"])
def test_no_target_is_a_bad_row(response: str, target: Any) -> None:
    """A row without a gold answer is not scored."""
    with pytest.raises(DatasetError):
        _score(response, target)


@pytest.mark.parametrize("target", [["12", "13"], ("13", "12")])
def test_several_targets_are_tried_or_refused(target: Any) -> None:
    """One of several accepted answers is right, or the row is bad; it is not silently wrong."""
    with suppress(DatasetError):
        assert _score("\\boxed{12}", target)["correct"]


def test_a_benchmark_is_scored_by_mathematics() -> None:
    """In a run right, wrong and missing answers are told apart, and the rule counts as nel's own."""
    template = compile_template("{q}", name="prompt")
    benchmark = Benchmark(name="b", description="", dataset="x", prompt=template, scorer=math_equal)
    answers = ["\\boxed{\\frac12}", "Answer: 0.25", "I do not know"]
    items = [
        ScoringTask(SampleKey(1, idx, 0), Sample(id=str(idx), input="q", target="0.5"), Response(text=text), benchmark)
        for idx, text in enumerate(answers)
    ]
    right, wrong, missing = asyncio.run(score_all(items, timeout_seconds=120))
    assert isinstance(right, Scored)
    assert (right.reward, right.answer) == (1.0, "\\frac12")
    assert isinstance(wrong, Scored)
    assert wrong.reward == 0.0
    assert isinstance(missing, ModelFailure)
    assert missing.kind == "no_answer"
    assert runs_in_process(math_equal)


def test_the_letter_of_an_option_is_read_as_one() -> None:
    """Some problems of MATH have the letter of an option as their answer."""
    assert math_equal(ScorerInput(response="The answer is (C).", target=r"\text{(C)}"))["correct"] is True
    assert math_equal(ScorerInput(response="The answer is (B).", target=r"\text{(C)}"))["correct"] is False


@pytest.mark.parametrize(
    ("line", "expression"),
    [
        ("Answer: x = 1, x = -2", "x = 1, x = -2"),
        ("Answer: 3 1/2", "3 1/2"),
        (r"The final answer is - \frac{1}{3}.", r"- \frac{1}{3}"),
        (r"Answer: 120~\text{cm}^2", r"120~\text{cm}^2"),
        ("#### 72", "72"),
        ("The final answer is:", None),
        ("The answer is: {4, 17}.", "{4, 17}"),
    ],
)
def test_a_last_line_without_delimiters_is_read_whole(line: str, expression: str | None) -> None:
    """Spaces, commas and commands in it are a part of the expression that it declares."""
    assert final_expression(f"We expand the square.\n\n{line}") == expression
