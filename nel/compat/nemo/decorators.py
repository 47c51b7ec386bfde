"""`@benchmark` and `@scorer` as NeMo Evaluator has them, for files that are loaded under its names.

They are those of `nel.byob` but for this: what `@benchmark` does not know goes to the scorer's
configuration, a column that a row does not have is not renamed, and in ``nemo_evaluator.benchmark``
a renamed one keeps its old name beside the new one, as there. A scorer that makes 0 of a judge's
fault, as its own `judge_score` does, leaves its sample unscored. Some of its versions hand every
target to the scorer as text, others as the dataset has it.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import wraps
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
    decorate = nel_benchmark(**arguments, extra=config)

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
    """Return a scorer that is called as NeMo Evaluator calls it."""

    def attempts(sample: ScorerInput) -> list[ScorerInput]:
        # Both share the answers of the model, so that a second call asks nothing again.
        answers: dict[str, object] = {}
        ask = sample.model_call_fn
        original = replace(sample, model_call_fn=None if ask is None else _Ask(ask, answers))
        text = replace(
            original,
            target=str(sample.target),
            model_call_fn=None if ask is None else _Ask(ask, answers),
        )
        if as_text or isinstance(sample.target, str):
            return [text]
        return [original, text]

    # A scorer that looks for an attribute of text on the target is called again with text.
    @wraps(scorer)
    def call(sample: ScorerInput) -> Any:
        attempt, *again = attempts(sample)
        try:
            return _check_grade(_score_sample(scorer, attempt))
        except AttributeError as error:
            if not again or error.obj is not sample.target:
                raise
            return _check_grade(_score_sample(scorer, again[0]))

    @wraps(scorer)
    async def call_async(sample: ScorerInput) -> Any:
        attempt, *again = attempts(sample)
        try:
            return _check_grade(await _scored_later(scorer, attempt))
        except AttributeError as error:
            if not again or error.obj is not sample.target:
                raise
            return _check_grade(await _scored_later(scorer, again[0]))

    expecting = call_async if is_async(scorer) else call
    vars(expecting)["__signature__"] = OF_SAMPLE
    return expecting


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


class _Ask:
    """Asks the model as ``(prompt, endpoint_type)``, the second of which the run already knows.

    An answer to an earlier attempt at the same sample is not asked for again.
    """

    def __init__(self, ask: Callable[..., object], answers: dict[str, object]) -> None:
        self._ask = ask
        self._answers = answers
        self._count: Counter[str] = Counter()

    def __call__(self, prompt: object, _endpoint_type: str | None = None, **options: object) -> Any:
        key = repr((prompt, sorted(options.items())))
        self._count[key] += 1
        key = f"{self._count[key]} {key}"
        if key not in self._answers:
            answer = self._ask(prompt, **options)
            if isinstance(answer, Awaitable):
                answer = asyncio.ensure_future(answer)
            self._answers[key] = answer
        return self._answers[key]
