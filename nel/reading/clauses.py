"""What the words around an answer do to it, and where a text stands as whole words.

They deny it, suppose it or take it back. The words stand in `forms.toml`, by language. They are looked for in the clause of an answer, which
stops, commas, quotes and words such as "but" end. Depends on `nel.reading.table`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Final

from nel.reading.table import words_of

UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Scripts in which words stand without spaces, or have endings joined to them."""
_WINDOW: Final = 120
"""Characters before an answer that are looked at."""
_OPENING: Final = " \"'*_`([{$"
"""Marks directly before an answer."""
_OPENING_MARKS: Final = r"[\s\"'*_`(\[{$]*"
_UNSPACED_MARK: Final = re.compile(f"[{UNSPACED}]")
# A Latin stop ends a clause before white space alone: "3.5" and "e.g.x" go on.
_STOPS: Final = r"[.!?;:,](?=\s|\Z)|[\n\"()。，；：！？、]"
_PARTING_MARK: Final = r"[^\w\s)*_`]"
# "A: no" after an option denies it, as where each option is weighed on a line of its own.
_NO_AFTER_KEY: Final = r":[\s*_`\"']*(?:no|false|incorrect|wrong)\b[.*_`\"' ]*(?:\n|\Z)"
_COPULAS: Final = words_of("copula")
_SIGNED: Final = re.compile(r"(?<![^\W_])[-−–+]\Z")


def words_pattern(*roles: str) -> str:
    """Return a pattern of the words of some roles in all languages, the longest first."""
    words = sorted(words_of(*roles), key=len, reverse=True)
    # The first letters are looked at before any word is tried, at every place of a clause.
    initials = "|".join({_with_or_without_accent(word[0]) for word in words})
    return rf"(?={initials})(?:{'|'.join(map(_source, words))})"


def _source(word: str) -> str:
    # In the table a space is any white space, "…" stands for one word that may be there or not, and
    # "*" for any ending of the word.
    source = "".join(map(_with_or_without_accent, re.escape(word)))
    source = source.replace(r"\ …\ ", r"\s+(?:\w+\s+)?").replace(r"\ ", r"\s+")
    source = source.replace(r"\*", r"\w*")
    if _UNSPACED_MARK.search(word):
        return source
    return rf"(?<![^\W_]){source}(?!\w)"


def _with_or_without_accent(character: str) -> str:
    letter = unicodedata.normalize("NFD", character)[0]
    return f"[{letter}{character}]" if letter.isascii() and letter != character else character


@cache
def _denial(words: int) -> re.Pattern[str]:
    # A denial, at most so many words after it, and the answer: "not a very toxic". In a script
    # without spaces these are four characters. "no doubt" and "not only" (the words kept) are no
    # denials, and "larger than B" compares with B and does not name it.
    following = rf"(?:(?:\s+[^\W_][\w'-]*){{0,{words}}}|[{UNSPACED}]{{0,4}})"
    denied = rf"(?!{words_pattern('kept')}){words_pattern('before')}{following}"
    compared = rf"(?<!other\s){words_pattern('compared')}(?:\s(?:the|an?))?"
    return re.compile(rf"(?:{denied}|{compared}){_OPENING_MARKS}\Z")


@cache
def _word_pattern(role: str) -> re.Pattern[str]:
    """Return a pattern of the words of a role, whose name ends in that of the words."""
    pattern = words_pattern(role.rpartition(" ")[2])
    # What stands around the words: what may come between an answer and them, or what sets them off.
    around = {
        "after": rf"[\s*_`)\]}}\"'$.]*(?:{pattern}|{_NO_AFTER_KEY})",
        "denial and contrast": rf"[\s*_`]*{words_pattern('before')}\s[^.;:\n]{{1,60}}?\s{pattern}",
        "stop or contrast": rf"{_STOPS}|(?<!anything ){pattern}",
        "retraction": (
            rf"[^\w\n]{{0,6}}(?:{_PARTING_MARK}{{1,4}}\s{{0,2}}|\n\s*){pattern}"
            rf"|[^\w\n]{{0,6}}(?:\n\s*)?{words_pattern('refutation')}"
        ),
        "none": rf"\s*{pattern}",
    }
    return re.compile(around.get(role, pattern))


