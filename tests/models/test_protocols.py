"""Answers are read the same from every server, and reasoning is never the answer."""

from __future__ import annotations

from typing import Any

import pytest

from nel.models.faults import Fault
from nel.models.protocols import build_body, parse_answer, parse_usage, split_reasoning
from nel.types import Generation, Message, Request, Response


def _chat(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "yes"}, "yes", None),
        ({"content": None}, "", None),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", None),
        ({"content": "yes", "reasoning_content": "hm"}, "yes", "hm"),
        ({"content": "yes", "reasoning": "hm"}, "yes", "hm"),
        ({"content": "<think>hm</think>\nyes"}, "yes", "hm"),
        ({"content": "I <think> so"}, "I <think> so", None),
        ({"content": "so #### 7\n</think>\nAnswer: 8"}, "Answer: 8", "so #### 7"),
    ],
)
def test_content_and_reasoning(message: dict[str, Any], text: str, reasoning: str | None) -> None:
    """Content in all its forms; reasoning in its own field or a leading block."""
    answer = parse_answer("chat", _chat(**message))
    assert isinstance(answer, Response)
    assert (answer.text, answer.reasoning) == (text, reasoning)


def test_an_unclosed_think_block_is_a_truncated_answer() -> None:
    """A block that never closes leaves no answer, whatever the finish reason says."""
    answer = parse_answer("chat", _chat(content="<think>42, so"))
    assert isinstance(answer, Response)
    assert (answer.text, answer.finish_reason) == ("", "length")
    assert split_reasoning("<think>42, so") == ("42, so", "", False)


@pytest.mark.parametrize(
    "payload",
    [
        [],
        None,
        3,
        "x",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": [{"message": None}]},
        _chat(content=5),
    ],
)
def test_what_is_no_answer_is_malformed(payload: Any) -> None:
    """Anything but a choice with text is a fault worth a retry, never an exception and never an answer."""
    fault = parse_answer("chat", payload)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.retryable) == ("malformed", True)


@pytest.mark.parametrize(
    ("code", "kind", "retryable"), [(429, "rate_limit", True), (401, "auth", False), ("x", "server_error", True)]
)
def test_an_error_inside_a_200(code: Any, kind: str, retryable: bool) -> None:
    """An error object with HTTP 200 is classified by its own code."""
    fault = parse_answer("chat", {"error": {"message": "no", "code": code}})
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.retryable) == (kind, retryable)


@pytest.mark.parametrize(
    "usage",
    [None, [], {"prompt_tokens": 10**400}, {"prompt_tokens": "7"}, {"prompt_tokens": -1}, {"prompt_tokens": True}],
)
def test_strange_usage_is_unknown(usage: Any) -> None:
    """Counts that are no counts are unknown, never an error."""
    assert parse_usage(usage).prompt_tokens is None


def test_bodies_hold_only_what_was_set() -> None:
    """What is not set is not sent; repeats shift the seed; extra fields pass through."""
    messages = (Message(role="user", content="hi"),)
    bare = Request(protocol="chat", model="m", sample_id="1", repeat=0, messages=messages)
    assert build_body(bare) == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    generation = Generation(temperature=0.0, stop=("\n",), seed=5, extra={"top_k": 3})
    full = Request(protocol="completions", model="m", sample_id="1", repeat=2, prompt="hi", generation=generation)
    assert build_body(full) == {"model": "m", "prompt": "hi", "temperature": 0.0, "stop": ["\n"], "seed": 7, "top_k": 3}
