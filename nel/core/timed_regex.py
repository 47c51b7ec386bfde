"""Regular expressions from users and datasets, searched with a time limit.

Python's own ``re`` cannot be interrupted and holds the interpreter, so ``(a+)+$`` could block a
whole run. The `regex` module raises a timeout after `SECONDS_MAX`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Final

import regex

from nel.errors import DatasetError, ScorerError

SECONDS_MAX: Final = 2.0
"""Time limit of one search in one response."""


@lru_cache(maxsize=256)
def compile_pattern(pattern: str, *, ignore_case: bool = False) -> regex.Pattern[str]:
    """Return a compiled pattern.

    Raises:
        DatasetError: The pattern is not a regular expression.
    """
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError, OverflowError, MemoryError) as error:
        raise DatasetError(
            f"the pattern {pattern[:200]!r} is not a regular expression: {error}"
        ) from error


def search(pattern: str, text: str, *, ignore_case: bool = False) -> regex.Match[str] | None:
    """Return the first match of a pattern in a text, or None.

    Raises:
        DatasetError: The pattern is not a regular expression.
        ScorerError: The search takes longer than `SECONDS_MAX`.
    """
    with _time_limit(pattern, text):
        return compile_pattern(pattern, ignore_case=ignore_case).search(text, timeout=SECONDS_MAX)


def spans(pattern: str, text: str) -> list[tuple[int, int, int, int]]:
    """Return start and end of every match, and of its first group, which may be the match itself.

    Raises:
        DatasetError: The pattern is not a regular expression.
        ScorerError: The search takes longer than `SECONDS_MAX`.
    """
    group = min(compile_pattern(pattern).groups, 1)
    with _time_limit(pattern, text):
        return [
            (*match.span(), *match.span(group))
            for match in compile_pattern(pattern).finditer(text, timeout=SECONDS_MAX)
        ]


def last_group(pattern: str, text: str) -> str | None:
    """Return the first group of the last match, or the match where it has no groups, or None.

    Raises:
        DatasetError: The pattern is not a regular expression.
        ScorerError: The search takes longer than `SECONDS_MAX`.
    """
    group = None
    with _time_limit(pattern, text):
        for match in compile_pattern(pattern).finditer(text, timeout=SECONDS_MAX):
            group = match[1] if match.re.groups else match[0]
    return group


@contextmanager
def _time_limit(pattern: str, text: str) -> Iterator[None]:
    """Raise ScorerError where a search in the block takes longer than `SECONDS_MAX`."""
    try:
        yield
    except TimeoutError as error:
        raise ScorerError(
            f"the pattern {pattern[:200]!r} took longer than {SECONDS_MAX:g} s on a response of"
            f" {len(text)} characters; write it without nested repetition"
        ) from error
