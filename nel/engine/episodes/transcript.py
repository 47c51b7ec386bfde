"""Reads stored episodes back: the conversation for scorers, and all steps for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nel.core.message_json import chat_message
from nel.engine.episodes.step_rows import StoredAttempts
from nel.engine.store.snapshot import Snapshot
from nel.types import Message


def conversation_of_episode(
    snapshot: Snapshot, sample_key: tuple[int, int, int], episode: Mapping[str, Any]
) -> tuple[dict[str, object], ...]:
    """Return the messages of a finished episode in the shape of OpenAI's chat protocol.

    Args:
        snapshot: Of the run.
        sample_key: Benchmark, idx and repeat.
        episode: Of its response.
    """
    return tuple(chat_message(message) for message in messages_of(snapshot, sample_key, episode))


def messages_of(
    snapshot: Snapshot, sample_key: tuple[int, int, int], episode: Mapping[str, Any]
) -> list[Message]:
    """Return the messages of a finished episode."""
    stored = StoredAttempts(snapshot.steps(*sample_key))
    return stored.messages(snapshot, episode["attempts"] - 1, episode["conversation"])
