"""Run a task that offers tools with Inspect itself, and print what it would send and how it scored.

python inspect_tools_itself.py FILE@TASK ARGUMENTS_JSON REPLIES_JSON LOG_FOLDER

Replies are text and calls, by the text of the last message.
"""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import tiktoken
from inspect_ai import eval as run
from inspect_ai._eval.loader import load_tasks
from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, get_model
from inspect_ai.model._call_tools import parse_tool_call
from inspect_ai.tool import ToolFunction


def main() -> None:
    """Run it, one sample after another."""
    spec, arguments, replies, folder = sys.argv[1:]
    known = json.loads(replies)
    sent = {}

    def reply(messages: list[Any], tools: Any, choice: Any, _config: Any) -> ModelOutput:
        asked = messages[-1].text
        named = {"any": "required"}.get(choice, choice) if isinstance(choice, str) else None
        sent[asked] = {
            "messages": [_message(one) for one in messages],
            "tools": [_tool(one) for one in tools],
            "tool_choice": named or {"type": "function", "function": {"name": choice.name}},
        }
        assert named or isinstance(choice, ToolFunction)
        text, calls = known[asked]
        if not calls:
            return ModelOutput.from_content("mockllm/model", text)
        made = [
            parse_tool_call(one["id"], one["function"]["name"], one["function"]["arguments"], tools)
            for one in calls
        ]
        message = ChatMessageAssistant(content=text or "", tool_calls=made)
        return ModelOutput(
            model="m", choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls")]
        )

    tiktoken.get_encoding = lambda _: SimpleNamespace(
        encode=lambda text, **_: list(text)
    )  # else it is downloaded
    (task,) = load_tasks([spec], json.loads(arguments))
    model = get_model("mockllm/model", custom_outputs=reply)
    (log,) = run(
        task,
        model=model,
        epochs=1,
        max_samples=1,
        log_dir=folder,
        display="none",
        log_format="json",
    )
    if log.status != "success":
        sys.exit(str(log.error.message if log.error else log.samples[0].error))
    asked = [
        (one, one.input if isinstance(one.input, str) else one.input[-1].text)
        for one in log.samples
    ]
    found = [
        {"input": text, "value": next(iter(one.scores.values())).value, **sent[text]}
        for one, text in asked
    ]
    print(json.dumps(found))  # noqa: T201 - the answer


def _message(message: Any) -> dict[str, Any]:
    """Return a message as Inspect's client for OpenAI sends it."""
    made = {"role": message.role, "content": message.text}
    if message.role == "tool":
        made["tool_call_id"] = message.tool_call_id
    if getattr(message, "tool_calls", None):
        made["tool_calls"] = [
            {
                "type": "function",
                "id": one.id,
                "function": {
                    "name": one.function,
                    "arguments": json.dumps(one.arguments, separators=(",", ":")),
                },
            }
            for one in message.tool_calls
        ]
    return made


def _tool(info: Any) -> dict[str, Any]:
    parameters = info.parameters.model_dump(exclude_none=True)
    function = {"name": info.name, "description": info.description, "parameters": parameters}
    return {"type": "function", "function": function}


if __name__ == "__main__":
    main()
