"""Looks at a benchmark before it is run or shipped: its rows, its prompt, its fields, its
requirements, its scorer.

Sends nothing. Each check says the fix, because its reader has the file open and not the
documentation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Final

from nel.authoring.benchmark import Benchmark
from nel.authoring.fewshot_loading import bind_examples
from nel.authoring.registry import benchmarks_in_file
from nel.authoring.requirements import check_requirements
from nel.authoring.smoke import Attempt, gold_attempts, odd_attempts
from nel.datasets import open_dataset
from nel.errors import DatasetError, NelError, PluginError, PromptError, did_you_mean
from nel.scoring.golds import unusable_gold
from nel.types import Sample

_FROM_CHOICES: Final = frozenset({"choices", "letters", "turn"})
"""What a prompt may name besides the row's own fields."""
_SAMPLES_SMOKED: Final = 3
_FIELDS_SHOWN_MAX: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    name: str
    passed: bool
    detail: str = ""
    """What was found, or what is wrong and how to fix it."""


@dataclass(slots=True)
class _Rows:
    """What reading a dataset once gave."""

    n_rows: int = 0
    fields: set[str] = field(default_factory=set)
    samples: list[Sample] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    unread: str | None = None


def validate_file(
    path: Path, wanted: str | None = None, *, dataset: str | None = None
) -> dict[str, list[Check]]:
    """Return the checks of each benchmark of a file, or of the one that is named.

    Args:
        dataset: Rows to look at instead of the benchmark's own; a path is relative to the working
            directory.

    Raises:
        PluginError: The file is missing, fails to run, or defines no benchmark of this name.
    """
    benchmarks = benchmarks_in_file(path)
    if wanted is not None and wanted not in benchmarks:
        raise PluginError(
            f'{path} defines no benchmark "{wanted}"{did_you_mean(wanted, benchmarks)}; it has'
            f" {', '.join(benchmarks)}"
        )
    if dataset is not None:
        benchmarks = {
            name: replace(benchmark, dataset=dataset, base_dir=Path.cwd())
            for name, benchmark in benchmarks.items()
        }
    return {
        name: validate(benchmark)
        for name, benchmark in benchmarks.items()
        if wanted in (None, name)
    }


def validate(benchmark: Benchmark) -> list[Check]:
    """Return the checks of a benchmark; all rows are read, and the first few are scored with
    made-up answers.
    """
    rows = _read(benchmark)
    checks = [_requirements(benchmark)] if benchmark.requirements else []
    if rows.unread is not None:
        return [*checks, Check(name="the dataset can be read", passed=False, detail=rows.unread)]
    source = benchmark.dataset if isinstance(benchmark.dataset, str) else "a function"
    checks.append(
        Check(
            name="the dataset can be read", passed=True, detail=f"{rows.n_rows:,} rows of {source}"
        )
    )
    checks.append(_prompt_fields(benchmark, rows))
    checks.append(_target_field(benchmark, rows))
    fault = (
        f"{rows.faults[0]} (and {len(rows.faults) - 1} more)"
        if len(rows.faults) > 1
        else "".join(rows.faults)
    )
    checks.append(Check(name="every row makes a sample", passed=not rows.faults, detail=fault))
    return [*checks, *_smoke(benchmark, rows.samples)] if rows.samples else checks


def _requirements(benchmark: Benchmark) -> Check:
    try:
        problems = [
            check.problem for check in check_requirements(benchmark.requirements) if check.problem
        ]
    except NelError as error:
        problems = [str(error)]
    detail = "; ".join(problems) or ", ".join(benchmark.requirements)
    return Check(name="the requirements are met", passed=not problems, detail=detail)


def _read(benchmark: Benchmark) -> _Rows:
    rows = _Rows()
    try:
        dataset = open_dataset(benchmark.dataset, base_dir=benchmark.base_dir)
        benchmark, _ = bind_examples(benchmark)
        for raw in dataset.read():
            rows.n_rows += 1
            try:
                rows.fields |= benchmark.prepared(raw.data).keys()
                sample = benchmark.sample(raw.data, sample_id=str(raw.number))
                fault = unusable_gold(
                    benchmark.scorer, sample, per_turn=not benchmark.scores_conversation
                )
                if fault is not None:
                    raise DatasetError(fault)
            except (DatasetError, PromptError, ValueError) as error:
                rows.faults.append(f"{dataset.unit} {raw.number}: {error}")
                continue
            if len(rows.samples) < _SAMPLES_SMOKED:
                rows.samples.append(sample)
    except NelError as error:
        rows.unread = str(error)
    return rows


