"""What some forty vendors and servers say when they refuse: each text has one meaning.

`vendor_texts.jsonl` holds a text a line with the kind of its fault; those without a vendor only look like others.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from nel.models.context_window import blame
from nel.models.error_bodies import error_body
from nel.models.faults import Fault, fault_of_error_object, fault_of_status
from nel.models.wire.registry import parse_answer

_TEXTS = [json.loads(line) for line in (Path(__file__).parent / "vendor_texts.jsonl").read_text("utf-8").splitlines()]
_OF_THE_MODEL = {"context_exceeded", "content_filter"}
_REFUSED = [text for text in _TEXTS if text["status"] != 200]
_INSIDE_200 = [text for text in _TEXTS if text["status"] == 200]


def _bytes(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()


def test_a_refusal_means_what_its_words_say() -> None:
    different = []
    for text in _REFUSED:
        fault = fault_of_status(text["status"], {}, _bytes(text["body"]))
        model_failure = text["kind"] if text["kind"] in _OF_THE_MODEL else None
        is_asked_again = model_failure is not None and fault.retryable
        if (fault.kind, fault.model_failure) != (text["kind"], model_failure) or is_asked_again:
            different.append((text, fault))
    assert different == []


def test_an_error_without_an_error_field_in_a_200_is_read() -> None:
    """MiniMax and Baidu send HTTP 200, and name what is wrong in fields of their own."""
    faults = [parse_answer("chat", text["body"]) for text in _INSIDE_200]
    assert [fault.kind if isinstance(fault, Fault) else fault for fault in faults] == [
        text["kind"] for text in _INSIDE_200
    ]


@pytest.mark.parametrize("kind", ["context_exceeded", "content_filter", "quota"])
def test_an_error_in_a_stream_without_a_code_is_read_by_its_words(kind: str) -> None:
    """An event of a stream has no status; most servers send their words without a code."""
    texts = [text for text in _REFUSED if text["kind"] == kind and "error" in text["body"]]
    messages = [error_body(_bytes(text["body"])).message for text in texts]
    found = [fault_of_error_object({"message": message}).kind for message in messages]
    assert found.count(kind) >= 0.8 * len(found) > 0


def test_words_after_a_long_prefix_are_read() -> None:
    """A proxy puts its own words in front; what is shown is cut, what is read is not."""
    message = "proxy: " * 100 + "prompt is too long: 9 tokens > 8 maximum"
    fault = fault_of_status(400, {}, _bytes({"error": {"message": message}}))
    assert fault.kind == "context_exceeded"
    assert len(fault.message) < 400


def test_a_sum_is_blamed_on_the_limit_that_was_sent() -> None:
    """Where a server names the sum of prompt and limit alone, the limit that was sent decides."""
    text = "The maximum context length of m is 8192. However, answering your request will take 12000 tokens."
    assert blame(text, max_tokens=8192) == "setting"
    assert blame(text, max_tokens=512) == "prompt"
    fault = fault_of_status(400, {}, _bytes({"error": {"message": text}}), max_tokens=8192)
    assert (fault.kind, fault.model_failure) == ("bad_request", None)


def test_a_prompt_that_alone_is_too_long_is_to_blame_whatever_the_limit() -> None:
    text = "request (30221 tokens) exceeds the available context size (8192 tokens), try increasing it"
    assert blame(text, max_tokens=8192) == "prompt"


def test_the_words_of_a_server_after_a_proxy_are_shown() -> None:
    """OpenRouter says "Provider returned error" and puts what the provider said below it."""
    body = {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": '{"detail": "bad seed"}'}}}
    fault = fault_of_status(400, {}, _bytes(body))
    assert fault.message == "HTTP 400: Provider returned error: bad seed"


def test_the_field_that_pydantic_objects_to_is_shown() -> None:
    body = {"detail": [{"loc": ["body", "max_tokens"], "msg": "Input should be less than 9", "type": "less_than"}]}
    assert fault_of_status(422, {}, _bytes(body)).message == "HTTP 422: max_tokens: Input should be less than 9"


def test_a_request_larger_than_all_tokens_of_a_minute_is_not_retried() -> None:
    """No wait changes it, and it is no sign of too many requests."""
    text = "Request too large for m on tokens per min (TPM): Limit 30000, Requested 41025."
    fault = fault_of_status(429, {}, _bytes({"error": {"message": text}}))
    assert (fault.kind, fault.retryable) == ("rate_limit", False)


def test_throttling_that_only_a_header_names_is_a_rate_limit() -> None:
    fault = fault_of_status(400, {"x-amzn-errortype": "ThrottlingException:http://x"}, b'{"message": "slow down"}')
    assert (fault.kind, fault.retryable) == ("rate_limit", True)
