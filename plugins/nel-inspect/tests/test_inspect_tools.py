"""Tools in tasks of Inspect: offered to the model for its one answer, or to graders as often as they like."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nel import evaluate
from nel.runs.evaluation import rescore

sys.path.insert(0, str(Path(__file__).parents[3]))
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import read_results

FOLDER = Path(__file__).parent
TASKS = FOLDER / "tool_tasks.py"
QUICK = {"backoff_seconds": 0.01, "backoff_seconds_max": 0.05, "attempts_max": 2}
pytestmark = pytest.mark.usefixtures("inspect_ai")


@pytest.fixture(scope="module")
def inspect_ai() -> Any:
    """Return Inspect, or skip."""
    return pytest.importorskip(
        "inspect_ai", reason="inspect_ai is not installed: pip install inspect_ai"
    )


def call_of(name: str, arguments: Any, identity: str | None = "c") -> dict[str, Any]:
    """Return a call as an endpoint lists it."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def calls(*given: dict[str, Any], text: str | None = None, finish: str = "tool_calls") -> Reply:
    """Return an answer that calls tools."""
    return answer(text, finish=finish, tool_calls=list(given))


def number_in(text: str) -> int:
    """Return the n of the last "n plus n"."""
    return int(re.findall(r"What is (\d+) plus", text)[-1])


def reply_to(text: str) -> tuple[str | None, list[dict[str, Any]]]:
    """Return what the model says to a sum, and its calls: right, in two calls, wrong, in words, unreadable …"""
    n = number_in(text)
    return (
        (None, [call_of("add", {"x": n, "y": n})]),
        ("I add.", [call_of("add", {"x": n}, "a"), call_of("add", {"x": n}, "b")]),
        (None, [call_of("add", {"x": n, "y": n + 1})]),
        (f"It is {2 * n}", []),
        ("", [call_of("add", '{"x": 4, ')]),
        (None, [call_of("say", {"words": ["ten"]})]),
        ("12", [call_of("add", {"x": 2 * n})]),
        (None, [call_of("unheard_of", {})]),
    )[n]


def adds(call: Call, _: int) -> Reply:
    """Answer with calls where tools are on offer."""
    text, given = reply_to(str(call.body["messages"][-1]["content"]))
    if "tools" not in call.body:
        return answer(f"{2 * number_in(call.text)}")
    return calls(*given, text=text) if given else answer(text)


def run(folder: Path, url: str, name: str, kind: str, **more: Any) -> Any:
    """Run one task, whatever becomes of it."""
    settings = {
        "endpoint": {"url": url, "model": "scripted", **QUICK, **more.pop("endpoint", {})},
        "benchmarks": [f"inspect://{TASKS}@{name}?kind={kind}"],
        "output": {"dir": str(folder / "out")},
        "engine": {"preflight": False},
        **more,
    }
    return evaluate(settings)


