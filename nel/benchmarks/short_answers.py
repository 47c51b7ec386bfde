"""What benchmarks of short answers share: which part of a response is the answer, and SQuAD's exact match.

Official scripts score the whole output of a model that was trained to give a span; a chat model wraps it. What a
response declares with ``Answer:``, or otherwise ("The answer is Paris, because …"), is taken instead, else its first
line. What a response takes back behind its answer ("Wait, no. Answer: Rome") is none.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Final

from nel.core.thinking import split_reasoning
from nel.scoring.overlap import squad_tokens
from nel.scoring.reading.texts import declared_text
from nel.scoring.text import answer_after_marker, behind_marker

_END_TOKEN: Final = re.compile(r"<\|[a-z_]{2,30}\|>|</s>|<(?:eos|end_of_turn|eot_id)>", re.IGNORECASE)
_CORRECTION: Final = re.compile(
    r"[\s*_>]*(?:wait|actually|hold\s+on|no|sorry|oops|correction|scratch\s+that|on\s+second\s+thought)\b[\s,.:;!—–-]",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(r"[^\S\n]*(?:[-*•+]|\d{1,2}[.)])[^\S\n]+(?P<item>\S[^\n]*)")
_TYPESET: Final = re.compile(r"\$?\\(?:text|textbf|mathrm|mathbf)\s?\{(?P<text>[^{}]*)\}\$?")
_FRAME: Final = re.compile(
    r"[\s#>*_]*(?:the\s+)?(?:final\s+)?answer[\s*_]*[:：]?[\s*_]*|```[^\n`]*|</?\w+>|[.。]+", re.IGNORECASE
)


def short_answer(response: str) -> str | None:
    """Return what follows the last ``Answer:`` of a response, else what it declares, else its first line, or None.

    Reasoning in tags is no part of it; one that does not end leaves no answer.

    >>> short_answer("I see. So the answer is **Paris**, which is in France.")
    'Paris'
    >>> short_answer("Let me see.\\nAnswer: **Paris**"), short_answer("Paris.\\nIt is in France."), short_answer(" ")
    ('Paris', 'Paris.', None)
    >>> short_answer("Answer: Rome\\n\\nWait, no. Answer: Paris"), short_answer("Answer:\\n- Forte\\n- Gould")
    ('Paris', 'Forte; Gould')
    """
    _, answer, is_whole = split_reasoning(response)
    response = _END_TOKEN.split(answer, maxsplit=1)[0] if is_whole else ""
    behind = behind_marker(response)
    declared = answer_after_marker(response)
    if declared is None and behind is not None:
        return _listed(behind) or declared_text(response) or _first_line(behind)
    if behind is not None and _CORRECTION.match(behind):
        declared = declared_text(behind) or declared
    if declared is None:
        declared = declared_text(response)
    if declared is None:
        declared = _first_line(response)
    typeset = _TYPESET.fullmatch(declared) if declared else None
    return typeset["text"] if typeset else declared


def _listed(below: str) -> str | None:
    """Return the items of the list that lines begin with, or None where they begin with something else."""
    lines = [line for line in below.splitlines() if line.strip()]
    items = [item["item"].strip() for item in itertools.takewhile(bool, map(_ITEM.match, lines)) if item]
    return "; ".join(items) or None


def _first_line(text: str) -> str | None:
    """Return the first line that is not blank, and no fence of code, tag, full stop or bare ``Answer:``, or None."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not _FRAME.fullmatch(line)), None)


def same_span(answer: str, golds: Iterable[str]) -> bool:
    """Return whether an answer equals a gold one but for case, ASCII punctuation, articles and spaces (SQuAD's rule).

    >>> same_span("The Eiffel-Tower!", ["eiffeltower"]), same_span("a", ["the"]), same_span("Paris, France", ["Paris"])
    (True, True, False)
    """
    tokens = squad_tokens(answer)
    return any(tokens == squad_tokens(gold) for gold in golds)
