"""The plain solver: one sample becomes one request."""

from __future__ import annotations

import pytest

from nel.episodes.solvers.generate import build_request
from nel.types import Generation, Message, Protocol, Request, Sample

CHAT = Sample(
    id="a",
    input=(
        Message(role="system", content="Be brief."),
        Message(role="user", content="1 + 1?"),
        Message(role="assistant", content="2"),
        Message(role="user", content="2 + 2?"),
    ),
)


def request_of(sample: Sample, protocol: Protocol, system_prompt: str | None) -> Request:
    return build_request(
        sample, repeat=3, model="m", protocol=protocol, generation=Generation(seed=7), system_prompt=system_prompt
    )


def said(request: Request) -> list[tuple[str, object]]:
    return [(message.role, message.content) for message in request.messages]


@pytest.mark.parametrize(
    ("system_prompt", "expected"), [(None, "Be brief."), ("Think first.", "Think first."), ("", "")]
)
def test_a_system_prompt_replaces_the_benchmarks_own(system_prompt: str | None, expected: str) -> None:
    """There is one system message, the first one; the turns stay as they are."""
    found = said(request_of(CHAT, "chat", system_prompt))
    turns = [("user", "1 + 1?"), ("assistant", "2"), ("user", "2 + 2?")]
    assert found == [("system", expected), *turns]


def test_a_text_becomes_a_message_of_the_user() -> None:
    """With a system prompt before it, where there is one; what identifies the request is kept."""
    sample = Sample(id="a", input="1 + 1?")
    assert said(request_of(sample, "chat", None)) == [("user", "1 + 1?")]
    request = request_of(sample, "chat", "Be brief.")
    assert said(request) == [("system", "Be brief."), ("user", "1 + 1?")]
    assert (request.model, request.sample_id, request.repeat, request.generation.seed) == ("m", "a", 3, 7)


def test_a_completions_prompt_holds_all_messages() -> None:
    """Joined by empty lines; the system prompt from the command line stands in the place of the benchmark's own."""
    request = request_of(CHAT, "completions", "Think first.")
    assert (request.prompt, request.messages) == ("Think first.\n\n1 + 1?\n\n2\n\n2 + 2?", ())
