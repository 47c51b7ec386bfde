"""What benchmarks of short answers share: which part of a response is the answer, and SQuAD's exact match.

Official scripts score the whole output of a model that was trained to give a span; a chat model wraps it. What a
response declares with ``Answer:``, or otherwise ("The answer is Paris, because …"), is taken instead, else its first
line. What a response takes back after its answer ("Wait, no. Answer: Rome") is none.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Final

from nel.core.thinking import split_reasoning
from nel.scoring.overlap import squad_tokens
from nel.scoring.reading.texts import declared_text, read_text
from nel.scoring.text import answer_after_marker, behind_marker

_END_TOKEN: Final = re.compile(r"<\|[a-z_]{2,30}\|>|</s>|<(?:eos|end_of_turn|eot_id)>", re.IGNORECASE)
_CORRECTION: Final = re.compile(
    r"[\s*_>]*(?:wait|actually|hold\s+on|no|sorry|oops|correction|scratch\s+that|on\s+second\s+thought)\b[\s,.:;!—–-]",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(r"[^\S\n]*(?:[-*•+]|\d{1,2}[.)])[^\S\n]+(?P<item>\S[^\n]*)")
_TYPESET: Final = re.compile(r"\$?\\(?:text|textbf|mathrm|mathbf)\s?\{(?P<text>[^{}]*)\}\$?")
_REFUSED: Final = re.compile(
    r"""
      (?:i['’]m\s+|i\s+am\s+|we['’]re\s+)? (?:very\s+)? sorry\b [^.\n]{0,40}?
      \b (?:can['’]?t|can\s?not|unable|do(?:es)?\s?n[o'’]t)\b .*
    | (?:i|we) \s+ (?:can\s?not|can['’]t|could\s+not|couldn['’]t|am\s+unable\s+to|am\s+not\s+able\s+to) \s+
      (?:answer|determine|provide|find|tell|say|assist|help\s+(?:you|with)) \b .*
    | (?:the|this) \s+ (?:given\s+|provided\s+)? (?:passage|text|context|article|paragraph|information|question)
      (?:\s+(?:given|provided))? \s+ (?:does|do|did) (?:\s+not|n['’]t) \b .*
    | (?:there\s+is\s+|there['’]s\s+)? (?:not\s+enough|insufficient|no) \s+ information \b .*
    | as\s+an\s+ai \b .* | i\s+(?:do\s+not|don['’]t)\s+know [.!]?
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A first line that refuses to answer; a title such as "I Can't Help Myself" does not."""
_REASONING: Final = re.compile(
    r"""
      (?: let['’]?s | let\s+(?:me|us) ) \s+ (?: think | look | break | solve | find | analy[sz]e | examine | consider
      | identify
      | calculate | start | go\s+through ) \b .*
    | to \s+ (?: find | answer | determine | solve | calculate | figure\s+out ) \b .*?
      (?: ,\s+(?:we|you|i|one|first|let) | \b(?:we|you|i)\s+(?:first\s+)?(?:need|must|have)) \b .*
    | step\s+1\b .* | (?: first | firstly ) , \s+ (?: we | i | let ) \b .* | we\s+(?:need|have)\s+to\b .*
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A first line that begins the reasoning of a response which declares no answer after it."""
_SAID: Final = "said"
"""The rule of a reading that found an answer which a sentence says without declaring it."""
_SENTENCE_WORDS_MIN: Final = 3
_APPOSITION: Final = re.compile(r",\s+(?:the|an?|which|who|where|located)\s")
_DATED: Final = re.compile(
    r"[Ii]n\s+(?P<date>(?:[A-Z][a-z]+\s+)?\d{3,4})\.?|[Oo]n\s+(?P<day>[A-Z][a-z]+\s+\d{1,2},\s+\d{4})\.?"
)
_FRAME: Final = re.compile(
    r"[\s#>*_]*(?:the\s+)?(?:final\s+)?answer[\s*_]*[:：]?[\s*_]*|```[^\n`]*|</?\w+>|[.。]+", re.IGNORECASE
)


def short_answer(response: str, *, keep_money: bool = False) -> str | None:
    """Return what follows the last ``Answer:`` of a response, else what it declares, else its first line, or None.

    Reasoning in tags is no part of it; one that does not end leaves no answer.

    Args:
        keep_money: A dollar sign before an amount after ``Answer:`` stays.

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
    declared = answer_after_marker(response, keep_money=keep_money)
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


def forms_of(response: str) -> tuple[str, ...]:
    """Return the short answer of a response as it is written, and what it says where it is a sentence or a date.

    A sentence ends in a full stop; a title without one, such as "Life Is Beautiful", says nothing else.

    >>> forms_of("The capital of France is Paris."), forms_of("In 1969."), forms_of("Life Is Beautiful"), forms_of("")
    (('The capital of France is Paris.', 'Paris'), ('In 1969.', '1969'), ('Life Is Beautiful',), ())
    """
    answer = short_answer(response)
    if answer is None:
        return ()
    dated = _DATED.fullmatch(answer)
    if dated is not None:
        return answer, dated["date"] or dated["day"]
    if not answer.rstrip("*_").endswith(".") or len(answer.split()) < _SENTENCE_WORDS_MIN:
        return (answer,)
    reading = read_text(answer.strip("*_ "))
    if reading.value is None or reading.rule != _SAID:
        return (answer,)
    return answer, _APPOSITION.split(reading.value, maxsplit=1)[0]


def _listed(below: str) -> str | None:
    """Return the items of the list that lines begin with, or None where they begin with something else."""
    lines = [line for line in below.splitlines() if line.strip()]
    items = [item["item"].strip() for item in itertools.takewhile(bool, map(_ITEM.match, lines)) if item]
    return "; ".join(items) or None


def _first_line(text: str) -> str | None:
    """Return the first line that is not blank, and no fence of code, tag, full stop or bare ``Answer:``, or None.

    One that refuses to answer, or only begins to reason, is no answer.
    """
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not _FRAME.fullmatch(line)), None)
    return None if first and (_REFUSED.fullmatch(first) or _REASONING.fullmatch(first)) else first


def same_span(answer: str, golds: Iterable[str]) -> bool:
    """Return whether an answer equals a gold one but for case, ASCII punctuation, articles and spaces (SQuAD's rule).

    >>> same_span("The Eiffel-Tower!", ["eiffeltower"]), same_span("a", ["the"]), same_span("Paris, France", ["Paris"])
    (True, True, False)
    """
    tokens = squad_tokens(answer)
    return any(tokens == squad_tokens(gold) for gold in golds)
