"""What of a response the reader sees: all but its reasoning, what is struck out, and marks without a meaning."""

from __future__ import annotations

import pytest

from nel.scoring.reading.prepare import prepared


@pytest.mark.parametrize(
    ("response", "seen"),
    [
        ("<think>A?</think>B", "B"),
        ("A?</think>B", "B"),
        ("Sure.\n<think>A?</think>B", "Sure. B"),
        ("<answer>B</answer>\n<reasoning>Why not A?</reasoning>", "<answer>B</answer>"),
        ("<reflection>A?", ""),
        ("Thinking...\nA?\n...done thinking.\n\nB", "B"),
        ("~~A~~ <b>B</b>", "B"),
        (r"\boxed{\textcolor{red}{7}}", r"\boxed{ {7}}"),
        (r"\color{blue}7", "7"),
        ("the color {5}", "the color {5}"),
    ],
)
def test_reasoning_is_not_seen(response: str, seen: str) -> None:
    """Reasoning is blanked wherever it stands, the rest keeps its place, and the length stays."""
    plain = prepared(response)
    assert len(plain) == len(response)
    assert plain.split() == seen.split()
    assert all(left == right for left, right in zip(plain, response, strict=True) if left != " ")
