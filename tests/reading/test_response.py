"""Which part of a response answers its prompt."""

from __future__ import annotations

from nel.reading.response import before_next_question, fold, invented_turn, lower_case, own_response


def test_a_closing_tag_of_reasoning_is_text() -> None:
    """Reasoning was split off where the response arrived; what is left of its tags belongs to the answer."""
    text = "Cut at </think>; the answer is B"
    assert own_response(text).text == text


def test_an_end_token_ends_the_response() -> None:
    """What a server leaves after it is not part of the answer."""
    assert own_response("B<|eot_id|>C").text == "B"
    assert own_response("C<eoa>\nD").text == "C"
    assert own_response("B</s>C").text == "B"


def test_a_start_token_becomes_spaces() -> None:
    """It opens the turn of the model."""
    text = "<|start_header_id|>assistant<|end_header_id|>\nB<|eot_id|>"
    assert own_response(text).text.strip() == "B"


def test_an_unknown_token_at_the_end_is_removed() -> None:
    """End tokens are not a closed list."""
    assert own_response("7<END>").text == "7"


def test_the_marker_of_the_prompt_ends_the_response() -> None:
    """A base model goes on with a question of its own."""
    prompt = "Question: Which?\nAnswer:"
    assert before_next_question("B\n\nQuestion: What is 2+2?\nAnswer: C", prompt) == "B"


def test_a_marker_in_chinese_ends_the_response() -> None:
    """LawBench prompts have a word for question."""
    assert before_next_question("B\n\n问题：下列\n答案：C", "问题：下列说法\n答案：") == "B"


def test_a_marker_that_the_prompt_does_not_have_stays() -> None:
    """It may be part of the answer."""
    assert before_next_question("B\nQ: why?", "Which one?\nAnswer:") == "B\nQ: why?"


def test_a_restated_question_at_the_start_stays() -> None:
    """The answer follows it."""
    text = "Question: Which?\nB"
    assert before_next_question(text, "Question: Which?\nAnswer:") == text


def test_examples_of_the_prompt_that_are_discussed_stay() -> None:
    """Chat models go through the examples one by one; an example with another number is a next question."""
    prompt = "Input 1: [3]\nOutput 1: [9]\nInput 2: [4]\nOutput 2: [16]\n\nInput: [5]\nOutput:"
    text = "Squares.\nInput 1: 3 → 9\n**Input 2:** 4 → 16\nInput: [5]\n<answer>[25]</answer>"
    assert before_next_question(text, prompt) == text
    assert before_next_question("[25]\n\nInput: [6]\nOutput: [36]", prompt) == "[25]"
    assert before_next_question("[25]\n\nInput 3: [6]\nOutput: [36]", prompt) == "[25]"


def test_a_second_answer_is_an_invented_turn() -> None:
    """A: opens a turn like Q:."""
    text = "A: 168.\n\nA: Nell started with 5."
    assert invented_turn(text) == text.index("A: Nell")


def test_folding_and_lowering_preserve_the_length() -> None:
    """Positions hold in both."""
    text = "答案：Ｂ“İ”\u200b"
    assert len(fold(text)) == len(lower_case(text)) == len(text)


def test_only_known_end_tokens_end_a_turn() -> None:
    """A model's own token before its answer is text, and an end token after it is not."""
    assert own_response("分析 <eoe>\n【答案】 B <eoa>\nC").text.strip() == "分析 <eoe>\n【答案】 B"
