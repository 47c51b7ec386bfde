"""What a judge is told of a sample, and who of the configured models is asked. Pure.

Trap: a case that a scorer gave wins over what is known of the sample, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from nel.config.redaction import redact_url
from nel.config.schema import EndpointConfig, GenerationConfig, JudgeConfig, ModelConfig
from nel.engine.plan import Plan, judging_models
from nel.errors import JudgeError, did_you_mean
from nel.judges.types import Case
from nel.scoring.model_graded import GRADER
from nel.types import Message, Sample, ScorerInput

_TEMPLATE: Final = "binary_qa"
_OWN_WORDS: Final = frozenset({"instructions", "swap", "partial_credit"})
"""Values that a judge takes from its scorer as they are, as all that begin with an underscore; a row's fields of these
names are the dataset's words."""


def completed(case: Case, given: ScorerInput, plan: Plan) -> Case:
    """Return a case with everything filled in that its scorer left open.

    Args:
        case: What the scorer said.
        given: What the scorer was given.
        plan: Says which template and criteria the run asks for.
    """
    judge = plan.judge or JudgeConfig()
    reference = case.reference if case.reference is not None else _reference(given.target)
    return replace(
        case,
        response=case.response or given.response,
        template=case.template or judge.template or _TEMPLATE,
        question=case.question or _question(given),
        reference=reference,
        criteria=case.criteria or judge.criteria or "",
        values={"swap": judge.swap, **_of_row(given.metadata), **case.values},
        aggregate=case.aggregate or judge.aggregate,
    )


def members_of(case: Case, plan: Plan, endpoint: EndpointConfig | None) -> list[ModelConfig]:
    """Return the models that are to judge a case.

    Args:
        endpoint: Of the evaluated model, which judges itself where a scorer wants a grader and the run names none.

    Raises:
        JudgeError: There is no judge, or none of the name that the scorer gave.
    """
    panel = plan.judge.panel if plan.judge is not None else []
    if not case.judges:
        return panel or _no_judge()
    found: dict[str, ModelConfig] = {}
    for name in case.judges:
        for member in _named(name, panel, plan.model_roles, endpoint):
            found[member.label] = member
    return list(found.values())


def asked_models(plans: Sequence[Plan], endpoint: EndpointConfig | None) -> list[ModelConfig]:
    """Return every model beside the evaluated one that scorers may have judge, or that judges itself."""
    found = judging_models(plans)
    if endpoint is not None and not all(plan.eval_only for plan in plans):
        found.append(judge_of_itself(endpoint))
    return found


def is_same_endpoint(member: ModelConfig, endpoint: EndpointConfig) -> bool:
    """Return whether a judge is the evaluated model at the same endpoint, asked in the same way."""
    return all(getattr(member, name) == getattr(endpoint, name) for name in EndpointConfig.model_fields)


def judge_of_itself(endpoint: EndpointConfig) -> ModelConfig:
    """Return the evaluated model as a judge."""
    own = {name: value for name, value in endpoint if name in ModelConfig.model_fields}
    return ModelConfig.model_validate(own)


def generation_of(member: ModelConfig, wanted: Mapping[str, Any]) -> GenerationConfig:
    """Return the settings a judge is asked with: those the run gives it, and of what a scorer wants, all others.

    Args:
        member: What of its settings is nel's default, the run has not given.
        wanted: By their names in the configuration; ``extra`` is a mapping.
    """
    own, default = member.generation, ModelConfig.model_fields["generation"].default
    free = {name: value for name, value in wanted.items() if getattr(own, name) == getattr(default, name)}
    return own.model_copy(update={**free, "extra": {**wanted.get("extra", {}), **own.extra}})


def judge_json(judge: JudgeConfig | None) -> dict[str, Any] | None:
    """Return who judges a benchmark and how, as its stored plan and its artifacts say it; None where nobody does."""
    if judge is None or not judge.panel:
        return None
    panel = [{"name": member.label, "model": member.model, "url": redact_url(member.url)} for member in judge.panel]
    return {"panel": panel, **judge.model_dump(mode="json", exclude={"panel", "reasks"})}


def _named(
    name: str, panel: Sequence[ModelConfig], roles: Mapping[str, ModelConfig], endpoint: EndpointConfig | None
) -> list[ModelConfig]:
    if name in roles:
        return [roles[name]]
    same = [member for member in panel if name in (member.name, member.model)]
    if same:
        return same
    if name == GRADER:
        return list(panel) or ([judge_of_itself(endpoint)] if endpoint is not None else _no_judge())
    known = [*roles, *(member.label for member in panel)]
    hint = did_you_mean(name, known) or f"; configured are: {', '.join(known) or 'none'}"
    raise JudgeError(f'no judge is called "{name}"{hint}; name it in judge.panel or model_roles', kind="no_judge")


def _no_judge() -> list[ModelConfig]:
    raise JudgeError(
        "the scorer asks for a judge and this run has none; give --judge-url and --judge-id, then resume",
        kind="no_judge",
    )


def _of_row(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row's fields but for those that would speak to the judge in the benchmark's own name."""
    return {name: value for name, value in metadata.items() if name not in _OWN_WORDS and not name.startswith("_")}


def _reference(target: Any) -> str | None:
    if target is None or isinstance(target, str):
        return target
    if isinstance(target, (list, tuple)):
        return "\n".join(str(one) for one in target)
    return str(target)


def _question(given: ScorerInput) -> str:
    """Return what the response answers: the prompt, or all that was said before it."""
    if given.conversation:
        return _dialogue([(str(turn["role"]), turn["content"]) for turn in given.conversation[:-1]])
    sample: Sample | None = given.sample
    if sample is None:
        return str(given.metadata.get("question", given.metadata.get("prompt", "")))
    if isinstance(sample.input, str):
        return sample.input
    messages: Sequence[Message] = sample.input
    return _dialogue([(message.role, message.content) for message in messages])


def _dialogue(turns: Sequence[tuple[str, Any]]) -> str:
    spoken = [(role, _text(content)) for role, content in turns]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in spoken)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = [str(part.get("text", f"[{part.get('type', 'part')}]")) for part in content]
    return "\n".join(parts)
