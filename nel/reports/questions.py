"""The question of a row, without the words that all prompts of a benchmark share. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nel.reports.text import as_text, content_text
from nel.types import Sample

_FIELDS: Final = (
    # In this order: a row with a question may have the passage that it is about under "text".
    "question",
    "problem",
    "query",
    "prompt",
    "input",
    "text",
    "instruction",
    "goal",
    "ctx",
)


def question_of(metadata: object, prompt: object) -> str:
    """Return the question where the row has it apart, else that of its prompt.

    Args:
        metadata: The row.
        prompt: A text, or messages as results.jsonl has them.
    """
    fields = metadata if isinstance(metadata, Mapping) else {}
    for name in _FIELDS:
        text = fields.get(name)
        if isinstance(text, str) and text.strip():
            return text
    return question_in(prompt)


def question_in(prompt: object) -> str:
    """Return the question of a prompt: the last message of the user, or the text."""
    if not isinstance(prompt, list):
        return "" if prompt is None else as_text(prompt)
    messages = [message for message in prompt if isinstance(message, Mapping)]
    questions = [message for message in messages if message.get("role") == "user"] or messages
    return content_text(questions[-1].get("content")) if questions else ""


def asked_text(sample: Sample) -> str:
    """Return all that a sample asks at first; of several messages, each with its role."""
    if isinstance(sample.input, str):
        return sample.input
    texts = [(message.role, content_text(message.content)) for message in sample.input]
    if len(texts) == 1:
        return texts[0][1]
    return "\n\n".join(f"[{role}]\n{text}" for role, text in texts)
