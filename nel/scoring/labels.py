"""Labels of multiple-choice answers: finding the one, or the several, that a response gives. Knows no scorer.

A label is declared behind ``Answer:``, ``the answer is``, ``option is``, ``choice:`` and their like, bare or in
brackets, emphasis, dollar signs or ``\\boxed{}``; the last declaration counts. Trap: ``A`` and ``I`` are also words, so
"Answer: A dog barks" declares nothing, and "Answer: A or B" declares two, which is no single answer.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from nel.scoring.text import normalise

_DECLARATION = re.compile(
    r"(?:\b(?i:answer|option|choice)(?:\s++(?i:letter|option|choice))?[\s*_\"]*+"
    r"(?:[:：=]|\b(?i:is|was|would\s+be|should\s+be|must\s+be)\b)[\s*_:：=]*+|答案[是为]?[:：]?\s?)"
    r"(?:(?i:option|choice|letter)\b\s*+)?"
)
_ANSWER_LINE = re.compile(r"(?im)^[^\S\n]*+[*_#>]*+[^\S\n]*+(?:answers?[\s*_]*+[:：]|答案[:：])[\s*_]*+")
_BOXED = re.compile(r"\\boxed\s*(?=\{)")
_SENTENCE = re.compile(r"\b(?:is|be|choose|chose|pick|select|with|say|guess)\b[\s*_:]*+", re.IGNORECASE)
_MENTION = re.compile(r"\b(?:[Oo]ption|[Cc]hoice|[Ll]etter)s?\s++|(?<!\w)(?=[(（【])")
_OPENING = re.compile(r"(?:[\s*_$`\"'“‘]{1,16}+|\\(?:boxed|text|textbf|mathrm|mathbf)\s?\{|[(\[（【{<]){0,8}+")
_CLOSING = r"[^\S\n]*+[*_$`\"'”’)\]）】}>]*+[^\S\n]*+"
_LINE_ENDS = re.compile(r"[^\S\n]*+[*_$`\"'”’)\]）】}>.!,;:]*+[^\S\n]*+(?:\n|\Z)")
_SENTENCE_ENDS = re.compile(r"[*_$`\"'”’)\]）】}>]*+(?:[.!?;,:]|\s*(?:\n|\Z))")
_ANOTHER = re.compile(_CLOSING + r"(?:,\s*+(?:or|and)\b|[,;/|&、+]|\b(?:or|and)\b|和|或)?[^\S\n]*+")
_CONTINUES = re.compile(_CLOSING + r"(?!(?:and|or)\b)[^\W\d_]")
_NEXT_WORD = re.compile(r"[^\S\n]+([a-z]+)")
_GOES_ON: Final = frozenset(
    "is was because since as and or but with for which due given so not from by in on at if where when while".split()
)
"""Words that follow a label, not an article."""
_DECLARING: Final = tuple((word, _DECLARATION) for word in ("answer", "option", "choice", "答案"))
"""Words that a declaration starts with, and the pattern that it must match there."""
_BRACKETS: Final = frozenset("([（【{<$")


def labels_for(n: int) -> tuple[str, ...]:
    """Return the labels of ``n`` choices: A to Z, then 1, 2, … as EvalScope and Inspect number them.

    >>> labels_for(4), labels_for(28)[25:]
    (('A', 'B', 'C', 'D'), ('Z', '1', '2'))
    """
    letters = string.ascii_uppercase
    return tuple(letters[:n]) + tuple(str(index) for index in range(1, n - len(letters) + 1))


def declared_labels(text: str, labels: Sequence[str], *, strict: bool = False) -> tuple[str, ...]:
    """Return the labels of the last declaration that has any, in the order of ``labels``.

    Args:
        strict: Only a line that starts with ``Answer:`` declares.

    >>> declared_labels("Answer: A is tempting. Answer: (B)", "ABCD"), declared_labels("ANSWER: C and A", "ABCD")
    (('B',), ('A', 'C'))
    """
    known = tuple(labels)
    if not strict:
        return _last_declared(text, _DECLARING, known)
    found: tuple[str, ...] = ()
    for match in _ANSWER_LINE.finditer(text):
        found = _run_at(text, match.end(), known) or found
    return found


def declared_label(text: str, labels: Sequence[str], *, strict: bool = False) -> str | None:
    """Return the one label that the last declaration gives, or None when it gives none or several."""
    found = declared_labels(text, labels, strict=strict)
    return found[0] if len(found) == 1 else None


def given_labels(text: str, labels: Sequence[str], choices: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the labels a response gives in any form; empty when there is none or it cannot be told which.

    In this order: the last declaration (``\\boxed{C}`` is one); a response or last line that is a label alone, or a
    response that opens with one (``B) Paris``); the text of a choice, declared or alone; the end of a sentence ("I
    would go with C."); the only label in parentheses or behind "option".

    >>> given_labels("I think it is C", "ABCD"), given_labels("Paris", "AB", ["London", "Paris"])
    (('C',), ('B',))
    >>> given_labels("Both (A) and (B) are tempting", "ABCD")
    ()
    """
    known = tuple(labels)
    declared = _last_declared(text, (*_DECLARING, ("\\boxed", _BOXED)), known)
    if declared:
        return declared
    for find in (_alone, _opening_label):
        label = find(text, known)
        if label:
            return (label,)
    label = _label_of_text(text, known, choices) if choices else None
    label = label or _sentence_label(text, known) or _only_mention(text, known)
    return (label,) if label else ()


