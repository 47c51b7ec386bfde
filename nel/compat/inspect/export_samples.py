"""The samples of an Inspect log (format version 2), as plain values that are JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from nel.artifacts.exporting.conversations import RunConversations, SampleConversations
from nel.artifacts.exporting.inspect_messages import (
    answer_parts,
    failure_text,
    inspect_call,
    inspect_message,
    inspect_output,
)
from nel.artifacts.exporting.run import asked_results, model_name, scorer_name, storable
from nel.compat.inspect.export_events import episode_events, inspect_turn
from nel.core.strict_json import dumps
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject

_KEPT: Final = ("problem_idx", "outcome", "group", "finish_reason", "timing", "tokens", "reward")
_SUMMARY: Final = (
    "id",
    "epoch",
    "input",
    "target",
    "metadata",
    "scores",
    "model_usage",
    "total_time",
    "uuid",
)
_METADATA_TEXT_MAX: Final = 1024
"""Characters of a text in the metadata of a summary, as Inspect cuts it."""


def inspect_samples(
    files: BenchmarkFiles, conversations: RunConversations, started: datetime
) -> Iterator[dict[str, Any]]:
    """Yield an EvalSample for each result that was asked for, with scores or else an error.

    Args:
        files: Of the benchmark.
        conversations: Of the run.
        started: When the run did.

    Raises:
        OutputError: A result is damaged or missing.
        StoreError: A step of an episode is damaged.
    """
    model, scorer = model_name(files), scorer_name(files)
    for result in asked_results(files):
        sample = conversations.of_result(files, result)
        yield storable(
            {
                **_sample(result, model, scorer),
                **_conversation(sample),
                **episode_events(sample, model, started),
            }
        )


def summary_of(sample: JsonObject) -> dict[str, Any]:
    """Return the EvalSampleSummary of a sample: no messages, no output, short metadata."""
    summary = {name: sample[name] for name in _SUMMARY if name in sample}
    summary["metadata"] = {
        name: value[:_METADATA_TEXT_MAX] if isinstance(value, str) else value
        for name, value in sample["metadata"].items()
        if isinstance(value, str | int | float | bool)
    }
    if sample["error"] is not None:
        summary["error"] = sample["error"]["message"]
    return {**summary, "completed": True, "message_count": len(sample["messages"])}


def _sample(result: JsonObject, model: str, scorer: str) -> dict[str, Any]:
    prompt, target = result["prompt"], result["expected_answer"]
    sample_input = prompt or ""
    messages = [{"role": "user", "content": sample_input}]
    if isinstance(prompt, list):
        messages = [inspect_message(element, position) for position, element in enumerate(prompt)]
        sample_input = messages
    answer = _answer(result)
    output = inspect_output(result, model, answer)
    return {
        "id": result["sample_id"],
        "epoch": result["repeat"] + 1,
        "input": sample_input,
        "target": _target(target),
        "messages": messages if result["model_response"] is None else [*messages, answer],
        "output": output,
        "scores": {scorer: _score(result)} if result["reward"] is not None else {},
        "metadata": result["metadata"],
        "store": {"nel": {name: result.get(name) for name in _KEPT}},
        "model_usage": {model: output["usage"]},
        "total_time": output["time"],
        "uuid": f"{result['sample_id']}:{result['repeat']}",
        "error": _error(result),
        "attachments": {},
    }


def _conversation(sample: SampleConversations) -> dict[str, Any]:
    """Return the fields that hold the conversation of an episode; a single answer has none."""
    if sample.attempt is None or not sample.conversations:
        return {}
    turns = sample.conversations[0].turns
    # The input is what stands before the first step of the episode.
    step_positions = [position for position, turn in enumerate(turns) if turn.step is not None]
    n_input = step_positions[0] if step_positions else len(turns)
    messages = [inspect_turn(turn) for turn in turns]
    return {"input": messages[:n_input], "messages": messages}


def _target(target: Any) -> str | list[str]:
    """Return the gold answer as text or a list of texts."""
    if isinstance(target, list) and all(isinstance(element, str) for element in target):
        return target
    if isinstance(target, str):
        return target
    return "" if target is None else dumps(target)


def _score(result: JsonObject) -> dict[str, Any]:
    outcome, details = result["outcome"], result["scoring_details"]
    explanation = details.get("explanation")
    if outcome["state"] == "model_failure":
        explanation = failure_text(outcome)
    return {
        "value": result["reward"],
        "answer": result["extracted_answer"],
        "explanation": explanation if isinstance(explanation, str) else None,
        "metadata": details,
    }


def _error(result: JsonObject) -> dict[str, str] | None:
    if result["reward"] is not None:
        return None
    outcome = result["outcome"]
    parts = [str(outcome[name]) for name in ("cause", "kind", "detail") if outcome.get(name)]
    return {"message": f"no score: {': '.join(parts)}", "traceback": "", "traceback_ansi": ""}


def _answer(result: JsonObject) -> dict[str, Any]:
    parts = answer_parts(result)
    content = parts if len(parts) > 1 else parts[0]["text"]
    message: dict[str, Any] = {"role": "assistant", "content": content, "source": "generate"}
    calls = result.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [
            inspect_call(call, f"answer.{number}") for number, call in enumerate(calls)
        ]
    return message
