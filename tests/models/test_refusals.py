"""What counts as a refusal, and which refusals say the same."""

from __future__ import annotations

import json

import pytest

from nel.models.faults import is_refusal
from nel.models.refusals import NEUTRAL_PROMPT
from nel.models.wire.registry import neutral_body
from nel.types import ResponseError


def _refused(message: str, *, kind: str = "bad_request", status: int | None = 400) -> ResponseError:
    return ResponseError(kind=kind, message=message, status=status)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (_refused("bad"), True),
        (_refused("bad", kind="auth", status=401), True),
        (ResponseError(kind="context_exceeded", message="", status=400, model_failure="context_exceeded"), False),
        (ResponseError(kind="content_filter", message="", status=400, model_failure="content_filter"), False),
        (_refused("slow", kind="rate_limit", status=429), False),
        (_refused("late", kind="timeout", status=None), False),
        (_refused("oops", kind="server_error", status=500), False),
        (_refused("pay", kind="quota", status=402), False),
        (None, False),
    ],
)
def test_what_is_a_refusal(error: ResponseError | None, expected: bool) -> None:
    """A 4xx for good; never what the model is to blame for, what passes, or what money cures."""
    assert is_refusal(error) is expected


def test_a_neutral_request_keeps_the_settings() -> None:
    chat = {"model": "m", "messages": [{"role": "system", "content": "x"}], "temperature": 0, "stream": True}
    found = json.loads(neutral_body(json.dumps(chat).encode(), "chat", NEUTRAL_PROMPT))
    assert found == {**chat, "messages": [{"role": "user", "content": NEUTRAL_PROMPT}]}
    echo = {"model": "m", "prompt": ["a", "b"], "echo": True}
    assert (
        json.loads(neutral_body(json.dumps(echo).encode(), "completions", NEUTRAL_PROMPT))["prompt"] == NEUTRAL_PROMPT
    )