def given_label(text: str, labels: Sequence[str], choices: Sequence[str] | None = None) -> str | None:
    """Return the one label a response gives in any form, or None when there is none or several."""
    found = given_labels(text, labels, choices)
    return found[0] if len(found) == 1 else None


def _last_declared(
    text: str, declaring: Sequence[tuple[str, re.Pattern[str]]], labels: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the labels of the last declaration that has any; looked for from the end, since the last one counts."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered
        lowered = "".join(character if character.isascii() else "·" for character in text).lower()
    places = [lowered.rfind(word) for word, _ in declaring]
    while (place := max(places)) >= 0:
        which = places.index(place)
        match = declaring[which][1].match(text, place)
        found = _run_at(text, match.end(), labels) if match else ()
        if found:
            return found
        places[which] = lowered.rfind(declaring[which][0], 0, place)
    return ()


def _run_at(text: str, position: int, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels that stand at a position, several when they are joined (``A, C``, ``[A][C]``, ``AC``)."""
    found: set[str] = set()
    while True:
        at = _label_at(text, position, labels)
        if at is None:
            break
        label, position = at
        if found and _CONTINUES.match(text, position):
            break
        found.add(label)
        joined = _ANOTHER.match(text, position)
        position = joined.end() if joined else position
    if not found:
        found = set(_compact_at(text, position, labels))
    return tuple(label for label in labels if label in found)


def _label_at(text: str, position: int, labels: tuple[str, ...]) -> tuple[str, int] | None:
    """Return the label at a position and where it ends, wrappers before it skipped."""
    opening = _OPENING.match(text, position)
    start = opening.end() if opening else position
    match = _pattern(labels).match(text, start)
    if match is None:
        return None
    label = match[0]
    bracketed = not _BRACKETS.isdisjoint(text[position:start])
    if not bracketed and _is_word(text, match.end(), label):
        return None
    if label not in labels:
        if not bracketed and not _LINE_ENDS.match(text, match.end()):
            return None
        label = label.upper()
    return label, match.end()


def _is_word(text: str, end: int, label: str) -> bool:
    """Return whether what looks like a label is the article or the pronoun: ``A dog``, ``I think``."""
    if label not in {"A", "I", "a", "i"}:
        return False
    following = _NEXT_WORD.match(text, end)
    return following is not None and following[1] not in _GOES_ON


def _compact_at(text: str, position: int, labels: tuple[str, ...]) -> tuple[str, ...]:
    opening = _OPENING.match(text, position)
    match = re.compile(r"[A-Z]{2,}(?!\w)").match(text, opening.end() if opening else position)
    if match is None or not set(match[0]) <= set(labels) or len(set(match[0])) < len(match[0]):
        return ()
    return tuple(match[0]) if _LINE_ENDS.match(text, match.end()) else ()


@lru_cache(maxsize=64)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    known = sorted({*labels, *(label.lower() for label in labels)}, key=lambda label: (-len(label), label))
    return re.compile(rf"(?:{'|'.join(map(re.escape, known))})(?![A-Za-z0-9À-ɏ])(?!['’]\w)")


def _alone(text: str, labels: tuple[str, ...]) -> str | None:
    """Return the label that is the whole response, or the whole of its last line."""
    stripped = text.strip()
    for part in (stripped, stripped.rpartition("\n")[2]):
        at = _label_at(part, 0, labels)
        if at and _LINE_ENDS.fullmatch(part, at[1]):
            return at[0]
    return None


def _opening_label(text: str, labels: tuple[str, ...]) -> str | None:
    """Return the label a response opens with, as in ``B) Paris``, unless it goes on to list others so."""
    listed = re.findall(r"(?m)^[\s*_(\[（]*+(\w{1,2})[*_]*+[).\]）:：][*_\s]", text)
    start = re.match(r"[\s*_(\[（]*+(\w{1,2})[*_]*+[).\]）:：][*_\s]", text)
    if start is None or start[1] not in labels:
        return None
    return start[1] if {label for label in listed if label in labels} == {start[1]} else None


def _sentence_label(text: str, labels: tuple[str, ...]) -> str | None:
    label = None
    for match in _SENTENCE.finditer(text):
        at = _label_at(text, match.end(), labels)
        if at and _SENTENCE_ENDS.match(text, at[1]):
            label = at[0]
    return label


def _only_mention(text: str, labels: tuple[str, ...]) -> str | None:
    mentioned = set()
    for match in _MENTION.finditer(text):
        at = _label_at(text, match.end(), labels)
        if at and text[at[1] - len(at[0]) : at[1]] in labels and _is_closed(text, match, at[1]):
            mentioned.add(at[0])
    return mentioned.pop() if len(mentioned) == 1 else None


def _is_closed(text: str, match: re.Match[str], end: int) -> bool:
    return bool(match[0]) or text[end : end + 1] in {")", "）", "】"}


def _label_of_text(text: str, labels: tuple[str, ...], choices: Sequence[str]) -> str | None:
    """Return the label of the choice that a response states word for word, declared or alone."""
    plain = [normalise(choice, articles=True) for choice in choices]
    stripped = text.strip()
    said = [stripped, stripped.rpartition("\n")[2]]
    last = None
    for last in _DECLARATION.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    if last is not None:
        said.append(text[last.end() :].partition("\n")[0])
    for part in reversed(said):
        wanted = normalise(part, articles=True)
        matching = [label for label, choice in zip(labels, plain, strict=False) if wanted and choice == wanted]
        if len(matching) == 1:
            return matching[0]
    return None
