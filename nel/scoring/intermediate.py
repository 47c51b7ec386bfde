"""`score`: scores a conversation before its end, from inside a scorer.

Depends on the scorer protocol.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol

from nel.errors import ScorerError
from nel.scoring.protocol import current_scoring
from nel.types import ScorerInput, ScorerResult


class ModelConversation(Protocol):
    """What `score` can score: a `TaskState` or anything with messages and the model's output."""

    messages: list[Any]
    output: Any
    """Its ``completion`` is the answer."""


async def score(
    conversation: ModelConversation | Sequence[Mapping[str, Any]],
) -> list[ScorerResult]:
    """Score a conversation before its end, by the benchmark's own scorer, as in Inspect.

    Args:
        conversation: A `TaskState` or its like, or messages (``role`` and ``content``) whose last
            ``assistant`` one is the answer.

    Raises:
        ScorerError: Nothing is being scored here, or the conversation holds no answer.
    """
    current = current_scoring()
    if current is None:
        raise ScorerError("score() works inside a benchmark's own scorer, while a sample is scored")
    scorer_in_use, sample = current
    if isinstance(conversation, Sequence):
        messages = [dict(message) for message in conversation]
        answers = [message["content"] for message in messages if message.get("role") == "assistant"]
        if not answers:
            raise ScorerError("the conversation holds no assistant message to score")
        response = str(answers[-1])
    else:
        response, messages = conversation.output.completion, conversation.messages
    scorer_input = ScorerInput(
        response=response,
        target=sample.target,
        metadata=sample.metadata,
        config=sample.config,
        conversation=list(messages),
        sample=sample.sample,
        repeat=sample.repeat,
    )
    result = scorer_in_use(scorer_input)
    result = await result if isinstance(result, Awaitable) else result
    return [] if result is None else [result]
