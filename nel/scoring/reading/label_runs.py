"""Labels that stand at a place of a response: one, or several that are joined.

Wrappers such as brackets, emphasis and boxes are skipped. ``A`` and ``I`` are also words, so "A dog" is no label.
Depends on the standard library alone.
"""

from __future__ import annotations

import re
import string
from functools import lru_cache
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern

_OPENING = lazy_pattern(
    r"(?:[\s*_$`\"'“‘✅✓✔☑=]{1,16}+|\\(?:boxed|text|textbf|mathrm|mathbf)\s?\{|\\(?:rm|bf|it)\s|\\[(\[]"
    r"|[(\[（【{<《〔«]){0,8}+"
)
_CLOSING = r"[^\S\n]*+(?:\\[)\]])?[*_$`\"'”’)\]）】}>》〕»=]*+[^\S\n]*+"
LINE_ENDS = lazy_pattern(r"[^\S\n]*+(?:\\[)\]])?[*_$`\"'”’)\]）】}>》〕»=.!,;:。]*+[^\S\n]*+(?:\n|\Z)")
JOINED = lazy_pattern(
    _CLOSING
    + r"(?:(?:[,(]\s*+)?(?:(?:or|and)\b(?:\s+(?:maybe|perhaps|possibly|potentially|alternatively|even|also)\b,?)?"
    + r"|maybe\b|perhaps\b|possibly\b)|[,;/|&、+]|\b(?:und|oder|et|ou|oppure|y|e|o|и|или)\b"
    + r"|和|或|还是|或者|または|か|أو|و|[→⇒⟶➔➜]|[-=]{1,2}>)[^\S\n]*+(?:(?:letter|option|choice)[^\S\n]++)?"
)
_SET_APART = lazy_pattern(r"[)\]*_]*[.):\]]\s*\w")
_CLOSED = lazy_pattern(_CLOSING)
_CONTINUES = lazy_pattern(
    r"(?!\s*[-=]{1,2}>)" + _CLOSING + r"(?:(?!(?:and|or|because|since|as)\b)[^\W\d_]|\.[^\S\n]+[a-z])"
)
_OR = lazy_pattern(
    r"\b(?:or|maybe|perhaps|possibly|oder|ou|oppure|o|или)\b|或|还是|または|か|أو|[→⇒⟶➔➜]|[-=]>", re.IGNORECASE
)
"""What offers several labels; an arrow between two of them may be a correction or a sequence."""
UNDECIDED: Final = "?"
"""Follows labels that are joined by "or"; no label is written so."""
_NEXT_WORD = lazy_pattern(r"[^\S\n]+([a-z]+)")
_OTHER_LABEL = lazy_pattern(r"[A-Z](?!\w|\.\w)(?=[)\]*_]*+\s*+(?:[,;/&]|(?:and|or)\b|[.!]?[)\]*_]*+\s*(?:\n|\Z)))")
"""A letter that goes on with a list; not the I of "I think", nor that of "U.S." or "E. coli"."""
_CONTINUATIONS: Final = frozenset(
    "is was because since as and or but with for which due given so not from by in on at if where when while "
    "und oder et ou oppure y e o noch ist est es".split()
)
"""Words that can follow the label A or I, but not the article or the pronoun."""
_AFTER_SMALL: Final = frozenset(").,;]")
"""What shows that a small letter is a label and not a word."""
_BRACKETS: Final = frozenset("([（【{<《〔«$")
Found = tuple[str, int, int]
"""A label, where it begins and where it ends."""


def labels_for(n: int) -> tuple[str, ...]:
    """Return the labels of ``n`` choices: A to Z, then 1, 2, … as EvalScope and Inspect number them.

    >>> labels_for(4), labels_for(28)[25:]
    (('A', 'B', 'C', 'D'), ('Z', '1', '2'))
    """
    letters = string.ascii_uppercase
    return tuple(letters[:n]) + tuple(str(index) for index in range(1, n - len(letters) + 1))


class Run(NamedTuple):
    """Labels that stand together, in the order of the choices, and where."""

    labels: tuple[str, ...]
    start: int
    end: int


