"""What the gold answers of a benchmark are, asked of its rows before anything is sent.

A gold answer that reads two ways, such as ``B`` among blood groups, is what all of the dataset are.
Depends on `nel.scoring.gold_choices` for the ways in which one can be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, get_args

from nel.authoring.benchmark import Benchmark
from nel.datasets.source import Dataset
from nel.errors import DatasetError, NelError
from nel.scoring.gold_choices import choices_of, gold_kinds, gold_number
from nel.scoring.golds import ListedGolds
from nel.types import GoldKind, ScorerInput

ROWS_READ: Final = 50_000
"""Rows whose gold answers are compared; a few seconds at most."""
FIRST_ROWS: Final = 5
"""Rows whose gold answers are looked at by themselves."""


def with_gold_kind(benchmark: Benchmark, dataset: Dataset) -> Benchmark:
    """Return a benchmark that knows what those of its gold answers are that read two ways.

    They are labels where all gold answers are, and else the one thing that all are; without one
    they are bad rows.

    Raises:
        DatasetError: They number the choices from 1.
    """
    # Bridges and adapters have labels as gold answers.
    if type(benchmark) is not Benchmark and not benchmark.choices:
        return benchmark
    bare = _without_examples(benchmark)
    common: set[GoldKind] = set(get_args(GoldKind))
    is_needed = has_zero = False
    beyond_last: _Gold | None = None
    for gold in _golds(bare, dataset):
        has_zero = has_zero or gold.number == 0
        if not gold.kinds:
            beyond_last = beyond_last or (gold if gold.number == gold.n_choices else None)
            continue
        is_needed = is_needed or gold.is_ambiguous
        common &= gold.kinds
        if not common:
            break
        # A 0 among numbers of choices: they are counted from 0, as nel counts.
        if common == {"index"} and has_zero:
            is_needed = True
            break
    if common == {"index"} and beyond_last is not None and not has_zero:
        raise _numbered_from_one(beyond_last)
    if not is_needed:
        return benchmark
    kind: GoldKind | None = None
    if "label" in common:
        kind = "label"
    elif len(common) == 1:
        (kind,) = common
    return replace(benchmark, gold_kind=kind)


@dataclass(frozen=True, slots=True)
class _Gold:
    place: str
    kinds: set[GoldKind]
    """Empty where it names no choice."""
    is_ambiguous: bool
    """Its kinds name different choices."""
    number: int | None
    n_choices: int


def _golds(benchmark: Benchmark, dataset: Dataset) -> Iterator[_Gold]:
    try:
        for row in islice(dataset.read(), ROWS_READ):
            try:
                sample = benchmark.sample(row.data, sample_id="")
            except (NelError, ValueError):  # the run reports it
                continue
            scorer_input = ScorerInput(
                response="", target=sample.target, metadata=dict(sample.metadata), sample=sample
            )
            choices = choices_of(scorer_input)
            if not choices:
                return
            kinds, is_ambiguous = gold_kinds(scorer_input)
            yield _Gold(
                f"{dataset.unit} {row.number}",
                kinds,
                is_ambiguous,
                gold_number(sample.target),
                len(choices),
            )
    except DatasetError:  # the run reports it when it comes to that row
        return


def _numbered_from_one(gold: _Gold) -> DatasetError:
    """Return the fault of golds from 1 to n; counted from 0, each would name the next choice."""
    return DatasetError(
        f"{gold.place}: the gold answer is {gold.number} of {gold.n_choices} choices and no row has"
        " 0, so the choices seem to be numbered from 1, and nel counts from 0; give letters or texts"
        " of choices, or subtract 1 in prepare_row"
    )


def gold_caution(benchmark: Benchmark, dataset: Dataset) -> str | None:
    """Return what to look at in the gold answers of the first rows before they are asked."""
    if type(benchmark) is not Benchmark:  # bridges and adapters make lists by themselves
        return None
    golds, bare = ListedGolds(), _without_examples(benchmark)
    with suppress(NelError, ValueError):  # the run reports it
        for row in islice(dataset.read(), FIRST_ROWS):
            golds.add(bare.sample(row.data, sample_id="").target)
    return golds.caution()


def _without_examples(benchmark: Benchmark) -> Benchmark:
    """Return a benchmark whose samples are made of their row alone."""
    return replace(benchmark, num_fewshot=0, images_field=None)
