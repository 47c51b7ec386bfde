"""The plain solver: one sample, one request, one answer. Builds requests; sends nothing.

A system prompt from the command line replaces the benchmark's own, it is not added to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nel.types import Generation, Message, Protocol, Request, Sample

if TYPE_CHECKING:
    from nel.episodes import Episode


def build_request(
    sample: Sample,
    *,
    repeat: int,
    benchmark: int = 0,
    model: str,
    protocol: Protocol,
    generation: Generation,
    system_prompt: str | None,
) -> Request:
    """Return the request that asks a sample."""
    messages = _messages(sample, system_prompt)
    is_prompt = protocol == "completions"
    return Request(
        protocol=protocol,
        model=model,
        sample_id=sample.id,
        repeat=repeat,
        benchmark=benchmark,
        messages=() if is_prompt else messages,
        prompt=_prompt(messages) if is_prompt else None,
        tools=sample.tools,
        tool_choice=sample.tool_choice,
        generation=generation,
    )


def _prompt(messages: tuple[Message, ...]) -> str:
    return "\n\n".join(message.content for message in messages if isinstance(message.content, str))


def _messages(sample: Sample, system_prompt: str | None) -> tuple[Message, ...]:
    messages = sample.input
    if isinstance(messages, str):
        messages = (Message(role="user", content=messages),)
    if system_prompt is None:
        return messages
    others = tuple(message for message in messages if message.role != "system")
    return (Message(role="system", content=system_prompt), *others)


async def generate(sample: Sample, episode: Episode) -> str | None:
    """Ask once and take the answer; a run with this solver stores no episode."""
    return (await episode.ask()).text
