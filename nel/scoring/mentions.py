"""Whether an answer that a response mentions is given there, or is part of a longer name or one of
several on offer.

Depends on the standard library alone. The rules look at the words beside a mention, in the
response as written: capitals and commas, which normalising drops, distinguish a name from a
longer one and a choice from a list.
"""

from __future__ import annotations

import re
from typing import Final

_WINDOW: Final = 200
"""Characters before and after a mention that are looked at."""
_LIST_WINDOW: Final = 1_000
"""Characters before and after a labelled mention in which other labels are looked for."""
MENTIONS_MAX: Final = 1_000
"""Mentions of an answer that are looked at; a response with more repeats itself."""
_ARTICLES: Final = ("the", "a", "an", "")
_TOKEN = re.compile(r"[^\W_]+")
_NEXT_WORD = re.compile(
    r"(?:[^\S\n]+|-(?=[A-Z]))(?P<word>[^\W\d_][\w’']*)(?P<rest>[^\S\n]+(?:think|believe|guess|am|say|would)\b)?"
)
_PARTICLE = re.compile(
    r"[^\S\n]+(?:de|da|di|del|della|dos|von|van|der|den|bin|ibn|al)[^\S\n]+[A-Z]"
)
_OTHER_NAME = re.compile(
    r"""
    \b (?: New | Papua | Equatorial | Upper | Lower | (?:North|South|East|West)(?:ern)?
        | Lake | Saint | St\.? | San | Santa | Fort | Port | Los | Las )
    [^\S\n]+ \Z
    | \b [A-Z][^\W\d_]+ - \Z
    | \b [A-Z][\w.]* [^\S\n] \\?& [^\S\n] \Z
    """,
    re.VERBOSE,
)
"""What makes another name of the one that it stands before; titles and given names do not."""
_OF = re.compile(r"\b(?P<word>[A-Z][a-z]+)[^\S\n]of[^\S\n](?:the[^\S\n])?\Z")
_NAMED_ITSELF: Final = frozenset(
    """City State States Town Village Republic Kingdom Province County Island Commonwealth King Queen Emperor President
    Prince Princess Duke Capital Country Name Land People Author Because Out Instead All Some One Most Both Each None
    Any Part Speaking""".split()
)
"""Words before "of" that leave a name what it is: the City of London is London, the Bank of England
is not England.
"""
_AND = re.compile(r"[^\S\n]\\?&[^\S\n][A-Z]")
_COMPOUND_BEFORE = re.compile(r"\w[-/@]\Z")
_DOTTED_BEFORE = re.compile(r"\w\.\Z")
_JOINED_BEHIND = re.compile(r"[-.]\w")
_COMPOUND_BEHIND = re.compile(r"[/@]\w")
_ABBREVIATIONS: Final = frozenset({"DC", "US", "USA", "UK", "UAE", "EU"})
"""What may stand after the name of a place that it holds."""
_GOES_ON: Final = frozenset(
    """Is Was Are Were Be Has Had Have Can Will Would Should And Or But Nor So Because Since As In On At By To For From
    With The An This That These Those Which Who It He She They We You River Ocean Sea Desert Jr Sr""".split()
)
"""Words with a capital that begin no part of a name: of titles and sentences, and what a river may
be called or not.
"""
_ITEM_END = r"[\w'’-]{0,40}(?:[^\S\n][\w'’-]{1,40}){0,2}[*_\"'”’]{0,3}"
_OR = r"or\b(?!\s+(?:not|so|less|more|otherwise|simply|else|at\s+least)\b)"
_OR_BEHIND, _OR_BEHIND_NAME = (
    re.compile(
        rf"[*_\"'”’]{{0,3}}(?:\s?,\s?(?:the\s)?[*_\"'“‘]{{0,3}}{first}{_ITEM_END}){{0,5}}(?:\s?,)?\s{{1,3}}{_OR}"
    )
    for first in (r"\w", "[A-Z0-9]")
)
"""An "or" after an item of a list, and the items between; after a name those have capitals too."""
_OR_BEFORE = re.compile(r"\bor[^\S\n]+(?:the\s+|an?\s+)?[\"'“‘*]*\Z", re.IGNORECASE)
_OFFERED = re.compile(
    r"\b(?:options?|choices?|candidates?|alternatives?|possibilities|possible\s+answers?)\b[^.!?:\n]{0,40}?(?::|\bare\b|\binclude\b)",
    re.IGNORECASE,
)
_BETWEEN_ITEMS = re.compile(r"[,;/]|\b(?:or|and)\b", re.IGNORECASE)
_ITEM_WORDS_MAX: Final = 5
_ENDS = re.compile(r"[.!?\n]")
_LABELLED = re.compile(r"^[^\S\n]*(?:[-*][^\S\n]+)?\(?[A-Za-z][).:][^\S\n]*", re.MULTILINE)


