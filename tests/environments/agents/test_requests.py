"""What agents send over four protocols is the same question, and what nel answers reads the same in all."""

from __future__ import annotations

from typing import Any

import pytest

from nel.environments.agents.answers import ServedAnswer, Spoken, body_of
from nel.environments.agents.requests import Unreadable, read_request
from nel.models.wire.registry import build_body, parse_answer
from nel.types import Generation, Message, Request, Response, ToolCall, Usage

TOOL = {
    "type": "function",
    "function": {"name": "bash", "description": "Run.", "parameters": {"type": "object", "properties": {}}},
}
CALL = ToolCall(id="call_1", name="bash", arguments='{"command":"ls"}')
MESSAGES = (
    Message(role="system", content="Be short."),
    Message(role="user", content="List."),
    Message(role="assistant", content="I look.", tool_calls=(CALL,)),
    Message(role="tool", content="a.txt", tool_call_id="call_1"),
)
PROTOCOLS: tuple[Spoken, ...] = ("chat", "responses", "anthropic", "gemini")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_request_reads_the_same_over_each_protocol(protocol: Spoken) -> None:
    """Messages, tools and settings of what nel's own client writes are read back."""
    request = Request(
        protocol=protocol,
        model="m",
        sample_id="",
        repeat=0,
        messages=MESSAGES,
        tools=(TOOL,),
        generation=Generation(temperature=0.5, max_tokens=9),
    )
    asked = read_request(protocol, build_body(request), model="m")
    roles = [(message.role, message.content, [call.name for call in message.tool_calls]) for message in asked.messages]
    last = asked.messages[-1]
    assert roles[:3] == [("system", "Be short.", []), ("user", "List.", []), ("assistant", "I look.", ["bash"])]
    assert "a.txt" in last.content
    assert last.tool_call_id == asked.messages[2].tool_calls[0].id
    assert asked.messages[2].tool_calls[0].values == {"command": "ls"}
    assert [tool["function"]["name"] for tool in asked.tools] == ["bash"]
    assert (asked.settings, asked.native_tools) == ({"temperature": 0.5, "max_tokens": 9}, {})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_reads_the_same_over_each_protocol(protocol: Spoken) -> None:
    """Text, reasoning, calls and tokens."""
    usage = Usage(prompt_tokens=5, completion_tokens=3)
    answer = ServedAnswer(
        id="1", model="m", text="I look.", reasoning="hm", signature="c2ln", calls=(CALL,), usage=usage
    )
    response = parse_answer(protocol, body_of(protocol, answer), offers_tools=True)
    assert isinstance(response, Response)
    assert (response.text, response.reasoning) == ("I look.", "hm")
    assert [(call.name, call.values) for call in response.tool_calls] == [("bash", {"command": "ls"})]
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (5, 3)


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        ("responses", {"input": "x", "tools": [{"type": "web_search"}]}),
        ("anthropic", {"messages": [{"role": "user", "content": "x"}], "tools": [{"type": "web_search_20250305"}]}),
        ("gemini", {"contents": [{"parts": [{"text": "x"}]}], "tools": [{"googleSearch": {}}]}),
    ],
)
def test_tools_of_a_vendors_own_server_are_told_apart(protocol: Spoken, body: dict[str, Any]) -> None:
    """They are not offered to the model, which nel could not run them for."""
    asked = read_request(protocol, body)
    assert (asked.tools, len(asked.native_tools)) == ((), 1)


@pytest.mark.parametrize("spelling", ["functionDeclarations", "function_declarations"])
def test_declarations_of_gemini_are_functions_in_either_spelling(spelling: str) -> None:
    """And neither is a tool of Gemini's own, which would be noted as withheld."""
    contents = [{"parts": [{"text": "x"}]}]
    asked = read_request("gemini", {"contents": contents, "tools": [{spelling: [{"name": "add"}]}]})
    assert [tool["function"]["name"] for tool in asked.tools] == ["add"]
    assert asked.native_tools == {}


def test_instructions_that_are_read_are_not_said_to_be_left_out() -> None:
    """Gemini takes the field by both spellings."""
    body = {"system_instruction": {"parts": [{"text": "Be short."}]}, "contents": [{"parts": [{"text": "x"}]}]}
    asked = read_request("gemini", {**body, "safetySettings": [{"threshold": "OFF"}]})
    assert (asked.messages[0].content, asked.left_out) == ("Be short.", ("safetySettings",))


def test_a_tool_of_responses_that_takes_a_text_is_a_function() -> None:
    """Its call goes back as a text, as Codex's patches do."""
    asked = read_request("responses", {"input": "x", "tools": [{"type": "custom", "name": "apply_patch"}]})
    call = ToolCall(id="c", name="apply_patch", arguments='{"input":"*** Begin"}')
    body = body_of("responses", ServedAnswer(id="1", model="m", calls=(call,), custom_tools=asked.custom_tools))
    assert (body["output"][0]["type"], body["output"][0]["input"]) == ("custom_tool_call", "*** Begin")
    again = read_request("responses", {"input": [{"role": "user", "content": "x"}, *body["output"]]})
    assert again.messages[1].tool_calls[0].values == {"input": "*** Begin"}


@pytest.mark.parametrize("body", [[], {}, {"messages": [{"role": "assistant", "content": "x"}]}, {"messages": ["x"]}])
def test_a_body_that_is_not_a_request_is_refused(body: Any) -> None:
    """The agent gets a 400, and the episode goes on."""
    with pytest.raises(Unreadable):
        read_request("chat", body)
