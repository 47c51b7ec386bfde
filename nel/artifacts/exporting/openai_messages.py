"""Writes a run's conversations as JSON lines of OpenAI's chat messages, for fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nel.artifacts.exporting.contract import Exported
from nel.artifacts.exporting.conversations import RunConversations, export_conversations
from nel.artifacts.exporting.run import RunToExport, storable
from nel.core.strict_json import dumps_line
from nel.reports.agreement import state_of
from nel.reports.run_files import BenchmarkFiles


def export_openai_messages(run_dir: Path, output: Path) -> Exported:
    """Conversations with messages and tools, one a line, for fine-tuning: BENCHMARK.jsonl.

    Raises:
        OutputError: The run is still written, or its artifacts are damaged.
        StoreError: The run.db is missing or damaged.
        StoppedEarly: The disk is full.
    """
    notes = (
        "Every conversation is there, whatever its reward: select those to train on by reward.",
        "What the model thought is the reasoning_content of its message.",
    )
    return export_conversations(run_dir, output, _lines, notes)


def _lines(
    _: RunToExport, conversations: RunConversations, files: BenchmarkFiles
) -> Iterator[bytes]:
    for sample in conversations.of(files):
        result = sample.result
        for number, conversation in enumerate(sample.conversations):
            line = {
                "messages": [turn.message for turn in conversation.turns],
                "tools": list(conversation.tools),
                "sample_id": result["sample_id"],
                "repeat": result["repeat"],
                "branch": number,
                "state": state_of(result),
                "reward": result["reward"],
            }
            yield dumps_line(storable({name: value for name, value in line.items() if value != []}))
