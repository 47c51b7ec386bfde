"""Describes a benchmark for people: source of its rows, prompt, scorer and one rendered request.

Depends on the plan of a run for nothing but how a request is built: no run is started and nothing
is sent.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot_loading import bind_examples
from nel.authoring.preparing import SeededBenchmark
from nel.authoring.statistics_names import choose_statistics
from nel.datasets.source import open_dataset
from nel.episodes.solvers.generate import build_request
from nel.errors import DatasetError, PromptError
from nel.models.wire.registry import build_body
from nel.prompts import Template
from nel.types import Generation, JsonObject, Protocol, Sample

MODEL_SHOWN: Final = "MODEL"
"""Stands for the model's name in an example without an endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One line of a description."""

    name: str
    """``dataset``, ``licence``, ``official metric`` …"""
    text: str
    is_code: bool = False
    """Whether the text is a name or an address that is typed as it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One row of a benchmark as it is asked."""

    row: int
    """Its number in the dataset, from 1 or as the source counts."""
    request: JsonObject | None
    """The JSON body of its first request; None where recorded responses are scored."""
    target: str
    """The gold answer."""
    further_turns: tuple[str, ...] = ()
    """What the user says after each answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What there is to know of a benchmark before it is run."""

    name: str
    description: str
    facts: tuple[Fact, ...]
    prompt: str | None
    """The template with the names of its fields; None where each row brings its messages."""
    scoring: str
    """The rule of its scorer, in a sentence."""
    metrics: tuple[str, ...]
    """Names of the metrics that it declares beside the mean reward."""


def describe(benchmark: Benchmark) -> Description:
    """Return what a benchmark says of itself; no dataset is read."""
    return Description(
        name=benchmark.name,
        description=benchmark.description,
        facts=facts_of(benchmark),
        prompt=prompt_of(benchmark),
        scoring=rule_of(benchmark),
        metrics=metrics_of(benchmark),
    )


def example_of(benchmark: Benchmark, *, dataset: str | None = None, row: int = 1) -> Example:
    """Return one row of a benchmark as it would be asked; nothing is sent.

    Args:
        benchmark: With the settings that it has of its own.
        dataset: Read instead of the benchmark's own.
        row: Which row, from 1.

    Raises:
        DatasetError: The dataset cannot be read, or has fewer rows.
        PromptError: The prompt names a field that the row does not have.
    """
    source, base_dir = benchmark.source(dataset)
    opened = open_dataset(source, base_dir=base_dir)
    bound, _ = bind_examples(benchmark.with_images_below(opened.folder), dataset=dataset)
    row_found = next(islice(bound.select(opened.read()), row - 1, None), None)
    if row_found is None:
        raise DatasetError(f"{opened.uri} has fewer than {row:,} rows")
    try:
        sample = bound.sample(row_found.data, sample_id="")
    except (DatasetError, PromptError) as error:
        raise type(error)(f"{opened.uri}, {opened.unit} {row_found.number}: {error}") from error
    settings = {
        key: value
        for key, value in bound.generation.items()
        if key in Generation.__dataclass_fields__
    }
    protocol, generation = bound.protocol or "chat", Generation(**settings)
    return Example(
        row=row_found.number,
        request=first_request(
            bound, sample, model=MODEL_SHOWN, protocol=protocol, generation=generation
        ),
        target=_target_text(sample),
        further_turns=sample.turns,
    )


def first_request(
    benchmark: Benchmark,
    sample: Sample,
    *,
    model: str,
    protocol: Protocol,
    generation: Generation,
    system_prompt: str | None = None,
    stream: bool = False,
) -> JsonObject | None:
    """Return the JSON body of a sample's first request; None where responses are recorded."""
    if benchmark.response_field is not None:
        return None
    if benchmark.loglikelihood:
        from nel.engine.asking.loglikelihood import (  # noqa: PLC0415 - few benchmarks rank choices
            first_choice_body,
        )

        return first_choice_body(
            sample, model=model, delimiter=benchmark.target_delimiter, generation=generation
        )
    request = build_request(
        sample,
        repeat=0,
        model=model,
        protocol=protocol,
        generation=generation,
        system_prompt=system_prompt,
    )
    if benchmark.tools or benchmark.environment:
        from nel.tools import tools_of  # noqa: PLC0415 - few benchmarks have tools

        tools = (*benchmark.tools, *tools_of(benchmark.environment))
        request = replace(request, tools=tuple(tool.as_json() for tool in tools))
    return build_body(request, stream=stream)


