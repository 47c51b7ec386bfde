"""Log-likelihoods are exact or refused: sums, greedy marks and boundaries against a direct computation."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nel.errors import LogprobFault
from nel.models.loglikelihood import (
    build_echo_body,
    order_choices,
    score_batch,
    score_choice,
    split_context,
)
from nel.types import ChoiceScore


def _choice(tokens: list[str], values: list[float | None] | None = None, **changed: Any) -> dict[str, Any]:
    """Return a choice as a server gives it; each top entry is the token itself."""
    values = [None, *(-0.5 for _ in tokens[1:])] if values is None else values
    offsets = [len("".join(tokens[:index])) for index in range(len(tokens))]
    logprobs = {
        "tokens": tokens,
        "token_logprobs": values,
        "top_logprobs": [
            None if value is None else {token: value} for token, value in zip(tokens, values, strict=True)
        ],
        "text_offset": offsets,
    }
    choice: dict[str, Any] = {"index": 0, "text": "".join(tokens), "logprobs": logprobs, "finish_reason": "length"}
    for name, value in changed.items():
        (logprobs if name in logprobs else choice)[name] = value
    return choice


def _refused(choice: Any, context: str, continuation: str, generated: int = 0) -> LogprobFault:
    with pytest.raises(LogprobFault) as refused:
        score_choice(choice, context=context, continuation=continuation, generated=generated)
    return refused.value


@pytest.mark.parametrize(
    ("context", "continuation", "expected"),
    [
        ("Answer:", " A", ("Answer:", " A")),
        ("Answer: ", "A", ("Answer:", " A")),
        ("Answer:\n\n", "A", ("Answer:", "\n\nA")),
        ("Answer:\u3000\t", " A", ("Answer:", "\u3000\t A")),
        ("", " A", ("", " A")),
        (" \n", "A", ("", " \nA")),
    ],
)
def test_trailing_whitespace_goes_to_the_continuation(
    context: str, continuation: str, expected: tuple[str, str]
) -> None:
    """Any whitespace moves, and only from the end."""
    assert split_context(context, continuation) == expected


def test_the_body_asks_for_echo_and_nothing_replaces_it() -> None:
    """One prompt is text, several a list; extra fields come along."""
    body = build_echo_body("m", ["a b"], extra={"seed": 1, "echo": False, "temperature": 1})
    assert body == {
        "model": "m",
        "prompt": "a b",
        "max_tokens": 0,
        "logprobs": 1,
        "echo": True,
        "temperature": 0,
        "seed": 1,
    }
    assert build_echo_body("m", ("a", "b"), max_tokens=1)["prompt"] == ["a", "b"]
    for prompts in ([], ["a", ""]):
        with pytest.raises(ValueError, match="at least one prompt"):
            build_echo_body("m", prompts)


def test_a_continuation_is_summed_and_what_is_generated_is_dropped() -> None:
    """The token of a server that cannot do without one is not part of the sum."""
    tokens, values = ["The", " answer", " is", " A", "!", "\n"], [None, -3.0, -1.0, -0.25, -2.0, -7.0]
    expected = ChoiceScore(text=" A!", logprob=-2.25, is_greedy=True, tokens=2)
    assert score_choice(_choice(tokens, values), context="The answer is", continuation=" A!", generated=1) == expected
    shown = _choice(tokens[:-1], values[:-1])
    assert score_choice(shown, context="The answer is", continuation=" A!", generated=0) == expected


def test_an_end_token_without_text_counts_as_generated() -> None:
    """It is dropped when it is listed, and not missed when it is not."""
    for tokens, reason in ((["is", " A", ""], "length"), (["is", " A"], "stop")):
        choice = _choice(tokens, [None, -0.5, -9.0][: len(tokens)], text="is A", finish_reason=reason)
        assert score_choice(choice, context="is", continuation=" A", generated=1).logprob == -0.5


@pytest.mark.parametrize(
    ("top", "greedy"),
    [
        ({" A": -1.0}, True),
        ({" A": -1.0, " B": -0.5}, False),
        ({" B": -1.0, " A": -1.0}, True),
        ({" B": -1.0}, True),
        ({" B": -0.999}, False),
    ],
)
def test_greedy_compares_values_so_that_a_tie_counts(top: dict[str, float], greedy: bool) -> None:
    """The name of the likeliest token does not matter, its value does."""
    choice = _choice(["is", " A"], [None, -1.0], top_logprobs=[None, top])
    assert score_choice(choice, context="is", continuation=" A", generated=0).is_greedy is greedy


def test_a_special_token_makes_an_empty_context_possible() -> None:
    """Then the first token of the text is predicted too; without one it is refused."""
    choice = _choice(["<s>", "is", " A"], [None, -4.0, -0.5], text_offset=[0, 0, 2], text="is A")
    assert score_choice(choice, context="", continuation="is A", generated=0).logprob == -4.5
    assert _refused(_choice(["is", " A"]), "", "is A").kind == "boundary"


@pytest.mark.parametrize(
    ("tokens", "context", "continuation", "counted"),
    [
        (["Answer", ":", " A"], "Answer:", " A", 1),
        (["Answer", ":", " (", "A", ")"], "Answer:", " (A)", 3),
        (["Answer", ":", "\n", "\n", "A"], "Answer:", "\n\nA", 3),
        (["un", "believ", "able"], "un", "believable", 2),
        (["Answer", ":", " (A", ")"], "Answer: (", "A)", 2),
        (["a", " foobar"], "a foo", "bar", 1),
    ],
)
def test_tokens_at_the_boundary(tokens: list[str], context: str, continuation: str, counted: int) -> None:
    """A token counts where it has a part in the continuation."""
    values = [None, *(-float(2**index) for index in range(1, len(tokens)))]
    score = score_choice(_choice(tokens, values), context=context, continuation=continuation, generated=0)
    assert score.tokens == counted
    assert score.logprob == sum(value for value in values[-counted:] if value is not None)


@pytest.mark.parametrize(
    ("changed", "kind"),
    [
        ({"logprobs": None, "text": " London"}, "echo_ignored"),
        ({"logprobs": None}, "malformed"),
        ({"tokens": ["x"], "text": "x"}, "echo_ignored"),
        ({"tokens": ["The", " answer", " is"]}, "malformed"),
        ({"tokens": ["The", " answer", "  is", " A"]}, "offsets"),
        ({"top_logprobs": None}, "malformed"),
        ({"top_logprobs": [None, {"x": -0.5}, {"x": -0.5}, {"x": -3.0}]}, "shifted"),
        ({"text_offset": None}, "malformed"),
        ({"text_offset": [0, 3, 10, 14]}, "offsets"),
        ({"token_logprobs": [None, -0.5, -0.5, None]}, "not_finite"),
        ({"token_logprobs": [None, -0.5, -0.5, math.nan]}, "not_finite"),
        ({"token_logprobs": [None, -0.5, -0.5, 0.5]}, "not_finite"),
    ],
)
def test_what_is_not_proved_is_refused(changed: dict[str, Any], kind: str) -> None:
    """Each lie of a server has a kind."""
    choice = _choice(["The", " answer", " is", " A"])
    for name, value in changed.items():
        (choice if name in choice else choice["logprobs"])[name] = value
    assert _refused(choice, "The answer is", " A").kind == kind


def test_the_sum_over_nothing_is_refused_by_name() -> None:
    """One generated token where the prompt should be: lm-evaluation-harness scores that 0.0."""
    fault = _refused(_choice([" London"], [-0.1]), "The capital of France is", " Paris", 1)
    assert fault.kind == "echo_ignored"
    assert "would give chance scores" in str(fault)
    empty = {"tokens": [], "token_logprobs": [], "top_logprobs": [], "text_offset": []}
    for text in ("", "is A"):
        assert _refused({"text": text, "logprobs": empty}, "is", " A", 1).kind == "echo_ignored"


def test_a_generated_token_without_an_entry_betrays_a_shift() -> None:
    """The text goes on after the prompt, the entries do not."""
    tokens = ["The", " answer", " is", " A"]
    fault = _refused(_choice(tokens, text="The answer is A."), "The answer is", " A", 1)
    assert fault.kind == "shifted"
    assert "add_bos_token" in str(fault)
    assert _refused(_choice(tokens, finish_reason="length"), "The answer is", " A", 1).kind == "shifted"


_PIECES = {
    "last": ("", "", "🙂"),
    "replaced": ("�", "�", "�"),
    "left_out": ("", "", ""),
}


@pytest.mark.parametrize("style", sorted(_PIECES))
def test_pieces_of_characters_are_placed(style: str) -> None:
    """However a server writes them, they stay on their side of the boundary."""
    pieces = list(_PIECES[style])
    for tokens, context, continuation, counted in (
        (["a", *pieces, " b"], "a🙂", " b", 1),
        (["a", "b", *pieces], "ab", "🙂", 3),
        (["a", *pieces, "b", *pieces], "a🙂b", "🙂", 3),
        (["a", "é", *pieces], "aé", "🙂", 3),
    ):
        score = score_choice(
            _choice(tokens, text=context + continuation), context=context, continuation=continuation, generated=0
        )
        assert (score.tokens, score.logprob) == (counted, -0.5 * counted)


def test_pieces_that_cannot_be_told_apart_are_refused() -> None:
    """Two broken characters with the boundary between them."""
    choice = _choice(["a", *"�����"], text="a🙂🙂")
    assert _refused(choice, "a🙂", "🙂").kind == "boundary"
    assert score_choice(choice, context="a", continuation="🙂🙂", generated=0).tokens == 5
    empty = _choice(["a", "🙂", "", ""], text="a🙂")
    assert _refused(empty, "a", "🙂").kind == "offsets"
    piece = _choice(["a", "🙂", ""], text="a🙂")
    assert score_choice(piece, context="a", continuation="🙂", generated=1).tokens == 1
    assert _refused({**piece, "finish_reason": "stop"}, "a", "🙂", 1).kind == "boundary"


def test_a_batch_is_ordered_by_index() -> None:
    pairs = [("is", " A"), ("is", " B"), ("was", " C")]
    choices = [
        _choice([context, continuation], [None, -float(index)], index=index)
        for index, (context, continuation) in enumerate(pairs)
    ]
    scores = score_batch({"choices": choices[::-1]}, pairs, generated=0)
    assert [(score.text, score.logprob) for score in scores] == [(" A", 0.0), (" B", -1.0), (" C", -2.0)]


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (None, "malformed"),
        ({"error": "x"}, "malformed"),
        ({"choices": [1, 2]}, "malformed"),
        ({"choices": [{"index": 0}]}, "count"),
        ({"choices": [{"index": 0}, {"index": 0}]}, "count"),
        ({"choices": [{"index": 0}, {"index": 2}]}, "count"),
    ],
)
def test_a_batch_that_lacks_an_answer_is_refused(payload: Any, kind: str) -> None:
    """Two prompts, two answers, each with its number."""
    with pytest.raises(LogprobFault) as refused:
        order_choices(payload, 2)
    assert refused.value.kind == kind


_TEXT = st.text(st.sampled_from("aB .\n\té京🙂🧬\u0301"), min_size=1, max_size=12)
_VALUE = st.floats(-30, 0)


@st.composite
def _answers(draw: st.DrawFn) -> tuple[dict[str, Any], str, str, int, list[tuple[float, bool]]]:
    """Return an answer over random cuts of the prompt's bytes, and the value and greedy mark of each own token."""
    context, continuation = draw(_TEXT), draw(_TEXT)
    raw = (context + continuation).encode()
    cuts = sorted(draw(st.sets(st.integers(1, len(raw) - 1))) | {len(context.encode())})
    bounds = list(zip([0, *cuts], [*cuts, len(raw)], strict=True))
    style, front = draw(st.sampled_from(["last", "replaced"])), draw(st.sampled_from([None, "<s>"]))
    generated, own = draw(st.integers(0, 1)), []
    tokens, values, tops = [], [], []
    if front is not None:
        tokens, values, tops = [front], [None], [None]
    for begin, end in bounds:
        if style == "replaced":
            tokens.append(raw[begin:end].decode("utf-8", "replace"))
        else:
            whole = raw[:end].decode("utf-8", "ignore").encode()
            done = len("".join(tokens[front is not None :]).encode())
            tokens.append(whole[done:].decode() if len(whole) == end else "")
        value, best = (None, None) if not values else (draw(_VALUE), draw(st.floats(0, 3)) * draw(st.booleans()))
        values.append(value)
        tops.append(None if value is None or best is None else {tokens[-1]: value, "other": min(value + best, 0.0)})
        if begin >= len(context.encode()) and value is not None:
            own.append((value, value == max(tops[-1].values())))
    tokens += ["!"] * generated
    values, tops = values + [-1.0] * generated, tops + [{"!": -1.0}] * generated
    answer = _choice(tokens, values, top_logprobs=tops, text=context + continuation + "!" * generated)
    return answer, context, continuation, generated, own