_NO_DECISION = re.compile(
    r"""
    \b (?: can(?:no|['’]?)t | can\s+not | could\s+not | couldn['’]?t | unable\s+to | not\s+able\s+to | impossible\s+to )
    \s+ (?: \w+ly\s+ )? (?: be\s+)? (?: decided? | choose | chosen | pick | determined? | settle | say | tell )
    (?:
        \s+ (?: which | what | whether | between | among | on | from | with | without | based | for | this | that | it )
        \b (?: (?!\bbut\b) . )*
    )?
    """,
    re.IGNORECASE | re.VERBOSE,
)


def mentions(response: str, answer: str) -> list[tuple[int, int]]:
    """Return where the words of an answer stand in a response, the first thousand places.

    >>> mentions("Rome? No: New-York, *new york*.", "New York")
    [(10, 18), (21, 29)]
    """
    words = _TOKEN.findall(answer)
    if len(words) > 1 and words[0].lower() in _ARTICLES:
        del words[0]
    if not words:
        return []
    whole = r"[\W_]{1,4}".join(map(re.escape, words))
    pattern = re.compile(rf"(?<![^\W_]){whole}(?![^\W_])", re.IGNORECASE)
    return [
        match.span()
        for match, _ in zip(pattern.finditer(response), range(MENTIONS_MAX), strict=False)
    ]


def is_given(response: str, start: int, end: int, answer: str) -> bool:
    """Return whether the mention at ``response[start:end]`` is that answer, and is not merely on
    offer.

    >>> names = "George Washington Carver", "President George Washington", "George Washington was"
    >>> [is_given(text, text.index("George"), text.index("ton") + 3, "George Washington") for text in names]
    [False, True, True]
    """
    return not (
        _is_part_of_a_word(response, start, end)
        or _is_longer_name(response, start, end, answer)
        or _is_one_of_several(response, start, end, answer)
    )


def _is_part_of_a_word(response: str, start: int, end: int) -> bool:
    """Return whether a mention is joined to a word before it, or a small one to one after:
    ``non-toxic``, ``a.b``.
    """
    if _COMPOUND_BEFORE.search(response, max(0, start - 2), start) or _COMPOUND_BEHIND.match(
        response, end
    ):
        return True
    small = response[start : start + 1].islower()
    return small and (
        _DOTTED_BEFORE.search(response, max(0, start - 2), start) is not None
        or _JOINED_BEHIND.match(response, end) is not None
    )


def _is_longer_name(response: str, start: int, end: int, answer: str) -> bool:
    """Return whether a capitalised mention is a part of a longer name: ``George Washington
    Carver``, ``New York``.
    """
    mention = response[start:end]
    if not mention[:1].isupper() or not answer.strip()[:1].isupper():
        return False
    before = response[max(0, start - _WINDOW) : start]
    of = _OF.search(before)
    if _OTHER_NAME.search(before) or (of is not None and of["word"] not in _NAMED_ITSELF):
        return True
    if _PARTICLE.match(response, end) or _AND.match(response, end):
        return True
    follower = _NEXT_WORD.match(response, end)
    if follower is None or not follower["word"][0].isupper() or mention.isupper():
        return False
    word = follower["word"]
    if word == "I" and follower["rest"]:
        return False
    return word not in _GOES_ON and word not in _ABBREVIATIONS


def _is_one_of_several(response: str, start: int, end: int, answer: str) -> bool:
    """Return whether a mention is one of several on offer: beside an "or", in a list of options,
    after a label.
    """
    before = response[max(0, start - _WINDOW) : start]
    if _OR_BEFORE.search(before) or (_OR_BEHIND_NAME if answer[:1].isupper() else _OR_BEHIND).match(
        response, end
    ):
        return True
    if _LABELLED.fullmatch(before.rpartition("\n")[2]):
        near = response[max(0, start - _LIST_WINDOW) : start + _LIST_WINDOW]
        labelled = {match[0].strip().upper() for match in _LABELLED.finditer(near)}
        return len(labelled) > 1 and "Q:" not in labelled
    offered = None
    for offered in _OFFERED.finditer(before):  # noqa: B007 - the last one is wanted
        pass
    if offered is None:
        return False
    items = _BETWEEN_ITEMS.split(before[offered.end() :])
    is_list = all(len(item.split()) <= _ITEM_WORDS_MAX and not _ENDS.search(item) for item in items)
    return is_list and items[-1].strip(" *_\"'“‘").lower() in _ARTICLES


def ends_undecided(response: str) -> bool:
    """Return whether a response ends with not being able to decide.

    >>> ends_undecided("Paris or Rome. I can't decide."), ends_undecided("I can't decide if I like it, but it is Rome.")
    (True, False)
    """
    last = response[-_WINDOW:].rstrip(" \n\t*_.!?\"'")
    sentence = _ENDS.split(last)[-1]
    match = _NO_DECISION.search(sentence)
    return match is not None and match.end() == len(sentence)
