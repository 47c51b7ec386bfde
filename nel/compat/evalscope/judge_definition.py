"""What an adapter declares to its judge by EvalScope's names, carried out by the run's judge.

A reply is one JSON object by the adapter's schema; without one the sample is unscored. Comparisons
in two orders and cases in stages are not made, and have no names here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args, get_origin

from nel.compat.evalscope.judge_strategies import LlmJudge
from nel.compat.evalscope.samples import ChatMessage, ChatMessageSystem, ChatMessageUser, Score
from nel.errors import JudgeError
from nel.judges.parsing.own_words import plain_lines

__all__ = [
    "CaseVerdict",
    "JudgeCase",
    "JudgeContext",
    "JudgeDefinition",
    "JudgeObservation",
    "JudgeRequest",
    "JudgeReview",
    "OutputContract",
    "ReducedVerdict",
]

_KINDS: Final = {bool: "true or false", int: "an integer", float: "a number"}
# The beginning of an object: a brace before a key, ``{"score":``.
_OBJECT: Final = re.compile(r'\{\s*"[^"\n]*"\s*:')
_DECODER: Final = json.JSONDecoder()
_ORIGINAL: Final = "original"
"""The only order that anything is shown in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputContract:
    """The JSON reply that a case requires."""

    schema_model: Any

    def instruction(self) -> str:
        """Return what is appended to the benchmark's prompt."""
        fields = "\n".join(
            f'- "{item.alias or name}": {_description(item)}'
            for name, item in self.schema_model.model_fields.items()
        )
        return (
            "\n\nReply with a single JSON object and no other text, containing these required keys "
            f"(additional keys are allowed):\n{fields}"
        )

    def value_in(self, reply: str) -> Any:
        """Return the object of the schema that a reply holds.

        Raises:
            JudgeError: It holds none, several, or another.
        """
        try:
            objects = _objects_in(plain_lines(reply))
            if len(objects) == 1:
                return self.schema_model.model_validate(objects[0])
        except (ValueError, RecursionError) as error:
            raise JudgeError(
                f"the judge's reply is not the {self.schema_model.__name__} asked for: {error}",
                reply=reply,
            ) from error
        raise JudgeError(
            f"the judge's reply has {len(objects)} JSON objects, and one is read", reply=reply
        )


def _objects_in(reply: str) -> list[Any]:
    """Return the JSON objects of a reply, those within a line too; ValueError where one is broken.

    Braces before anything but a key, as in ``\\boxed{12}``, are not an object.
    """
    objects: list[Any] = []
    position = 0
    while match := _OBJECT.search(reply, position):
        value, position = _DECODER.raw_decode(reply, match.start())
        objects.append(value)
    return objects


def _description(item: Any) -> str:
    kind = item.annotation
    if get_origin(kind) is Literal:
        return "exactly one of " + " or ".join(f'"{value}"' for value in get_args(kind))
    bounds = [
        f">= {limit.ge}" if getattr(limit, "ge", None) is not None else f"<= {limit.le}"
        for limit in item.metadata
        if getattr(limit, "ge", None) is not None or getattr(limit, "le", None) is not None
    ]
    name = "a list" if get_origin(kind) is list else _KINDS.get(kind, "a string")
    if bounds:
        return f"{name} {' and '.join(bounds)}"
    return name + (f" ({item.description})" if item.description else "")


@dataclass(slots=True, kw_only=True)
class JudgeContext:
    """What an adapter may read about an answer."""

    task_state: Any
    original_prediction: str
    filtered_prediction: str
    reference: str


@dataclass(slots=True, kw_only=True)
class JudgeCase:
    """One thing that the judge is asked."""

    case_id: str
    output_contract: OutputContract
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class JudgeRequest:
    """What the judge is sent."""

    messages: list[ChatMessage]


@dataclass(slots=True, kw_only=True)
class CaseVerdict:
    """What a case came to."""

    case_id: str
    value: Any
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class ReducedVerdict:
    """What all cases come to."""

    value: dict[str, float] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class JudgeObservation:
    """The verdicts of one judge."""

    case_verdicts: list[CaseVerdict]
    reduced: ReducedVerdict


