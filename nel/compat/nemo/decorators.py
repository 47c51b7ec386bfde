"""`@benchmark` and `@scorer` as NeMo Evaluator has them, for files that are loaded under its names.

They are those of `nel.byob` but for this: what `@benchmark` does not know goes to the scorer's
configuration, a column that a row does not have is not renamed, and in ``nemo_evaluator.benchmark``
a renamed one keeps its old name beside the new one, as there. A scorer that makes 0 of a judge's
fault, as its own `judge_score` does, leaves its sample unscored. Some of its versions hand every
target to the scorer as text, others as the dataset has it.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, wraps
from typing import Any, Final, TypeAlias

from nel.authoring.benchmark import Benchmark
from nel.authoring.decorators import BenchmarkOptions
from nel.authoring.decorators import benchmark as nel_benchmark
from nel.authoring.judge_settings import JUDGE_KEY
from nel.authoring.lent_names import DEFINED
from nel.authoring.preparing import row_function
from nel.compat.nemo.forms import OF_SAMPLE
from nel.compat.nemo.judge import JudgeConfig
from nel.errors import JudgeError
from nel.scoring.declarations import is_async
from nel.scoring.protocol import as_scorer, await_result, scoring
from nel.types import Scorer, ScorerInput

__all__ = ["benchmark", "benchmark_of_text"]

_KNOWN = {*inspect.signature(nel_benchmark).parameters, *BenchmarkOptions.__annotations__} - {
    "options",
    "turns_field",
}
_FAULTS: Final = ("CALL_ERROR", "PARSE_ERROR", "NO_CONFIG")
"""What NeMo Evaluator gives for a grade where there is none."""
PrepareRow: TypeAlias = Callable[..., dict[str, Any]]


def _decorator(*, as_text: bool) -> Callable[..., Callable[[Scorer], Benchmark]]:
    def benchmark(
        name: str,
        dataset: object,
        prompt: str = "",
        target_field: str = "target",
        endpoint_type: str = "chat",
        **options: object,
    ) -> Callable[[Scorer], Benchmark]:
        fixed = {"name": name, "dataset": dataset, "prompt": prompt, "target_field": target_field}
        return _benchmark({**fixed, "endpoint_type": endpoint_type, **options}, as_text=as_text)

    return benchmark


def _benchmark(options: Mapping[str, Any], *, as_text: bool) -> Callable[[Scorer], Benchmark]:
    arguments = {
        key: value for key, value in options.items() if key in _KNOWN and value is not None
    }
    mapping = arguments.pop("field_mapping", None)
    prepare = arguments.pop("prepare_row", None)
    settings = {key: value for key, value in options.items() if key not in _KNOWN}
    settings |= arguments.pop("extra", None) or {}
    config = {key: _as_mapping(value) for key, value in settings.items()}
    judges = [
        value
        for key, value in config.items()
        if JUDGE_KEY.fullmatch(key) and isinstance(value, Mapping)
    ]
    if judges:
        arguments.setdefault("judge", judges[0])
    if prepare is not None:
        prepare = row_function(prepare, "prepare_row")
    if mapping or prepare:
        arguments["prepare_row"] = _renaming(dict(mapping or {}), prepare, keeps_old=as_text)
    decorate = nel_benchmark(**arguments, extra=config)  # what it does not know, for the scorer

    def define(function: Scorer) -> Benchmark:
        benchmark = decorate(_as_it_expects(as_scorer(function), as_text=as_text))
        defined = DEFINED.get()
        if defined is not None:
            defined.append(benchmark)
        return benchmark

    return define


benchmark = _decorator(as_text=False)
"""Turns the scorer below into a benchmark, and its target into text where the scorer needs that."""
benchmark_of_text = _decorator(as_text=True)
"""As ``nemo_evaluator.benchmark``: the same with targets that are all text."""


def _renaming(
    mapping: Mapping[str, str], prepare: PrepareRow | None, *, keeps_old: bool
) -> PrepareRow:
    """Return a function that renames columns; where `keeps_old`, each has its old name too."""

    def rename(row: dict[str, object]) -> dict[str, object]:
        renamed = {key: value for key, value in row.items() if keeps_old or key not in mapping}
        for column, name in mapping.items():
            if column in row:
                renamed[name] = row[column]
        return renamed if prepare is None else prepare(renamed)

    return rename


def _as_it_expects(scorer: Scorer, *, as_text: bool) -> Scorer:
    """Return a scorer that is called as NeMo Evaluator calls it.

    One that looks for an attribute of text on a target that is not text, as BoolQ's does, is called
    again with the target as text.
    """

    @wraps(scorer)
    def call(sample: ScorerInput) -> Any:
        attempt = _first_attempt(sample, as_text=as_text)
        try:
            return _check_grade(_score_sample(scorer, attempt))
        except AttributeError as error:
            return _check_grade(_score_sample(scorer, _with_text(attempt, error)))

    @wraps(scorer)
    async def call_async(sample: ScorerInput) -> Any:
        attempt = _first_attempt(sample, as_text=as_text)
        try:
            return _check_grade(await _scored_later(scorer, attempt))
        except AttributeError as error:
            return _check_grade(await _scored_later(scorer, _with_text(attempt, error)))

    expecting = call_async if is_async(scorer) else call
    vars(expecting)["__signature__"] = OF_SAMPLE
    return expecting


def _first_attempt(sample: ScorerInput, *, as_text: bool) -> ScorerInput:
    ask = sample.model_call_fn
    if ask is not None:
        ask = partial(_ask_model, ask)
    return replace(
        sample, target=str(sample.target) if as_text else sample.target, model_call_fn=ask
    )


def _with_text(sample: ScorerInput, error: AttributeError) -> ScorerInput:
    """Return a sample with its target as text; raise the error where that is not what it is
    about.
    """
    if isinstance(sample.target, str) or error.obj is not sample.target:
        raise error
    return replace(sample, target=str(sample.target))


def _ask_model(
    ask: Callable[..., Any], prompt: object, _endpoint_type: str | None = None, **options: object
) -> Any:
    """Ask the model as ``(prompt, endpoint_type)``, the second of which the run already knows."""
    return ask(prompt, **options)


def _score_sample(scorer: Scorer, sample: ScorerInput) -> Any:
    with scoring(scorer, sample):
        return scorer(sample)


async def _scored_later(scorer: Scorer, sample: ScorerInput) -> Any:
    with scoring(scorer, sample):
        return await await_result(scorer(sample))


def _as_mapping(value: object) -> object:
    """Return a judge's configuration as a mapping, anything else as it is."""
    return dataclasses.asdict(value) if isinstance(value, JudgeConfig) else value


def _check_grade(result: object) -> Any:
    """Return a result whose grade is one.

    Raises:
        JudgeError: The scorer could make nothing of what the judge said, and counts it 0.
    """
    grade = result.get("judge_grade") if isinstance(result, Mapping) else None
    if grade in _FAULTS:
        raise JudgeError(
            f"the scorer could not read the judge's reply ({grade})", kind="no_verdict"
        )
    return result
