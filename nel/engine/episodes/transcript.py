"""Reads stored episodes back: the conversation for scorers, and all steps for people and exports.

Reads a run in progress as well: an episode has steps before it has an outcome.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nel.core.message_json import chat_message, read_message
from nel.core.strict_json import loads
from nel.engine.episodes.step_rows import BY_STEP, StoredAttempts, message_of
from nel.engine.store.codec import NEXT_STEP
from nel.engine.store.projections.transcript import pooled_messages, transcript
from nel.engine.store.snapshot import Snapshot
from nel.episodes.steps import Step
from nel.errors import StoreError
from nel.types import JsonObject, Message, SampleKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message of a request."""

    message: Message
    step: Step | None
    """That made it; None for one of the prompt, of a user or of the solver itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A conversation up to an answer that no later request continues."""

    messages: Sequence[SentMessage]
    """That answer and the results of its calls included."""
    tools: Sequence[JsonObject]
    """That the model was offered last."""

    @property
    def n_made(self) -> int:
        """Return how many of the messages a step made."""
        return sum(message.step is not None for message in self.messages)


class TranscribedAttempt:
    """One attempt of an episode."""

    def __init__(self, attempts: StoredAttempts, number: int, pool: Mapping[str, str]) -> None:
        self.number = number
        """From 0."""
        self.steps: Mapping[int, Step] = attempts.steps.get(number, {})
        """By number, in order."""
        self.why_ended = attempts.ended.get(number)
        """Why it is not continued; None where it is the last."""
        self._stored = attempts
        self._pool = pool
        self._pooled: dict[str, SentMessage] = {}

    def settings(self, number: int) -> JsonObject:
        """Return what a model step sent beside its messages: ``model``, ``tools``, ``options``."""
        settings: JsonObject = loads(self._pool[self._stored.settings_of(self.number, number)])
        return settings

    def references(self, number: int) -> list[str]:
        """Return a name for each message that a step sent; equal messages have equal names."""
        return self._stored.references_of(self.number, number)

    def added_messages(self, number: int) -> list[Message]:
        """Return what a model step sent beyond an earlier step's request, answers and results: the
        prompt, or what the solver wrote itself; what a user wrote is a step of its own.
        """
        of_users = {step.asked["text"] for step in self.steps.values() if step.kind == "user"}
        sent = [self.message(name) for name in self._stored.requests[self.number][number]["add"]]
        return [
            item.message
            for item in sent
            if item.step is None
            and not (item.message.role == "user" and item.message.content in of_users)
        ]

    def message(self, reference: str) -> SentMessage:
        """Return the message of a name."""
        if reference not in self._pooled:
            self._pooled[reference] = self._message(reference)
        return self._pooled[reference]

    def branches(self) -> list[Branch]:
        """Return the conversations of this attempt, in the order of their last answers.

        There is one, unless the solver asked about something else on the side, or changed what
        it had sent before.
        """
        lines = {
            number: self.references(number)
            for number, step in self.steps.items()
            if step.kind == "model"
        }
        # A step is continued by a request that names its answer right after all that it had sent.
        continued = set()
        for line in lines.values():
            for position, reference in enumerate(line):
                if reference.startswith(BY_STEP):
                    number = int(reference.removeprefix(BY_STEP))
                    if lines.get(number) == line[:position]:
                        continued.add(number)
        return [
            Branch(
                messages=[*map(self.message, line), *self._end_of(number)],
                tools=self.settings(number)["tools"],
            )
            for number, line in lines.items()
            if number not in continued
        ]

    def _end_of(self, number: int) -> list[SentMessage]:
        answer = message_of(self.steps[number])
        if answer is None:
            return []
        messages = [SentMessage(message=answer, step=self.steps[number])]
        calls = [call.id for call in answer.tool_calls]
        for later in self.steps.values():
            if later.number > number and later.kind == "tool" and later.asked["id"] in calls:
                result = message_of(later)
                calls.remove(later.asked["id"])
                messages += [] if result is None else [SentMessage(message=result, step=later)]
        return messages

    def _message(self, reference: str) -> SentMessage:
        if reference.startswith(BY_STEP):
            step = self.steps[int(reference.removeprefix(BY_STEP))]
            message = message_of(step)
            if message is not None:
                return SentMessage(message=message, step=step)
        return SentMessage(message=read_message(loads(self._pool[reference])), step=None)


def read_transcript(
    snapshot: Snapshot, sample_key: SampleKey, names: Sequence[str] = ()
) -> list[TranscribedAttempt]:
    """Return the attempts of an episode; none where the sample has no stored step.

    Args:
        snapshot: Of the run, which may be in progress.
        sample_key: Benchmark, idx and repeat.
        names: Of messages that are looked up beside those of the steps.

    Raises:
        StoreError: A step is damaged.
    """
    try:
        attempts = StoredAttempts(transcript(snapshot, sample_key))
        requests = [request for steps in attempts.requests.values() for request in steps.values()]
        digests = {request["settings"] for request in requests if "settings" in request}
        for added in (names, *(request.get("add", ()) for request in requests)):
            digests |= {name for name in added if not name.startswith(BY_STEP)}
        pool = pooled_messages(snapshot, sorted(digests))
        numbers = sorted({*attempts.steps, *attempts.ended})
        return [TranscribedAttempt(attempts, number, pool) for number in numbers]
    except (ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"a step of an episode is damaged ({type(error).__name__}); {NEXT_STEP}"
        ) from error


def conversation_of_episode(
    snapshot: Snapshot, sample_key: SampleKey, episode: Mapping[str, Any]
) -> tuple[dict[str, object], ...]:
    """Return the messages of a finished episode in the shape of OpenAI's chat protocol.

    Args:
        snapshot: Of the run.
        sample_key: Benchmark, idx and repeat.
        episode: Of its response.
    """
    names = episode["conversation"]
    attempts = read_transcript(snapshot, sample_key, names)
    last = next(attempt for attempt in reversed(attempts) if attempt.steps)
    return tuple(chat_message(last.message(name).message) for name in names)
