"""The conversations of a run, sample by sample, for exports: those of an episode from its steps,
that of a sample with one answer from its prompt and its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.run import RunToExport, asked_messages, asked_results, open_run
from nel.artifacts.files import directory_name
from nel.config.schema import Price
from nel.core.atomic_files import write_file
from nel.core.message_json import chat_message
from nel.engine.episodes.transcript import (
    SentMessage,
    TranscribedAttempt,
    read_transcript,
)
from nel.engine.store.codec import decode_sample
from nel.engine.store.snapshot import FILE_NAME, Snapshot
from nel.engine.store.spending import price_in
from nel.episodes.steps import Step
from nel.reports.run_files import BenchmarkFiles
from nel.types import JsonObject, SampleKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message of a conversation."""

    message: JsonObject
    """In the shape of OpenAI's chat protocol, ``reasoning_content`` where the model thought."""
    step: Step | None
    """That made it."""
    is_answer: bool
    """Whether the evaluated model wrote it in this run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What the model was told and what it answered."""

    turns: Sequence[Turn]
    tools: Sequence[JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleConversations:
    """What was said of one (sample, repeat)."""

    result: JsonObject
    """Its line of results.jsonl."""
    conversations: Sequence[Conversation]
    """At least one, the longest first; those on the side after it."""
    attempt: TranscribedAttempt | None
    """The last one of an episode."""


class RunConversations:
    """Reads the conversations of a run's benchmarks."""

    def __init__(self, run: RunToExport) -> None:
        """Open the run.

        Raises:
            StoreError: The run.db is missing or damaged.
        """
        self._snapshot = Snapshot(run.run_dir / FILE_NAME, untouched=True)
        self._keys = {directory_name(slot): key for key, slot, *_ in self._snapshot.benchmarks()}

    def __enter__(self) -> RunConversations:
        return self

    def __exit__(self, *_: object) -> None:
        self._snapshot.close()

    @property
    def price(self) -> Price | None:
        """Return the price of the model, None where the run has none."""
        return price_in(self._snapshot.meta("config") or {})

    def of(self, files: BenchmarkFiles) -> Iterator[SampleConversations]:
        """Yield those of a benchmark in the order of its results, without samples not asked.

        Raises:
            OutputError: A result is damaged or missing.
            StoreError: A step is damaged.
        """
        samples = (self.of_result(files, result) for result in asked_results(files))
        return (sample for sample in samples if sample.conversations)

    def of_result(self, files: BenchmarkFiles, result: JsonObject) -> SampleConversations:
        """Return those of one line of results.jsonl; none where nothing was asked.

        Raises:
            StoreError: A step is damaged.
        """
        key, idx = self._keys[files.directory.name], result["problem_idx"]
        attempts = read_transcript(self._snapshot, SampleKey(key, idx, result["repeat"]))
        attempt = next((item for item in reversed(attempts) if item.steps), None)
        if attempt is None:
            conversations = [Conversation(turns=_turns_of(result), tools=self._tools(key, idx))]
        else:
            branches = sorted(attempt.branches(), key=lambda branch: -branch.n_made)
            conversations = [
                Conversation(turns=list(map(turn_of, branch.messages)), tools=branch.tools)
                for branch in branches
            ]
        return SampleConversations(
            result=result,
            conversations=[item for item in conversations if item.turns],
            attempt=attempt,
        )

    def _tools(self, key: int, idx: int) -> Sequence[JsonObject]:
        for sample in self._snapshot.samples(key, first=idx, last=idx):
            if sample.content is not None:
                return decode_sample(sample.sample_id, sample.content).tools
        return ()


def turn_of(sent_message: SentMessage) -> Turn:
    """Return a message of a request as one of a conversation."""
    message = chat_message(sent_message.message)
    response = sent_message.step.response if sent_message.step is not None else None
    if response is not None and response.reasoning:
        message["reasoning_content"] = response.reasoning
    return Turn(message=message, step=sent_message.step, is_answer=response is not None)


def _turns_of(result: JsonObject) -> list[Turn]:
    messages = [] if result["prompt"] is None else asked_messages(result)
    turns = [Turn(message=_chat(message), step=None, is_answer=False) for message in messages]
    if result["model_response"] is not None:
        message = {
            "role": "assistant",
            "content": result["model_response"],
            "reasoning_content": result["reasoning"],
            "tool_calls": result.get("tool_calls"),
        }
        # An empty content stays, as the protocol wants it; other empty fields are left out.
        fields = {name: value for name, value in message.items() if value or name == "content"}
        turns.append(Turn(message=_chat(fields), step=None, is_answer=True))
    return turns


def _chat(message: JsonObject) -> dict[str, Any]:
    if not isinstance(message.get("tool_calls"), list):
        return dict(message)
    return {**message, "tool_calls": [_chat_call(call) for call in message["tool_calls"]]}


def _chat_call(call: JsonObject) -> dict[str, Any]:
    """Return a call in the chat protocol's shape, from that shape or that of results.jsonl."""
    function = call.get("function") or call
    function_json = {
        "name": function.get("name") or "",
        "arguments": function.get("arguments") or "",
    }
    return {"id": call.get("id") or "", "type": "function", "function": function_json}


def export_conversations(
    run_dir: Path,
    output: Path,
    lines_of: Callable[[RunToExport, RunConversations, BenchmarkFiles], Iterator[bytes]],
    notes: Sequence[str],
) -> Exported:
    """Write a file BENCHMARK.jsonl of each benchmark's conversations.

    Args:
        run_dir: Of the run.
        output: An empty directory.
        lines_of: Returns the lines of a benchmark.
        notes: What the reader of the files should know.
    """
    run = open_run(run_dir)
    paths = [output / f"{files.directory.name}.jsonl" for files in run.benchmarks]
    with RunConversations(run) as conversations:
        for path, files in zip(paths, run.benchmarks, strict=True):
            write_file(path, lines_of(run, conversations, files))
    return Exported(files=paths, notes=(*run.notes, *notes))
