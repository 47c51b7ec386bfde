"""The form in which the first files of NeMo Evaluator write a scorer, ``def f(response, target,
metadata)``, and call its own scorers.

`scorer` takes it and the forms of `nel.scorer`; what else a module asks for is a scorer of
`nel.byob.scorers`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import nel.byob.scorers as own
from nel.scoring.protocol import scorer as nel_scorer
from nel.types import ScorerInput

__all__ = own.__all__

_FIRST_FORM: Final = ("response", "target", "metadata")
OF_SAMPLE: Final = inspect.Signature(
    [inspect.Parameter("sample", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
)
"""The signature of a function around another one, which is called with something else."""
_POSITIONAL: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def scorer(function: Any = None, **options: Any) -> Any:
    """Mark a function, a factory or a class as a scorer; see the module.

    Raises:
        ConfigError: It is none of them.
    """
    if function is None:
        return lambda decorated: scorer(decorated, **options)
    if inspect.isroutine(function) and _needed_arguments(function) == len(_FIRST_FORM):
        return nel_scorer(_of_first_form(function), **options)
    return nel_scorer(function, **options)


def _of_first_form(function: Callable[..., Any]) -> Callable[[ScorerInput], Any]:
    @wraps(function)
    def call(sample: ScorerInput) -> Any:
        return function(sample.response, sample.target, sample.metadata)

    vars(call)["__signature__"] = OF_SAMPLE
    return call


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
    def call(scorer_input: Any, *more: Any, **options: Any) -> Any:
        if isinstance(scorer_input, ScorerInput) or not more:
            return function(scorer_input, *more, **options)
        target, *metadata = more
        return function(ScorerInput(scorer_input, target, *metadata), **options)

    return call