def decided(found: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels, or none where they are offered and not chosen: "A or B"."""
    return () if UNDECIDED in found else found


_RANKED = lazy_pattern(r"[)\]*_]*\s(?:>|≻|»)\s*[(\[*_]*[A-Z]\b")
"""A ranking goes on after its first label: "B > A > C"."""
_REMARK = lazy_pattern(
    r"[^\S\n]+[(\[](?!\s*(?:or|and|maybe|perhaps|possibly|oder|und|ou|et|o|y|e|или|и|或)\b)[^()\[\]\n]{3,120}[)\]]",
    re.IGNORECASE,
)
"""A remark in brackets after a bare label: "C (A → B)"."""
_VALUED = lazy_pattern(r"[^\S\n]?=[^\S\n]?[-−$\\]?\d")
"""A quantity that is named by a letter: "A = 5"."""


def run_at(text: str, position: int, labels: tuple[str, ...]) -> Run:
    """Return the labels that stand at a position, several when they are joined (``A, C``, ``[A][C]``, ``AC``).

    Labels joined by "or" are followed by `UNDECIDED`, since the response decides for neither.
    """
    found: set[str] = set()
    start, separated, hedged, slashed, in_brackets, undecided = position, False, False, False, False, False
    first = last = position
    while True:
        at = label_at(text, start, labels)
        is_apart = (hedged and in_brackets) or (
            (hedged or slashed) and at is not None and _SET_APART.match(text, at[1])
        )
        if at is not None and found and at[0] not in found and is_apart:
            return Run((*found, UNDECIDED), first, at[1])
        if at is None or (found and ("\n" in text[start : at[1]] or _CONTINUES.match(text, at[1]))):
            break
        if not found:
            first = at[1] - len(at[0])
        undecided = undecided or (bool(found) and hedged)  # an "or" counts once a second label follows it
        found.add(at[0])
        last = at[1]
        joined = JOINED.match(text, at[1]) or _CLOSED.match(text, at[1])
        if len(found) == 1 and (_RANKED.match(text, at[1]) or _REMARK.match(text, at[1])):
            start = at[1]
            break
        separated = joined is not None and any(mark in joined[0] for mark in ",;/&")
        slashed = joined is not None and "/" in joined[0]
        in_brackets = joined is not None and "(" in joined[0]
        hedged = joined is not None and _OR.search(joined[0]) is not None
        start = joined.end() if joined else at[1]
    if found and separated and _OTHER_LABEL.match(text, start):
        return Run((UNDECIDED,), first, last)  # a list goes on with a letter that is no option: no list of answers
    if not found:
        found = set(_compact_at(text, start, labels))
    ordered = tuple(label for label in labels if label in found) + ((UNDECIDED,) if undecided else ())
    return Run(ordered, first, max(first, last))


def label_at(text: str, position: int, labels: tuple[str, ...]) -> tuple[str, int] | None:
    """Return the label at a position and where it ends, wrappers before it skipped."""
    opening = _OPENING.match(text, position)
    start = opening.end() if opening else position
    match = label_pattern(labels).match(text, start)
    if match is None:
        return None
    label = match[0]
    bracketed = not _BRACKETS.isdisjoint(text[position:start])
    if not bracketed and (is_word(text, match.end(), label) or _VALUED.match(text, match.end())):
        return None
    if label not in labels:
        if not (bracketed or LINE_ENDS.match(text, match.end()) or text[match.end() : match.end() + 1] in _AFTER_SMALL):
            return None
        label = label.upper()
    return label, match.end()


def is_word(text: str, end: int, label: str) -> bool:
    """Return whether what looks like a label is the article or the pronoun: ``A dog``, ``I think``."""
    if label not in {"A", "I", "a", "i"}:
        return False
    following = _NEXT_WORD.match(text, end)
    return following is not None and following[1] not in _CONTINUATIONS


def _compact_at(text: str, position: int, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels that are written as one word at the end of a line: ``AC``."""
    opening = _OPENING.match(text, position)
    match = re.compile(r"[A-Z]{2,}(?!\w)").match(text, opening.end() if opening else position)
    if match is None or not set(match[0]) <= set(labels) or len(set(match[0])) < len(match[0]):
        return ()
    return tuple(match[0]) if LINE_ENDS.match(text, match.end()) else ()


@lru_cache(maxsize=64)
def label_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of the labels, in capitals or small, that are no part of a longer word."""
    known = sorted({*labels, *(label.lower() for label in labels)}, key=lambda label: (-len(label), label))
    return re.compile(
        rf"(?:{'|'.join(map(re.escape, known))})(?![A-Za-z0-9À-ɏ\u0300-\u036f+#])"
        r"(?!['’-](?![dt][iıuü]r)\w)(?!\.[eg]\.)"
    )
