"""`@scorer` and the three ways to write one, all ending in a callable: function, factory, class.

    @scorer
    def equal(sample: ScorerInput) -> dict: ...

    @scorer(metrics=[accuracy(), stderr()])
    def starts(strict: bool = False) -> Scorer:
        async def score(state, target): ...
        return score

    @scorer
    class Length:
        def score(self, sample): ...

The engine calls every one with a `ScorerInput`; what a factory or class builds may also be called
with ``(state, target)``, as in Inspect. What takes one required argument is a function; what takes
none, is annotated ``-> Scorer`` or is declared with `metrics` is a factory. Depends on `nel.types` and
`nel.scoring.golds`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard, overload

from nel.errors import ConfigError, did_you_mean
from nel.scoring.declarations import DataFiles, Declared, is_async
from nel.scoring.states import Target, TaskState, sample_of, state_of, target_of
from nel.types import ScorerInput

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_STATE_AND_TARGET = 2
Written: TypeAlias = Callable[..., Any]
"""A function, factory or class as written: only `inspect.signature` says how it is called."""


class BuiltScorer:
    """A scorer built by a factory or class: called with a `ScorerInput` or ``(state, target)``."""

    is_scorer = True

    def __init__(
        self,
        inner: Written,
        *,
        name: str,
        params: Mapping[str, object],
        metrics: Declared,
        source: object,
    ) -> None:
        """Wrap what scores.

        Raises:
            ConfigError: It takes neither one argument nor two.
        """
        self.inner = inner
        self.name = self.__name__ = name
        self.params = dict(params)
        self.metrics = metrics
        self.is_async = is_async(inner)
        self.takes_state = _required_arguments(inner) == _STATE_AND_TARGET
        self.__wrapped__ = source
        self.members: tuple[object, ...] | None = None
        self.__doc__ = inspect.getdoc(source)
        if not self.takes_state and _required_arguments(inner) != 1:
            raise ConfigError(
                f"the scorer {name} must score (sample) or (state, target); it takes"
                f" {_shape(inner)}"
            )

    def __call__(self, state: ScorerInput | TaskState, target: Any = None) -> Any:
        """Score a `ScorerInput`, or give an awaitable for ``(state, target)``.

        An async scorer gives an awaitable for either.
        """
        if isinstance(state, ScorerInput):
            if self.takes_state:
                return self.inner(state_of(state), target_of(state))
            return self.inner(state)
        gold = target if isinstance(target, Target) else Target(target)
        result = self.inner(state, gold) if self.takes_state else self.inner(sample_of(state, gold))
        return await_result(result)

    def __repr__(self) -> str:
        options = ", ".join(f"{key}={value!r}" for key, value in self.params.items())
        return f"{self.name}({options})"


class ScorerFactory:
    """A decorated factory or class: called with its options it gives a `BuiltScorer`."""

    is_scorer = True

    def __init__(
        self, source: Written, *, name: str, metrics: Declared, metadata: Mapping[str, object]
    ) -> None:
        """Wrap a factory or class."""
        functools.update_wrapper(self, source, updated=())
        self.source = source
        self.name = name
        self.metrics = metrics
        self.metadata = dict(metadata)

    def __call__(self, *args: object, **kwargs: object) -> BuiltScorer:
        """Build the scorer with these options.

        Raises:
            ConfigError: The factory does not return a scorer, or the class has no `score` method.
        """
        bound = inspect.signature(self.source).bind(*args, **kwargs)
        product = self.source(*args, **kwargs)
        has_method = inspect.isclass(self.source) and hasattr(product, "score")
        function = product.score if has_method else product
        if not callable(function):
            what = f"returned a {type(product).__name__}"
            if inspect.isclass(self.source):
                what = "has no method score"
            elif not bound.signature.parameters:
                what = f"takes no sample and {what}; write def {self.name}(sample)"
            raise ConfigError(
                f"the scorer {self.name} {what}, or return a function (state, target) or (sample)"
            )
        if isinstance(function, BuiltScorer):
            return function
        return BuiltScorer(
            function,
            name=self.name,
            params=bound.arguments,
            metrics=self.metrics,
            source=self.source,
        )


# What a decorated name is depends on what was decorated (a function stays itself, a factory becomes
# a `ScorerFactory`), which overloads on signatures cannot tell apart; hence Any.
@overload
def scorer(function: Written) -> Any: ...
@overload
def scorer(
    function: Declared = ...,
    *,
    name: str | None = None,
    asks_judge: bool = False,
    in_process: bool = False,
    data: DataFiles = (),
    **metadata: Any,
) -> Callable[[Written], Any]: ...
@overload
def scorer(
    *,
    metrics: Declared = (),
    name: str | None = None,
    asks_judge: bool = False,
    in_process: bool = False,
    data: DataFiles = (),
    example: ScorerInput | None = None,
    **metadata: Any,
) -> Callable[[Written], Any]: ...
def scorer(
    function: Written | Declared | None = None,
    *,
    metrics: Declared = (),
    name: str | None = None,
    asks_judge: bool = False,
    in_process: bool = False,
    data: DataFiles = (),
    example: ScorerInput | None = None,
    **metadata: Any,
) -> Any:
    """Mark a function, a factory or a class as a scorer.

    A scorer returns a dict of metric names to bools or numbers (``{"correct": True}``), a bool, a
    number or a `Score`; it may be async.

    Args:
        function: What is marked; or the metrics, as in Inspect: ``@scorer([accuracy(),
            stderr()])``.
        metrics: Metrics of the run over this scorer's scores, in addition to the mean: a list, or
            one for each key of a dict.
        name: What the scorer is called, the function's own name otherwise.
        asks_judge: It asks a judge about every sample; a run without any judge is then refused
            before it begins.
        in_process: It needs no worker process, since its time is bounded, it runs no code of an
            answer and asks nothing of the run; an endless loop in it holds up the run.
        data: Files and folders, relative to the scorer's own file, whose content decides its
            verdicts: a resume after a change scores again.
        example: An answer that gets full marks, with the target and the row's fields that it
            needs, for `nel plugin check`.
        metadata: Kept with the scorer.

    Raises:
        ConfigError: The signature is none of a function's, a factory's or a class's.

    >>> @scorer
    ... def same(sample: ScorerInput) -> dict:
    ...     return {"correct": sample.response == sample.target}
    >>> same(ScorerInput(response="4", target="4"))
    {'correct': True}
    >>> @scorer
    ... def starts(ignore_case: bool = True):
    ...     async def score(state, target):
    ...         return Score(value="C" if state.output.completion.startswith(target.text) else "I")
    ...     return score
    >>> starts(ignore_case=False)
    starts(ignore_case=False)
    """
    marks = {
        "asks_judge": asks_judge,
        "in_process": in_process,
        "data_files": [data] if isinstance(data, (str, Path)) else data,
        "example": example,
    }
    if callable(function):
        return _mark_scorer(function, metrics, name, metadata, marks)
    if not (function is None or isinstance(function, (list, tuple, Mapping))):
        raise ConfigError(_no_function(function))
    declaration: Declared = metrics if function is None else function
    return lambda decorated: _mark_scorer(decorated, declaration, name, metadata, marks)


def as_scorer(written: object, options: Mapping[str, object] | None = None) -> Written:
    """Return what was written as a scorer as the engine's callable, with its options bound.

    Raises:
        ConfigError: It is not a scorer, or has no such option, or its factory refuses the value.
    """
    options = dict(options or {})
    if isinstance(written, BuiltScorer):
        if options:
            raise ConfigError(f"the scorer {written!r} is built already and takes no options")
        return written
    factory = written if isinstance(written, ScorerFactory) else None
    if factory is None and (inspect.isclass(written) or _is_factory(written)):
        factory = ScorerFactory(written, name=_name_of(written), metrics=(), metadata={})
    if factory is not None:
        _check_options(
            factory.name, options, list(inspect.signature(factory.source).parameters.values())
        )
        try:
            return factory(**options)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"the scorer {factory.name} cannot be built: {error}") from error
    if not callable(written):
        raise ConfigError(
            f"a {type(written).__name__} is not a scorer; a scorer is a function, a factory or a class"
        )
    _check_options(
        _name_of(written), options, list(inspect.signature(written).parameters.values())[1:]
    )
    return functools.partial(written, **options) if options else written


async def await_result(result: object) -> Any:
    """Return a result, awaited again as long as it is an awaitable."""
    while isinstance(result, Awaitable):
        result = await result
    return result


_CURRENT: ContextVar[tuple[Written, ScorerInput] | None] = ContextVar("nel-scoring", default=None)


class scoring:  # noqa: N801 - used as a function; a generator would cost three times as much
    """Makes a scorer and sample the current ones within a block, for `score` and `scored_now`."""

    __slots__ = ("_current", "_token")

    def __init__(self, scorer: Written, sample: ScorerInput) -> None:
        """Change nothing yet."""
        self._current = scorer, sample

    def __enter__(self) -> None:
        """Make them the current ones."""
        self._token = _CURRENT.set(self._current)

    def __exit__(self, *error: object) -> None:
        """Make those before them the current ones."""
        _CURRENT.reset(self._token)


def current_scoring() -> tuple[Written, ScorerInput] | None:
    """Return the current scorer and what it scores; None outside of a scorer."""
    return _CURRENT.get()


def scored_now() -> ScorerInput | None:
    """Return what is being scored at the moment, None outside of a scorer."""
    current = _CURRENT.get()
    return None if current is None else current[1]


def _mark_scorer(
    function: Written,
    metrics: Declared,
    name: str | None,
    metadata: Mapping[str, object],
    marks: Mapping[str, object],
) -> Written:
    if not callable(function):
        raise ConfigError(_no_function(function))
    scorer_name = name or _name_of(function)
    for mark, value in marks.items():
        if value:
            _mark(function, mark, value=value)
    if (
        inspect.isclass(function)
        or _is_factory(function)
        or (metrics and not _takes_sample(function))
    ):
        return ScorerFactory(function, name=scorer_name, metrics=metrics, metadata=metadata)
    required = _required_arguments(function)
    if required != 1:
        raise ConfigError(
            f"the scorer {scorer_name} takes {required} arguments; write def {scorer_name}(sample:"
            " ScorerInput) -> dict, or a factory that returns a function (state, target) -> Score"
        )
    _mark(function, "_is_scorer", value=True)  # which other tools look for
    _mark(function, "metrics", value=metrics)
    return function


def _mark(function: Written, name: str, *, value: object) -> None:
    try:
        setattr(function, name, value)
    except (AttributeError, TypeError) as error:  # something frozen that can be called
        raise ConfigError(_no_function(function)) from error


def _no_function(source: object) -> str:
    return (
        f"@scorer marks functions and classes, not a {type(source).__name__}; @benchmark goes above"
        " @scorer"
    )


def _is_factory(function: object) -> TypeGuard[Written]:
    """Return whether a function builds a scorer: it needs no argument or is typed ``-> Scorer``."""
    if isinstance(
        function, ScorerFactory | BuiltScorer | functools.partial
    ) or not inspect.isroutine(function):
        return False
    returns = str(getattr(function, "__annotations__", {}).get("return", ""))
    return (
        _required_arguments(function) == 0 or returns.rpartition(".")[2].strip("'\">") == "Scorer"
    )


def _takes_sample(function: Written) -> bool:
    parameters = list(inspect.signature(function).parameters.values())
    annotation = str(parameters[0].annotation) if parameters else ""
    return "ScorerInput" in annotation or (
        _required_arguments(function) == 1 and parameters[0].name == "sample"
    )


def _required_arguments(function: Written) -> int:
    """Return how many positional arguments a call needs."""
    parameters = inspect.signature(function).parameters.values()
    return sum(
        parameter.default is parameter.empty and parameter.kind in _POSITIONAL
        for parameter in parameters
    )


def _shape(function: Written) -> str:
    return f"({', '.join(inspect.signature(function).parameters)})"


def _name_of(function: object) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _check_options(
    name: str, options: Mapping[str, object], parameters: Sequence[inspect.Parameter]
) -> None:
    names = [
        parameter.name
        for parameter in parameters
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    for key in options:
        if key not in names:
            hint = did_you_mean(key, names) or f"; it has: {', '.join(names) or 'none'}"
            raise ConfigError(f'the scorer "{name}" has no option "{key}"{hint}')
    for parameter in parameters:
        if parameter.name in options:
            _check_type(name, parameter, options[parameter.name])
    required = [
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty
        and parameter.name in names
        and parameter.name not in options
    ]
    if required:
        raise ConfigError(
            f'the scorer "{name}" needs {", ".join(required)}; write {name}:{required[0]}=...'
        )


def _check_type(name: str, parameter: inspect.Parameter, value: object) -> None:
    """Raise ConfigError for a value of a wrong type; only simple annotations are checked."""
    annotation = str(parameter.annotation).strip("'\"")
    kinds: dict[str, tuple[type, ...]] = {
        "bool": (bool,),
        "int": (int,),
        "float": (int, float),
        "str": (str,),
    }
    for kind, accepted in kinds.items():
        if annotation == kind and (
            not isinstance(value, accepted)
            or (kind in ("int", "float") and isinstance(value, bool))
        ):
            raise ConfigError(
                f'the option "{parameter.name}" of the scorer "{name}" must be a {kind}, not'
                f" {value!r}"
            )
    if annotation.startswith(("Sequence[", "list[")) and isinstance(value, str):
        raise ConfigError(
            f'the option "{parameter.name}" of the scorer "{name}" must be a list: [{value}]'
        )
    if annotation.startswith("Callable[") and not (callable(value) or value is None):
        raise ConfigError(
            f'the option "{parameter.name}" of the scorer "{name}" is a function; give it in Python'
        )