@dataclass(slots=True, kw_only=True)
class JudgeReview:
    """What `finalize` may read."""

    value: dict[str, float]
    metadata: dict[str, Any]
    valid_observations: list[JudgeObservation]


def _refuse_unasked(*_: object) -> Any:
    raise JudgeError("the adapter declares nothing to ask its judge")


@dataclass(slots=True, kw_only=True)
class JudgeDefinition:
    """What an answer is judged by."""

    cases: Sequence[JudgeCase] = ()
    request: Callable[..., JudgeRequest] = _refuse_unasked
    reduce: Callable[..., ReducedVerdict] = _refuse_unasked
    main_score_name: str | None = None
    immediate_score: Score | None = None
    finalize: Callable[..., Score] | None = None

    @classmethod
    def workflow(cls, **parts: Any) -> JudgeDefinition:
        """Return cases with the functions that word and count them."""
        return cls(**parts)

    @classmethod
    def skip(cls, score: Score, *, reason: str) -> JudgeDefinition:
        """Return a score for which no judge is asked."""
        score.metadata = {**score.metadata, "judge_skip_reason": reason}
        return cls(immediate_score=score)

    @classmethod
    def labels(
        cls,
        *,
        prompt: str,
        schema_model: Any,
        scores: Mapping[str, Mapping[str, float]],
        case_id: str = "judge",
        system_prompt: str | None = None,
        verdict_field: str = "verdict",
        **options: Any,
    ) -> JudgeDefinition:
        """Return one case whose label says the numbers."""

        def request(case: JudgeCase, *_: object) -> JudgeRequest:
            question = ChatMessageUser(content=prompt + case.output_contract.instruction())
            lead = [ChatMessageSystem(content=system_prompt)] if system_prompt else []
            return JudgeRequest(messages=[*lead, question])

        def reduce(verdicts: Sequence[CaseVerdict], _: JudgeContext) -> ReducedVerdict:
            label = str(getattr(verdicts[0].value, verdict_field))
            return ReducedVerdict(value=dict(scores[label]))

        contract = OutputContract(schema_model=schema_model)
        cases = [JudgeCase(case_id=case_id, output_contract=contract)]
        return cls(cases=cases, request=request, reduce=reduce, **options)


def judge_answer(definition: JudgeDefinition, context: JudgeContext, judge: LlmJudge) -> Score:
    """Return the score of an answer by what an adapter declares.

    Raises:
        JudgeError: There is no verdict.
    """
    if definition.immediate_score is not None:
        return definition.immediate_score
    verdicts: list[CaseVerdict] = []
    for case in definition.cases:
        verdicts.append(_verdict(definition, case, verdicts, context, judge))
    reduced = definition.reduce(verdicts, context)
    if not reduced.value:
        raise JudgeError("the judge's verdicts come to no number")
    review = JudgeReview(
        value=dict(reduced.value),
        metadata=dict(reduced.metadata),
        valid_observations=[JudgeObservation(case_verdicts=verdicts, reduced=reduced)],
    )
    score = Score(
        value=dict(reduced.value),
        extracted_prediction=context.filtered_prediction,
        prediction=context.original_prediction,
        main_score_name=definition.main_score_name,
        metadata={"source": "llm_judge"},
    )
    return definition.finalize(score, review, context) if definition.finalize else score


def _verdict(
    definition: JudgeDefinition,
    case: JudgeCase,
    verdicts: Sequence[CaseVerdict],
    context: JudgeContext,
    judge: LlmJudge,
) -> CaseVerdict:
    messages = definition.request(case, _ORIGINAL, verdicts, context).messages
    if not all(_is_text(message) for message in messages):
        raise JudgeError("the adapter's judge is sent more than text, which nel's is not")
    system = [message.text for message in messages if message.role == "system"]
    questions = [message.text for message in messages if message.role != "system"]
    reply = judge.judge("\n\n".join(questions), system[0] if system else None)
    value = case.output_contract.value_in(reply)
    return CaseVerdict(case_id=case.case_id, value=value, metadata=dict(case.metadata))


def _is_text(message: ChatMessage) -> bool:
    return isinstance(message.content, str) or all(
        getattr(content, "type", None) == "text" for content in message.content
    )
