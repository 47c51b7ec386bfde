"""The steps of an episode, for the page of its sample: also while it is in progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from nel.config.schema import Price
from nel.core.strict_json import loads
from nel.engine.episodes.transcript import TranscribedAttempt, read_transcript
from nel.engine.store.browsing import BrowsedStore
from nel.episodes.steps import Step
from nel.models.budget import cost_of
from nel.reports import numbers
from nel.reports.text import as_text, content_text, whole
from nel.types import SampleKey, ToolCall

_NAMES: Final = {
    "model": "model",
    "tool": "call",
    "user": "user",
    "verify": "evidence",
    "note": "note",
}
_INTERRUPTED: Final = "no result yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepView:
    """One step."""

    number: int
    """From 1."""
    kind: str
    name: str
    """Of its kind, or of the tool."""
    span: str
    sent: Sequence[tuple[str, str]]
    """Role and text of what a request adds to the conversation beside answers and results."""
    text: str
    reasoning: str
    calls: Sequence[ToolCall]
    arguments: str | None
    """Of a call."""
    data: object
    """Of a note, or evidence."""
    error: str | None
    """The kind of a call's failure, or what ended a request."""
    is_open: bool
    """Whether it began and has no result yet."""
    n_cut: int
    n_whole: int
    """Characters of the whole output, where it was cut."""
    facts: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptView:
    """One attempt of an episode."""

    number: int
    """From 1."""
    why_ended: str | None
    steps: Sequence[StepView]


def transcript_of(store: BrowsedStore, sample_key: SampleKey) -> list[AttemptView]:
    """Return the attempts of an episode; none where the sample has no steps.

    Args:
        store: Of the run.
        sample_key: Benchmark, idx and repeat.

    Raises:
        StoreError: A step is damaged.
    """
    price = store.price
    return [
        AttemptView(
            number=attempt.number + 1,
            why_ended=attempt.why_ended,
            steps=[_step_view(attempt, step, price) for step in attempt.steps.values()],
        )
        for attempt in read_transcript(store, sample_key)
    ]


def whole_output(
    store: BrowsedStore, sample_key: SampleKey, attempt: int, number: int
) -> str | None:
    """Return the output of a call before it was cut, None where there is none.

    Args:
        store: Of the run.
        sample_key: Benchmark, idx and repeat.
        attempt: From 1.
        number: Of the step, from 1.
    """
    for item in read_transcript(store, sample_key):
        step = item.steps.get(number - 1)
        if item.number == attempt - 1 and step is not None and step.result is not None:
            return step.result.text if step.result.whole is None else step.result.whole
    return None


def _step_view(attempt: TranscribedAttempt, step: Step, price: Price | None) -> StepView:
    sent: list[tuple[str, str]] = []
    reasoning = ""
    calls: Sequence[ToolCall] = ()
    if step.response is not None:
        messages = attempt.added_messages(step.number)
        sent = [(message.role, whole(content_text(message.content))) for message in messages]
        reasoning = step.response.reasoning or ""
        calls = step.response.tool_calls
    n_cut = n_whole = 0
    if step.result is not None:
        n_cut = step.result.n_cut
        n_whole = len(step.result.whole or "")
    arguments = None
    if step.kind == "tool":
        arguments = _pretty(str(step.asked["arguments"]))
    # A call without a result was running when the run ended, or runs now.
    is_open = step.kind == "tool" and step.result is None
    return StepView(
        number=step.number + 1,
        kind=step.kind,
        name=str(step.asked.get("name") or _NAMES[step.kind]),
        span=step.span,
        sent=sent,
        text=whole(_step_text(step)),
        reasoning=whole(reasoning),
        calls=calls,
        arguments=arguments,
        data=_data_of(step),
        error=_INTERRUPTED if is_open else _error_of(step),
        is_open=is_open,
        n_cut=n_cut,
        n_whole=n_whole,
        facts=_facts(step, price),
    )


def _error_of(step: Step) -> str | None:
    if step.response is not None and step.response.error is not None:
        return f"{step.response.error.kind}: {step.response.error.message}"
    return None if step.result is None else step.result.error


def _step_text(step: Step) -> str:
    if step.response is not None:
        return step.response.text
    if step.result is not None:
        return _pretty(step.result.text)
    return str(step.asked["text"]) if step.kind == "user" else ""


def _pretty(text: str) -> str:
    """Return a JSON object or array in several lines, and any other text as it is."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return as_text(loads(text))
    except ValueError:
        return text


def _data_of(step: Step) -> object:
    if step.kind == "verify":
        return step.asked.get("evidence")
    return step.asked if step.kind == "note" else None


def _facts(step: Step, price: Price | None) -> list[tuple[str, str]]:
    """Return what a step took; nothing of one that is open."""
    response = step.response
    if response is None:
        if step.result is None or step.result.seconds is None:
            return []
        return [("took", f"{step.result.seconds:.3f} s")]
    usage = response.usage
    cost = cost_of(usage, price)
    tokens = {
        "prompt tokens": usage.prompt_tokens,
        "completion tokens": usage.completion_tokens,
        "cached tokens": usage.cached_tokens,
    }
    facts = [(name, numbers.count(n)) for name, n in tokens.items() if n is not None]
    if cost is not None:
        facts.append(("cost", numbers.cost(cost)))
    if response.latency_seconds is not None:
        facts.append(("took", f"{response.latency_seconds:.3f} s"))
    return facts
