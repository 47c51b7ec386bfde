"""Resolves configuration and plugins into plans: what is run, and its identity. A plan is made
before anything is sent, so every problem with a benchmark, a dataset or a prompt is raised here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nel import plugins
from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot_loading import bind_examples
from nel.authoring.prompt_check import check_prompt, with_prompt
from nel.authoring.registry import find_benchmark, find_members
from nel.authoring.requirements import check_requirements
from nel.authoring.scorer_names import find_scorer
from nel.authoring.statistics_names import choose_statistics
from nel.config.identity import (
    JUDGES_ADAPTED,
    PROMPT_TEMPLATE,
    sample_fields,
    sandbox_fields,
    settings_fields,
    shard_fields,
    stop_fields,
)
from nel.config.schema import (
    AggregateConfig,
    BenchmarkConfig,
    GenerationConfig,
    JudgeConfig,
    ModelConfig,
    RunConfig,
)
from nel.datasets.source import Dataset, open_dataset
from nel.engine.planning.golds import with_gold_kind
from nel.engine.planning.plan_judges import check_judge, judge_identity, with_judges
from nel.engine.planning.plan_solvers import (
    in_sandbox,
    solver_fields,
    solver_of,
    tool_code,
    with_agent,
)
from nel.engine.planning.protocol_choice import (
    check_protocols,
    protocol_asked,
    protocol_notes,
    protocol_of,
    short_limit_notes,
)
from nel.engine.scorers.identity import scorer_digest, unseen_dependencies, withheld_variables
from nel.engine.scorers.rules import with_answer_form, with_rule
from nel.episodes.limits import Limits
from nel.errors import ConfigError, DatasetError
from nel.metrics.accumulator import free_name
from nel.metrics.requested import RequestedStatistics
from nel.models.adaptation import Changes, change_settings
from nel.models.budget import tokens_max
from nel.prompts import load_template, portable_text
from nel.scoring.broken_tests import broken_tests_fields
from nel.types import Generation, Protocol

if TYPE_CHECKING:
    from nel.episodes.solver_names import BoundSolver


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One benchmark of a run, resolved."""

    slot: str
    """Unique in the run; names the artifact directory."""
    benchmark: Benchmark
    config: BenchmarkConfig
    statistics: RequestedStatistics
    """The metrics and reducers in addition to the mean."""
    dataset: Dataset
    unreadable: str | None = None
    """Why the dataset cannot be opened; a resume may continue with the samples in run.db."""
    generation: Generation
    model: str | None
    """None when recorded responses are scored."""
    protocol: Protocol
    fields: Mapping[str, Any]
    """The identity without the digests of the samples."""
    adapted: Changes = field(default_factory=dict)
    """Settings changed as the model's server asked before the first answer."""
    judges_adapted: Mapping[str, Changes] = field(default_factory=dict)
    """The same of its judges, by label."""
    unseen: tuple[str, ...] = ()
    """What its scorer may depend on that the identity does not cover."""
    notes: tuple[str, ...] = ()
    """Notes for the user, shown with the results."""
    judge: JudgeConfig | None = None
    """The judges of its answers and their settings."""
    model_roles: Mapping[str, ModelConfig] = field(default_factory=dict)
    """Models that its scorer may ask to judge, by name."""
    solver: BoundSolver | None = None
    """What answers its samples in many steps; None: one request, one answer."""
    limits: Limits = field(default_factory=Limits)
    """Of each episode, as far as benchmark and run set any."""

    @property
    def reducers(self) -> tuple[str, ...]:
        """Return the reducers of the run's configuration, else the benchmark's own."""
        return self.config.reducers or self.benchmark.reducers

    def adapting(self, changes: Changes) -> Plan:
        """Return the plan, and its identity, with settings changed as a server asks for."""
        if not changes or self.eval_only or self.protocol == "completions":
            return self
        generation, every = change_settings(self.generation, changes), {**self.adapted, **changes}
        own = {
            f"generation.{name}": getattr(generation, name)
            for name in ("max_tokens", "temperature", "top_p", "extra")
        }
        fields = {**self.fields, **own, "endpoint.adapted": every}
        return replace(self, generation=generation, adapted=every, fields=fields)

    def judged_as(self, stored: Mapping[str, Any]) -> Plan:
        """Return the plan with its judges' changed settings, from a stored identity.

        Those of a judge that is configured otherwise now are left out: it is another judge.
        """
        adapted = {
            label: changes
            for label, changes in (stored.get(JUDGES_ADAPTED) or {}).items()
            if _judge_called(label, stored) == _judge_called(label, self.fields)
        }
        if not adapted:
            return self
        return replace(
            self, judges_adapted=adapted, fields={**self.fields, JUDGES_ADAPTED: adapted}
        )

    @property
    def eval_only(self) -> bool:
        """Return whether recorded responses are scored instead of asking an endpoint."""
        return self.benchmark.response_field is not None