@given(_answers())
@settings(max_examples=400, deadline=None)
def test_sums_and_marks_are_those_of_a_direct_computation(answer: Any) -> None:
    """Over random cuts of random text: exact, or refused for pieces that cannot be placed."""
    choice, context, continuation, generated, own = answer
    given_choice = copy.deepcopy(choice)
    try:
        score = score_choice(choice, context=context, continuation=continuation, generated=generated)
    except LogprobFault as refused:
        kind, tokens = refused.kind, choice["logprobs"]["tokens"]
        assert any("�" in token for token in tokens)
        assert kind in ("boundary", "offsets")
        return
    assert choice == given_choice
    assert score.text == continuation
    assert score.tokens == len(own)
    assert score.logprob == math.fsum(value for value, _ in own)
    assert score.is_greedy is all(mark for _, mark in own)


@given(_answers(), st.data())
@settings(max_examples=200, deadline=None)
def test_a_lost_or_doubled_entry_never_scores(answer: Any, data: st.DataObject) -> None:
    """A list with one entry too few or too many of visible text is refused, wherever it happens."""
    choice, context, continuation, generated, _ = answer
    logprobs = choice["logprobs"]
    visible = [index for index, token in enumerate(logprobs["tokens"]) if token.isascii() and token not in ("", "<s>")]
    if not visible:
        return
    place = data.draw(st.sampled_from(visible))
    times = data.draw(st.sampled_from([0, 2]))
    for column in logprobs.values():
        column[place : place + 1] = column[place : place + 1] * times
    try:
        score_choice(choice, context=context, continuation=continuation, generated=generated)
    except LogprobFault:
        return
    # The generated token is the only one that may come twice or be missing without a trace in the prompt.
    assert generated
    assert place >= len(logprobs["tokens"]) - times
