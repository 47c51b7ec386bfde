"""Solvers by name: ``NAME`` or ``NAME:key=value,…`` of ``nel.solvers``, with checked options."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias, get_type_hints

from pydantic import TypeAdapter, ValidationError

from nel import plugins
from nel.authoring.scorer_names import options_of
from nel.episodes.episode import Episode
from nel.errors import ConfigError, did_you_mean
from nel.types import Sample

Solver: TypeAlias = "Callable[..., Awaitable[str | None]]"
"""``async def solve(sample, episode, *, option=default) -> str | None``: the final answer, None for
the last text of the model."""

GENERATE = "generate"
"""The solver of one request and one answer, which needs no episode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundSolver:
    """A solver with its options."""

    name: str
    function: Solver
    options: Mapping[str, Any]

    async def solve(self, sample: Sample, episode: Episode) -> str | None:
        """Drive an episode to its end and return the final answer."""
        return await self.function(sample, episode, **self.options)


def find_solver(text: str) -> BoundSolver | None:
    """Return the installed solver that a text names, with its options; None for ``generate``.

    Raises:
        PluginError: No solver has this name, or it cannot be imported.
        ConfigError: It is not an async function, or an option is unknown or of another type.
    """
    name, options = plugins.split_options(text)
    function = plugins.load("solvers", name)
    if name == GENERATE:
        if options:
            raise ConfigError(f"the solver {GENERATE} has no options; leave :{options} out")
        return None
    return bound_solver(name, function, options_of(name, options))


def bound_solver(name: str, function: Any, options: Mapping[str, Any]) -> BoundSolver:
    """Return a solver with options that fit its signature.

    Raises:
        ConfigError: It is not an async function, or an option is unknown or of another type.
    """
    if not inspect.iscoroutinefunction(function):
        raise ConfigError(
            f'the solver "{name}" must be written as async def solve(sample, episode), and is a'
            f" {type(function).__name__}"
        )
    parameters = inspect.signature(function).parameters
    keys = [key for key, item in parameters.items() if item.kind == item.KEYWORD_ONLY]
    values = {}
    for key, value in options.items():
        if key not in keys:
            hint = did_you_mean(key, keys, or_all="; it takes: ")
            raise ConfigError(f'the solver "{name}" has no option "{key}"{hint}')
        try:
            values[key] = TypeAdapter(_annotation(function, key)).validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise ConfigError(f'the solver "{name}": {key}={value!r}: {problem}') from error
    return BoundSolver(name=name, function=function, options=values)


def _annotation(function: Any, key: str) -> Any:
    annotation = function.__annotations__.get(key, Any)
    if not isinstance(annotation, str):
        return annotation
    # Evaluated alone: a module may import the types of sample and episode for type checkers only.
    scope = SimpleNamespace(__annotations__={key: annotation})
    return get_type_hints(scope, globalns=function.__globals__).get(key, Any)
