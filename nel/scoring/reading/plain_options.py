"""Options of a plain kind, which a response may answer without naming one: two opposites, or numbers.

Depends on `nel.scoring.reading.yes_no` for what decides between opposites.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.marks import without_latex
from nel.scoring.reading import phrases
from nel.scoring.reading.label_runs import Found
from nel.scoring.reading.near_texts import number_of
from nel.scoring.reading.option_texts import OptionTexts
from nel.scoring.reading.result import Reading
from nel.scoring.reading.yes_no import read_decision

_OPPOSITES: Final = ({"true": "yes", "false": "no"}, {"yes": "yes", "no": "no"})
_REPLY = lazy_pattern(r"[\s*_]*(?:yes|no)[*_]*[,.;:!—–-]+[*_]*\s", re.IGNORECASE)
_VERDICT = lazy_pattern(r"\b(?:true|false)\b", re.IGNORECASE)
_LAST_MAX: Final = 300
"""Characters of the last sentence, in which a number is stated."""
_SHORT_MAX: Final = 80
"""Characters of a response that needs no full stop at its end."""
_CLOSED = re.compile(r"(?:[.!*][$)]*|\\[\])]|\$\$)\Z")
_LAST_SENTENCE = re.compile(r"(?:\A|\n|(?<=[^\d\s][.!?])\s+|(?<=\d[.!?])\s+(?=[A-Z]))(?P<last>[^\n]*?)\s*\Z")
_STATES = lazy_pattern(
    r"""
    (?: = | \b (?: is | are | was | were | equals? | gets? | gives? | obtain | have | has | totals? | makes? | leaves?
      | yields? )
      (?:\s+(?:exactly|therefore|thus|then|equal\s+to))? )
    [\s*_$(\\]* (?P<number> [$€£]? [-−+]? (?: \d{1,3}(?:,\d{3})+ | \d+ ) (?:\.\d+)? (?:/\d+)? %? )
    (?! [\d^*/×] | \s*[-+*/×^=<>]\s*\d ) (?P<behind> (?: \s? [^\d\s.!?,;:=+]+ (?:\.(?=\w)[^\d\s.]*)? ){0,4} )
    [\s.!*_$)\\\]]* \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SPOILS = lazy_pattern(
    r"\b(?:or|not|n['’]t|if|than|about|roughly|least|most|option|choice|wrong|each|per|the\s+(?:first|initial|next)|steps?)\b",
    re.IGNORECASE,
)


def one_of_two(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return which of the options "True" and "False", or "Yes" and "No", a response decides for."""
    for opposites in _OPPOSITES if texts is not None and len(labels) == len(_OPPOSITES) else ():
        by_value = {opposites.get(word): label for label, word in texts.words_of_two().items()} if texts else {}
        if None in by_value or len(by_value) < len(labels):
            continue
        begin = _begin_of_verdict(text) if "true" in opposites else 0
        decided = read_decision(text[begin:])
        if decided.value is not None:
            return by_value[decided.value], begin + decided.start, begin + decided.end
    return None


def _begin_of_verdict(text: str) -> int:
    """Return where a response goes on to call a statement true or false after a yes or no: "Yes, it is false"."""
    opening = _REPLY.match(text)
    return 0 if opening is None or _VERDICT.search(text, opening.end()) is None else opening.end()


def stated_number(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the option whose number the last sentence of a response comes to: "So the total is 42."."""
    if texts is None or not texts.near.are_numbers:
        return None
    tail = text[-_LAST_MAX:].rstrip()
    sentence = _LAST_SENTENCE.search(tail)
    last = without_latex(sentence["last"], "") if sentence else ""
    found = _STATES.search(last)
    if found is None or _SPOILS.search(last) or phrases.GIVEN_UP.search(last):
        return None
    if len(text) > _SHORT_MAX and _CLOSED.search(tail) is None:
        return None  # it may be cut off in the midst of a number or a calculation
    number = number_of(found["number"])
    if number is None:
        return None
    behind = found["behind"].replace("\\", " ").split()
    label = texts.near.of_number(*number, behind=behind[0] if behind else "")
    start = len(text) - len(text[-_LAST_MAX:])
    return None if label is None else (label, start, len(text))
