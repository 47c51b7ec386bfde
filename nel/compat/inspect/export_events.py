"""The steps of an episode as the events of an Inspect log: requests, calls, spans and notes.

Messages are in a pool that the requests refer to, as Inspect's own logs have it, since a request
repeats all messages before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from nel.artifacts.exporting.conversations import SampleConversations, Turn, turn_of
from nel.artifacts.exporting.inspect_messages import (
    STOP_REASONS,
    inspect_call,
    inspect_message,
    inspect_usage,
)
from nel.engine.episodes.step_rows import BY_STEP
from nel.engine.episodes.transcript import TranscribedAttempt
from nel.episodes.steps import Step
from nel.tools.results import ToolResult
from nel.types import JsonObject, Response

_ERROR_TYPES: Final = {
    "unknown_tool": "parsing",
    "bad_json": "parsing",
    "bad_arguments": "parsing",
    "timeout": "timeout",
}
"""Of Inspect, by kind; any other error is ``unknown``."""
_LIMIT_TYPES: Final = {
    "steps": "turn",
    "tokens": "token",
    "cost": "cost",
    "work_seconds": "working",
    "wall_seconds": "time",
}
_JSON_TYPES: Final = ("string", "integer", "number", "boolean", "array", "object", "null")
_LIMIT: Final = "limit:"


class EpisodeEvents:
    """Makes the events of one attempt of an episode."""

    def __init__(
        self, attempt: TranscribedAttempt, *, name: str, model: str, started: datetime
    ) -> None:
        """Begin before the first step.

        Args:
            attempt: Of the episode.
            name: Of the sample and repeat; identifiers begin with it.
            model: As the run was configured.
            started: When the run did; times of steps are counted from there.
        """
        self._attempt = attempt
        self._name = name
        self._model = model
        self._started = started
        self._pool: dict[str, int] = {}
        """By reference: the position of a message in the pool."""
        self._messages: list[dict[str, Any]] = []
        self._spans: list[str] = []
        self._work_seconds = self._wall_seconds = 0.0

    def fields(self, ended_by: str) -> dict[str, Any]:
        """Return the fields of a sample that hold its events."""
        events = list(self._events())
        if ended_by.startswith(_LIMIT):
            events.append(self._limit(ended_by.removeprefix(_LIMIT)))
        return {"events": events, "events_data": {"messages": self._messages, "calls": []}}

    def _events(self) -> Iterator[dict[str, Any]]:
        for step in self._attempt.steps.values():
            yield from self._enter(step)
            if step.response is not None:
                fields = self._model_event(step, step.response)
            else:
                fields = _tool_event(step) if step.kind == "tool" else _info_event(step)
            yield {**self._event(step, _seconds_of(step)), **fields}
            self._work_seconds += _seconds_of(step)
            self._wall_seconds = step.wall_seconds
        yield from self._leave(0)

    def _enter(self, step: Step) -> Iterator[dict[str, Any]]:
        """Yield the ends and beginnings of spans between the step before and this one."""
        # Spans are a stack, entered as ``agent#4/search#6``: the step's own, without the number
        # that tells two spans of one name apart. What both share from the outermost on stays open.
        spans = step.span.split("/") if step.span else []
        names = [name.rpartition("#")[0] for name in self._spans]
        n_common = 0
        while n_common < min(len(spans), len(names)) and spans[n_common] == names[n_common]:
            n_common += 1
        yield from self._leave(n_common)
        for span in spans[n_common:]:
            parent = self._span_id
            self._spans.append(f"{span}#{step.number}")
            begin = {"event": "span_begin", "id": self._span_id, "parent_id": parent, "name": span}
            yield {**self._event(step, _seconds_of(step), "begin"), **begin}

    def _leave(self, n_open: int) -> Iterator[dict[str, Any]]:
        """Yield the ends of all open spans but so many."""
        while len(self._spans) > n_open:
            end = {"event": "span_end", "id": self._span_id}
            moment = self._moment(self._wall_seconds)
            yield {"uuid": f"{self._span_id}:end", "span_id": self._span_id, **moment, **end}
            self._spans.pop()

    @property
    def _span_id(self) -> str | None:
        return f"{self._name}:{'/'.join(self._spans)}" if self._spans else None

    def _event(self, step: Step, seconds: float, what: str = "step") -> dict[str, Any]:
        began = max(0.0, step.wall_seconds - seconds)  # a step is stored at its end
        return {
            "uuid": f"{self._name}:{what}-{step.number}-{len(self._spans)}",
            "span_id": self._span_id,
            **self._moment(began),
        }

    def _moment(self, wall_seconds: float) -> dict[str, Any]:
        timestamp = self._started + timedelta(seconds=wall_seconds)
        return {"timestamp": timestamp.isoformat(), "working_start": round(self._work_seconds, 6)}

    def _model_event(self, step: Step, response: Response) -> dict[str, Any]:
        settings = self._attempt.settings(step.number)
        options = settings.get("options") or {}
        choices = []
        if not response.error:
            answer = turn_of(self._attempt.message(f"{BY_STEP}{step.number}"))
            reason = STOP_REASONS.get(str(response.finish_reason), "unknown")
            choices.append({"message": inspect_turn(answer), "stop_reason": reason})
        return {
            "event": "model",
            "model": str(settings.get("model") or self._model),
            "input": [],
            "input_refs": self._input(step.number),
            "tools": [_tool_info(tool) for tool in settings.get("tools") or ()],
            "tool_choice": "auto",
            "config": {name: value for name, value in options.items() if name != "stop"},
            "output": {
                "model": str(response.model or self._model),
                "choices": choices,
                "usage": usage_of(response),
                "time": response.latency_seconds,
            },
            "error": response.error.message if response.error else None,
            "retries": max(0, response.attempts - 1),
            "working_time": response.latency_seconds,
        }

    def _input(self, number: int) -> list[list[int]]:
        """Return what a request sent, as ranges of positions in the pool."""
        ranges: list[list[int]] = []
        for reference in self._attempt.references(number):
            if reference not in self._pool:
                self._pool[reference] = len(self._messages)
                message = inspect_turn(turn_of(self._attempt.message(reference)))
                self._messages.append({**message, "id": f"{self._name}:{reference}"})
            # Positions that follow each other are one range, ``[first, end]`` without its end.
            position = self._pool[reference]
            if ranges and ranges[-1][1] == position:
                ranges[-1][1] += 1
            else:
                ranges.append([position, position + 1])
        return ranges

    def _limit(self, name: str) -> dict[str, Any]:
        return {
            "event": "sample_limit",
            "uuid": f"{self._name}:limit",
            **self._moment(self._wall_seconds),
            "type": _LIMIT_TYPES.get(name, "custom"),
            "message": f"the limit {name} is reached",
        }


def inspect_turn(turn: Turn) -> dict[str, Any]:
    """Return a message for Inspect, with its reasoning and with the error of a failed call."""
    message = inspect_message(turn.message, 0)
    reasoning = turn.message.get("reasoning_content")
    if reasoning:
        texts = [{"type": "text", "text": message["content"]}]
        message["content"] = [{"type": "reasoning", "reasoning": reasoning}, *texts]
    if turn.is_answer:
        message["source"] = "generate"
    if turn.step is not None and turn.step.result is not None:
        message |= {"function": turn.step.asked["name"], "error": _error(turn.step.result)}
    return message


def usage_of(response: Response) -> dict[str, Any]:
    """Return the usage of an answer."""
    usage = response.usage
    return inspect_usage(
        {
            "prompt": usage.prompt_tokens,
            "completion": usage.completion_tokens,
            "cached": usage.cached_tokens,
            "reasoning": usage.reasoning_tokens,
        }
    )


def episode_events(sample: SampleConversations, model: str, started: datetime) -> dict[str, Any]:
    """Return the fields of a sample that hold its events; without an episode there are none."""
    result = sample.result
    if sample.attempt is None:
        return {"events": []}
    name = f"{result['sample_id']}:{result['repeat']}"
    events = EpisodeEvents(sample.attempt, name=name, model=model, started=started)
    return events.fields(str((result.get("episode") or {}).get("ended_by", "")))


def _tool_event(step: Step) -> dict[str, Any]:
    call = inspect_call(step.asked, f"{step.number}")
    event = {
        "event": "tool",
        "id": call["id"],
        "function": call["function"],
        "arguments": call["arguments"],
        "working_time": _seconds_of(step),
    }
    result = step.result
    if result is None:
        return {**event, "result": "", "failed": True}
    n_bytes = len((result.whole or "").encode("utf-8", "replace"))
    sizes = [n_bytes, n_bytes - result.n_cut] if result.n_cut else None
    return {**event, "result": result.text, "error": _error(result), "truncated": sizes}


def _info_event(step: Step) -> dict[str, Any]:
    source = step.kind if step.kind != "verify" else "evidence"
    data = step.asked.get("evidence") if step.kind == "verify" else step.asked
    return {"event": "info", "source": f"nel {source}", "data": data}


def _error(result: ToolResult) -> dict[str, str] | None:
    if result.error is None:
        return None
    return {"type": _ERROR_TYPES.get(result.error, "unknown"), "message": result.text}


def _seconds_of(step: Step) -> float:
    if step.response is not None:
        return step.response.latency_seconds or 0.0
    return step.result.seconds if step.result is not None else 0.0


def _tool_info(tool: JsonObject) -> dict[str, Any]:
    function: JsonObject = tool.get("function") or {}
    # Inspect reads only a part of JSON Schema; all of it stands among the options.
    schema = function.get("parameters") or {}
    return {
        "name": str(function.get("name")),
        "description": str(function.get("description") or ""),
        "parameters": {
            "properties": {
                name: _parameter(value) for name, value in (schema.get("properties") or {}).items()
            },
            "required": list(schema.get("required") or ()),
        },
        "options": {"schema": schema},
    }


def _parameter(schema: JsonObject) -> dict[str, Any]:
    kind = schema.get("type")
    return {
        "type": kind if kind in _JSON_TYPES else None,
        "description": str(schema.get("description") or ""),
    }
