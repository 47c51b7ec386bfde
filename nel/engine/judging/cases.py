"""Completes the case that a judge sees of a sample, and picks the models that judge it.

Sends nothing.

Each field that the scorer set takes precedence over what the sample or the run's configuration
says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from nel.config.schema import EndpointConfig, GenerationConfig, JudgeConfig, ModelConfig
from nel.engine.planning.plan import Plan, judging_models
from nel.engine.scorers.call import no_judge
from nel.errors import DatasetError, JudgeError, did_you_mean
from nel.judges.types import Case
from nel.scoring.delegation import reference_of
from nel.scoring.model_graded import GRADER, content_text
from nel.types import Message, Sample, ScorerInput

Content: TypeAlias = "str | Sequence[Mapping[str, object]]"
"""Of a message: text, or the parts of a multimodal one."""

_TEMPLATE: Final = "binary_qa"
_RESERVED_VALUES: Final = frozenset({"instructions", "swap", "partial_credit"})
"""Values that instruct the judge, like all names that begin with an underscore: only a scorer may
set them, and a row's fields of these names are ignored."""


def complete_case(case: Case, scorer_input: ScorerInput, plan: Plan) -> Case:
    """Return a case with everything filled in that its scorer left open.

    Args:
        case: As the scorer made it.
        scorer_input: What the scorer was given.
        plan: Has the template and criteria of the run.

    Raises:
        DatasetError: There is no reference, and the judge grades by it.
    """
    from nel.judges.llm_rubric import (  # noqa: PLC0415 - a run without a judge reads no reply
        NAME as LLM_RUBRIC,
    )
    from nel.judges.pair_templates import NAME as PAIRWISE  # noqa: PLC0415
    from nel.judges.registry import judge_for  # noqa: PLC0415

    judge = plan.judge or JudgeConfig()
    is_of_run = judge.template is not None and (case.yields_template or not case.template)
    if is_of_run and case.template == PAIRWISE:
        _check_pair_template(str(judge.template))
    template = str(judge.template) if is_of_run else case.template or _TEMPLATE
    of_run = {"threshold": judge.threshold} if template == LLM_RUBRIC else {}
    reference = case.reference if case.reference is not None else reference_of(scorer_input.target)
    complete = replace(
        case,
        response=case.response or scorer_input.response,
        template=template,
        grade_pattern=case.grade_pattern or (judge.grade_pattern if is_of_run else None),
        score_mapping=case.score_mapping or (judge.score_mapping if is_of_run else None),
        by_logprobs=case.by_logprobs or (judge.grade_logprobs and is_of_run),
        question=case.question or _question(scorer_input),
        reference=reference,
        criteria=case.criteria or judge.criteria or "",
        values={"swap": judge.swap, **_of_row(scorer_input.metadata), **of_run, **case.values},
        aggregate=case.aggregate or judge.aggregate,
    )
    if not (reference or "").strip() and judge_for(complete).needs_reference:
        raise DatasetError(
            "the target is empty, and the judge grades by it as its reference; give the row one"
        )
    return complete


def _check_pair_template(template: str) -> None:
    """Refuse a template of the run that shows one answer, where a pair is to be compared.

    Raises:
        JudgeError: ``bad_template``.
    """
    from nel.judges.pair_templates import (  # noqa: PLC0415 - a run without a judge reads no reply
        NAME as PAIRWISE,
    )
    from nel.judges.registry import judge_for  # noqa: PLC0415

    if judge_for(Case(template=template)).name != PAIRWISE:
        raise JudgeError(
            f"the benchmark compares two answers and the template {template[:60]!r} shows one; name"
            " {answer_a} and {answer_b} in it",
            kind="bad_template",
        )


def panel_for(case: Case, plan: Plan, endpoint: EndpointConfig | None) -> list[ModelConfig]:
    """Return the models that are to judge a case.

    Args:
        endpoint: Of the evaluated model, which judges itself where a scorer wants a grader and the
            run configures none.

    Raises:
        JudgeError: There is no judge, or none with the name that the scorer gave.
    """
    panel = plan.judge.panel if plan.judge is not None else []
    if not case.judges:
        if not panel:
            raise no_judge()
        return panel
    members: dict[str, ModelConfig] = {}
    for name in case.judges:
        for member in _models_named(name, panel, plan.model_roles, endpoint):
            members[member.label] = member
    return list(members.values())


def judge_models(plans: Sequence[Plan], endpoint: EndpointConfig | None) -> list[ModelConfig]:
    """Return every model that scorers may ask to judge, including the evaluated one."""
    models = judging_models(plans)
    if endpoint is not None and not all(plan.eval_only for plan in plans):
        models.append(self_judge(endpoint))
    return models


def self_judge(endpoint: EndpointConfig) -> ModelConfig:
    """Return the evaluated model as a judge."""
    fields = {name: value for name, value in endpoint if name in ModelConfig.model_fields}
    return ModelConfig.model_validate(fields)


def generation_of(member: ModelConfig, template_settings: Mapping[str, Any]) -> GenerationConfig:
    """Return the generation settings of a judge: those of the run, and the scorer's for all that
    the run leaves open.

    Args:
        member: A setting that equals nel's default counts as left open by the run.
        template_settings: The scorer's settings by their names in the configuration; ``extra`` is a mapping.
    """
    member_settings, default = member.generation, ModelConfig.model_fields["generation"].default
    unset_settings = {
        name: value
        for name, value in template_settings.items()
        if getattr(member_settings, name) == getattr(default, name)
    }
    return member_settings.model_copy(
        update={
            **unset_settings,
            "extra": {**template_settings.get("extra", {}), **member_settings.extra},
        }
    )


def _models_named(
    name: str,
    panel: Sequence[ModelConfig],
    roles: Mapping[str, ModelConfig],
    endpoint: EndpointConfig | None,
) -> list[ModelConfig]:
    if name in roles:
        return [roles[name]]
    matches = [member for member in panel if name in (member.name, member.model)]
    if matches:
        return matches
    if name == GRADER:
        if panel:
            return list(panel)
        if endpoint is None:
            raise no_judge()
        return [self_judge(endpoint)]
    names = [*roles, *(member.label for member in panel)]
    hint = did_you_mean(name, names) or f"; configured are: {', '.join(names) or 'none'}"
    raise JudgeError(
        f'no judge is called "{name}"{hint}; name it in judge.panel or model_roles', kind="no_judge"
    )


def _of_row(metadata: Mapping[str, object]) -> dict[str, object]:
    """Return a row's fields except those that instruct judges: a dataset must not."""
    return {
        name: value
        for name, value in metadata.items()
        if name not in _RESERVED_VALUES and not name.startswith("_")
    }


def _question(scorer_input: ScorerInput) -> str:
    if scorer_input.conversation:
        return _dialogue(
            [(str(turn["role"]), turn["content"]) for turn in scorer_input.conversation[:-1]]
        )
    sample: Sample | None = scorer_input.sample
    if sample is None:
        return str(scorer_input.metadata.get("question", scorer_input.metadata.get("prompt", "")))
    if isinstance(sample.input, str):
        return sample.input
    messages: Sequence[Message] = sample.input
    return _dialogue([(message.role, message.content) for message in messages])


def _dialogue(turns: Sequence[tuple[str, Content]]) -> str:
    texts = [(role, content_text(content)) for role, content in turns]
    if len(texts) == 1:
        return texts[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in texts)
