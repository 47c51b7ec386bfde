"""Stored episodes as people and other tools see them: the page of a sample, and the exports of conversations."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from nel.artifacts.exporting.openai_messages import export_openai_messages
from nel.compat.atif.export import export_atif
from nel.compat.inspect.export_log import export_inspect
from tests.apps.view.conftest import TOKEN, opened
from tests.episodes.bank import calling, depositing, n_results, write_bank
from tests.support.endpoint import Call, Reply, answer, scripted
from tests.support.runs import nel, only_run

SOLVER = """
from nel.types import Message

async def planning(sample, episode):
    with episode.span("plan"):
        reply = await episode.ask([Message(role="user", content="Make a plan.")], tools=[])
    episode.note("plan", {"text": reply.text})
    reply = await episode.ask()
    while reply.calls:
        await episode.call_all(reply.calls)
        reply = await episode.ask()
    await episode.user("And once more?")
    return (await episode.ask()).text

@benchmark(name="planned", tools=[add, long_list], environment=Bank, solver=planning, **common)
@scorer
def planned(sample):
    return sample.response == "done"
"""


def planning(call: Call, _: int) -> Reply:
    """Play a model that plans, makes four calls at once of which two fail, and says that it is done."""
    if not call.body.get("tools"):
        return answer("First <b>add</b>.")
    if n_results(call) == 0:
        return calling(("deposit", {"amount": 3}), ("long_list", {"n": 20_000}), ("nothing", {}), ("add", "{"))
    return answer("done", reasoning_content="It is right now.")


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of two samples whose solver asks on the side, notes, and has a user speak; tests do not change it."""
    directory = tmp_path_factory.mktemp("planned")
    path = write_bank(directory, 2)
    path.write_text(path.read_text(encoding="utf-8") + SOLVER, encoding="utf-8")
    with scripted(planning) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        assert nel("eval", "run", "--bench", f"{path}:planned", *where, cwd=directory).returncode == 0
    return only_run(directory / "out")


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def page_of(run_dir: Path, cache: Path, path: str) -> str:
    async with opened(run_dir.parent, cache) as client:
        await client.get(f"/?token={TOKEN}")
        reply = await client.get(f"/runs/{run_dir.name}/{path}")
        assert reply.status == 200
        return await reply.text()


async def test_the_page_of_a_sample_has_its_steps(run_dir: Path, tmp_path: Path) -> None:
    """Texts, thinking, calls with arguments and results, errors by kind, spans, notes, users and evidence, in order."""
    text = await page_of(run_dir, tmp_path, "planned/1")
    section = text.partition("<h2>Transcript</h2>")[2].partition("</section>")[0]
    parts = (
        '<span class="tag">plan</span>', "First &lt;b&gt;add&lt;/b&gt;.", "<b>note</b>", "Add 1.", "<b>deposit</b>",
        "&#34;amount&#34;: 3\n", "&#34;balance&#34;: 13\n", "3,616 bytes of the middle were cut", "unknown_tool",
        "bad_json", "It is right now.", "And once more?", "<b>evidence</b>",
    )  # fmt: skip
    places = [section.find(part) for part in parts]
    assert places == sorted(places), dict(zip(parts, places, strict=True))
    assert -1 not in places
    assert section.count("data-step>") == 11
    assert "Further requests" not in text
    output = await page_of(run_dir, tmp_path, "planned/1/output.txt?attempt=1&step=5")
    assert output == "x" * 20_000


async def test_a_sample_in_progress_has_steps_and_no_outcome(tmp_path: Path) -> None:
    """What is on disk is shown, whether the run goes on or was killed."""
    path = write_bank(tmp_path, 1)
    with scripted(depositing) as endpoint:
        where = ("--model-url", endpoint.url, "--model-id", "m", "-o", "out")
        env = {"MAILS": str(tmp_path / "mails"), "NEL_FAILPOINT": "after_step:3"}
        assert nel("eval", "run", "--bench", f"{path}:bank", *where, cwd=tmp_path, env=env).returncode != 0
    text = await page_of(only_run(tmp_path / "out"), tmp_path / "cache", "bank/0")
    assert text.count("data-step>") == 3
    assert "not answered" in text


