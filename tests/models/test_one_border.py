"""Choices of a sample are counted from one place of their context, or none of them is."""

from __future__ import annotations

import pytest

from nel.errors import LogprobFault
from nel.models.loglikelihood import on_one_border, score_choice
from nel.types import ChoiceScore

CONTEXT = "The answer is ("


def scored(*tokens: str, context: str = CONTEXT, value: float = -1.0) -> ChoiceScore:
    """Return the score of a choice whose text has these tokens, each with the same log-probability but the first."""
    text = "".join(tokens)
    values = [None, *([value] * (len(tokens) - 1))]
    logprobs = {
        "tokens": list(tokens),
        "token_logprobs": values,
        "top_logprobs": [None if one is None else {"x": 0.0} for one in values],
        "text_offset": [sum(map(len, tokens[:place])) for place in range(len(tokens))],
    }
    choice = {"text": text, "logprobs": logprobs}
    return score_choice(choice, context=context, continuation=text[len(context) :], generated=0)


def test_choices_without_such_a_token_are_counted_from_the_border() -> None:
    """The usual case: each choice begins with a token of its own."""
    scores = [scored("The", " answer", " is", " (", name, ")") for name in "AB"]
    assert [(one.logprob, one.tokens) for one in on_one_border(scores, [CONTEXT] * 2)] == [(-2.0, 2), (-2.0, 2)]


def test_a_token_over_the_border_is_counted_in_every_choice() -> None:
    """Where all choices are joined to the context alike, each is counted from the joined token."""
    scores = [scored("The", " answer", " is", f" ({name}", ")") for name in "AB"]
    assert [one.tokens for one in on_one_border(scores, [CONTEXT] * 2)] == [2, 2]


def test_one_joined_choice_moves_the_border_of_all() -> None:
    """A choice that is cut otherwise is counted from the same place, with the token that the other one has joined."""
    scores = [scored("The", " answer", " is", " (A", ")"), scored("The", " answer", " is", " (", "B", ")")]
    found = on_one_border(scores, [CONTEXT] * 2)
    assert [(one.logprob, one.tokens) for one in found] == [(-2.0, 2), (-3.0, 3)]


def test_choices_that_share_no_place_are_refused_together() -> None:
    """No number of one choice would mean what that of the other does."""
    scores = [scored("The answ", "er is (A", ")"), scored("The", " answer", " is", " (B", ")")]
    with pytest.raises(LogprobFault, match="reaches from the context into 2 of 2 choices"):
        on_one_border(scores, [CONTEXT] * 2)


def test_contexts_that_end_otherwise_are_refused() -> None:
    """Where choices are contexts of one continuation, the joined characters must be the same ones."""
    contexts = ["so he (", "so it ["]
    scores = [scored("so", " he", " (A", context=contexts[0]), scored("so", " it", " [A", context=contexts[1])]
    with pytest.raises(LogprobFault, match="begin the choices with a space"):
        on_one_border(scores, contexts)
