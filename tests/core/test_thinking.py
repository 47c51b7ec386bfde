"""What a model thinks is split from its answer, whichever tags its template uses, in time linear in the text."""

from __future__ import annotations

import pytest

from nel.core.thinking import split_reasoning

BLOCKS = (
    ("<think>", "</think>"),
    ("<THINK>", "</THINK>"),
    ("<think>", "</thinking>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("[unused16]", "[unused17]"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_TEXT|>"),
    ("<|channel>thought", "<channel|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>"),
    ("<|message_model|><|content_thinking|>", "<|end_message|><|message_model|><|content_text|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
)


@pytest.mark.parametrize(("opening", "closing"), BLOCKS)
def test_leading_blocks_are_reasoning(opening: str, closing: str) -> None:
    """One block or several, empty or not, with space before and between; what follows is the answer."""
    assert split_reasoning(f"\n {opening}20? Hmm, no.{closing}\n18") == ("20? Hmm, no.", "18", True)
    assert split_reasoning(f"{opening}{closing}{opening}20?{closing}18") == ("20?", "18", True)
    assert split_reasoning(f"{opening}a{closing} {opening}b{closing}18 {opening}") == ("a\nb", f"18 {opening}", True)


@pytest.mark.parametrize(("opening", "_closing"), BLOCKS)
def test_a_block_that_never_closes_leaves_no_answer(opening: str, _closing: str) -> None:
    """The first block or a later one: the answer was cut off before it began."""
    assert split_reasoning(f"{opening}20, so") == ("20, so", "", False)
    assert split_reasoning(f"{opening}20{_closing}{opening}18") == ("20\n18", "", False)


@pytest.mark.parametrize(
    "closing",
    [
        "</think>",
        "</thinking>",
        "</thought>",
        "</reasoning>",
        "</longcat_think>",
        "[/THINK]",
        "<|think:end|>",
        "[BEGIN FINAL RESPONSE]",
    ],
)
def test_a_closing_tag_alone_ends_the_reasoning(closing: str) -> None:
    """Some chat templates put the opening tag into the prompt."""
    assert split_reasoning(f"20? Hmm, no.\n{closing}\n\n18") == ("20? Hmm, no.", "18", True)


def test_an_answer_about_tags_keeps_them() -> None:
    """Once a block was closed, a closing tag in the answer is text."""
    answer = 'text.split("</think>")[1]'
    assert split_reasoning(f"<think>How?</think>{answer}") == ("How?", answer, True)


@pytest.mark.parametrize(
    "answer",
    [
        '```python\nend = "</think>"\n```',
        'text.split("</think>")[1]',
        'def f(s):\n    """Return what follows\n    </think>.\n    """\n    return s',
        "The tag `</think>` ends it.",
        "The tag “</think>” ends it.",
        '{"tag": "\\"</think>"}',
    ],
)
def test_a_quoted_closing_tag_is_text(answer: str) -> None:
    """In a fence, in quotation marks or in backticks, with a block before it or without one."""
    assert split_reasoning(answer) == (None, answer, True)
    assert split_reasoning(f"<think>How?</think>\n{answer}") == ("How?", answer, True)
    assert split_reasoning(f"How?\n</think>\n\n{answer}") == ("How?", answer, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("analysisWe need 18.assistantfinal18", ("We need 18.", "18", True)),
        (
            "analysisWe call.assistantcommentary to=functions.f{}assistantanalysisSo.assistantfinal4",
            ("We call.assistantcommentary to=functions.f{}assistantanalysisSo.", "4", True),
        ),
        ("analysisWe need to", ("We need to", "", False)),
        ("analysis of the text: 18", (None, "analysis of the text: 18", True)),
        ("Analysis shows 18", (None, "Analysis shows 18", True)),
        ("Here is my thought process:\n9 + 9.\n\nHere's my response:\n18", ("9 + 9.", "18", True)),
        ("Here is my thought process: 9 + 9 = 18", (None, "Here is my thought process: 9 + 9 = 18", True)),
        ("Here are my reasoning steps:\n9 + 9.\n[BEGIN FINAL RESPONSE]\n18", ("9 + 9.", "18", True)),
        ("Here are my reasoning steps:\n9 + 9 = 18", (None, "Here are my reasoning steps:\n9 + 9 = 18", True)),
    ],
)
def test_words_that_mark_reasoning(text: str, expected: tuple[str | None, str, bool]) -> None:
    """The channels of gpt-oss without special tokens, Granite and Apriel; no other sentence is cut away."""
    assert split_reasoning(text) == expected