def without_copula(text: str) -> str:
    """Return a text without a verb that ends its sentence: 富士山です.

    >>> without_copula("富士山です")
    '富士山'
    """
    copula = next(filter(text.endswith, _COPULAS), "")
    return text.removesuffix(copula).rstrip()


def clause_before(low: str, start: int, begin: int = 0) -> str:
    """Return the words of the same clause before a place of a text in small letters.

    >>> clause_before("it is not a, it is b", 19)
    ' it is '
    """
    before = low[max(begin, start - _WINDOW) : start]
    ends = [
        match.end() for match in _word_pattern("stop or contrast").finditer(before.rstrip(_OPENING))
    ]
    return before[ends[-1] :] if ends else before


def after_denial(low: str, start: int) -> int:
    """Return where a text goes on after a denial at a place, and what holds instead.

    >>> after_denial("not a but b", 0), after_denial("not a", 0)
    (9, 0)
    """
    denial = _word_pattern("denial and contrast").match(low, start)
    return start if denial is None else denial.end()


def is_denied(low: str, start: int, end: int, *, begin: int = 0, words: int = 3) -> bool:
    """Return whether the words around ``low[start:end]`` deny it.

    Args:
        low: A text in small letters.
        start: Where an answer stands.
        end: Where it ends.
        begin: Where its sentence begins.
        words: How many words may stand between the denial and it.

    >>> [is_denied(text, text.index("toxic"), len(text)) for text in ("no toxic", "no doubt toxic")]
    [True, False]
    """
    denied = _denial(words).search(clause_before(low, start, begin)) is not None
    return denied or _word_pattern("after").match(low, end) is not None


def is_supposed(low: str, start: int, *, begin: int = 0) -> bool:
    """Return whether what stands there is only supposed: "if the answer is A", "whether it is so".

    >>> is_supposed("if the answer is a", 17), is_supposed("if so, the answer is a", 21)
    (True, False)
    """
    clause = _word_pattern("kept").sub(" ", clause_before(low, start, begin))
    return _word_pattern("hedge").search(clause) is not None


def is_retracted(low: str, end: int) -> bool:
    """Return whether the words after an answer take it back: "Wait", "is wrong"."""
    return _word_pattern("retraction").match(low, end) is not None


def none_of_these(low: str, start: int, stop: int) -> re.Match[str] | None:
    """Return the words at a place that say that no option is the answer, or None."""
    return _word_pattern("none").match(low, start, stop)


def whole_places(
    text: str, sought: str, start: int = 0, *, compounds: bool = False
) -> Iterator[tuple[int, int]]:
    """Yield where a text stands and is not a part of a longer word or number.

    Args:
        text: Where it is searched.
        sought: The text.
        start: Where the search begins.
        compounds: It may also be a part of a compound ("non-toxic") or stand before an apostrophe.

    >>> [list(whole_places(text, "8")) for text in ("18", "1.8", "8,000", "x = 8.", "-8")]
    [[], [], [], [(4, 5)], []]
    >>> list(whole_places("вода", "да")), list(whole_places("non-toxic", "toxic"))
    ([], [])
    """
    start = text.find(sought, start) if sought else -1
    while start >= 0:
        end = start + len(sought)
        before, after = text[max(0, start - 2) : start], text[end : end + 2]
        is_part = _goes_on(before[::-1], sought[0], compounds) or _goes_on(
            after, sought[-1], compounds
        )
        is_signed = not compounds and sought[0].isdigit() and _SIGNED.search(before) is not None
        if not is_part and not is_signed:
            yield start, end
        start = text.find(sought, start + 1)


def _goes_on(around: str, edge: str, compounds: bool) -> bool:
    """Return whether a word or number goes on beyond its edge, seen outward from it."""
    if not around or not edge.isalnum() or _UNSPACED_MARK.search(around[0] + edge):
        return False
    if around[0].isalnum():
        return True
    beyond = around[1:]
    if edge.isdigit():
        return around[0] in ".,'’/" and beyond.isdigit()
    return not compounds and around[0] in "-'’/@" and beyond.isalpha()
