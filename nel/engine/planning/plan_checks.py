"""What is wrong with the settings of a run, found before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence

from nel.authoring.benchmark import Benchmark
from nel.authoring.requirements import check_requirements
from nel.config.identity import PROMPT_TEMPLATE
from nel.config.schema import BenchmarkConfig, RunConfig
from nel.engine.planning.plan import Plan, judging_models
from nel.errors import ConfigError
from nel.models.budget import tokens_max


def check_combination(config: RunConfig, entry: BenchmarkConfig, benchmark: Benchmark) -> None:
    """Raise ConfigError where settings of a run exclude each other for a benchmark."""
    eval_only = benchmark.response_field is not None
    if not eval_only and config.endpoint is None:
        raise ConfigError(
            f"{benchmark.name} needs an endpoint; give --model-url and --model-id, "
            "or score recorded answers with --response-field FIELD"
        )
    if config.stop.when and entry.repeat_check is not None:
        raise ConfigError(
            "--repeat-check may draw what --stop-when leaves out; check repeatability in a run of"
            " its own"
        )
    if config.stop.when and entry.sample is not None:
        raise ConfigError(
            "--stop-when asks all questions of the benchmark in a random order until it is decided,"
            " and --sample draws some before; leave one of them out"
        )
    if entry.sample is not None and benchmark.without_limit() is not benchmark:
        raise ConfigError(
            f"--sample draws from all rows of {benchmark.name}, and args.limit takes the first of"
            " each subset; leave one of them out"
        )
    check_shard(config, entry)
    if entry.fewshot_dataset and entry.num_fewshot is None and not benchmark.num_fewshot:
        raise ConfigError(
            f"{benchmark.name} is asked without few-shot examples, so --fewshot-dataset changes"
            " nothing; say how many with --num-fewshot, or leave it out"
        )
    if eval_only and entry.repeat_check is not None:
        raise ConfigError(
            f"{benchmark.name} scores recorded answers, so nothing can be asked twice; leave"
            " --repeat-check out"
        )


def check_shard(config: RunConfig, entry: BenchmarkConfig) -> None:
    """Raise ConfigError for options that need a whole benchmark, where a run is a shard."""
    if config.shard is not None and config.stop.when:
        raise ConfigError(
            "--stop-when looks at all questions in one random order, and a shard asks only its own;"
            " leave one of --shard and --stop-when out"
        )
    if config.shard is not None and entry.repeat_check is not None:
        raise ConfigError(
            "--repeat-check draws from all problems, and a shard asks only its own; check"
            " repeatability in a run of its own"
        )


def check_fulfilled(benchmark: Benchmark) -> None:
    """Raise ConfigError for unmet requirements of a scorer, before answers are paid for."""
    problems = [
        check.problem
        for check in check_requirements(benchmark.requirements)
        if check.problem is not None
    ]
    if problems:
        raise ConfigError(f"{benchmark.name} cannot be scored here: {'; '.join(problems)}")


def check_prompt_differs(plan: Plan, others: Sequence[Plan]) -> None:
    """Raise ConfigError for a prompt that would be asked twice under two names."""
    for other in others:
        names = {name: getattr(other.config, name) for name in ("prompt", "prompt_name")}
        if (
            all([*names.values(), plan.config.prompt_name])
            and plan.config.model_copy(update=names) == other.config
            and plan.fields[PROMPT_TEMPLATE] == other.fields[PROMPT_TEMPLATE]
        ):
            raise ConfigError(
                f"the prompts of {other.slot} and {plan.slot} are equal; leave one of them out"
            )


def check_limits(plans: Sequence[Plan]) -> None:
    """Raise ConfigError for limits of episodes where there are none.

    A run of several benchmarks has one ``--max-steps``, and those with episodes take it.
    """
    has_episodes = any(plan.solver is not None for plan in plans)
    for plan in plans:
        limits = {**plan.benchmark.limits, **plan.config.limits}
        names = [f"limits: {', '.join(limits)}"] if limits else []
        if plan.config.max_steps is not None and not has_episodes:
            names.append("--max-steps")
        if names and plan.solver is None and not plan.eval_only:
            raise ConfigError(
                f"{plan.slot} is answered in one request, so {' and '.join(names)} would limit"
                " nothing; leave that out, or name what drives its episodes with --solver"
            )


def check_budget(config: RunConfig, plans: list[Plan]) -> None:
    """Raise ConfigError for caps that unknown prices or limits make unenforceable."""
    budget = config.budget
    if budget.max_cost is None and budget.max_tokens_total is None:
        return
    for model in _paid_models(config, plans) if budget.max_cost is not None else ():
        if model not in budget.prices:
            raise ConfigError(
                f"budget.max_cost needs the price of {model}; give budget.prices."
                f'"{model}": {{input: …, output: …}}, in money for a million tokens'
            )
    for member in judging_models(plans):
        if member.generation.max_tokens is None:
            raise ConfigError(
                f"a cap on cost or tokens needs a limit of {member.label}'s replies:"
                " generation.max_tokens"
            )
    for plan in plans:
        if (
            not plan.eval_only
            and not plan.benchmark.loglikelihood
            and tokens_max(plan.generation) is None
        ):
            raise ConfigError(
                f"a cap on cost or tokens needs a limit of {plan.slot}'s answers, or one request"
                " could take it all; set --max-tokens"
            )


def _paid_models(config: RunConfig, plans: list[Plan]) -> list[str]:
    models = [member.model for member in judging_models(plans)]
    if config.endpoint is not None and not all(plan.eval_only for plan in plans):
        models.insert(0, config.endpoint.model)
    return list(dict.fromkeys(models))