def facts_of(benchmark: Benchmark) -> tuple[Fact, ...]:
    """Return facts of a benchmark: its rows, how it is asked, and the origin on its card."""
    id_field, category = benchmark.id_field, benchmark.category_field
    return (
        _dataset(benchmark),
        Fact(
            name="target field",
            text=benchmark.target_field or "none",
            is_code=benchmark.has_gold_answers,
        ),
        Fact(name="sample id", text=f"field {id_field}" if id_field else "content hash"),
        Fact(name="breakdown", text=f"field {category}" if category else "none"),
        *_asking_facts(benchmark),
        *_card(benchmark),
    )


def prompt_of(benchmark: Benchmark) -> str | None:
    """Return a prompt's template with what precedes it and its number of examples.

    None where each row brings its own messages.
    """
    if isinstance(benchmark, SeededBenchmark):
        return None
    before = "" if benchmark.preamble is None else _with_names(benchmark.preamble)
    shots = f"[{benchmark.num_fewshot} solved examples]\n\n" if benchmark.num_fewshot else ""
    return f"{before}{shots}{_with_names(benchmark.prompt)}"


def rule_of(benchmark: Benchmark) -> str:
    """Return the first paragraph of the scorer's documentation; empty where it has none."""
    wrapped = getattr(benchmark.scorer, "__wrapped__", benchmark.scorer)
    return inspect.cleandoc(wrapped.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def metrics_of(benchmark: Benchmark) -> tuple[str, ...]:
    """Return the names of the metrics that a benchmark declares beside the mean reward, sorted."""
    statistics = choose_statistics(
        benchmark.scorer, metrics=(), reducers=benchmark.reducers, repeats=1
    )
    return tuple(
        dict.fromkeys(
            sorted(
                str(getattr(metric, "name", metric))
                for key, metric in statistics.metrics
                if not key
            )
        )
    )


def _target_text(sample: Sample) -> str:
    target = sample.target
    if target is None:
        return "none"
    if isinstance(target, int) and sample.choices and 0 <= target < len(sample.choices):
        return f"{target} ({sample.choices[target]})"
    if isinstance(target, (list, tuple)):
        return " | ".join(str(value) for value in target)
    return str(target)


def _dataset(benchmark: Benchmark) -> Fact:
    if isinstance(benchmark.dataset, str):
        return Fact(name="dataset", text=benchmark.dataset, is_code=True)
    card = benchmark.card
    if card is None:
        return Fact(name="dataset", text="rows of a function")
    if not card.homepage:
        return Fact(name="dataset", text="given with --dataset")
    return Fact(
        name="dataset", text=f"rows made by nel from {card.homepage}, revision {card.revision}"
    )


def _with_names(template: Template) -> str:
    """Return the prompt with the name of each field in place of its value."""
    try:
        return template.render({name: f"{{{name}}}" for name in template.fields})
    except PromptError:  # it reaches into a field
        return template.text


def _asking_facts(benchmark: Benchmark) -> tuple[Fact, ...]:
    """Return facts on how a benchmark is asked, if not with plain prompts."""
    if not benchmark.loglikelihood:
        return ()
    settings = benchmark.fewshot
    source = f"split {settings.split}, {settings.sampler}" if settings.split else "its own rows"
    return (
        Fact(name="asks for", text="the log-likelihood of each choice"),
        Fact(name="examples", text=f"none; with --num-fewshot N: {source}"),
    )


def _card(benchmark: Benchmark) -> tuple[Fact, ...]:
    card = benchmark.card
    if card is None:
        return ()
    text = (
        Fact(name="official metric", text=card.metric, is_code=True),
        Fact(name="paper", text=card.paper),
        Fact(name="citation", text=card.citation),
        Fact(name="licence", text=card.licence),
        Fact(name="published at", text=card.homepage),
    )
    return tuple(fact for fact in text if fact.text)
