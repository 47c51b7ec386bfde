"""Pretend tokens: what is cut, and whether it is said to be."""

from __future__ import annotations

import pytest

from nel.apps.mock.tokens import count_tokens, cut_at_stop, cut_to_tokens

TEXT = "The answer is 42."


@pytest.mark.parametrize(
    ("tokens_max", "kept", "is_cut"),
    [(None, TEXT, False), (6, TEXT, False), (5, TEXT, False), (4, "The answer is 42", True), (0, "", True)],
)
def test_a_text_is_cut_to_its_tokens(tokens_max: int | None, kept: str, is_cut: bool) -> None:
    """An answer that has exactly the tokens allowed is whole."""
    assert count_tokens(TEXT) == 5
    assert cut_to_tokens(TEXT, tokens_max) == (kept, is_cut)


@pytest.mark.parametrize(("stop", "kept"), [([], TEXT), (["42", "is"], "The answer "), (["none"], TEXT), (["The"], "")])
def test_the_first_stop_word_ends_a_text(stop: list[str], kept: str) -> None:
    """Of several the one that comes first in the text, whatever their order; it is not part of the answer."""
    assert cut_at_stop(TEXT, stop) == kept
