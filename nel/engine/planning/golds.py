"""What the gold answers of a benchmark are, asked of its rows before anything is sent.

A gold answer that reads two ways, such as ``B`` among blood groups, is what all of the dataset are.
Depends on `nel.scoring.gold_choices` for the ways in which one can be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final, get_args

from nel.authoring.benchmark import Benchmark
from nel.datasets.source import Dataset
from nel.errors import DatasetError, NelError
from nel.scoring.gold_choices import choices_of, gold_kinds
from nel.scoring.golds import unusable_gold
from nel.types import GoldKind, Sample, ScorerInput

ROWS_READ: Final = 50_000
"""Rows whose gold answers are compared; a few seconds at most."""


def with_gold_kind(benchmark: Benchmark, dataset: Dataset) -> Benchmark:
    """Return a benchmark that knows what those of its gold answers are that read two ways.

    They are labels where all gold answers are, and else the one thing that all are; without one
    they are bad rows.
    """
    if (
        type(benchmark) is not Benchmark and not benchmark.choices
    ):  # bridges and adapters, whose golds are labels
        return benchmark
    bare = replace(benchmark, num_fewshot=0, images_field=None)
    common: set[GoldKind] = set(get_args(GoldKind))
    is_needed = False
    for target, kinds, is_ambiguous in _golds(bare, dataset):
        is_needed = is_needed or is_ambiguous
        common &= kinds
        if not common or isinstance(target, int):
            break
    if not is_needed:
        return benchmark
    kind = "label" if "label" in common else next(iter(common)) if len(common) == 1 else None
    return replace(benchmark, gold_kind=kind)


def _golds(benchmark: Benchmark, dataset: Dataset) -> Iterator[tuple[object, set[GoldKind], bool]]:
    """Yield each gold answer that names a choice, in which ways, and whether they differ.

    Yields none where samples have no choices.
    """
    try:
        for row in islice(dataset.read(), ROWS_READ):
            try:
                sample = benchmark.sample(row.data, sample_id="")
            except (NelError, ValueError):  # the run reports it
                continue
            scorer_input = ScorerInput(
                response="", target=sample.target, metadata=dict(sample.metadata), sample=sample
            )
            if not choices_of(scorer_input):
                return
            kinds, is_ambiguous = gold_kinds(scorer_input)
            if kinds:
                yield sample.target, kinds, is_ambiguous
    except DatasetError:  # the run reports it when it comes to that row
        return


def gold_fault(benchmark: Benchmark, sample: Sample) -> str | None:
    """Return why a sample's gold answer decides nothing for its scorer; None where it does."""
    return unusable_gold(
        benchmark.scorer,
        sample,
        per_turn=not benchmark.scores_conversation,
        judges_by_reference=benchmark.judges_by_reference,
    )