def with_members(config: RunConfig) -> RunConfig:
    """Return a configuration whose groups of benchmarks stand as their members and aggregates.

    Raises:
        NelError: As `find_benchmark` says.
    """
    entries: list[BenchmarkConfig] = []
    aggregates: list[AggregateConfig] = []
    for entry in config.benchmarks:
        group = find_members(entry.name)
        if group is None:
            entries.append(entry)
            continue
        if group.members[0] in [other.name for other in entries]:
            raise ConfigError(f"{entry.name} is named twice; ask a group once in a run")
        entries += [entry.model_copy(update={"name": name}) for name in group.members]
        aggregates += map(AggregateConfig.model_validate, group.aggregates)
    update = {"benchmarks": entries, "aggregates": [*config.aggregates, *aggregates]}
    return config.model_copy(update=update)


def make_plans(config: RunConfig, *, resuming: bool = False) -> list[Plan]:
    """Resolve every benchmark of a run.

    Args:
        resuming: A dataset that cannot be opened is noted in its plan instead of raised.

    Raises:
        NelError: A benchmark, dataset or setting is wrong; nothing was sent.
    """
    plans: list[Plan] = []
    for named in config.benchmarks:
        with plugins.collect_notes() as notes:
            registered = find_benchmark(named.name)
            named = _with_folder(registered, named)  # noqa: PLW2901 - what the entry says of its data
            benchmark = _with_entry(registered, named)
            _check_requirements(benchmark)
            entry = _with_generation(config, named, benchmark)
            parts = (benchmark.name, entry.prompt_name)
            slot = free_name("@".join(filter(None, parts)), {plan.slot for plan in plans})
            plan = _plan(config, entry, benchmark, slot, resuming)
        _check_prompt_differs(plan, plans)
        notes_all = [
            *dict.fromkeys(notes),
            *plan.notes,
            *protocol_notes(plan.benchmark, plan.protocol),
        ]
        if not (resuming or plan.eval_only):
            asked = config.generation_of(named).max_tokens
            notes_all += short_limit_notes(asked, plan.generation.max_tokens)
        plans.append(replace(plan, notes=tuple(notes_all)))
    _check_budget(config, plans)
    return plans


def _check_prompt_differs(plan: Plan, others: Sequence[Plan]) -> None:
    """Raise ConfigError for a prompt that would be asked twice under two names."""
    for other in others:
        names = {name: getattr(other.config, name) for name in ("prompt", "prompt_name")}
        if (
            all([*names.values(), plan.config.prompt_name])
            and plan.config.model_copy(update=names) == other.config
            and plan.fields[PROMPT_TEMPLATE] == other.fields[PROMPT_TEMPLATE]
        ):
            raise ConfigError(
                f"the prompts of {other.slot} and {plan.slot} are equal; leave one of them away"
            )


def _judge_called(label: str, fields: Mapping[str, Any]) -> list[Any]:
    """Return what an identity says of a judge."""
    entries = [*(fields.get("judge.panel") or ()), *(fields.get("judge.roles") or {}).values()]
    return [entry for entry in entries if entry["name"] == label]


def _check_requirements(benchmark: Benchmark) -> None:
    """Raise ConfigError for unmet requirements of a scorer, before answers are paid for."""
    problems = [
        check.problem
        for check in check_requirements(benchmark.requirements)
        if check.problem is not None
    ]
    if problems:
        raise ConfigError(f"{benchmark.name} cannot be scored here: {'; '.join(problems)}")


def _check_budget(config: RunConfig, plans: list[Plan]) -> None:
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


def judging_models(plans: Sequence[Plan]) -> list[ModelConfig]:
    """Return every model other than the evaluated one that the plans' scorers may ask."""
    panels = [plan.judge.panel for plan in plans if plan.judge is not None]
    return [
        *(member for panel in panels for member in panel),
        *(model for plan in plans for model in plan.model_roles.values()),
    ]


def _with_folder(benchmark: Benchmark, entry: BenchmarkConfig) -> BenchmarkConfig:
    """Return an entry whose dataset is a folder with its benchmark's arguments instead."""
    if entry.dataset is None or not Path(entry.dataset).is_dir():
        return entry
    arguments = benchmark.arguments_of_folder(str(Path(entry.dataset).resolve()))
    if arguments is None:
        return entry
    return entry.model_copy(update={"dataset": None, "args": {**entry.args, **arguments}})


