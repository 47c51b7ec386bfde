"""The forms in which files of NeMo Evaluator write a scorer, beside a function of a `ScorerInput`.

- ``def f(response, target, metadata)``, of its first releases, in which its own scorers are called
  like that too.
- A class with ``async def compute_scores(self, input: MetricInput) -> MetricResult``, or an
  instance of one.

`scorer` takes all of them and those of `nel.scorer`; what else a module asks for is a scorer of
`nel.byob.scorers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, TypeGuard

import nel.byob.scorers as own
from nel.compat.nemo.metrics import (
    CandidateOutput,
    DatasetRow,
    ExactMatchMetric,
    MetricInput,
    values_of,
)
from nel.errors import ConfigError
from nel.scoring.protocol import BuiltScorer
from nel.scoring.protocol import scorer as nel_scorer
from nel.types import ScorerInput

__all__ = ["ExactMatchScorer"]
__all__ += own.__all__

_FIRST_FORM: Final = ("response", "target", "metadata")
OF_SAMPLE: Final = inspect.Signature(
    [inspect.Parameter("sample", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
)
"""The signature of a function around another one, which is called with something else."""
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def scorer(function: Any = None, **options: Any) -> Any:
    """Mark a function, a factory, a class or a metric as a scorer; see the module.

    Raises:
        ConfigError: It is none of them.
    """
    if function is None:
        return lambda decorated: scorer(decorated, **options)
    if _is_metric(function):
        if options:
            raise ConfigError(
                f"@scorer(…) takes no options around a metric: {', '.join(options)}; take them away"
            )
        if inspect.isclass(function):
            return _metric_factory(function)
        return _of_metric(function, vars(function))
    # A function of one argument takes a `ScorerInput`; other counts are refused by `nel.scorer`.
    if inspect.isroutine(function) and _needed_arguments(function) == len(_FIRST_FORM):
        return nel_scorer(_of_first_form(function), **options)
    return nel_scorer(function, **options)


def _of_first_form(function: Callable[..., Any]) -> Callable[[ScorerInput], Any]:
    @wraps(function)
    def call(sample: ScorerInput) -> Any:
        return function(sample.response, sample.target, sample.metadata)

    # `wraps` copies the three arguments, by which the scorer would be called.
    vars(call)["__signature__"] = OF_SAMPLE
    return call


def _is_metric(value: object) -> TypeGuard[Any]:
    return callable(getattr(value, "compute_scores", None))


def _metric_factory(metric: Callable[..., Any]) -> Callable[..., BuiltScorer]:
    @wraps(metric, updated=())
    def build(*args: object, **options: object) -> BuiltScorer:
        arguments = inspect.signature(metric).bind(*args, **options).arguments
        return _of_metric(metric(*args, **options), arguments)

    return build


def _of_metric(metric: Any, params: Mapping[str, object]) -> BuiltScorer:
    """Return a scorer that hands the row and the answer to a metric, and returns its values."""

    async def score(sample: ScorerInput) -> dict[str, object]:
        row = DatasetRow(data=dict(sample.metadata))
        answer = CandidateOutput(output_text=sample.response)
        result = metric.compute_scores(MetricInput(row=row, candidate=answer))
        if inspect.isawaitable(result):
            result = await result
        return values_of(result, metric.output_spec())

    kind = type(metric)
    name = str(getattr(metric, "type", kind.__name__))
    return BuiltScorer(score, name=name, params=params, metrics=(), source=kind)


ExactMatchScorer = scorer(ExactMatchMetric)


def _needed_arguments(function: Callable[..., Any]) -> int:
    parameters = inspect.signature(function).parameters.values()
    return sum(
        parameter.kind in _POSITIONAL and parameter.default is inspect.Parameter.empty
        for parameter in parameters
    )


def __getattr__(name: str) -> Any:
    """Return a scorer of `nel.byob.scorers`, which may be called with three arguments as well."""
    if name not in own.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(own, name)
    return value if name in ("all_of", "any_of") else _callable_with_three(value)


def _callable_with_three(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(scorer_input: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(scorer_input, ScorerInput) or not arguments:
            return function(scorer_input, *arguments, **options)
        # The first form: response, target and perhaps metadata.
        return function(ScorerInput(scorer_input, *arguments), **options)

    return call