def by_itself(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Return what Inspect gives each sample for the same answers."""
    known = {text: reply_to(text) for text in (f"What is {n} plus {n}?" for n in range(8))}
    return by_inspect(f"{TASKS}@offering", {"kind": kind}, known, folder / "logs")


def by_inspect(
    spec: str, arguments: dict[str, str], known: dict[str, Any], folder: Path
) -> list[dict[str, Any]]:
    """Return what Inspect sends of each sample and its value, given replies by the text of the last message."""
    given = [spec, json.dumps(arguments), json.dumps(known), str(folder)]
    done = subprocess.run(
        [sys.executable, str(FOLDER / "inspect_tools_itself.py"), *given],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("kind", ["none", "single", "forced", "any", "example"])
def test_what_the_model_calls_is_scored_as_by_inspect(tmp_path: Path, kind: str) -> None:
    """The same tools and messages are sent, and each sample has Inspect's value; a rescoring sends nothing."""
    with scripted(adds, models=["scripted"]) as model:
        result = run(tmp_path, model.url, "offering", kind)
        assert result.exit_code == 0
        rows = read_results(result.run_dir, "inspect-offering")
        theirs = by_itself(tmp_path, kind)
        sent = {str(number_in(call.text)): call.body for call in model.calls}
        for row, one in zip(rows, theirs, strict=True):
            body = sent[str(number_in(one["input"]))]
            assert body["messages"] == one["messages"]
            assert (body["tools"], body["tool_choice"]) == (one["tools"], one["tool_choice"])
            assert row["reward"] == float({"C": 1, "I": 0}.get(one["value"], one["value"]))
        assert {row["reward"] for row in rows} == {0.0, 1.0}
        assert ("parallel_tool_calls" in model.calls[0].body) == (kind == "any")
        again = read_results(rescore(result.run_dir).run_dir, "inspect-offering")
        assert [row["reward"] for row in again] == [row["reward"] for row in rows]
        assert len(model.calls) == 8
    first = rows[0]
    assert first["tool_calls"] == [{"id": "c", "name": "add", "arguments": '{"x": 0, "y": 0}'}]


def test_no_tool_is_sent_where_none_may_be_called(tmp_path: Path) -> None:
    """tool_choice none takes the tools away, as in Inspect, and a call of one is not an answer then."""

    def calls_anyway(call: Call, _: int) -> Reply:
        n = number_in(call.text)
        return calls(call_of("add", {"x": n})) if n == 3 else answer(str(2 * n))

    with scripted(calls_anyway) as model:
        result = run(tmp_path, model.url, "offering", "unwanted")
        rows = read_results(result.run_dir, "inspect-offering")
        assert not any("tools" in call.body or "tool_choice" in call.body for call in model.calls)
    assert [row["reward"] for row in rows] == [1, 1, 1, 0, 1, 1, 1, 1]
    assert (rows[3]["outcome"]["state"], rows[3]["outcome"]["kind"]) == (
        "model_failure",
        "no_answer",
    )


def test_a_call_that_cannot_be_read_is_the_endpoints_fault(tmp_path: Path) -> None:
    """It is asked for again, and unscored at last; a call that is cut off is truncated."""

    def odd(call: Call, seen: int) -> Reply:
        n = number_in(call.text)
        if n == 0:
            return calls({"id": "c", "type": "function"})
        if n == 1 and not seen:
            return calls({"id": "c", "function": {"arguments": "{}"}})
        if n == 2:
            return calls(call_of("add", '{"x": '), finish="length")
        return calls({"function": {"name": "add", "arguments": {"x": 2 * n}}}, finish="stop")

    with scripted(odd) as model:
        result = run(tmp_path, model.url, "offering", "none")
    rows = read_results(result.run_dir, "inspect-offering")
    assert [row["reward"] for row in rows] == [None, 1, 0, 1, 1, 1, 1, 1]
    assert (rows[0]["outcome"]["cause"], rows[0]["outcome"]["kind"]) == ("infra", "malformed")
    assert rows[2]["outcome"]["kind"] == "truncated"
    assert result.exit_code == 3


def test_calls_are_streamed(tmp_path: Path) -> None:
    """In pieces, as most servers send them."""

    def streamed(call: Call, _: int) -> Reply:
        n = number_in(call.text)
        text = json.dumps({"x": n, "y": n})
        pieces = [
            [
                {
                    "index": 0,
                    "id": "c",
                    "type": "function",
                    "function": {"name": "add", "arguments": ""},
                }
            ],
            *(
                [{"index": 0, "function": {"arguments": text[at : at + 3]}}]
                for at in range(0, len(text), 3)
            ),
        ]
        events = [{"choices": [{"index": 0, "delta": {"tool_calls": one}}]} for one in pieces]
        events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        raw = "".join(f"data: {json.dumps(one)}\n\n" for one in events) + "data: [DONE]\n\n"
        return Reply(raw=raw.encode(), headers={"Content-Type": "text/event-stream"})

    with scripted(streamed) as model:
        result = run(tmp_path, model.url, "offering", "none", endpoint={"stream": True})
    assert [row["reward"] for row in read_results(result.run_dir, "inspect-offering")] == [1.0] * 8


def test_calls_come_over_the_responses_protocol(tmp_path: Path) -> None:
    """Tools and calls in the shape of any protocol that has them."""

    def adds_up(call: Call, _: int) -> Reply:
        n = number_in(call.body["input"][-1]["content"])
        made = {
            "type": "function_call",
            "call_id": "c",
            "name": "add",
            "arguments": json.dumps({"x": n, "y": n}),
        }
        return Reply(body={"status": "completed", "model": "m", "output": [made]})

    with scripted(adds_up) as model:
        result = run(tmp_path, model.url, "offering", "none", endpoint={"protocol": "responses"})
        assert [one["name"] for one in model.calls[0].body["tools"]] == ["add", "say"]
    assert [row["reward"] for row in read_results(result.run_dir, "inspect-offering")] == [1.0] * 8


def test_a_grader_hands_in_its_grade_by_a_tool(tmp_path: Path) -> None:
    """It must call the tool, and its grade is what it hands in; text beside a call, or in its place, is none."""

    def grades(call: Call, _: int) -> Reply:
        n = number_in(call.text)
        if n == 2:
            return answer(
                '{"content": "", "tool_calls": [{"id": "c", "name": "submit", "arguments": "{}"}]}'
            )
        if n == 3:
            return answer("")
        return calls(
            call_of("submit", {"grade": "C" if n % 2 else "I", "why": f"n is {n}"}), text="Well."
        )

    with (
        scripted(lambda call, _: answer(f"{2 * number_in(call.text)}")) as model,
        scripted(grades) as judge,
    ):
        given = {"url": judge.url, "model": "j"}
        result = run(tmp_path, model.url, "graded", "submitted", judge=given)
        rows = read_results(result.run_dir, "inspect-graded")
        body = judge.calls[0].body
        asked = len(judge.calls)
        again = read_results(rescore(result.run_dir).run_dir, "inspect-graded")
        assert len(judge.calls) == asked
    assert (
        [row["reward"] for row in rows]
        == [row["reward"] for row in again]
        == [0, 1, None, None, 0, 1, 0, 1]
    )
    assert [rows[n]["outcome"]["cause"] for n in (2, 3)] == ["judge", "judge"]
    assert body["tool_choice"] == {"type": "function", "function": {"name": "submit"}}
    assert [one["function"]["name"] for one in body["tools"]] == ["submit"]
    assert body["parallel_tool_calls"] is False


def test_a_grader_asks_a_tool_first(tmp_path: Path) -> None:
    """The tool runs here, and its result goes to the grader with the call."""

    def asks(call: Call, _: int) -> Reply:
        messages = call.body["messages"]
        n = number_in(call.text)
        if len(messages) == 1:
            return calls(call_of("add", {"x": n, "y": n}))
        return answer(
            "yes" if messages[0]["content"].startswith(f"Is {messages[-1]['content']} ") else "no"
        )

    with (
        scripted(lambda call, _: answer(f"{number_in(call.text) + 3}")) as model,
        scripted(asks) as judge,
    ):
        result = run(
            tmp_path, model.url, "graded", "looked_up", judge={"url": judge.url, "model": "j"}
        )
        last = next(call.body["messages"] for call in judge.calls if len(call.body["messages"]) > 1)
        assert len(judge.calls) == 16
    assert [row["reward"] for row in read_results(result.run_dir, "inspect-graded")] == [
        0,
        0,
        0,
        1,
        0,
        0,
        0,
        0,
    ]
    assert [one["role"] for one in last] == ["user", "assistant", "tool"]
    assert last[1]["tool_calls"][0]["id"] == last[2]["tool_call_id"]
