"""The five kinds of runs that are counted, and a transport that answers each at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from nel.models.faults import Fault
from nel.models.streams import AnswerStream
from nel.models.transport import Fetched
from tests.support.runs import write_jsonl
from tests.support.transport import OpenTransport

KINDS: Final = ("plain", "streamed", "judged", "two turns", "episode")
_STEPS_OF_TOOLS: Final = 3
"""Of an episode of four steps; the last is the answer."""

_SOURCE: Final = '''
from nel import ScorerInput, answer_line, benchmark, numeric_match, scorer
from nel.scoring import needs_judge
from nel.tools import tool


@tool(on_interrupt="again")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@benchmark(name="judged", dataset="rows.jsonl", prompt="{question}", target_field="gold")
@scorer(asks_judge=True)
def judged(sample: ScorerInput) -> dict:
    """Ask the judge."""
    return needs_judge(sample, template="binary_qa")


@benchmark(
    name="turns", dataset="rows.jsonl", prompt="{turns}", target_field="gold",
    extra={"strategy": "multi_turn", "turns_field": "turns"},
)
@scorer
def turns(sample: ScorerInput) -> dict:
    """Compare the last number."""
    return numeric_match(sample)


@benchmark(name="episode", dataset="rows.jsonl", prompt="{question}", target_field="gold", tools=[add])
@scorer
def episode(sample: ScorerInput) -> dict:
    """Compare the number."""
    return numeric_match(sample)
'''
_BENCHMARKS: Final = {"plain": "gsm8k", "streamed": "gsm8k"}
"""A built-in, whose scorer runs in nel's own process; of the others those of the file above."""
_NAMES: Final = {"two turns": "turns"}


def settings_of(kind: str, folder: Path, n: int) -> dict[str, Any]:
    """Write a benchmark with so many questions, and return the configuration of its run."""
    (folder / "bench.py").write_text(_SOURCE, encoding="utf-8")
    rows = [
        {
            "question": f"What is {number} plus {number}? {'x' * 300}",
            "answer": "#### 42",
            "gold": "42",
            "turns": [f"{number}?", "and?"],
        }
        for number in range(n)
    ]
    write_jsonl(folder / "rows.jsonl", rows)
    own = f"{folder / 'bench.py'}:{_NAMES.get(kind, kind)}"
    model = {"url": "http://127.0.0.1:9/v1", "model": "m"}
    settings: dict[str, Any] = {
        "endpoint": {**model, "stream": kind == "streamed"},
        "benchmarks": [{"name": _BENCHMARKS.get(kind, own), "dataset": str(folder / "rows.jsonl")}],
        "engine": {"concurrency": 8},
        "output": {"dir": str(folder / "runs")},
    }
    return {**settings, "judge": model} if kind == "judged" else settings


class InstantEndpoint(OpenTransport):
    """Answers every request at once, as a server whose time is not counted would."""

    async def fetch(
        self, method: str, url: str, body: bytes | None, headers: Mapping[str, str], stream: AnswerStream | None = None
    ) -> Fetched | Fault:
        """Return the answer to a request, or the list of models."""
        if body is None:
            return _fetched({"object": "list", "data": [{"id": "m", "object": "model"}]})
        request = json.loads(body)
        message = _message(request)
        if stream is None:
            return _fetched(_completion({"message": message}))
        chunks = [_completion({"delta": {"role": "assistant", "content": part}}) for part in ("The answer is ", "42.")]
        chunks[-1]["choices"][0]["finish_reason"] = "stop"
        for chunk in chunks:
            chunk.pop("usage", None)
            stream.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n", 0.0)
        stream.feed(b"data: [DONE]\n\n", 0.0)
        return Fetched(status=200, headers=_headers("text/event-stream"), body=b"", seconds=0.0, streamed=True)


def _message(request: Mapping[str, Any]) -> dict[str, Any]:
    messages = request["messages"]
    if "GRADE" in str(messages[-1]["content"]):
        return {"role": "assistant", "content": "GRADE: C"}
    n_results = sum(message["role"] == "tool" for message in messages)
    if "tools" in request and n_results < _STEPS_OF_TOOLS:
        call = {"name": "add", "arguments": json.dumps({"a": n_results, "b": 1})}
        calls = [{"id": f"call_{n_results}", "type": "function", "function": call}]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    return {"role": "assistant", "content": "The answer is 42."}


def _completion(choice: dict[str, Any]) -> dict[str, Any]:
    finish = "tool_calls" if choice.get("message", {}).get("tool_calls") else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"id": "1", "model": "m", "choices": [{"index": 0, "finish_reason": finish, **choice}], "usage": usage}


def _fetched(document: object) -> Fetched:
    headers = _headers("application/json")
    return Fetched(status=200, headers=headers, body=json.dumps(document).encode(), seconds=0.0)


def _headers(content_type: str) -> dict[str, str]:
    return {"content-type": content_type}
