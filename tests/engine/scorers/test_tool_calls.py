"""Calls of tools that a server left in the text are not an answer, in the spelling of each vendor."""

from __future__ import annotations

import pytest

from nel.engine.scorers.tool_calls import answer_in, without_tool_calls
from nel.types import Response, Sample, ToolCall

CALLS = (
    '<tool_call>\n{"name": "add", "arguments": {"a": 3}}\n</tool_call>',
    "<tool_call>\n<function=add>\n<parameter=a>\n3\n</parameter>\n</function>\n</tool_call>",
    '<function=add>{"a": 3}</function>',
    '[TOOL_CALLS][{"name": "add", "arguments": {"a": 3}}]',
    '<function_calls>\n<invoke name="add"><parameter name="a">3</parameter></invoke>\n</function_calls>',
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>add\n{"a": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    '<|tool_call|>[{"name": "add", "arguments": {"a": 3}}]<|/tool_call|>',
    '<|START_ACTION|>[{"tool_name": "add", "parameters": {"a": 3}}]<|END_ACTION|>',
    '<|channel|>commentary to=functions.add <|constrain|>json<|message|>{"a": 3}<|call|>',
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="add">…</｜DSML｜invoke>\n</｜DSML｜tool_calls>',
    "<longcat_tool_call>add\n<longcat_arg_key>a</longcat_arg_key>…\n</longcat_tool_call>",
    "<|tool_call_start|>[add(a=3)]<|tool_call_end|>",
    '<|open|>tools<|sep|><|open|>call name="add"<|sep|>…<|close|>call<|sep|><|close|>tools<|sep|>',
    '<tool_call>\n{"name": "add", "argume',
)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_removed_from_the_text(call: str) -> None:
    """Alone, twice, cut off, and after a sentence, which stays as it does beside a call that the server reads."""
    assert without_tool_calls(call) == ""
    assert without_tool_calls(f"{call}\n{call}") == ""
    if not call.startswith("commentary"):
        assert without_tool_calls(f"I add 2 and 2.\n{call}") == "I add 2 and 2."


@pytest.mark.parametrize(
    "text",
    [
        "3",
        "a < b and [3]",
        "```xml\n<tool_call>3</tool_call>\n```",
        "The tag `<function=add>` opens a call.",
        "<|python_tag|>def f(x):\n    return x",
        "from functools import cache\nprint(functools[3])",
    ],
)
def test_other_text_stays(text: str) -> None:
    """Programs, and answers about calls."""
    assert without_tool_calls(text) == text


def test_a_call_that_the_prompt_asks_for_is_the_answer() -> None:
    """A benchmark may have the model call tools in its text."""
    response = Response(text=CALLS[0])
    assert answer_in(response, Sample(id="1", input="Which sum?", target="3")) == ""
    assert answer_in(response, Sample(id="1", input="Reply with <tool_call>JSON</tool_call>.", target="3")) == CALLS[0]


def test_a_text_beside_calls_that_the_server_read_is_the_answer() -> None:
    """Then what is left in the text was left by the model."""
    response = Response(text=CALLS[0], tool_calls=(ToolCall(id="1", name="add", arguments="{}"),))
    assert answer_in(response, None) == CALLS[0]
