"""The OpenAI routes as any client sees them, with the demo model behind them."""

from __future__ import annotations

from typing import Any

import pytest

from nel.apps.http_server import running
from nel.apps.mock.demo import DemoOptions, demo_app
from tests.apps.mock.conftest import Client

QUESTION = "Mia picks 4 apples from one tree and 6 from another. How many apples has she picked in all?"


async def test_chat_stream_carries_the_same_answer(client: Client) -> None:
    """A stream is a role chunk, content chunks, a finish chunk, the usage and [DONE]; joined it is the plain answer."""
    request = {"messages": [{"role": "user", "content": QUESTION}]}
    async with running(demo_app(DemoOptions())) as url:
        plain = await client.chat(url, QUESTION)
        events = await client.events(f"{url}/chat/completions", {**request, "stream_options": {"include_usage": True}})
        without_usage = await client.events(f"{url}/chat/completions", request)
    assert events[-1] == without_usage[-1] == "[DONE]"
    first, *contents, finish, usage = events[:-1]
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    text = "".join(event["choices"][0]["delta"]["content"] for event in contents)
    assert text == plain[1]["choices"][0]["message"]["content"]
    assert (finish["choices"][0]["delta"], finish["choices"][0]["finish_reason"]) == ({}, "stop")
    assert (usage["choices"], usage["usage"]) == ([], plain[1]["usage"])
    assert all("usage" not in event for event in without_usage[:-1])


@pytest.mark.parametrize("max_tokens", [0, 5, None])
async def test_echo_has_legacy_logprobs(client: Client, max_tokens: int | None) -> None:
    """With echo, joined tokens are the text, offsets point into it and only the first log-probability is null."""
    prompt = "  Naïve café — 東京, \n\n ok? \t"
    async with running(demo_app(DemoOptions())) as url:
        _, body = await client.complete(url, prompt, echo=True, logprobs=1, max_tokens=max_tokens)
    [choice] = body["choices"]
    logprobs = choice["logprobs"]
    assert "".join(logprobs["tokens"]) == choice["text"]
    assert choice["text"].startswith(prompt)
    assert (choice["text"] == prompt) == (max_tokens == 0)
    for token, offset in zip(logprobs["tokens"], logprobs["text_offset"], strict=True):
        assert choice["text"][offset : offset + len(token)] == token
    assert logprobs["token_logprobs"][0] is logprobs["top_logprobs"][0] is None
    rest = zip(logprobs["tokens"], logprobs["token_logprobs"], logprobs["top_logprobs"], strict=True)
    assert all(value < 0 and top[token] == value for token, value, top in list(rest)[1:])
    assert len(prompt) in [*logprobs["text_offset"], len(choice["text"])]


async def test_unknown_model_names_the_served_one(client: Client) -> None:
    async with running(demo_app(DemoOptions(model="mine"))) as url:
        status, body = await client.chat(url, QUESTION, model="gpt-9")
    assert (status, body["error"]["code"]) == (404, "model_not_found")
    assert "gpt-9" in body["error"]["message"]
    assert "mine" in body["error"]["message"]


async def test_key_is_asked_on_every_route_that_costs(client: Client) -> None:
    """With a key, requests without it or with another are refused, the list of models too, and nothing shows it."""
    options = DemoOptions(api_key="s3cret")
    assert "s3cret" not in repr(options)
    async with running(demo_app(options)) as url:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "s3cret"}):
            for status, body in (
                await client.chat(url, QUESTION, headers=headers),
                await client.get(f"{url}/models", headers),
            ):
                assert (status, body["error"]["code"]) == (401, "invalid_api_key")
                assert "s3cret" not in str(body)
        right = {"Authorization": "Bearer s3cret"}
        assert (await client.chat(url, QUESTION, headers=right))[0] == 200
        assert (await client.get(f"{url}/models", right))[0] == 200
        assert (await client.get(url.removesuffix("/v1") + "/health"))[0] == 200


MESSAGES = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("path", "body", "named"),
    [
        ("chat/completions", {"model": None, "messages": MESSAGES}, "model"),
        ("chat/completions", {}, "messages"),
        ("chat/completions", {"messages": [{"role": "user", "content": 7}]}, "messages[0].content"),
        ("chat/completions", {"messages": MESSAGES, "max_tokens": 0}, "max_tokens"),
        ("chat/completions", {"messages": MESSAGES, "n": 2}, "n"),
        ("completions", {"prompt": [1, 2, 3]}, "prompt[0]"),
        ("completions", {"prompt": "hi", "logprobs": 99}, "logprobs"),
    ],
)
async def test_wrong_body_is_refused_by_name(client: Client, path: str, body: dict[str, Any], named: str) -> None:
    """What is missing, wrong or not supported is a 400 that names the field."""
    async with running(demo_app(DemoOptions())) as url:
        status, answer = await client.post(f"{url}/{path}", body)
    assert (status, answer["error"]["param"]) == (400, named)
    assert named.partition("[")[0] in answer["error"]["message"]
