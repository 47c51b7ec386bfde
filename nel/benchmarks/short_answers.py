"""What benchmarks of short answers share: which part of a response is the answer, and SQuAD's exact match.

Official scripts score the whole output of a model that was trained to give a span; a chat model wraps it. What a
response declares with ``Answer:``, or otherwise ("The answer is Paris, because …"), is taken instead, else its first
line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from nel.core.thinking import split_reasoning
from nel.scoring.overlap import squad_tokens
from nel.scoring.reading.texts import declared_text
from nel.scoring.text import answer_after_marker

_END_TOKEN: Final = re.compile(r"<\|[a-z_]{2,30}\|>|</s>|<(?:eos|end_of_turn|eot_id)>", re.IGNORECASE)


def short_answer(response: str) -> str | None:
    """Return what follows the last ``Answer:`` of a response, else what it declares, else its first line, or None.

    Reasoning in tags is no part of it; one that does not end leaves no answer.

    >>> short_answer("I see. So the answer is **Paris**, which is in France.")
    'Paris'
    >>> short_answer("Let me see.\\nAnswer: **Paris**"), short_answer("Paris.\\nIt is in France."), short_answer(" ")
    ('Paris', 'Paris.', None)
    """
    _, answer, is_whole = split_reasoning(response)
    response = _END_TOKEN.split(answer, maxsplit=1)[0] if is_whole else ""
    declared = answer_after_marker(response)
    if declared is None:
        declared = declared_text(response)
    if declared is not None:
        return declared
    return next((line.strip() for line in response.splitlines() if line.strip()), None)


def same_span(answer: str, golds: Iterable[str]) -> bool:
    """Return whether an answer equals a gold one but for case, ASCII punctuation, articles and spaces (SQuAD's rule).

    >>> same_span("The Eiffel-Tower!", ["eiffeltower"]), same_span("a", ["the"]), same_span("Paris, France", ["Paris"])
    (True, True, False)
    """
    tokens = squad_tokens(answer)
    return any(tokens == squad_tokens(gold) for gold in golds)
