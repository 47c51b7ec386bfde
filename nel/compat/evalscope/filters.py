"""Filters of a prediction, by the names that EvalScope and lm-evaluation-harness give them.

A filter that finds nothing gives its fallback, ``[invalid]``, which the bridge counts as no answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from nel.errors import ConfigError, did_you_mean

INVALID: Final = "[invalid]"


class Filter:
    """Makes a text of a text."""

    def __call__(self, text: str) -> str:
        """Return the filtered text."""
        raise NotImplementedError


class RegexFilter(Filter):
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


class RemoveUntil(Filter):
    """Drops a text up to and with the last marker, such as ``</think>``; without one it stays."""

    def __init__(self, marker: str):
        """Take the marker."""
        self.marker = marker

    def __call__(self, text: str) -> str:
        """Return what follows the last marker."""
        return text.rpartition(self.marker)[2]


class RemoveWhitespace(Filter):
    """Drops the whitespace around a text."""

    def __call__(self, text: str) -> str:
        """Return the text stripped."""
        return text.strip()


_FILTERS: Final[Mapping[str, type[Filter]]] = {
    "regex": RegexFilter,
    "extract": RegexFilter,
    "remove_until": RemoveUntil,
    "remove_whitespace": RemoveWhitespace,
}


def build_filters(filters: Mapping[str, object] | None) -> list[Filter]:
    """Return the filters that a mapping of names to options describes, in its order.

    Options are a mapping of parameters, or the one parameter itself: ``{"remove_until":
    "</think>"}``.

    Raises:
        ConfigError: A name is unknown, or its options do not fit.
    """
    built = []
    for name, options in (filters or {}).items():
        kind = _FILTERS.get(name)
        if kind is None:
            hint = did_you_mean(name, _FILTERS) or f"; there are {', '.join(_FILTERS)}"
            raise ConfigError(f'there is no filter "{name}"{hint}')
        try:
            if isinstance(options, Mapping):
                built.append(kind(**options))
            else:
                built.append(kind() if options in (None, True, "") else kind(options))  # type: ignore[call-arg]
        except TypeError as error:
            raise ConfigError(f'the filter "{name}" cannot be built: {error}') from error
    return built
