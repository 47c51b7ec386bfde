"""Filters of a prediction, by the names that EvalScope and lm-evaluation-harness give them.

A filter that finds nothing gives its fallback, ``[invalid]``, which the bridge counts as no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from nel.errors import ConfigError, did_you_mean

INVALID: Final = "[invalid]"


Filter: TypeAlias = "Callable[[str], str]"
"""Makes a text of a text."""


class RegexFilter:
    """Takes one match of a regular expression; of its groups the first that is not empty.

    >>> RegexFilter(regex_pattern=r"(-?[0-9.,]{2,})|(-?[0-9]+)", group_select=-1)("3 and 1,204.")
    '1,204.'
    """

    def __init__(
        self,
        regex_pattern: str = r"#### (\-?[0-9\.\,]+)",
        group_select: int = 0,
        fallback: str = INVALID,
    ):
        """Take the pattern, which match counts (negative from the end), and what stands for none.

        Raises:
            ConfigError: The pattern is none.
        """
        try:
            self.pattern = re.compile(regex_pattern)
        except re.error as error:
            raise ConfigError(
                f"the filter's pattern {regex_pattern!r} is not a regular expression: {error}"
            ) from error
        self.group_select = group_select
        self.fallback = fallback

    def __call__(self, text: str) -> str:
        """Return the match, stripped, or the fallback."""
        matches = self.pattern.findall(text)
        try:
            match = matches[self.group_select]
        except IndexError:
            return self.fallback
        groups = match if isinstance(match, tuple) else (match,)
        return next((group.strip() for group in groups if group), self.fallback)


def _remove_until(delimiter: str) -> Filter:
    """Return what drops a text up to and with its first delimiter, such as ``</think>``; without
    one it stays.
    """
    return lambda text: text.split(delimiter, 1)[-1]


_FILTERS: Final[Mapping[str, Callable[..., Filter]]] = {
    "regex": RegexFilter,
    "remove_until": _remove_until,
}


def build_filters(filters: Mapping[str, object] | None) -> list[Filter]:
    """Return the filters that a mapping of names to options describes, in its order.

    Options are a mapping of parameters, or the one parameter itself: ``{"remove_until":
    "</think>"}``.

    Raises:
        ConfigError: A name is unknown, or its options do not fit.

    >>> [after] = build_filters({"remove_until": {"delimiter": "A:"}})
    >>> after("Q A: 1 A: 2"), after("3")
    (' 1 A: 2', '3')
    """
    callables = []
    for name, options in (filters or {}).items():
        kind = _FILTERS.get(name)
        if kind is None:
            hint = did_you_mean(name, _FILTERS, or_all="; there are ")
            raise ConfigError(f'there is no filter "{name}"{hint}')
        try:
            if isinstance(options, Mapping):
                callables.append(kind(**options))
            else:
                callables.append(kind() if options in (None, True, "") else kind(options))
        except TypeError as error:
            raise ConfigError(f'the filter "{name}" cannot be built: {error}') from error
    return callables
