"""Reads the few-shot examples of a benchmark and binds them to it, before anything is sent.

A benchmark that names no source of examples takes them from the rows it is measured on, a sample
itself left out; that is noted, since a model that saw those rows is measured on them all the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot import rows_needed
from nel.datasets.fewshot import open_examples, read_examples
from nel.datasets.source import open_dataset
from nel.errors import ConfigError


def bind_examples(
    benchmark: Benchmark, *, dataset: str | None = None, examples: str | None = None
) -> tuple[Benchmark, str | None]:
    """Return the benchmark with its examples bound, and a note where they come from the evaluated
    rows, or where reading their file left something out.

    Args:
        benchmark: One that asks with examples; any other comes back as it is.
        dataset: What the run replaces the benchmark's dataset with.
        examples: What the run replaces its source of examples with.

    Raises:
        ConfigError: The benchmark has no place for them.
        DatasetError: They cannot be read, are too few, or one has no target.
        PromptError: One lacks a field that the prompt names.
    """
    settings = benchmark.fewshot
    if benchmark.num_fewshot == 0 or benchmark.response_field is not None:
        return benchmark, None
    if benchmark.places_no_shots:
        raise ConfigError(f"{benchmark.name}: {benchmark.places_no_shots}")
    source: Any = examples or settings.dataset
    split = None if examples else settings.split
    base_dir: Path | None = None if examples else benchmark.base_dir
    holds_samples = source is None and split is None
    if source is None:
        source, base_dir = benchmark.source(dataset)
    opened = open_examples(source, split, base_dir=base_dir)
    # A split may be named that is the very one the samples come from.
    if split is not None and opened.fingerprint is not None:
        samples, samples_dir = benchmark.source(dataset)
        holds_samples = (
            open_dataset(samples, base_dir=samples_dir).fingerprint == opened.fingerprint
        )
    value_of = prompt_of = None
    if settings.match_field and settings.sampler != "fixed":
        value_of = benchmark.example_value
    # Only rows of different prompts count: a sample that occurs twice is not an example of itself.
    if settings.sampler == "first":
        prompt_of = benchmark.example_prompt
    rows = read_examples(
        opened,
        rows_needed(settings, benchmark.num_fewshot),
        is_example=benchmark.is_example,
        value_of=value_of,
        prompt_of=prompt_of,
    )
    bound = benchmark.with_shots(
        rows, source=opened.uri, unit=opened.unit, holds_samples=holds_samples
    )
    if not holds_samples:
        return bound, "; ".join(opened.notes) or None
    note = (
        f"{benchmark.name}: its few-shot examples are rows of {opened.uri} itself, never the"
        " sample's own; name others with --fewshot-dataset"
    )
    return bound, note
