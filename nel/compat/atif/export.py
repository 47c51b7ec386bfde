"""Writes a run as trajectories of the Agent Trajectory Interchange Format (ATIF 1.8), a JSON
document on each line.

Harbor's models of the format refuse unknown fields; what it has no place for is under ``extra``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.conversations import (
    Conversation,
    RunConversations,
    SampleConversations,
    Turn,
    export_conversations,
)
from nel.artifacts.exporting.run import RunToExport, model_name, storable
from nel.config.schema import Price
from nel.core.json_values import present
from nel.core.strict_json import dumps_line
from nel.models.budget import cost_of
from nel.reports.run_files import BenchmarkFiles
from nel.reports.text import content_text
from nel.types import JsonObject, ToolCall, Usage
from nel.version import __version__

SCHEMA_VERSION: Final = "ATIF-v1.8"
_SOURCES: Final = {"system": "system", "developer": "system", "assistant": "agent"}
"""By role; any other is the user's."""


def export_atif(run_dir: Path, output: Path) -> Exported:
    """Trajectories of ATIF 1.8, one a line, for agent tools and training: BENCHMARK.jsonl.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoreError: The run.db is missing or damaged.
        StoppedEarly: The disk is full.
    """
    notes = (
        (
            "A trajectory is of the last attempt; other requests of its solver are subagent"
            " trajectories."
        ),
        "Steps have no timestamp: when a request was sent is not recorded.",
        "cost_usd is in the currency of budget.prices.",
    )
    return export_conversations(run_dir, output, _lines, notes)


def _lines(
    run: RunToExport, conversations: RunConversations, files: BenchmarkFiles
) -> Iterator[bytes]:
    for sample in conversations.of(files):
        result = sample.result
        segments = (run.run_id, files.title, result["sample_id"], result["repeat"])
        name = "/".join(map(str, segments))
        yield dumps_line(present(storable(_trajectory(sample, files, name, conversations.price))))


def _trajectory(
    sample: SampleConversations, files: BenchmarkFiles, name: str, price: Price | None
) -> dict[str, Any]:
    # Filled as conversations are written: a step of an earlier one is context in a later one.
    step_numbers: set[int] = set()
    main, *subagents = [
        _conversation(sample, conversation, files, price, step_numbers)
        for conversation in sample.conversations
    ]
    attempt = sample.attempt
    if attempt is None:
        usages = [_usage_of(sample.result)]
    else:
        usages = [step.response.usage for step in attempt.steps.values() if step.response]
    head = {"schema_version": SCHEMA_VERSION, "session_id": name}
    trajectories = [
        {**head, "trajectory_id": f"{name}/{number}", **subagent}
        for number, subagent in enumerate(subagents, 1)
    ]
    return {
        **head,
        "trajectory_id": name,
        **main,
        "final_metrics": {
            **_totals([_metrics(usage, price) for usage in usages]),
            "total_steps": len(main["steps"]),
        },
        "subagent_trajectories": trajectories or None,
        "extra": _extra(sample, files.title),
    }


def _conversation(
    sample: SampleConversations,
    conversation: Conversation,
    files: BenchmarkFiles,
    price: Price | None,
    step_numbers: set[int],
) -> dict[str, Any]:
    """Return the agent and the steps of one conversation.

    Args:
        step_numbers: Of the steps of earlier conversations; those of this one are added.
    """
    solver = (sample.result.get("episode") or {}).get("solver", "generate")
    agent = {
        "name": f"nel/{solver}",
        "version": __version__,
        "model_name": model_name(files),
        "tool_definitions": list(conversation.tools) or None,
    }
    return {
        "agent": present(agent),
        "steps": _steps(conversation.turns, sample.result, price, step_numbers),
    }


