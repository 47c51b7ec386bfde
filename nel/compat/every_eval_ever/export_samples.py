"""The instance level of Every Eval Ever 0.3.0: a JSON line for each result that has a score."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from nel.artifacts.exporting.inspect_messages import inspect_usage
from nel.artifacts.exporting.run import expected_texts, scorer_name, storable
from nel.core.strict_json import dumps, dumps_line, dumps_unless_text
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject

_BREAKS: Final = {mark: f"\\u{ord(mark):04x}".encode() for mark in "\x85\u2028\u2029"}
"""Characters at which the validator ends a line; they are escaped."""
CORRECT_FROM: Final = 1.0
"""From this score on a result is called correct."""


def sample_lines(files: BenchmarkFiles, record: JsonObject, headline: str) -> Iterator[bytes]:
    """Yield a line for each result with a score, which the schema requires.

    Args:
        record: The aggregate, whose ids the lines repeat.
        headline: The id of the aggregate's result that is the mean of these scores.

    Raises:
        OutputError: A result is damaged or missing.
    """
    shared = {
        "schema_version": record["schema_version"],
        "evaluation_id": record["evaluation_id"],
        "model_id": record["model_info"]["id"],
        "evaluation_name": files.title,
        "evaluation_result_id": headline,
    }
    scorer = scorer_name(files)
    for result in files.results():
        if result["reward"] is not None:
            line = dumps_line(storable({**shared, **_sample(result, scorer)}))
            for character, escape in _BREAKS.items():
                line = line.replace(character.encode(), escape)
            yield line


def _sample(result: JsonObject, scorer: str) -> dict[str, Any]:
    prompt, outcome, answer = result["prompt"], result["outcome"], result["extracted_answer"]
    question = prompt if isinstance(prompt, str) else _text(prompt)
    reference = expected_texts(result)
    messages = _conversation(prompt, result)
    error = None
    if outcome["state"] == "model_failure":
        error = f"{outcome['kind']}: {outcome['detail'] or 'no detail'}"
    attributions = []
    if answer is not None:
        attributions.append(_attribution(answer, messages, scorer))
    content = storable(question + "".join(reference))
    return {
        "sample_id": str(result["sample_id"]),
        "sample_hash": sha256(content.encode()).hexdigest(),
        "interaction_type": "single_turn" if messages is None else "multi_turn",
        "input": {"raw": question, "reference": reference},
        "output": _output(result) if messages is None else None,
        "messages": messages,
        "answer_attribution": attributions,
        "evaluation": {"score": result["reward"], "is_correct": result["reward"] >= CORRECT_FROM},
        "token_usage": _usage(result["tokens"]),
        "performance": _performance(result["timing"]),
        "error": error,
        "metadata": _metadata(result),
    }


def _output(result: JsonObject) -> dict[str, Any]:
    response, reasoning = result["model_response"], result["reasoning"]
    return {
        "raw": [] if response is None else [response],
        "reasoning_trace": [reasoning] if reasoning else None,
    }


def _conversation(prompt: object, result: JsonObject) -> list[dict[str, Any]] | None:
    """Return the messages of a sample with more than one turn."""
    if not isinstance(prompt, list):
        return None
    if not any(message.get("role") in {"assistant", "tool"} for message in prompt):
        return None
    messages = [
        {"turn_idx": position, "role": message["role"], "content": _content(message)}
        for position, message in enumerate(prompt)
    ]
    answer = {
        "turn_idx": len(prompt),
        "role": "assistant",
        "content": result["model_response"],
        "reasoning_trace": result["reasoning"],
    }
    return [*messages, answer]


def _attribution(
    answer: object, messages: list[dict[str, Any]] | None, scorer: str
) -> dict[str, Any]:
    turn, source = 0, "output.raw"
    if messages is not None:
        turn = len(messages) - 1
        source = f"messages[{turn}].content"
    return {
        "turn_idx": turn,
        "source": source,
        "extracted_value": answer,
        "extraction_method": scorer,
        "is_terminal": True,
    }


def _text(prompt: object) -> str:
    """Return the messages of a prompt as one text; one that is not a text is its JSON."""
    messages = prompt if isinstance(prompt, list) else []
    return "\n\n".join(_content(message) for message in messages)


def _content(message: JsonObject) -> str:
    return dumps_unless_text(message.get("content"))


def _usage(tokens: JsonObject) -> dict[str, Any] | None:
    """Return the tokens; None where one of the numbers that the schema requires is unknown."""
    if tokens["prompt"] is None or tokens["completion"] is None:
        return None
    return inspect_usage(tokens)


def _performance(timing: JsonObject) -> dict[str, Any] | None:
    latency, first_token = timing["latency_seconds"], timing["first_token_seconds"]
    if latency is None:  # which the schema requires
        return None
    if first_token is not None:
        first_token *= 1000
    return {"latency_ms": latency * 1000, "time_to_first_token_ms": first_token}


def _metadata(result: JsonObject) -> dict[str, str]:
    """Return the row's fields as texts, which the schema wants, and which repeat this is."""
    fields = {name: dumps_unless_text(value) for name, value in result["metadata"].items()}
    return {**fields, "nel.repeat": str(result["repeat"]), "nel.outcome": dumps(result["outcome"])}
