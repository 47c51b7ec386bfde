"""One line of results.jsonl from what the store has of a (sample, repeat).

Everything that differs between a resumed and an uninterrupted run belongs in ``timing``; all other
fields must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Final, Literal, NotRequired, TypeAlias

from annotated_types import MinLen
from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from nel.artifacts.shapes.rules import NUMBERS_OF_METRICS
from nel.config.schema import Price
from nel.core.strict_json import Amount, Count, Text
from nel.engine.store.codec import decode_sample
from nel.engine.store.projections.results import StoredResult
from nel.engine.store.rows import outcome_in, response_in
from nel.engine.store.sums import episode_sum, last_attempt, with_sum
from nel.types import (
    FailureKind,
    JsonObject,
    Message,
    ModelFailure,
    Outcome,
    Response,
    Sample,
    Scored,
    ToolCall,
    Unscored,
    UnscoredCause,
    Usage,
    value_class,
)

NOT_RUN = Unscored(cause="cancelled", kind="not_run", detail="never asked; the run ended before it")
"""What a sample is that the run never came to, unless the store knows better."""
ELSEWHERE = Unscored(
    cause="cancelled", kind="other_shard", detail="another shard of the run asks it"
)
"""What a sample of another shard is for those who do not leave it out."""
_MILLISECONDS: Final = tuple(f".{millisecond:03d}Z" for millisecond in range(1000))
"""How dates end; two are written for each answer."""
_NO_RESPONSE: Final = Response()
"""Stands for the answer of a sample that has none."""


Date: TypeAlias = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
"""A moment in UTC, to the millisecond (ISO 8601)."""


class ScoredFields(TypedDict):
    """The outcome of a sample that the scorer judged."""

    state: Literal["scored"]
    kind: None
    cause: None
    detail: str | None


class ModelFailureFields(TypedDict):
    """The outcome of a sample that the model failed to answer."""

    state: Literal["model_failure"]
    kind: FailureKind
    cause: None
    detail: str | None


class UnscoredFields(TypedDict):
    """The outcome of a sample without a score, by the component at fault."""

    state: Literal["unscored"]
    kind: Text
    cause: UnscoredCause
    detail: str | None


class NotAskedFields(TypedDict):
    """The outcome of a sample that was not to be asked; its kind is null after a stop rule."""

    state: Literal["not_asked"]
    kind: Literal["other_shard"] | None
    cause: None
    detail: str | None


@with_config(ConfigDict(extra="allow"))
class PromptMessage(TypedDict):
    """A message as it was sent."""

    role: Text
    content: str | Sequence[Mapping[str, object]] | None
    tool_calls: NotRequired[list[ToolCallFields]]
    tool_call_id: NotRequired[str]


class RunTiming(TypedDict):
    """When it began and ended; volatile."""

    started: Date | None
    ended: Date | None


class LineTokens(TypedDict):
    """Tokens as the server counted them."""

    prompt: Count | None
    completion: Count | None
    reasoning: Count | None
    cached: Count | None


class LineTiming(RunTiming):
    """When an answer was asked for and came, and how long it took; volatile."""

    latency_seconds: Amount | None
    first_token_seconds: Amount | None
    attempts: Count
    episode: NotRequired[EpisodeTiming]


class EpisodeTiming(TypedDict):
    """How long an episode took."""

    attempts: Count
    work_seconds: Amount
    wall_seconds: Amount


class EpisodeFields(TypedDict):
    """What an episode of many steps came to."""

    solver: Text
    steps: Count
    tool_calls: Count
    tool_errors: dict[str, Count]
    bytes_cut: Count
    ended_by: Text
    cost: Amount | None


class ToolCallFields(TypedDict):
    """A call of a tool, as the model wrote it."""

    id: str
    name: str
    arguments: str


OutcomeFields: TypeAlias = ScoredFields | ModelFailureFields | UnscoredFields | NotAskedFields


class LineHead(TypedDict):
    """Whose a line of results.jsonl is."""

    benchmark: Text
    model: str | None
    """As the run asked for it; None for recorded answers that do not say it."""


class ResultLine(LineHead):
    """One line of results.jsonl: one (sample, repeat)."""

    problem_idx: Count
    sample_id: str
    repeat: Count
    reward: float | None
    expected_answer: object
    model_response: str | None
    reasoning: str | None
    extracted_answer: str | None
    outcome: OutcomeFields
    finish_reason: str | None
    served_model: str | None
    """As the server calls the model that answered."""
    prompt: str | list[PromptMessage] | None
    metadata: dict[str, object]
    group: NotRequired[str | None]
    scoring_details: Annotated[dict[str, object], NUMBERS_OF_METRICS]
    tokens: LineTokens
    timing: LineTiming
    tool_calls: NotRequired[Annotated[list[ToolCallFields], MinLen(1)]]
    episode: NotRequired[EpisodeFields]


@value_class()
class Result:
    """A (sample, repeat), decoded."""

    idx: int
    sample_id: str
    repeat: int
    sample: Sample | None
    """None for a bad row."""
    response: Response | None
    outcome: Outcome
    was_run: bool
    """False when the run never came to it."""
    is_elsewhere: bool = False
    """Another shard of the run asks it."""
    asked: tuple[float, float] | None = None
    """When its answer was asked for and came, in seconds since 1970; None if not in this run."""
    unfinished: JsonObject | None = None
    """What an episode without an answer has come to; None where it has none."""


def read_result(
    stored_result: StoredResult, *, not_run: Unscored = NOT_RUN, price: Price | None = None
) -> Result:
    """Return a stored result, decoded; what was never run or is a bad row is `Unscored`.

    Args:
        stored_result: As the log has it.
        not_run: What it is where the run never came to it.
        price: Of the model, for what an episode cost.
    """
    row = stored_result.sample
    outcome: Outcome = not_run
    if stored_result.is_elsewhere:
        outcome = ELSEWHERE
    elif row.fault is not None:
        outcome = Unscored(cause="bad_row", kind="unusable", detail=row.fault)
    elif stored_result.outcome is not None:
        outcome = outcome_in(stored_result.outcome)
    response = None if stored_result.response is None else response_in(stored_result.response)
    unfinished = None
    # Parts are the requests that an answer sums up: the steps of an episode, the choices that were
    # ranked. Without an answer of its own an episode is unfinished; an answer without attempts has
    # its usage and times in its parts alone.
    if stored_result.parts:
        if response is None or (response.episode is None and not response.choice_scores):
            unfinished = episode_sum(stored_result.parts, price)
        if response is not None and not response.attempts:
            response = with_sum(response, stored_result.parts, price)
    return Result(
        row.idx,
        row.sample_id,
        stored_result.repeat,
        None if row.content is None else decode_sample(row.sample_id, row.content),
        response,
        outcome,
        was_run=stored_result.outcome is not None or row.fault is not None,
        is_elsewhere=stored_result.is_elsewhere,
        asked=_moments(stored_result),
        unfinished=unfinished,
    )


def _moments(stored_result: StoredResult) -> tuple[float, float] | None:
    """Return when the requests of an answer began and ended: its own, or those that it sums up."""
    row = stored_result.response
    if row is not None and row.ended is not None:
        return row.ended - (row.seconds or 0.0), row.ended
    moments = [
        (part.ended - (part.seconds or 0.0), part.ended)
        for part in last_attempt(stored_result.parts)
        if part.ended is not None
    ]
    return (min(moments)[0], max(ended for _, ended in moments)) if moments else None


def result_line(result: Result, head: LineHead) -> ResultLine:
    """Return the JSON object of one line of results.jsonl."""
    sample, outcome = result.sample, result.outcome
    has_answer = result.response is not None and result.response.error is None
    response = result.response or _NO_RESPONSE
    details, answer = dict(outcome.details), None
    if not isinstance(outcome, Unscored):
        details["metrics"] = dict(outcome.metrics)
        answer = outcome.answer
    line: ResultLine = {
        "benchmark": head["benchmark"],
        "model": head["model"],
        "problem_idx": result.idx,
        "sample_id": result.sample_id,
        "repeat": result.repeat,
        "reward": reward_of(outcome),
        "expected_answer": None if sample is None else sample.target,
        "model_response": response.text if has_answer else None,
        "reasoning": response.reasoning,
        "extracted_answer": answer,
        "outcome": outcome_json(outcome),
        "finish_reason": response.finish_reason,
        "served_model": response.model,
        "prompt": None if sample is None else _prompt(sample),
        "metadata": _metadata(sample),
        "group": None if sample is None else sample.group,
        "scoring_details": details,
        "tokens": _tokens_of(response.usage),
        "timing": _timing(response, result.asked),
    }
    if response.tool_calls:
        line["tool_calls"] = [_tool_call(call) for call in response.tool_calls]
    if response.episode is not None:
        add_episode(line, response.episode)
    return line


def add_episode(line: ResultLine, episode: JsonObject) -> None:
    """Add what an episode came to; tokens and cost are those of its last attempt."""
    line["episode"] = {
        "solver": episode["solver"],
        "steps": episode["steps"],
        "tool_calls": episode["tool_calls"],
        "tool_errors": episode["tool_errors"],
        "bytes_cut": episode["bytes_cut"],
        "ended_by": episode["ended_by"],
        "cost": episode["cost"],
    }
    line["tokens"] = _tokens_of(Usage(**episode["usage"]))
    line["timing"]["episode"] = {
        "attempts": episode["attempts"],
        "work_seconds": episode["timing"]["work_seconds"],
        "wall_seconds": episode["timing"]["wall_seconds"],
    }


def not_asked_line(
    result: Result, head: LineHead, kind: Literal["other_shard"] | None, detail: str
) -> ResultLine:
    """Return the line of a (sample, repeat) that was not to be asked, without an answer in flight.

    Args:
        result: What is known of it.
        head: Of its line.
        kind: None after a stop rule.
    """
    line = result_line(replace(result, response=None, asked=None, outcome=NOT_RUN), head)
    line["outcome"] = {"state": "not_asked", "kind": kind, "cause": None, "detail": detail}
    return line


def reward_of(outcome: Outcome) -> float | None:
    """Return the reward of an outcome: the number, 0.0 for a model failure, None when unscored."""
    if isinstance(outcome, Scored):
        return outcome.reward
    return 0.0 if isinstance(outcome, ModelFailure) else None


def outcome_json(outcome: Outcome) -> OutcomeFields:
    """Return the ``outcome`` object of a result line."""
    if isinstance(outcome, Scored):
        return {"state": "scored", "kind": None, "cause": None, "detail": None}
    if isinstance(outcome, ModelFailure):
        return {
            "state": "model_failure",
            "kind": outcome.kind,
            "cause": None,
            "detail": outcome.detail or None,
        }
    return {
        "state": "unscored",
        "kind": outcome.kind,
        "cause": outcome.cause,
        "detail": outcome.detail or None,
    }


def _tool_call(call: ToolCall) -> ToolCallFields:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


def _prompt(sample: Sample) -> str | list[PromptMessage]:
    if isinstance(sample.input, str):
        return sample.input
    return [_message(message) for message in sample.input]


def _message(message: Message) -> PromptMessage:
    fields: PromptMessage = {"role": message.role, "content": message.content}
    if message.tool_calls:
        fields["tool_calls"] = [_tool_call(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        fields["tool_call_id"] = message.tool_call_id
    return fields


def _metadata(sample: Sample | None) -> dict[str, object]:
    if sample is None:
        return {}
    metadata = dict(sample.metadata)
    if sample.subset is not None:
        metadata["category"] = sample.subset
    return metadata


def _tokens_of(usage: Usage) -> LineTokens:
    return {
        "prompt": usage.prompt_tokens,
        "completion": usage.completion_tokens,
        "reasoning": usage.reasoning_tokens,
        "cached": usage.cached_tokens,
    }


def date_of(seconds: float | None) -> str | None:
    """Return the date of a moment in seconds since 1970, None where it is not known.

    >>> date_of(1700000000.25)
    '2023-11-14T22:13:20.250Z'
    """
    if seconds is None:
        return None
    second, millisecond = divmod(int(seconds * 1000), 1000)
    return _date_of_second(second) + _MILLISECONDS[millisecond]


@lru_cache(maxsize=64)
def _date_of_second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _timing(response: Response, asked: tuple[float, float] | None) -> LineTiming:
    started, ended = asked or (None, None)
    return {
        "started": date_of(started),
        "ended": date_of(ended),
        "latency_seconds": response.latency_seconds,
        "first_token_seconds": response.first_token_seconds,
        "attempts": response.attempts,
    }
