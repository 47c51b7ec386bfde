"""A scripted language model whose tokens are single characters, so that any harness cuts a text as it does.

It answers ``echo`` with the log-probability of every character, made of the 24 before it, and chats with a solution
that is sometimes right. Nothing in it is random.
"""

from __future__ import annotations

import zlib
from typing import Any

from tests.support.endpoint import Call, Reply, answer

_CONTEXT = 24
_KNOWN = ("The capital of France is Paris", "Monday, Tuesday, Wednesday, Thursday, Friday")
"""What every language model finds likely; a client may ask that first."""


def letters(call: Call, _: int) -> Reply:
    """Answer a completion with echo, or a chat."""
    if "messages" in call.body:
        return answer(solution(str(call.body["messages"][-1]["content"])))
    asked = call.body["prompt"]
    prompts = asked if isinstance(asked, list) else [asked]
    generated = call.body["max_tokens"]
    choices = [{**echoed(prompt, generated), "index": place} for place, prompt in enumerate(prompts)]
    usage = {"prompt_tokens": sum(map(len, prompts)), "completion_tokens": generated * len(prompts)}
    return Reply(body={"model": "letters", "choices": choices, "usage": usage})


def logprob(before: str, letter: str) -> float:
    """Return how likely a character is, from -6.05 to -0.01."""
    if any(text.startswith(before + letter) for text in _KNOWN):
        return -0.01
    return -0.05 - 6.0 * zlib.crc32(f"{before[-_CONTEXT:]}|{letter}".encode()) / 2**32


def echoed(prompt: str, generated: int) -> dict[str, Any]:
    """Return one entry of ``choices``: the prompt's characters, and so many generated ones."""
    text = prompt + "." * generated
    values = [logprob(text[:place], letter) for place, letter in enumerate(text)]
    tops = [{letter: value, "\n": min(value + 1.0, -0.001)} for letter, value in zip(text, values, strict=True)]
    tops = [top if value < -1.0 else {letter: value} for top, letter, value in zip(tops, text, values, strict=True)]
    return {
        "text": text,
        "finish_reason": "length",
        "logprobs": {
            "tokens": list(text),
            "token_logprobs": [None, *values[1:]],
            "top_logprobs": [None, *tops[1:]],
            "text_offset": list(range(len(text))),
        },
    }


def solution(question: str) -> str:
    """Return an answer to a word problem, in one of four forms."""
    number = zlib.crc32(question.encode()) % 97
    return (
        f"First 3, then 4.\n#### {number}", f"So that is ${number}.00 in all.", "#### 1,234", "I do not know.",
    )[number % 4]  # fmt: skip
