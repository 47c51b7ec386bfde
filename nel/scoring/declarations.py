"""What a scorer declares of itself, as a keyword of `@scorer` or an attribute of its class.

Depends on `nel.types`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from nel.types import ScorerInput

Declared: TypeAlias = "Sequence[Any] | Mapping[str, Sequence[Any]]"
"""The metrics of a scorer: a list, a list for each key of its dict, or a list that holds both."""
DataFiles: TypeAlias = "str | Path | Sequence[str | Path]"
"""Files and folders beside a scorer."""
S = TypeVar("S")


def in_process(rule: S) -> S:
    """Declare that a rule needs no process of its own: see `runs_in_process`."""
    setattr(rule, "in_process", True)  # noqa: B010 - a function has no such attribute before
    return rule


def runs_in_process(scorer: object) -> bool:
    """Return whether a scorer is declared to run in the process of the run.

    Its author vouches that its time is bounded and that it runs no code of an answer. One that
    waits for a judge cannot, and a function among its options is code of another author.
    """
    bare = _without_options(scorer)
    members = getattr(bare, "members", None)
    if members is not None:
        return all(runs_in_process(member) and not asks_judge(member) for member in members)
    options = getattr(scorer, "keywords", None) or getattr(bare, "params", {})
    return (
        callable(bare)
        and bool(getattr(inspect.unwrap(bare), "in_process", False))
        and not (is_async(scorer) or asks_judge(scorer))
        and not any(map(callable, options.values()))
    )


def is_async(scorer: object) -> bool:
    """Return whether calling a scorer gives an awaitable."""
    bare = _without_options(scorer)
    if getattr(bare, "is_async", False) or inspect.iscoroutinefunction(bare):
        return True
    return not inspect.isroutine(bare) and inspect.iscoroutinefunction(type(bare).__call__)


def asks_judge(scorer: object) -> bool:
    """Return whether a scorer, or a member of it, is declared to ask a judge about every sample."""
    bare = _without_options(scorer)
    members = getattr(bare, "members", None)
    if members is not None:
        return any(asks_judge(member) for member in members)
    if getattr(bare, "asks_judge", False):
        return True
    return callable(bare) and bool(getattr(inspect.unwrap(bare), "asks_judge", False))


def example_of(scorer: object) -> ScorerInput | None:
    """Return the answer that a scorer was declared to give full marks."""
    bare = _without_options(scorer)
    example = getattr(inspect.unwrap(bare), "example", None) if callable(bare) else None
    return example if isinstance(example, ScorerInput) else None


def metrics_of(scorer: object) -> Declared:
    """Return the metrics that a scorer was declared with."""
    metrics: Declared = getattr(_without_options(scorer), "metrics", ())
    return metrics


def data_files_of(member: object) -> tuple[str | Path, ...]:
    """Return the files and folders that one function or class is declared to depend on."""
    return tuple(getattr(member, "data_files", ()))


def lower_is_better(scorer: object) -> tuple[str, ...]:
    """Return the metrics of a scorer of another tool of which that says that less is better.

    nel's own scorers give more where an answer is better, since a failure of the model counts 0.
    """
    return tuple(getattr(_without_options(scorer), "lower_is_better", ()))


def wanted_judges(scorer: object) -> tuple[str, ...]:
    """Return the names of the judges that a scorer, or a member of it, is known to ask by name."""
    bare = _without_options(scorer)
    members = getattr(bare, "members", None)
    if members is not None:
        return tuple(dict.fromkeys(name for member in members for name in wanted_judges(member)))
    return tuple(getattr(getattr(bare, "inner", bare), "judges", ()))


def _without_options(scorer: object) -> object:
    """Return a scorer as it was before `as_scorer` bound its options."""
    return scorer.func if isinstance(scorer, functools.partial) else scorer