def _with_entry(benchmark: Benchmark, entry: BenchmarkConfig) -> Benchmark:
    benchmark = benchmark.with_arguments(entry.args)
    if entry.response_field is not None:
        benchmark = replace(benchmark, response_field=entry.response_field)
    if entry.num_fewshot is not None:
        benchmark = replace(benchmark, num_fewshot=entry.num_fewshot)
    if entry.scorer is not None:
        scorer = find_scorer(entry.scorer)
        benchmark = replace(benchmark, scorer=scorer, languages=_languages_of(scorer), judge=None)
    if entry.rule is not None:
        benchmark = replace(
            benchmark, scorer=with_rule(benchmark.name, benchmark.scorer, entry.rule)
        )
    return with_answer_form(benchmark, entry)


def _with_generation(
    config: RunConfig, entry: BenchmarkConfig, benchmark: Benchmark
) -> BenchmarkConfig:
    """Return the entry with the benchmark's generation settings that nothing else sets."""
    settings = config.generation_of(entry).model_dump()
    own = {
        name: value for name, value in benchmark.generation.items() if settings[name] in (None, {})
    }
    if not own:
        return entry
    entry_fields = entry.generation.model_dump(exclude_defaults=True)
    generation = GenerationConfig.model_validate({**entry_fields, **own})
    return entry.model_copy(update={"generation": generation})


def _languages_of(scorer: Any) -> tuple[str, ...]:
    """Return the languages in which a scorer declares to run programs."""
    if not getattr(getattr(scorer, "func", scorer), "needs_sandbox", False):
        return ()
    return (str(getattr(scorer, "keywords", {}).get("language") or "python"),)


def _check_combination(config: RunConfig, entry: BenchmarkConfig, benchmark: Benchmark) -> None:
    """Raise ConfigError where settings of a run exclude each other for a benchmark."""
    eval_only = benchmark.response_field is not None
    if not eval_only and config.endpoint is None:
        raise ConfigError(
            f"{benchmark.name} needs an endpoint; give --model-url and --model-id, "
            "or score recorded answers with -O benchmarks.0.response_field=FIELD"
        )
    if config.stop.when and entry.repeat_check is not None:
        raise ConfigError(
            "--repeat-check may draw what --stop-when leaves out; check repeatability in a run of"
            " its own"
        )
    if config.stop.when and entry.sample is not None:
        raise ConfigError(
            "--stop-when asks all questions of the benchmark in a random order until it is decided,"
            " and --sample draws some before; leave one of them away"
        )
    if entry.sample is not None and benchmark.without_limit() is not benchmark:
        raise ConfigError(
            f"--sample draws from all rows of {benchmark.name}, and args.limit takes the first of"
            " each subset; leave one of them away"
        )
    check_shard(config, entry)
    if eval_only and entry.repeat_check is not None:
        raise ConfigError(
            f"{benchmark.name} scores recorded answers, so nothing can be asked twice; leave"
            " --repeat-check away"
        )


def _plan(
    config: RunConfig, entry: BenchmarkConfig, benchmark: Benchmark, slot: str, resuming: bool
) -> Plan:
    _check_combination(config, entry, benchmark)
    eval_only = benchmark.response_field is not None
    benchmark = in_sandbox(benchmark, config.sandbox)
    benchmark, judge, roles = with_judges(config, entry, benchmark)
    check_judge(config, benchmark, judge, roles)
    asked = protocol_asked(config, benchmark)
    protocol = protocol_of(benchmark, asked)
    statistics = choose_statistics(
        benchmark.scorer,
        metrics=entry.metrics,
        reducers=entry.reducers or benchmark.reducers,
        repeats=entry.repeats,
    )
    benchmark, dataset, unreadable, notes = _with_rows(entry, benchmark, resuming)
    settings = config.generation_of(entry)
    generation = Generation(
        **settings.model_dump(exclude={"stop", "extra"}),
        stop=None if settings.stop is None else tuple(settings.stop),
        extra=settings.extra,
    )
    check_protocols(benchmark, protocol, generation, judge, roles.values())
    solver, limits = solver_of(entry, benchmark, protocol)
    benchmark = with_agent(benchmark, solver)
    return Plan(
        slot=slot,
        benchmark=benchmark,
        config=entry,
        statistics=statistics,
        dataset=dataset,
        unreadable=unreadable,
        generation=generation,
        model=None if eval_only or config.endpoint is None else config.endpoint.model,
        protocol=protocol,
        fields={
            "benchmark": benchmark.name,
            "scorer.rules": scorer_digest(benchmark),
            **_prompt_fields(entry, benchmark),
            **_fewshot_fields(benchmark, eval_only=eval_only),
            **settings_fields(config, entry, eval_only=eval_only, protocol=asked),
            **sandbox_fields(config, benchmark.languages),
            **broken_tests_fields(benchmark.languages),
            **stop_fields(config, entry),
            **sample_fields(entry),
            **shard_fields(config),
            **judge_identity(judge, roles),
            **solver_fields(benchmark, solver, limits),
        },
        unseen=unseen_dependencies(benchmark),
        notes=(*notes, *_variable_notes(benchmark)),
        judge=judge,
        model_roles=roles,
        solver=solver,
        limits=limits,
    )


