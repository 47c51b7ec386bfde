"""Letters of multiple-choice answers: the one the response declares last. Knows no benchmark.

Trap: ``A`` is also an article, so a bare letter counts only where the benchmark says it does.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from nel.types import ScorerInput

_DECLARED = r"(?i:answer)\**\s*(?::|(?i:is)\b:?)\s*\**\s*(?:\\boxed\{{)?\(?\$?([{letters}])\b(?!['’])"


@lru_cache(maxsize=32)
def _declaration(letters: str) -> re.Pattern[str]:
    return re.compile(_DECLARED.format(letters=letters))


def declared_letter(text: str, letters: str = "ABCD") -> str | None:
    """Return the letter of the last ``Answer: X`` or ``answer is (X)`` in the text, or None.

    Args:
        letters: The letters that are options, e.g. ``ABCDEFGHIJ``.
    """
    last = None
    for match in _declaration(letters).finditer(text):
        last = match[1]
    return last


def multichoice_regex(sample: ScorerInput, pattern: str | None = None) -> dict[str, Any]:
    """Compare the declared letter with the target letter; A to D unless a pattern says otherwise.

    Args:
        pattern: A regular expression whose first group is the letter; its last match counts.

    Returns:
        ``correct`` and ``extracted``, the letter or None.
    """
    if pattern is None:
        extracted = declared_letter(sample.response)
    else:
        found = re.findall(pattern, sample.response)
        extracted = (found[-1] if isinstance(found[-1], str) else found[-1][0]) if found else None
    extracted = extracted.upper() if extracted else None
    return {
        "correct": extracted is not None and extracted == str(sample.target).strip().upper(),
        "extracted": extracted,
    }
