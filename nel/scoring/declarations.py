"""What a scorer declares of itself, read from the function, the options or the class.

Depends on `nel.types`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from nel.types import ScorerInput

Declared: TypeAlias = "Sequence[Any] | Mapping[str, Sequence[Any]]"
"""The metrics of a scorer: a list, a list for each key of its dict, or a list that holds both."""


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
    declared: Declared = getattr(_without_options(scorer), "metrics", ())
    return declared


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
