"""Decorators for factories of metrics and reducers, whose products keep name and arguments.

There is no registry here: plugins are found by entry points. The factory is decorated, not the
function that it returns; a decorated function that computes a number directly raises TypeError when
called. Depends on `nel.types`.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, ParamSpec, TypeAlias, TypeVar, overload

from nel.types import SampleScore, Score, Value

Metric: TypeAlias = Callable[[Sequence[SampleScore]], Value]
"""Computes a number, or a mapping of several, from the scores of all samples."""

MetricProtocol: TypeAlias = Metric
"""Inspect's name for it."""

ScoreReducer: TypeAlias = Callable[[Sequence[Score]], Score]
"""Computes one score from the scores of a sample's repeats."""

_BARE_SCORES: Final = re.compile(r"(?:\A|[\[.])Score\]\Z")
"""How the annotation of several `Score` ends, as text or as a type: ``list[Score]`` and
``Sequence[nel.types.Score]``, not ``list[SampleScore]``.
"""

P = ParamSpec("P")
B = TypeVar("B")


@dataclass(frozen=True, slots=True)
class NamedMetric:
    """A metric with its name and the arguments it was built from."""

    function: Metric
    name: str
    params: Mapping[str, object] = field(default_factory=dict)
    """The factory's arguments, defaults included; a function appears by its name, or not at all."""

    @property
    def reads_each_answer(self) -> bool:
        """Return whether it receives each answer, as a `MetricOfAnswers`."""
        return bool(getattr(self.function, "reads_each_answer", False))

    def __call__(self, scores: Sequence[SampleScore]) -> Value:
        """Return the metric of these scores."""
        return self.function(scores)


@dataclass(frozen=True, slots=True)
class MetricOfAnswers:
    """A metric that receives each answer, such as that of a corpus, and not each sample with the
    mean over its repeats.
    """

    function: Metric

    @property
    def reads_each_answer(self) -> bool:
        """Return true."""
        return True

    def __call__(self, scores: Sequence[SampleScore]) -> Value:
        """Return the metric of these answers."""
        return self.function(scores)


@dataclass(frozen=True, slots=True)
class NamedReducer:
    """A reducer with its name and the arguments it was built from."""

    function: ScoreReducer
    name: str
    params: Mapping[str, object] = field(default_factory=dict)
    """The factory's arguments, defaults included; a function appears by its name, or not at all."""

    @property
    def is_bounded(self) -> bool:
        """Return whether it is from 0 to 1 and no higher score of a repeat lowers it, so that
        missing repeats taken as 0 and as 1 bound it.
        """
        return bool(getattr(self.function, "is_bounded", False))

    def __call__(self, scores: Sequence[Score]) -> Score:
        """Return the score that these reduce to."""
        return self.function(scores)


@overload
def metric(name: Callable[P, Metric]) -> Callable[P, NamedMetric]: ...
@overload
def metric(
    name: str | None = None,
) -> Callable[[Callable[P, Metric]], Callable[P, NamedMetric]]: ...
def metric(
    name: str | Callable[P, Metric] | None = None,
) -> Callable[P, NamedMetric] | Callable[[Callable[P, Metric]], Callable[P, NamedMetric]]:
    """Mark a factory of metrics: ``@metric``, ``@metric("name")`` or ``@metric(name="name")``.

    What the factory builds then has a `name` (the factory's own where none is given) and `params`.
    A metric whose parameter is annotated ``list[Score]``, Inspect's older form, receives the scores
    without their samples.

    Raises:
        TypeError: Later, when the factory is called and what it returns cannot be called.

    >>> @metric
    ... def share_above(limit: float = 0.5) -> Metric:
    ...     return lambda scores: sum(one.score.as_float() > limit for one in scores) / len(scores)
    >>> built = share_above(0.8)
    >>> built.name, dict(built.params)
    ('share_above', {'limit': 0.8})
    >>> built([SampleScore(score=Score(value=value)) for value in (0.7, 0.9)])
    0.5
    """

    def mark(
        factory: Callable[P, Metric], registered: str | None = None
    ) -> Callable[P, NamedMetric]:
        @functools.wraps(factory, updated=())
        def build(*args: P.args, **kwargs: P.kwargs) -> NamedMetric:
            built, decorated, params = _build(factory, *args, **kwargs)
            return NamedMetric(_of_samples(built), registered or decorated, params)

        return build

    if name is None or isinstance(name, str):
        return lambda factory: mark(factory, name)
    return mark(name)


@overload
def score_reducer(func: Callable[P, ScoreReducer]) -> Callable[P, NamedReducer]: ...
@overload
def score_reducer(
    func: None = None, *, name: str | None = None
) -> Callable[[Callable[P, ScoreReducer]], Callable[P, NamedReducer]]: ...
def score_reducer(
    func: Callable[P, ScoreReducer] | None = None, *, name: str | None = None
) -> Callable[P, NamedReducer] | Callable[[Callable[P, ScoreReducer]], Callable[P, NamedReducer]]:
    """Mark a factory of reducers: ``@score_reducer`` or ``@score_reducer(name="max")``.

    What the factory builds then has a `name` (the factory's own where none is given) and `params`.

    Raises:
        TypeError: Later, when the factory is called and what it returns cannot be called.

    >>> @score_reducer(name="first")
    ... def first_score() -> ScoreReducer:
    ...     return lambda scores: scores[0]
    >>> first_score().name
    'first'
    """

    def mark(factory: Callable[P, ScoreReducer]) -> Callable[P, NamedReducer]:
        @functools.wraps(factory, updated=())
        def build(*args: P.args, **kwargs: P.kwargs) -> NamedReducer:
            built, decorated, params = _build(factory, *args, **kwargs)
            return NamedReducer(built, name or decorated, params)

        return build

    return mark if func is None else mark(func)


def _of_samples(metric: Callable[..., Value]) -> Metric:
    """Return a metric that takes samples, of one whose annotation may say bare scores."""
    # An object that can be called has its annotations at `__call__`.
    called = metric if inspect.isroutine(metric) else type(metric).__call__
    annotations = {**getattr(called, "__annotations__", {})}
    annotations.pop("return", None)
    # Annotations are in the order of the parameters, of which the first one has the scores.
    annotation = str(next(iter(annotations.values()), ""))
    if _BARE_SCORES.search(annotation) is None:
        return metric
    return lambda scores: metric([sample.score for sample in scores])


def _build(
    factory: Callable[P, B], *args: P.args, **kwargs: P.kwargs
) -> tuple[B, str, dict[str, object]]:
    """Return what the factory builds, the factory's name and the arguments worth recording."""
    built = factory(*args, **kwargs)
    name = str(getattr(factory, "__name__", type(factory).__name__))
    if not callable(built):
        raise TypeError(
            f"{name} returned a {type(built).__name__}; decorate the factory that returns the"
            " function"
        )
    bound = inspect.signature(factory).bind(*args, **kwargs)
    bound.apply_defaults()
    params = {key: getattr(value, "name", value) for key, value in bound.arguments.items()}
    return built, name, {key: value for key, value in params.items() if not callable(value)}