def _steps(
    turns: Sequence[Turn], result: JsonObject, price: Price | None, step_numbers: set[int]
) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    # The calls of the last answer that have no result yet: as the model named them, and here.
    waiting: list[tuple[str, str]] = []
    for turn in turns:
        role = str(turn.message.get("role"))
        # In this format a result is part of the step that called the tool.
        if role == "tool" and steps:
            call_id = _take_call(waiting, turn.message.get("tool_call_id"))
            observation = steps[-1].setdefault("observation", {"results": []})
            observation["results"].append(_result(turn, call_id))
            continue
        source, number = _SOURCES.get(role, "user"), len(steps) + 1
        step: dict[str, Any] = {
            "step_id": number,
            "source": source,
            "message": content_text(turn.message.get("content")),
        }
        waiting = []
        if source == "agent":
            step |= _agent_fields(turn, result, price, number)
            names = [call["tool_call_id"] for call in step["tool_calls"] or ()]
            calls = zip(turn.message.get("tool_calls") or (), names, strict=True)
            waiting = [(call["id"], name) for call, name in calls]
        if turn.step is not None:
            # A step that an earlier conversation had is its context here.
            step["is_copied_context"] = True if turn.step.number in step_numbers else None
            step_numbers.add(turn.step.number)
        steps.append(step)
    return [present(step) for step in steps]


def _take_call(waiting: list[tuple[str, str]], written_id: object) -> str | None:
    """Take the first call of an id off those without a result, and return its name here."""
    # An id may come twice; the results of these calls follow in their order.
    for call in waiting:
        if call[0] == written_id:
            waiting.remove(call)
            return call[1]
    return None


def _agent_fields(
    turn: Turn, result: JsonObject, price: Price | None, number: int
) -> dict[str, Any]:
    calls = [
        ToolCall(id=call["id"] or f"{number}.{position}", **call["function"])
        for position, call in enumerate(turn.message.get("tool_calls") or ())
    ]
    fields: dict[str, Any] = {"tool_calls": [_call(call) for call in calls] or None}
    if not turn.is_answer:
        return {**fields, "is_copied_context": True, "llm_call_count": 0}
    evidence: dict[str, Any] = {}
    usage = _usage_of(result)
    if turn.step is not None and turn.step.response is not None:
        response = turn.step.response
        usage = response.usage
        evidence = {
            "span": turn.step.span or None,
            "finish_reason": response.finish_reason,
            "seconds": response.latency_seconds,
        }
    return {
        **fields,
        "reasoning_content": turn.message.get("reasoning_content"),
        "llm_call_count": 1,
        "metrics": _metrics(usage, price) or None,
        "extra": present(evidence) or None,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    """Return a call; one that cannot be read keeps what the model wrote beside empty arguments."""
    unread = {"arguments_as_written": call.arguments, "parse_error": call.parse_error}
    fields = {
        "tool_call_id": call.id,
        "function_name": call.name,
        "arguments": call.values or {},
        "extra": None if call.parse_error is None else unread,
    }
    return present(fields)


def _result(turn: Turn, call_id: str | None) -> dict[str, Any]:
    result = turn.step.result if turn.step is not None else None
    evidence = {}
    if result is not None:
        evidence = {
            "error": result.error,
            "bytes_cut": result.n_cut or None,
            "seconds": result.seconds,
        }
    fields = {
        "source_call_id": call_id,
        "content": content_text(turn.message.get("content")),
        "extra": present(evidence) or None,
    }
    return present(fields)


def _usage_of(result: JsonObject) -> Usage:
    tokens = result["tokens"]
    return Usage(
        prompt_tokens=tokens["prompt"],
        completion_tokens=tokens["completion"],
        cached_tokens=tokens["cached"],
    )


def _metrics(usage: Usage, price: Price | None) -> dict[str, Any]:
    """Return the metrics of an answer; cached tokens are a part of the prompt's in this format."""
    cost = cost_of(usage, price)
    metrics = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": None if cost is None else round(cost, 9),
    }
    return present(metrics)


def _totals(metrics: Sequence[JsonObject]) -> dict[str, Any]:
    totals: dict[str, Any] = {}
    for step_metrics in metrics:
        for name, number in step_metrics.items():
            totals[f"total_{name}"] = totals.get(f"total_{name}", 0) + number
    return dict(sorted(totals.items()))


def _extra(sample: SampleConversations, title: str) -> dict[str, Any]:
    """Return what the format has no place for: outcome, evidence, notes of the solver."""
    result, attempt = sample.result, sample.attempt
    steps = [] if attempt is None else list(attempt.steps.values())
    fields = {
        "benchmark": title,
        "sample_id": result["sample_id"],
        "repeat": result["repeat"],
        "reward": result["reward"],
        "outcome": result["outcome"],
        "episode": result.get("episode"),
        "evidence": next((step.asked["evidence"] for step in steps if step.kind == "verify"), None),
        "notes": [step.asked for step in steps if step.kind == "note"] or None,
    }
    return present(fields)
