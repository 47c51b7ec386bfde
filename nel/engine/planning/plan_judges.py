"""Which judges a benchmark has in a run, and whether its scorer can be run with them.

Depends on the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from nel.authoring.benchmark import Benchmark
from nel.authoring.judge_settings import judge_config_of, judges_in
from nel.config.identity import judge_fields
from nel.config.redaction import redact_url
from nel.config.schema import (
    BenchmarkConfig,
    EndpointConfig,
    JudgeConfig,
    ModelConfig,
    RunConfig,
)
from nel.engine.scorers.identity import judge_digest
from nel.errors import ConfigError, did_you_mean
from nel.judges.types import Case
from nel.prompts import is_template_file
from nel.scoring.declarations import asks_judge, runs_in_process, wanted_judges
from nel.scoring.model_graded import GRADER


def with_judges(
    config: RunConfig, entry: BenchmarkConfig, benchmark: Benchmark
) -> tuple[Benchmark, JudgeConfig | None, dict[str, ModelConfig]]:
    """Return the benchmark for the run's judges, these judges, and models for other roles."""
    judge = _judge(config, entry, benchmark)
    roles = {**_own_roles(benchmark), **config.model_roles}
    panel = [] if judge is None else judge.panel
    benchmark = benchmark.with_judges(
        {member.label: member.model for member in panel},
        {role: member.model for role, member in roles.items()},
    )
    return replace(benchmark, judges_by_reference=_has_reference(judge)), judge, roles


def _has_reference(judge: JudgeConfig | None) -> bool:
    """Return whether judges see the reference, by the template of the run, where it has one."""
    if judge is None or judge.template is None:
        return True
    from nel.judges.registry import (  # noqa: PLC0415 - a run without a judge reads no reply
        judge_for,
    )

    return judge_for(Case(response="", template=judge.template)).needs_reference


def _judge(config: RunConfig, entry: BenchmarkConfig, benchmark: Benchmark) -> JudgeConfig | None:
    """Return the judges of a benchmark: those of the run, else its own; None where it has none.

    Raises:
        ConfigError: The run names a template that does not exist.
    """
    benchmark_judge = None if benchmark.judge is None else judge_config_of(benchmark.judge)
    judge = config.judge_of(entry) or benchmark_judge
    if judge is not None and not judge.panel and benchmark_judge is not None:
        judge = judge.model_copy(update={"panel": benchmark_judge.panel})
    if judge is not None and judge.template is not None:
        from nel.judges.registry import (  # noqa: PLC0415 - a run without a judge reads no reply
            check_template,
        )

        check_template(
            judge.template,
            grade_pattern=judge.grade_pattern,
            score_mapping=judge.score_mapping,
            by_logprobs=judge.grade_logprobs,
        )
    elif judge is not None and judge.grade_logprobs:
        raise ConfigError(
            "judge.grade_logprobs needs judge.template and judge.score_mapping; set them, or leave"
            " it out"
        )
    return judge


def check_judge(
    config: RunConfig,
    benchmark: Benchmark,
    judge: JudgeConfig | None,
    roles: Mapping[str, ModelConfig],
) -> None:
    """Raise ConfigError where a scorer needs a judge that is not configured."""
    has_models = bool((judge is not None and judge.panel) or roles)
    if asks_judge(benchmark.scorer) and not has_models and not _may_judge_itself(config, benchmark):
        rule = (
            "let its metrics decide with args.judge_strategy=rule"
            if hasattr(benchmark, "adapter")
            else "another scorer with --scorer NAME (nel list scorers)"
        )
        raise ConfigError(
            f"{benchmark.name} is scored by a judge and this run has none; give --judge-url and"
            f" --judge-id, or {rule}"
        )
    _check_names(benchmark, judge, roles)


def unasked_judge(config: RunConfig, benchmark: Benchmark, slot: str) -> tuple[str, ...]:
    """Return a dry run's note where a judge is configured for a scorer that asks none."""
    if config.judge is None or may_ask_judge(benchmark.scorer):
        return ()
    note = (
        f"{slot}: its scorer decides by a rule and asks no judge; --scorer model_graded_qa has the"
        " judge decide"
    )
    return (note,)


def may_ask_judge(scorer: object) -> bool:
    """Return whether a scorer asks a judge, or may: only nel's own rules are known to ask none."""
    return asks_judge(scorer) or not runs_in_process(scorer)


def _may_judge_itself(config: RunConfig, benchmark: Benchmark) -> bool:
    return (
        GRADER in wanted_judges(benchmark.scorer)
        and config.endpoint is not None
        and not benchmark.response_field
    )


def _check_names(
    benchmark: Benchmark, judge: JudgeConfig | None, roles: Mapping[str, ModelConfig]
) -> None:
    """Raise ConfigError where a scorer's judge is unknown, before answers are paid for."""
    panel = [] if judge is None else judge.panel
    names = {GRADER, *roles}
    for member in panel:
        names |= {member.label, member.model}
    for name in wanted_judges(benchmark.scorer):
        if name not in names:
            listed = ", ".join(sorted(names - {GRADER})) or "none"
            hint = did_you_mean(name, names) or f"; there are {listed}"
            raise ConfigError(
                f'{benchmark.name}: its scorer asks the judge "{name}"{hint}; name it in'
                " judge.panel or model_roles"
            )


def judge_identity(judge: JudgeConfig | None, roles: Mapping[str, ModelConfig]) -> dict[str, Any]:
    """Return the identity fields of a benchmark's judges; a template file counts by its content,
    not by its path.
    """
    fields = judge_fields(judge, roles)
    if not fields:
        return {}
    template = None if judge is None else judge.template
    if template is not None and "judge.template" in fields and is_template_file(template):
        fields["judge.template"] = Path(template).name
    return {**fields, "judge.rules": judge_digest(template)}


def _own_roles(benchmark: Benchmark) -> dict[str, ModelConfig]:
    """Return the further judges of a benchmark, ``judge_1`` …; its ``judge`` belongs to the panel
    and is not a role.
    """
    return {key: member for key, member in judges_in(benchmark.extra).items() if key != "judge"}


def judge_json(judge: JudgeConfig | None) -> dict[str, object] | None:
    """Return the judges of a benchmark and their settings for its stored plan and artifacts; None
    where it has none.
    """
    if judge is None or not judge.panel:
        return None
    panel = [
        {"name": member.label, "model": member.model, "url": redact_url(member.url)}
        for member in judge.panel
    ]
    return {
        "panel": panel,
        **judge.model_dump(mode="json", exclude={"panel", "reasks", *judge.unset}),
    }


def is_same_endpoint(member: ModelConfig, endpoint: EndpointConfig) -> bool:
    """Return whether a judge is the evaluated model at the same endpoint with the same settings."""
    judge_endpoint = member.model_copy(update={"protocol": member.protocol or "chat"})
    run_endpoint = endpoint.model_copy(update={"protocol": endpoint.protocol or "chat"})
    return all(
        getattr(judge_endpoint, name) == getattr(run_endpoint, name)
        for name in EndpointConfig.model_fields
    )
