"""Resolves configuration and plugins into plans. That is done before anything is sent, so every
problem with a benchmark, a dataset or a prompt is raised here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from nel import plugins
from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot_loading import bind_examples
from nel.authoring.prompt_check import check_prompt, with_prompt
from nel.authoring.registry import find_benchmark, find_members
from nel.authoring.scorer_names import find_scorer
from nel.authoring.statistics_names import choose_statistics
from nel.config.identity import (
    PROMPT_TEMPLATE,
    sample_fields,
    sandbox_fields,
    settings_fields,
    shard_fields,
    stop_fields,
)
from nel.config.schema import AggregateConfig, BenchmarkConfig, GenerationConfig, RunConfig
from nel.datasets.source import Dataset, open_dataset
from nel.engine.planning.golds import gold_caution, with_gold_kind
from nel.engine.planning.plan import Plan
from nel.engine.planning.plan_checks import (
    check_budget,
    check_combination,
    check_fulfilled,
    check_limits,
    check_prompt_differs,
)
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
from nel.errors import ConfigError, DatasetError
from nel.metrics.accumulator import free_name
from nel.prompts import load_template, portable_text
from nel.scoring.broken_tests import broken_tests_fields
from nel.types import Generation


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
            check_fulfilled(benchmark)
            entry = _with_generation(config, named, benchmark)
            parts = (benchmark.name, entry.prompt_name)
            slot = free_name("@".join(filter(None, parts)), {plan.slot for plan in plans})
            plan = _plan(config, entry, benchmark, slot, resuming)
        check_prompt_differs(plan, plans)
        notes_all = [
            *dict.fromkeys(notes),
            *plan.notes,
            *protocol_notes(plan.benchmark, plan.protocol),
        ]
        if not (resuming or plan.eval_only):
            asked = config.generation_of(named).max_tokens
            notes_all += short_limit_notes(asked, plan.generation.max_tokens)
        plans.append(replace(plan, notes=tuple(notes_all)))
    check_limits(plans)
    check_budget(config, plans)
    return plans


def benchmark_to_score(config: RunConfig, named: BenchmarkConfig) -> Benchmark:
    """Return a benchmark of a run as far as scoring needs it: its rows and examples are not read.

    Raises:
        NelError: It is not installed here, or cannot be built.
    """
    return with_judges(config, named, _with_entry(find_benchmark(named.name), named))[0]


def _plan(
    config: RunConfig, entry: BenchmarkConfig, benchmark: Benchmark, slot: str, resuming: bool
) -> Plan:
    check_combination(config, entry, benchmark)
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
    if not getattr(getattr(scorer, "func", scorer), "needs_sandbox", False):
        return ()
    return (str(getattr(scorer, "keywords", {}).get("language") or "python"),)


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
    if caution := gold_caution(benchmark, dataset):
        notes.append(f"{benchmark.name}: {caution}")
    benchmark, note, unreadable = _with_examples(entry, benchmark, unreadable, resuming)
    return benchmark, dataset, unreadable, (*notes, *([note] if note else []))


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
