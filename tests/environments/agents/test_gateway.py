"""The endpoint that nel serves to one episode, asked over loopback; the model is a function."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import pytest

from nel.environments.agents.gateway import Gateway
from nel.episodes.endings import LimitReached
from nel.episodes.episode import Episode
from nel.episodes.limits import Limits
from nel.episodes.steps import Step, digest_of
from nel.types import Generation, JsonObject, Message, Response, Sample, ToolCall

TOOL = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}


@dataclass
class Model:
    """What an episode is run on: answers at once, or once it may."""

    asked: list[tuple[Sequence[Message], Sequence[JsonObject], JsonObject]] = field(default_factory=list)
    notes: list[JsonObject] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    is_repeated: asyncio.Event = field(default_factory=asyncio.Event)

    def stored_step(self, number: int) -> Step | None:
        return None

    def digest(self, messages: Sequence[Message], tools: Sequence[JsonObject], options: JsonObject) -> str:
        return digest_of(len(self.asked))

    async def send(
        self,
        step: Step,
        messages: Sequence[Message],
        tools: Sequence[JsonObject],
        options: JsonObject,
        wall_seconds: Callable[[], float],
    ) -> Step:
        self.asked.append((messages, tools, options))
        number = len(self.asked)
        await self.may_answer.wait()
        calls = (ToolCall(id=f"c{number}", name="bash", arguments="{}"),) if tools else ()
        return step.with_end(1.0, response=Response(text=f"answer {number}", tool_calls=calls, finish_reason="stop"))

    def note(self, step: Step) -> None:
        self.notes.append(step.asked)
        if step.asked["note"] == "repeated":
            self.is_repeated.set()

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(name)


def episode_on(model: Model, **options: Any) -> Episode:
    limits = options.pop("limits", Limits())
    return Episode(
        Sample(id="s", input="x"), [], repeat=0, seed=None, limits=limits, backend=model, model="m", **options
    )


def body(*messages: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    return {"model": "any", "messages": list(messages or ({"role": "user", "content": "x"},)), **fields}


async def post(
    gateway: Gateway, sent: Any, *, path: str = "/v1/chat/completions", key: str = ""
) -> tuple[int, Any, Any]:
    """Return status, headers and JSON of an answer."""
    headers = {"Authorization": f"Bearer {key or gateway.secret}"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{gateway.port}{path}", json=sent, headers=headers) as response,
    ):
        return response.status, response.headers, await response.json()


async def test_an_equal_body_is_answered_once() -> None:
    """In flight it is shared, just answered it is repeated; another body is another question."""
    model = Model()
    async with Gateway(episode_on(model)) as gateway:
        twice = [asyncio.create_task(post(gateway, body())) for _ in range(2)]
        await model.is_repeated.wait()
        model.may_answer.set()
        answers = [await task for task in twice] + [await post(gateway, body())]
        await post(gateway, body({"role": "user", "content": "y"}))
    assert {answer[2]["choices"][0]["message"]["content"] for answer in answers} == {"answer 1"}
    assert len(model.asked) == 2


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/v1/chat/completions", "/chat/completions"])
async def test_only_the_secret_of_the_episode_is_served(path: str) -> None:
    """At each form of the base URL."""
    model = Model()
    model.may_answer.set()
    async with Gateway(episode_on(model)) as gateway:
        assert (await post(gateway, body(), path=path, key="another"))[0] == 401
        assert (await post(gateway, body(), path=path))[0] == 200
    assert len(model.asked) == 1


async def test_a_conversation_goes_on_with_the_answers_as_the_episode_has_them() -> None:
    """What an agent drops of an answer is there in the next request; a title is no part of the conversation."""
    model = Model()
    model.may_answer.set()
    episode = episode_on(model)
    async with Gateway(episode) as gateway:
        _, _, first = await post(gateway, body(tools=[TOOL]))
        message = first["choices"][0]["message"]
        call = {**message["tool_calls"][0], "function": {"name": "bash", "arguments": " {} "}}
        stripped = {"role": "assistant", "content": None, "tool_calls": [call]}
        result = {"role": "tool", "tool_call_id": call["id"], "content": "a"}
        await post(gateway, body({"role": "user", "content": "x"}, stripped, result, tools=[TOOL]))
        await post(gateway, body({"role": "user", "content": "a title"}))
    assert model.asked[1][0][1].content == "answer 1"
    assert [message.content for message in episode.messages] == ["x", "answer 1", "a", "answer 2"]


async def test_settings_of_the_run_win_and_what_is_withheld_is_noted() -> None:
    """An agent's own setting is sent where the run has none."""
    model = Model()
    model.may_answer.set()
    sent = body(temperature=0.9, max_tokens=5, response_format={"type": "json_object"}, tools=[{"type": "web_search"}])
    async with Gateway(episode_on(model, generation=Generation(temperature=0.0))) as gateway:
        await post(gateway, sent)
    assert model.asked[0][1:] == ((), {"max_tokens": 5})
    notes = {note["note"]: note["data"] for note in model.notes}
    assert notes["settings_overruled"] == {"temperature": 0.9}
    assert notes["fields_left_out"] == ["response_format"]
    assert notes["native_tools_withheld"] == ["web_search"]
    assert notes["model_asked"] == "any"


@pytest.mark.parametrize(
    ("protocol", "allowed", "passed"),
    [("chat", ("web_search",), ["web_search_2"]), ("anthropic", ("web_search",), []), ("chat", ("browser",), [])],
)
async def test_a_vendors_own_tool_is_passed_on_where_the_recipe_allows_it(
    protocol: str, allowed: tuple[str, ...], passed: list[str]
) -> None:
    """By the beginning of its type, to an endpoint of the agent's own protocol; the transcript notes it."""
    model = Model()
    model.may_answer.set()
    sent = body(tools=[TOOL, {"type": "web_search_2", "max_uses": 3}, {"type": "code_execution"}])
    async with Gateway(episode_on(model, protocol=protocol), native_tools=allowed) as gateway:
        await post(gateway, sent)
    assert [tool["type"] for tool in model.asked[0][1]] == ["function", *passed]
    notes = {note["note"]: note["data"] for note in model.notes}
    assert notes.get("native_tools_passed_on", []) == passed
    assert "code_execution" in notes["native_tools_withheld"]


async def test_after_a_limit_the_agent_is_told_not_to_try_again() -> None:
    """The model is asked no more, and the episode is over."""
    model = Model()
    model.may_answer.set()
    episode = episode_on(model, limits=Limits(steps=1))
    async with Gateway(episode) as gateway:
        await post(gateway, body())
        status, headers, refusal = await post(gateway, body({"role": "user", "content": "y"}))
    assert (status, headers["x-should-retry"], len(model.asked)) == (429, "false", 1)
    assert "steps: 1" in refusal["error"]["message"]
    assert isinstance(episode.ending, LimitReached)


async def test_a_body_that_cannot_be_read_is_refused_and_the_episode_goes_on() -> None:
    """Also a list of models is there, and another address is not."""
    model = Model()
    async with Gateway(episode_on(model)) as gateway:
        assert (await post(gateway, [1]))[0] == 400
        assert (await post(gateway, {}, path="/v1/embeddings"))[0] == 404
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"http://127.0.0.1:{gateway.port}/v1/models", headers={"x-api-key": gateway.secret}) as listed,
        ):
            assert (await listed.json())["data"][0]["id"] == "m"
    assert model.asked == []
