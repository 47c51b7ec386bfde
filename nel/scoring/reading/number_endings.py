"""What the end of a text says against a number that is not declared: it asks back, refuses, or is cut off.

Depends on `nel.scoring.reading.remarks` for what a sentence says.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.finding import Number, found_numbers
from nel.scoring.reading import remarks

DIGITS_MAX: Final = 40
"""A longer number at the very end of a response is a period that went on until the response was cut off."""
TAIL_MAX: Final = 3_000
"""Characters after a declaration in which it may be taken back."""
_EMPTY_ENDING = lazy_pattern(
    r"""
    (?: (?: \A | \n | [.!?。]\s ) [\W_]* (?:(?:the|my|la|die|a)\s+)? (?:final\s+)?
        (?: answers? | result | antwort | réponse | respuesta | risposta | resposta | ответ | 答案 | 答え
          | 最終回答 | الإجابة | الجواب )
        (?: \s+ (?:finale?|final|النهائية) )? [\W_]* (?: is | ist | est | es | è | é | 是
          | は )? (?: [\W_]* \[\w+\] )? [\W_]*
      | \b answer \s* (?: is | : ) (?: \s* \[[\w\s]{1,20}\] )? [\W_]*
      | (?: the\s+final\s+answer\s+is\W* )? \\(?:boxed|fbox) [\W_]*
    )
    (?: <\|\w+\|> | </s> )? \s* \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A declaration at the end of a text with nothing behind it."""
_LAST_WORDS: Final = frozenset(
    "answer answers result antwort respuesta risposta resposta final finale is ist est es boxed fbox".split()
)
"""Words in ASCII that it may end with."""
_SET_OFF = lazy_pattern(
    r"""
    (?: \A\s* | \n ```\w*\n \s* | \n [^\S\n]* (?:>[^\S\n]*)? (?=[*_`$\\]) )
    (?: \*\* | __ | ` | \$\$? | \\[\[(] )* \s* (?P<number> \d{1,3}(?:,\d{3})+ | \d{1,12} )
    \s* \.? (?: \*\* | __ | \s*``` | ` | \s*\$\$? | \s*\\[\])] )* \.? \s* \Z
    """,
    re.VERBOSE,
)
_SET_OFF_MAX: Final = 80
_SUM_AT_END = lazy_pattern(
    r"""
    (?: \A | \n ) [^\S\n]* (?: (?:so|thus|hence|therefore|then|finally)[,:]?\s+ (?:our\s|the)?\s? )?
    (?: \*\* | \$\$? | \\[\[(] )* \s* [a-zA-Z] (?: \s*\+\s* [a-zA-Z] ){1,4} \s* = (?: [\d\s+]{1,40} = )? \s*
    (?P<number> \d{1,3}(?:,\d{3})+ | \d{1,12} ) \s* \.? (?: \*\* | \s*\$\$? | \s*\\[\])] )* \.? \s* \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
SENTENCE_STOP = lazy_pattern(
    r"[.!?\n。！？؟](?:(?<=[.!?])(?<!\bRs\.)(?<!\bapprox\.)(?<!\bvs\.)(?<!\bca\.)(?<!\bi\.e\.)(?<!\be\.g\.)[*_\"”’)\]`$]*(?:[^\S\n]+|(?=\n)|\Z)"
    r"|(?<=[。！？؟])[*_」』）]*|(?<=\n)\n*)"
)
_FUNCTION_WORD_ENDS = lazy_pattern(
    r"\b(?:the|a|an|and|or|of|to|is|are|was|were|she|he|they|it|we|in|for|so|at|with|that|per|by|has|have|from|this|"
    r"his|her|their|"
    r"then|which|will|if|as|on|plus|minus|times|equals|but|whether)\s*\Z",
    re.IGNORECASE,
)
_LABEL_MAX: Final = 80
_LABELLED = lazy_pattern(r"(?:\A|\n)[^\n.:=]{0,60}[:=][\s*_$\\(]*\Z")
_UNIT = lazy_pattern(r"[\s*_$\\)]*[^\W\d_]+(?:\s[^\W\d_]+)?")
"""All that stands after the number of a line of its own: "Total: 72 clips"."""
_ENDED = lazy_pattern(r"(?:[.!?。！？؟)\]}>\"'”’»」*_`$|~%€£¥°]|\\[)\]]|[^\w\s,;:=+({\[/<–—-])\s*\Z|(?<=\d)\s*\Z")


def asks(text: str) -> bool:
    """Return whether a sentence is a question."""
    return text.rstrip(" *_\"'`)\r\n").endswith(("?", "？", "؟"))


def ending_objection(text: str) -> str | None:
    """Return what the end of a text says against an answer that is not declared: it asks back or refuses."""
    tail = text[-TAIL_MAX:].rstrip()
    begin = max((stop.end() for stop in SENTENCE_STOP.finditer(tail, 0, max(0, len(tail) - 1))), default=0)
    last = tail[begin:]
    if _may_end_empty(tail) and _EMPTY_ENDING.search(tail[-200:]):
        return remarks.CUT_OFF
    if remarks.intends(last) and not any(mark.isdigit() for mark in last):
        return remarks.CUT_OFF
    if asks(last) and not remarks.is_closer(last):
        return remarks.ASKED
    return remarks.UNDECIDED if remarks.refuses(tail[-400:]) else None


def _may_end_empty(tail: str) -> bool:
    """Return whether the last word of a text may be one of a declaration with nothing behind it."""
    end = len(tail)
    while end and not tail[end - 1].isalnum():
        if tail[end - 1] in "]>":
            return True
        end -= 1
    start = end
    while start and tail[start - 1].isalnum():
        start -= 1
    word = tail[start:end].lower()
    return word in _LAST_WORDS or not word.isascii()


def cut_objection(text: str, number: Number) -> str | None:
    """Return `CUT_OFF` where a text ends within a sentence after a number that is not declared."""
    tail = text[number.end :][-TAIL_MAX:].rstrip()
    while tail and remarks.is_confidence(tail[tail.rfind("\n") + 1 :]) and "\n" in tail:
        tail = tail[: tail.rfind("\n")].rstrip()
    if not tail:
        return remarks.CUT_OFF if number.end - number.start > DIGITS_MAX else None
    if _LABELLED.search(text, max(0, number.start - _LABEL_MAX), number.start) and _UNIT.fullmatch(tail):
        return None
    same_line = "\n" not in tail and not SENTENCE_STOP.search(tail)
    if tail[-1] in "=+×·÷/([{,;:：<–—-" or _FUNCTION_WORD_ENDS.search(tail):
        return remarks.CUT_OFF
    ended = _ENDED.search(tail) is not None
    if not ended and (not same_line or text[: number.start].count(". ") + text[: number.start].count(".\n") > 1):
        return remarks.CUT_OFF
    return None


def set_off_at_end(text: str) -> Number | None:
    """Return the number that a response is, or that its last line is in bold, in a formula or in a block of code.

    A last line ``m + n = 204``, the sum that a contest asks for, sets its number off, too.

    >>> set_off_at_end("We have 5.\\n\\n**204**").written, set_off_at_end("Thus $m+n = 200+4 = 204$.").written
    ('204', '204')
    """
    begin = max(0, len(text) - _SET_OFF_MAX)
    found = _SET_OFF.search(text, begin) or _SUM_AT_END.search(text, begin)
    return None if found is None else next(found_numbers(text, *found.span("number")), None)
