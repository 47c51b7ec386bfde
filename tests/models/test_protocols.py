"""Answers are read the same from every server, and reasoning is never the answer."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from nel.core.strict_json import loads
from nel.engine.store.codec import decode_response, encode_response
from nel.models.faults import Fault
from nel.models.wire.openai import EventStream
from nel.models.wire.registry import build_body, wire_of
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
    answer = wire_of("chat").answer(_chat(**message))
    assert isinstance(answer, Response)
    assert (answer.text, answer.reasoning) == (text, reasoning)


@pytest.mark.parametrize("text", ["Cut at </think>.", "<think>a</think>b", '```python\nx = "</think>"\n```'])
def test_nothing_is_split_where_the_server_sent_reasoning_apart(text: str) -> None:
    """The content is the answer, whatever tags it speaks of."""
    answer = wire_of("chat").answer(_chat(content=text, reasoning_content="Hm."))
    assert isinstance(answer, Response)
    assert (answer.text, answer.reasoning, answer.received) == (text, "Hm.", None)


@pytest.mark.parametrize(
    "text",
    ["<think>\n20? Hmm.\n</think>\n\n18", "20? Hmm.</think>18", "<think>a</think> <think>b</think>18", "<think>20?"],
)
def test_what_was_received_is_stored_whole(text: str) -> None:
    """A text that was split is in the record as it came, its reasoning not twice."""
    answer = wire_of("chat").answer(_chat(content=text))
    assert isinstance(answer, Response)
    assert answer.received == text
    stored = encode_response(answer)
    assert decode_response(stored) == answer
    assert len(loads(stored).get("reasoning", "")) <= len("a\nb")


CHOICES = [{"index": index, "message": {"content": f"answer {index}"}, "finish_reason": "stop"} for index in range(3)]


def test_choices_without_an_index_count_in_their_order() -> None:
    """The first is the answer; where a server counts from 1, the lowest index is."""
    bare = [{key: value for key, value in choice.items() if key != "index"} for choice in CHOICES]
    first, last = (
        wire_of("chat").answer({"choices": bare}),
        wire_of("chat").answer({"choices": [CHOICES[2], CHOICES[1]]}),
    )
    assert isinstance(first, Response)
    assert isinstance(last, Response)
    assert (first.text, last.text) == ("answer 0", "answer 1")


def _streamed(events: list[dict[str, Any]], *, chat: bool) -> tuple[object, int]:
    stream = EventStream(chat=chat)
    for now, event in enumerate(events):
        stream.feed(b"data: " + json.dumps(event).encode() + b"\n\n", float(now))
    payload = stream.answer()
    found = payload if isinstance(payload, Fault) else wire_of("chat" if chat else "completions").answer(payload)
    return found, len(stream.token_times)


def _chunks(index: int, *, chat: bool) -> list[dict[str, Any]]:
    pieces = [f"answer {index}: ", "so ", "it is"]
    texts = [{"delta": {"content": piece}} if chat else {"text": piece} for piece in pieces]
    ending: dict[str, Any] = {"delta": {}} if chat else {"text": ""}
    ended = {**ending, "finish_reason": "stop" if index == 0 else "length"}
    return [{"choices": [{"index": index, **chunk}]} for chunk in (*texts, ended)]


@pytest.mark.parametrize("chat", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_chunks_of_other_choices_are_not_part_of_a_streamed_answer(chat: bool, seed: int) -> None:
    """However the chunks of three choices are mixed, text, finish reason and token times are those of index 0."""
    queues = [_chunks(index, chat=chat) for index in range(3)]
    order = [index for index, queue in enumerate(queues) for _ in queue]
    random.Random(seed).shuffle(order)  # noqa: S311 - no secret
    answer, n_times = _streamed([queues[index].pop(0) for index in order], chat=chat)
    assert isinstance(answer, Response)
    assert (answer.text, answer.finish_reason, n_times) == ("answer 0: so it is", "stop", 3)


def test_bodies_hold_only_what_was_set() -> None:
    """What is not set is not sent; repeats shift the seed; extra fields pass through."""
    messages = (Message(role="user", content="hi"),)
    bare = Request(protocol="chat", model="m", sample_id="1", repeat=0, messages=messages)
    assert build_body(bare) == {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    generation = Generation(temperature=0.0, stop=("\n",), seed=5, extra={"top_k": 3})
    full = Request(protocol="completions", model="m", sample_id="1", repeat=2, prompt="hi", generation=generation)
    assert build_body(full) == {"model": "m", "prompt": "hi", "temperature": 0.0, "stop": ["\n"], "seed": 7, "top_k": 3}
