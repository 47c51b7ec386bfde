"""Sentences and words as IFEval counts them: NLTK's rules for English, written out so that no data is downloaded.

NLTK's sentence splitter is a trained model. Here a full stop ends a sentence unless it follows a known abbreviation or
an initial; texts with unusual abbreviations may differ by one.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_MARKS: Final = ".?!"
_CLOSERS: Final = "\"'”’)]}*_"
_ABBREVIATIONS: Final = frozenset(
    "a.m p.m e.g i.e u.s u.k u.n d.c ph.d m.d b.c a.d mr mrs ms dr prof sr jr st gen col sen rep gov lt sgt capt rev "
    "hon vs inc corp co ltd etc al jan feb mar apr jun jul aug sep sept oct nov dec approx dept est fig vol pp".split()
)
_OPENERS: Final = "\"'“‘([{*_"
_STARTERS: Final = frozenset(
    "the this that these those it he she we they i you in on at if when while however but and so there here for".split()
)
"""Words that begin a sentence even behind an abbreviation, when they are written with a capital."""
_NEVER_FINAL: Final = frozenset("mr mrs ms dr prof st gen col sen rep gov lt sgt capt rev hon vs e.g i.e fig".split())
_BETWEEN_WORDS = re.compile(r"[\s;@#$%&()\[\]{}<>\"!?“”«»…\u2012-\u2015]+|--+|\.{2,}|[:,](?!\d)")
_CONTRACTION = re.compile(r"(?<=[^' ])(?=(?:'(?:s|m|d|ll|re|ve)|n't)(?!\w))", re.IGNORECASE)
_JOINED = re.compile(r"^(can)(not)$|^(gim|lem)(me)$|^(gon|wan)(na)$|^(got)(ta)$", re.IGNORECASE)


def count_words(text: str) -> int:
    """Return the number of runs of letters, digits and underscores.

    >>> count_words("It's a well-known fact.")
    6
    """
    return len(re.findall(r"\w+", text))


def count_sentences(text: str) -> int:
    """Return the number of sentences; a line break alone ends none, and the number of a list item is one.

    >>> count_sentences("Dr. Smith lives in the U.S. He is 40. Really?"), count_sentences("one\\ntwo")
    (3, 1)
    """
    tokens = text.split()
    return sum(_ends(token, following) for token, following in pairwise(tokens)) + bool(tokens)


def _ends(token: str, following: str) -> bool:
    """Return whether a sentence ends between a token and the one behind it."""
    closed = token.rstrip(_CLOSERS)
    word = closed.rstrip(_MARKS)
    marks, word, bare = closed[len(word) :], word.strip(_OPENERS), following.lstrip(_OPENERS)
    if not marks:
        return False
    if set(marks) != {"."}:
        return True
    if len(marks) > 1:
        return bare[:1].isupper()
    known = word.lower()
    starts = bare[:1].isupper() and re.sub(r"\W.*", "", bare).lower() in _STARTERS
    if known in _ABBREVIATIONS:
        return starts and known not in _NEVER_FINAL
    is_initial = len(word) == 1 and word.isalpha() and word.isupper() and word != "I"
    return not is_initial or starts


def count_capital_words(text: str) -> int:
    """Return the number of words that are written in capitals; hyphened words are one, contractions two.

    >>> count_capital_words("STOP! I CAN'T see the TOP-SECRET U.S. file, Bob.")
    6
    """
    tokens = (part for word in _BETWEEN_WORDS.split(text) for part in _CONTRACTION.split(word))
    return sum(part.isupper() for token in tokens for part in _split_joined(token))


def _split_joined(token: str) -> list[str]:
    match = _JOINED.match(token)
    return [token] if match is None else [part for part in match.groups() if part]