def _prompt_fields(benchmark: Benchmark, rows: _Rows) -> Check:
    templates = [benchmark.prompt, *([benchmark.system_prompt] if benchmark.system_prompt else [])]
    named = {name for template in templates for name in template.fields}
    missing = sorted(named - rows.fields - _FROM_CHOICES)
    name = "the prompt's fields are in the dataset"
    if not missing or benchmark.response_field:
        return Check(name=name, passed=True, detail=", ".join(sorted(named)) or "it names none")
    if all(template.kind == "jinja" for template in templates) and rows.samples:
        return Check(name=name, passed=True, detail=f"{', '.join(missing)} is optional")
    wrong = "; ".join(
        f'no row has "{field_name}"{did_you_mean(field_name, rows.fields)}'
        for field_name in missing
    )
    return Check(
        name=name, passed=False, detail=f"{wrong}; the fields are {_name_list(rows.fields)}"
    )


def _target_field(benchmark: Benchmark, rows: _Rows) -> Check:
    name = "the target field is in the dataset"
    target = benchmark.target_field
    if not benchmark.has_gold_answers:
        return Check(name=name, passed=True, detail="none is needed: checks decide")
    if rows.samples or target in rows.fields or target.partition(".")[0] in rows.fields:
        return Check(name=name, passed=True, detail=target)
    hint = did_you_mean(target, rows.fields)
    return Check(
        name=name,
        passed=False,
        detail=f'no row has "{target}"{hint}; set target_field to one of {_name_list(rows.fields)}',
    )


def _smoke(benchmark: Benchmark, samples: list[Sample]) -> Iterator[Check]:
    if benchmark.languages:
        yield Check(
            name="the scorer gives scores",
            passed=True,
            detail="not tried: it runs programs in the sandbox",
        )
        return
    golds = [list(gold_attempts(benchmark, sample)) for sample in samples]
    odd = [trial for sample in samples for trial in odd_attempts(benchmark, sample)]
    tried = [trial for attempts in golds for trial in attempts] + odd
    if any(trial.needs_judge for trial in tried):
        yield Check(
            name="the scorer gives scores", passed=True, detail="not tried further: it asks a judge"
        )
        return
    failed = [trial for trial in tried if trial.problem]
    if failed:
        detail = f"for the answer {failed[0].response!r}: {failed[0].problem}"
        yield Check(name="the scorer gives scores", passed=False, detail=detail)
        return
    yield Check(
        name="the scorer gives scores",
        passed=True,
        detail=_example(max(tried, key=lambda trial: trial.reward or 0.0)),
    )
    if not benchmark.has_gold_answers:
        return
    yield _gold(golds, samples)
    credited = [trial for trial in odd if (trial.reward or 0.0) > 0 and not trial.response]
    yield Check(
        name="an empty answer scores 0",
        passed=not credited,
        detail=(
            f"it gave {credited[0].reward:g}; return False for an empty response"
            if credited
            else ""
        ),
    )


def _gold(golds: list[list[Attempt]], samples: list[Sample]) -> Check:
    missed = [
        sample
        for sample, attempts in zip(samples, golds, strict=True)
        if not any((trial.reward or 0.0) >= 1.0 for trial in attempts)
    ]
    if not missed:
        return Check(
            name="a gold answer scores 1", passed=True, detail=f"{len(samples)} samples tried"
        )
    return Check(
        name="a gold answer scores 1",
        passed=False,
        detail=(
            f"row {missed[0].id}: no phrasing of {missed[0].target!r} got full marks; compare what"
            " the scorer looks for with the target field"
        ),
    )


def _example(trial: Attempt) -> str:
    returned: object = (
        dict(trial.returned) if isinstance(trial.returned, Mapping) else trial.returned
    )
    return f"{trial.response!r} gives {returned}"


def _name_list(names: set[str]) -> str:
    return ", ".join(islice(sorted(names), _FIELDS_SHOWN_MAX)) or "none"