def _prompt_fields(entry: BenchmarkConfig, benchmark: Benchmark) -> dict[str, object]:
    """Return what of the prompt belongs to the identity beside the rows that it is made of."""
    fields: dict[str, object] = {}
    if benchmark.loglikelihood:
        fields["loglikelihood"] = {"delimiter": benchmark.target_delimiter}
    if entry.prompt:
        fields[PROMPT_TEMPLATE] = portable_text(load_template(entry.prompt[0]))
    return fields


def _variable_notes(benchmark: Benchmark) -> Iterator[str]:
    """Yield the note of variables that a scorer or a tool may take for unset."""
    if names := withheld_variables(benchmark, tool_code(benchmark)):
        quoted = ", ".join(f'"{name}"' for name in names)
        yield (
            f"{benchmark.name}: its files read {', '.join(names)}, set here and not passed on to"
            f" its scorer and tools; declare env=[{quoted}] where one of them reads it"
        )


def _with_rows(
    entry: BenchmarkConfig, benchmark: Benchmark, resuming: bool
) -> tuple[Benchmark, Dataset, str | None, tuple[str, ...]]:
    """Return the benchmark with what it takes from its rows: the run's own prompt, the kind of its
    gold answers, its examples; the dataset, why that is unreadable, and notes.
    """
    dataset, unreadable = _open(entry, benchmark, resuming)
    notes = []
    if entry.prompt and unreadable is None:
        benchmark = with_prompt(benchmark, entry.prompt[0], dataset.read())
        notes.append(f"{benchmark.name} is asked by the run's own prompt, not by the benchmark's")
    elif unreadable is None and not resuming:
        check_prompt(benchmark, dataset.read())
    benchmark = with_gold_kind(benchmark.with_images_below(dataset.folder), dataset)
    benchmark, note, unreadable = _with_examples(entry, benchmark, unreadable, resuming)
    return benchmark, dataset, unreadable, (*notes, *([note] if note else []))


def check_shard(config: RunConfig, entry: BenchmarkConfig) -> None:
    """Raise ConfigError for options that need a whole benchmark, where a run is a shard."""
    if config.shard is not None and config.stop.when:
        raise ConfigError(
            "--stop-when looks at all questions in one random order, and a shard asks only its own;"
            " leave one of --shard and --stop-when away"
        )
    if config.shard is not None and entry.repeat_check is not None:
        raise ConfigError(
            "--repeat-check draws from all problems, and a shard asks only its own; check"
            " repeatability in a run of its own"
        )


def benchmark_to_score(config: RunConfig, named: BenchmarkConfig) -> Benchmark:
    """Return a benchmark of a run as far as scoring needs it: its rows and examples are not read.

    Raises:
        NelError: It is not installed here, or cannot be built.
    """
    return with_judges(config, named, _with_entry(find_benchmark(named.name), named))[0]


def _with_examples(
    entry: BenchmarkConfig, benchmark: Benchmark, unreadable: str | None, resuming: bool
) -> tuple[Benchmark, str | None, str | None]:
    """Return the benchmark with its few-shot examples, a note, and why none could be read."""
    if unreadable is not None:
        return benchmark, None, unreadable
    try:
        with_them, note = bind_examples(
            benchmark, dataset=entry.dataset, examples=entry.fewshot_dataset
        )
    except DatasetError as error:
        if not resuming:
            raise
        return benchmark, None, str(error)
    return with_them, note, None


def _fewshot_fields(benchmark: Benchmark, *, eval_only: bool) -> dict[str, Any]:
    """Return how examples are chosen; their text is covered by the digest of the prompts."""
    if eval_only or not benchmark.num_fewshot:
        return {}
    sampler = benchmark.fewshot.sampler
    seeded = {"fewshot.seed": benchmark.fewshot.seed} if sampler == "seeded" else {}
    return {"num_fewshot": benchmark.num_fewshot, "fewshot.sampler": sampler, **seeded}


def _open(
    entry: BenchmarkConfig, benchmark: Benchmark, resuming: bool
) -> tuple[Dataset, str | None]:
    source, base_dir = benchmark.source(entry.dataset)
    try:
        return open_dataset(source, base_dir=base_dir), None
    except DatasetError as error:
        if not resuming:
            raise
        return Dataset(uri=str(source), revision=None, unit="row", read=lambda: iter(())), str(
            error
        )
