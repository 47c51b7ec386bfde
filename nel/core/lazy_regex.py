"""Regular expressions that are compiled when they are first used, and not when their module is imported.

The readers of answers know the phrases of ten languages; compiling all of them took a fifth of a second at the start of
each run, of which a run uses a few. Depends on the standard library alone.
"""

from __future__ import annotations

import re
from typing import Final, cast

_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


class _LazyPattern:
    """Stands for a compiled pattern; after its first use its methods are the compiled pattern's own."""

    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        compiled = re.compile(self._text, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when it is first used.

    Raises:
        re.error: At its first use, where the text is no regular expression.

    >>> lazy_pattern("b+").findall("abba")
    ['bb']
    """
    return cast("re.Pattern[str]", _LazyPattern(text, flags))