ATIF_FIELDS = {
    "trajectory": {"schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics",
                   "continued_trajectory_ref", "subagent_trajectories", "extra"},
    "agent": {"name", "version", "model_name", "tool_definitions", "extra"},
    "step": {"step_id", "timestamp", "source", "message", "observation", "is_copied_context", "llm_call_count", "extra"},
    "of agents": {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"},
    "call": {"tool_call_id", "function_name", "arguments", "extra"},
    "result": {"source_call_id", "content", "subagent_trajectory_ref", "extra"},
}  # fmt: skip


def check_atif(trajectory: dict[str, Any]) -> None:
    """Check the rules of ATIF 1.8: known fields, steps without gaps, results of the step's own calls."""
    assert trajectory["schema_version"] == "ATIF-v1.8"
    assert trajectory.keys() <= ATIF_FIELDS["trajectory"]
    assert {"name", "version"} <= trajectory["agent"].keys() <= ATIF_FIELDS["agent"]
    assert [step["step_id"] for step in trajectory["steps"]] == list(range(1, len(trajectory["steps"]) + 1))
    for step in trajectory["steps"]:
        is_agent = step["source"] == "agent"
        assert step["source"] in ("system", "user", "agent")
        assert step.keys() <= ATIF_FIELDS["step"] | (ATIF_FIELDS["of agents"] if is_agent else set())
        if step.get("llm_call_count") == 0:
            assert not {"metrics", "reasoning_content"} & step.keys()
        calls = step.get("tool_calls", [])
        assert all(call.keys() <= ATIF_FIELDS["call"] and isinstance(call["arguments"], dict) for call in calls)
        names = [None, *(call["tool_call_id"] for call in calls)]
        for result in step.get("observation", {"results": []})["results"]:
            assert result.keys() <= ATIF_FIELDS["result"]
            assert result.get("source_call_id") in names
    for other in trajectory.get("subagent_trajectories", []):
        assert other["trajectory_id"]
        check_atif(other)


def test_atif_has_each_conversation_by_its_rules(run_dir: Path, tmp_path: Path) -> None:
    """The conversation is the trajectory, the request on the side that of a subagent; tokens are of both."""
    export_atif(run_dir, tmp_path)
    trajectories = lines_of(tmp_path / "planned.jsonl")
    for trajectory in trajectories:
        check_atif(trajectory)
    first = trajectories[0]
    assert [step["source"] for step in first["steps"]] == ["user", "agent", "agent", "user", "agent"]
    results = first["steps"][1]["observation"]["results"]
    assert [result["source_call_id"] for result in results] == ["call-0", "call-1", "call-2", "call-3"]
    assert [result["extra"].get("error") for result in results] == [None, None, "unknown_tool", "bad_json"]
    assert first["steps"][1]["tool_calls"][3]["extra"]["arguments_as_written"] == "{"
    assert first["steps"][2]["reasoning_content"] == "It is right now."
    assert first["final_metrics"] == {"total_prompt_tokens": 28, "total_completion_tokens": 12, "total_steps": 5}
    assert [step["message"] for step in first["subagent_trajectories"][0]["steps"]] == [
        "Make a plan.", "First <b>add</b>.",
    ]  # fmt: skip
    assert (first["extra"]["reward"], first["extra"]["evidence"]["balance"]) == (1.0, 13)


def test_openai_messages_has_a_line_for_each_conversation(run_dir: Path, tmp_path: Path) -> None:
    """Messages and tools are those of the last request; each line has the reward by which to select."""
    export_openai_messages(run_dir, tmp_path)
    lines = lines_of(tmp_path / "planned.jsonl")
    assert [(line["sample_id"], line["branch"], line["reward"]) for line in lines] == [
        ("q0", 0, 1.0), ("q0", 1, 1.0), ("q1", 0, 1.0), ("q1", 1, 1.0),
    ]  # fmt: skip
    roles = [message["role"] for message in lines[0]["messages"]]
    assert roles == ["user", "assistant", "tool", "tool", "tool", "tool", "assistant", "user", "assistant"]
    assert [tool["function"]["name"] for tool in lines[0]["tools"]] == ["add", "long_list", "deposit"]
    assert "tools" not in lines[1]


def test_an_inspect_log_has_the_steps_as_events(run_dir: Path, tmp_path: Path) -> None:
    """Requests refer to a pool of messages; calls, spans, notes and evidence are events of their own."""
    export_inspect(run_dir, tmp_path)
    with zipfile.ZipFile(next(tmp_path.glob("*.eval"))) as log:
        sample = json.loads(log.read("samples/q0_epoch_1.json"))
    assert [event["event"] for event in sample["events"]] == [
        "span_begin", "model", "span_end", "info", "model", "tool", "tool", "tool", "tool", "model", "info", "model",
        "info",
    ]  # fmt: skip
    requests = [event for event in sample["events"] if event["event"] == "model"]
    assert [event["input_refs"] for event in requests] == [[[0, 1]], [[1, 2]], [[1, 7]], [[1, 9]]]
    assert len(sample["events_data"]["messages"]) == 9
    assert [message["role"] for message in sample["messages"]].count("tool") == 4
