"""The scripted endpoint: turns decided by the request alone, over four protocols."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from nel.apps.http_server import running
from nel.apps.mock.oracle import read_oracle
from nel.apps.mock.scripted import scripted_app
from nel.apps.mock.scripts import read_script
from nel.errors import ConfigError
from nel.models.wire.registry import build_body, parse_answer, wire_of
from nel.types import Generation, JsonObject, Message, Request, Response, ToolCall

PROTOCOLS = ("chat", "responses", "anthropic", "gemini")
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
SCRIPT = """
- when: two turns
  turns:
    - reasoning: Both at once, I think.
      text: I add.
      calls:
        - {name: add, arguments: {a: 2, b: 3}}
        - {name: now}
    - text: The sum is 5.
- turns:
    - {status: 503}
"""


CONVERSATIONS = """
from nel import benchmark, scorer

def gold_steps(sample):
    return [
        {"calls": [{"name": "keep"}]}, {"text": "Kept."}, {"calls": [{"name": "look"}]}, {"text": "It was 5."},
    ]

@benchmark(
    name="later", dataset=lambda: [{"turns": ["Keep 5.", "Which was it?"], "target": "5"}], prompt="{turn}", turns_field="turns",
    gold_steps=gold_steps,
)
@scorer
def holds(sample):
    return "5" in sample.response
"""


STEPS = """
from nel import benchmark, scorer
from nel.byob import SeedResult

ROWS = [{"id": name, "function": name, "question": question} for name, question in (
    ("add", "2 and 3?"), ("multiply", "2 and 3?"), ("divide", "4 and 5?"))]

def seed(row):
    tool = {"type": "function", "function": {"name": row["function"], "parameters": {"type": "object"}}}
    return SeedResult(prompt=row["question"], tools=[tool], expected_answer=row["function"])

def gold_steps(sample):
    return [{"calls": [{"name": sample.target}]}]

@benchmark(name="steps", dataset=lambda: ROWS, seed_fn=seed, endpoint_type="chat", gold_steps=gold_steps)
@scorer
def steps(sample):
    return sample.tool_calls[0].name == sample.target
"""


def script_of(folder: Path, text: str, name: str = "script.yaml") -> Any:
    path = folder / name
    path.write_text(text)
    return read_script(path)


async def sent(
    url: str, protocol: str, messages: tuple[Message, ...], *, stream: bool, tools: tuple[JsonObject, ...] = (TOOL,)
) -> tuple[int, bytes]:
    """Return status and body of the endpoint's reply."""
    wire = wire_of(protocol)
    generation = Generation(max_tokens=99, reasoning_effort="low")
    request = Request(
        protocol=protocol, model="any", sample_id="s", repeat=0, messages=messages, tools=tools, generation=generation
    )
    address = f"{url}{wire.path('any', stream=stream)}"
    async with (
        aiohttp.ClientSession() as session,
        session.post(address, json=build_body(request, stream=stream)) as got,
    ):
        return got.status, await got.read()


async def asked(
    url: str, protocol: str, messages: tuple[Message, ...], *, stream: bool = False, **more: Any
) -> Response:
    """Return the answer as nel reads it."""
    status, body = await sent(url, protocol, messages, stream=stream, **more)
    assert status == 200, body
    payload = wire_of(protocol).stream().whole(body) if stream else json.loads(body)
    answer = parse_answer(protocol, payload, offers_tools=True)
    assert isinstance(answer, Response), answer
    return answer


def user(text: str) -> tuple[Message, ...]:
    return (Message(role="user", content=text),)


def called(name: str) -> Message:
    """Return an answer of a model that calls one tool."""
    return Message(role="assistant", content="", tool_calls=(ToolCall(id="1", name=name, arguments="{}"),))


@pytest.mark.parametrize("protocol", PROTOCOLS)
async def test_an_agent_gets_its_turns_over_every_protocol(protocol: str, tmp_path: Path) -> None:
    """Calls with reasoning, then the answer to their results; streamed and not are the same."""
    first = user("two turns, please")
    async with running(scripted_app(script_of(tmp_path, SCRIPT))) as url:
        whole, streamed = [await asked(url, protocol, first, stream=stream) for stream in (False, True)]
        assert whole == streamed
        message = whole.message
        results = [Message(role="tool", content="5", tool_call_id=call.id) for call in message.tool_calls]
        second = await asked(url, protocol, (*first, message, *results), stream=True)
    assert (whole.text, whole.reasoning) == ("I add.", "Both at once, I think.")
    assert [(call.name, call.values) for call in whole.tool_calls] == [("add", {"a": 2, "b": 3}), ("now", {})]
    assert (second.text, second.tool_calls) == ("The sum is 5.", ())


