"""Which part of a response answers its prompt."""

from __future__ import annotations

import pytest

from nel.reading.response import before_next_question, own_response


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("Cut at </think>; the answer is B", "Cut at </think>; the answer is B"),  # reasoning was split off before
        ("B<|eot_id|>C", "B"),
        ("C<eoa>\nD", "C"),
        ("B</s>C", "B"),
        ("<|start_header_id|>assistant<|end_header_id|>\nB<|eot_id|>", "B"),
        ("分析 <eoe>\n【答案】 B <eoa>\nC", "分析 <eoe>\n【答案】 B"),  # a model's own token before its answer
    ],
)
def test_what_a_server_leaves_is_no_part_of_the_answer(text: str, own: str) -> None:
    """An end token ends it, one that begins a turn is blank, any other is text."""
    assert own_response(text).text.strip() == own


@pytest.mark.parametrize(
    ("text", "prompt", "before"),
    [
        ("B\n\nQuestion: What is 2+2?\nAnswer: C", "Question: Which?\nAnswer:", "B"),
        ("B\n\n问题：下列\n答案：C", "问题：下列说法\n答案：", "B"),
        ("B\nQ: why?", "Which one?\nAnswer:", "B\nQ: why?"),  # no marker of this prompt
        ("Question: Which?\nB", "Question: Which?\nAnswer:", "Question: Which?\nB"),  # a restated question
    ],
)
def test_a_question_of_its_own_ends_a_response(text: str, prompt: str, before: str) -> None:
    """A base model goes on with one, behind the marker of the prompt."""
    assert before_next_question(text, prompt) == before


def test_examples_of_the_prompt_that_are_discussed_stay() -> None:
    """Chat models go through the examples one by one; an example with another number is a next question."""
    prompt = "Input 1: [3]\nOutput 1: [9]\nInput 2: [4]\nOutput 2: [16]\n\nInput: [5]\nOutput:"
    text = "Squares.\nInput 1: 3 → 9\n**Input 2:** 4 → 16\nInput: [5]\n<answer>[25]</answer>"
    assert before_next_question(text, prompt) == text
    assert before_next_question("[25]\n\nInput: [6]\nOutput: [36]", prompt) == "[25]"
    assert before_next_question("[25]\n\nInput 3: [6]\nOutput: [36]", prompt) == "[25]"


def test_a_heading_is_no_question_marker_of_a_prompt_without_headings() -> None:
    """Chat models restate the question under one, in words of their own."""
    text = "The order is opinion, size.\n\n### Q: Which sentence is in order?\n\n**Final Answer: (A)**"
    assert before_next_question(text, "Q: Which sentence has the correct order:\nOptions:") == text
