"""What benchmarks of short answers share: the answer in a response, and SQuAD's exact match.

Official scripts score the entire output of a model that was trained to give a span; a chat model
wraps its answer. So what a response declares is taken (docs/reference/reading.md), else its first
line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from nel.reading.forms import named_in
from nel.reading.response import Answer
from nel.reading.texts import read_text
from nel.reading.types import Reason
from nel.scoring.tokens import squad_tokens

# Lines that hold no answer: "**Final answer:**", "```text", "<answer>", "."
_FRAME: Final = re.compile(
    r"[\s#>*_]*(?:the\s+)?(?:final\s+)?answer[\s*_]*[:：]?[\s*_]*|```[^\n`]*|</?\w+>|[.。]+",
    re.IGNORECASE,
)
# $\text{Paris}$
_TYPESET: Final = re.compile(r"\$?\\(?:text|textbf|mathrm|mathbf)\s?\{(?P<text>[^{}]*)\}\$?")
_SENTENCE_WORDS_MIN: Final = 3
# "Paris, the capital of France": what follows the comma explains the answer
_APPOSITION: Final = re.compile(r",\s+(?:the|an?|which|who|where|located)\s")
# "In 1969.", "in July 1969", "On July 20, 1969"
_DATED: Final = re.compile(
    r"[Ii]n\s+(?P<date>(?:[A-Z][a-z]+\s+)?\d{3,4})\.?|[Oo]n\s+(?P<day>[A-Z][a-z]+\s+\d{1,2},\s+\d{4})\.?"
)


def short_answer(response: Answer, *, keep_money: bool = False) -> str | None:
    """Return what a response declares as its answer, else its first line, or None.

    Args:
        response: The response.
        keep_money: A dollar sign before an amount stays.

    >>> short_answer(Answer("I see. So the answer is **Paris**."))
    'Paris'
    >>> short_answer(Answer("Let me see.\\nAnswer: **Paris**")), short_answer(Answer("Paris.\\nIt is in France."))
    ('Paris', 'Paris.')
    """
    reading = read_text(response, declared_only=True)
    # A declaration that was rejected for what it says, such as one taken back, leaves no answer;
    # of one that could not be read, the first line may still be the answer.
    is_none = any(rejected.why is not Reason.UNREADABLE for rejected in reading.rejected)
    answer = reading.value
    if answer is None and not is_none:
        answer = _first_line(response.text)
    typeset = _TYPESET.fullmatch(answer) if answer else None
    if typeset is not None:
        return typeset["text"]
    if keep_money or answer is None:
        return answer
    return answer.strip("$").strip() or None


def forms_of(response: Answer) -> tuple[str, ...]:
    """Return a response's short answer as written; of a sentence or a date, also what it states.

    A sentence ends in a full stop: the title "Life Is Beautiful" is not a statement.

    >>> forms_of(Answer("The capital of France is Paris.")), forms_of(Answer("In 1969.")), forms_of(Answer(""))
    (('The capital of France is Paris.', 'Paris'), ('In 1969.', '1969'), ())
    """
    answer = short_answer(response)
    if answer is None:
        return ()
    date = _DATED.fullmatch(answer)
    if date is not None:
        return answer, date["date"] or date["day"]
    if not answer.rstrip("*_").endswith(".") or len(answer.split()) < _SENTENCE_WORDS_MIN:
        return (answer,)
    sentence = Answer(answer.strip("*_ "))
    spans = list(named_in(sentence, "text", 0, len(sentence.text)))
    if not spans:
        return (answer,)
    words = sentence.text[slice(*spans[-1])].strip(" .*_")
    return answer, _APPOSITION.split(words, maxsplit=1)[0]


def _first_line(text: str) -> str | None:
    """Return the first line that is more than a fence, a tag, a full stop or ``Answer:``."""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not _FRAME.fullmatch(line)), None)


def same_span(answer: str, golds: Iterable[str]) -> bool:
    """Return whether an answer is a gold one but for case, punctuation, articles and spaces.

    SQuAD's rule; punctuation is that of ASCII.

    >>> same_span("The Eiffel-Tower!", ["eiffeltower"]), same_span("a", ["the"]), same_span("Paris, France", ["Paris"])
    (True, True, False)
    """
    tokens = squad_tokens(answer)
    return any(tokens == squad_tokens(gold) for gold in golds)