@pytest.mark.parametrize("protocol", ["responses", "anthropic", "gemini"])
async def test_signed_reasoning_has_to_come_back(protocol: str, tmp_path: Path) -> None:
    """As vendors demand it; over chat nothing is signed."""
    asking = user("two turns")
    async with running(scripted_app(script_of(tmp_path, SCRIPT))) as url:
        answer = await asked(url, protocol, asking)
        bare = Message(role="assistant", content=answer.text, tool_calls=answer.message.tool_calls)
        status, body = await sent(url, protocol, (*asking, bare), stream=False)
    assert (status, b"signed reasoning of turn 1" in body) == (400, True)


async def test_faults_stand_in_place_of_answers(tmp_path: Path) -> None:
    """A status, a connection that ends in the middle, an empty body, a script that has ended."""
    text = '[{"when": "cut", "turns": [{"text": "half", "cut": true}]}, {"when": "empty", "turns": [{"empty": true}]},'
    text += '{"when": "raw", "turns": [{"calls": [{"name": "add", "raw": "{no"}, {"name": "now"}]}]}, {"turns": [{"status": 429}]}]'
    async with running(scripted_app(script_of(tmp_path, text))) as url:
        status, _ = await sent(url, "chat", user("any"), stream=False)
        with pytest.raises(aiohttp.ClientPayloadError):
            await sent(url, "chat", user("cut"), stream=True)
        empty = await sent(url, "chat", user("empty"), stream=False)
        raw = await asked(url, "anthropic", user("raw"), stream=True)
        after = (*user("raw"), Message(role="assistant", content="?"))
        ended, body = await sent(url, "chat", after, stream=False)
    assert (status, empty, ended, b"script has 1 turns" in body) == (429, (200, b""), 400, True)
    assert [(call.arguments, bool(call.parse_error)) for call in raw.tool_calls] == [("{no", True), ("{}", False)]


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("s.yaml", "- turns:\n    - txt: x\n", r"s.yaml, line 2: turns.0.txt: extra inputs"),
        ("s.yaml", "- turns:\n    - text: x\n      status: 200\n", r"line 3: turns.0.status: input should be greater"),
    ],
)
def test_an_error_of_a_script_names_line_and_key(name: str, text: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=error):
        script_of(tmp_path, text, name)


async def test_the_oracle_answers_right() -> None:
    """A sample of the benchmark gets its gold answer; anything else is refused."""
    oracle = read_oracle("quickstart")
    question = next(iter(oracle.prompts))[0]
    async with running(scripted_app(oracle)) as url:
        answer = await asked(url, "chat", user(question))
        refused, _ = await sent(url, "chat", user("?"), stream=False)
    assert (bool(answer.text), refused) == (True, 404)


async def test_the_oracle_plays_gold_steps_of_the_sample_that_offers_these_tools(tmp_path: Path) -> None:
    """Two samples of one question, whose tools and gold steps differ."""
    (tmp_path / "bench.py").write_text(STEPS)
    async with running(scripted_app(read_oracle(str(tmp_path / "bench.py")))) as url:
        for name in ("add", "multiply"):
            tool = {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
            answer = await asked(url, "chat", user("2 and 3?"), tools=(tool,))
            assert [call.name for call in answer.tool_calls] == [name]


async def test_the_oracle_plays_a_later_conversation_of_a_sample(tmp_path: Path) -> None:
    """A solver that begins a new conversation with a later message of the user gets the gold steps from there."""
    (tmp_path / "bench.py").write_text(CONVERSATIONS)
    async with running(scripted_app(read_oracle(str(tmp_path / "bench.py")))) as url:
        asking = user("Which was it?")
        first = await asked(url, "chat", asking)
        result = Message(role="tool", content="5", tool_call_id="1")
        second = await asked(url, "chat", (*asking, called("look"), result))
    assert [call.name for call in first.tool_calls] == ["look"]
    assert second.text == "It was 5."
