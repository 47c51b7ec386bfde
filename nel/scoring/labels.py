"""Labels of multiple-choice answers: finds the one, or the several, that a response gives.

A label is declared behind ``Answer:``, ``the answer is``, ``option is``, ``choice:`` and their like, bare or in
brackets, emphasis, dollar signs or ``\\boxed{}``; the last declaration counts. ``A`` and ``I`` are also words, so
"Answer: A dog barks" declares nothing, and "Answer: A or B" declares two, which is no single answer. Depends on
`nel.scoring.wording` for denials and corrections, and on `nel.scoring.text` to compare the texts of choices.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from nel.scoring.text import normalise
from nel.scoring.wording import (
    after_correction,
    cleaned,
    is_denied,
    is_denied_after,
    is_supposed,
    last_boxed,
    last_match,
)

_DECLARATION = re.compile(
    r"""
    (?:
        (?P<noun> \b (?i: answer | option | choice ) (?: \s++ (?i: letter | option | choice ) )? ) [\s*_"]*+
        (?P<verb>
            [:：=|] | (?<=\s)[-–—](?=\s) | \b (?i: is | was | would\s+be | should\s+be | must\s+be ) \b
        ) [\s*_:：=]*+
      | (?P<heading> \b (?i: final\s+answer ) [*_\t ]*+ \n\s*+ )
      | (?P<chinese> (?: 答案 | 故选 | 应选 ) [是为选]? [:：]? \s? )
    )
    (?: (?i: option | choice | letter ) \b \s*+ )?
    """,
    re.VERBOSE,
)
_ANSWER_LINE = re.compile(r"(?im)^[^\S\n]*+[*_#>|-]*+[^\S\n]*+(?:answers?[\s*_]*+[:：]|答案[:：])[\s*_]*+")
_BOXED = re.compile(r"\\boxed\s*(?=\{)")
_CHOOSING = re.compile(
    r"\b(?:is|be|choose|chose|pick|select|with|say|guess|but|so|therefore|thus|hence|it['’]s)\b[\s*_:,]*+",
    re.IGNORECASE,
)
"""A word that may stand before the label that ends a sentence: "I would go with C."."""
_IS_RIGHT = re.compile(
    r"\s*[)\]*_]*\s+is\s+(?:clearly\s+|also\s+)?(?:the\s+)?(?:right|correct|best|true)\b", re.IGNORECASE
)
_MENTION = re.compile(r"\b(?:[Oo]ption|[Cc]hoice|[Ll]etter|[Aa]nswer)s?\s++|(?<!\w)(?=[(（【])")
_OPENING = re.compile(r"(?:[\s*_$`\"'“‘]{1,16}+|\\(?:boxed|text|textbf|mathrm|mathbf)\s?\{|\\[(\[]|[(\[（【{<]){0,8}+")
_CLOSING = r"[^\S\n]*+(?:\\[)\]])?[*_$`\"'”’)\]）】}>]*+[^\S\n]*+"
_LINE_ENDS = re.compile(r"[^\S\n]*+(?:\\[)\]])?[*_$`\"'”’)\]）】}>.!,;:。]*+[^\S\n]*+(?:\n|\Z)")
_SENTENCE_ENDS = re.compile(r"\s?(?:\\[)\]])?[*_$`\"'”’)\]）】}>]*+(?:[.!;,:。]|\s*(?:\n|\Z))")
_LISTED = re.compile(r"(?m)^[\s*_(\[（]*+(\w{1,2})[*_]*+([).\]）:：])[*_\s]")
_QUESTIONED = re.compile(r"[*_$`\"'”’)\]]*+\?")
_JOINED = re.compile(_CLOSING + r"(?:,\s*+(?:or|and)\b|[,;/|&、+]|\b(?:or|and)\b|和|或)[^\S\n]*+")
_CLOSED = re.compile(_CLOSING)
_CONTINUES = re.compile(_CLOSING + r"(?!(?:and|or|because|since|as)\b)[^\W\d_]")
_OR = re.compile(r"\bor\b|或", re.IGNORECASE)
_UNDECIDED: Final = "?"
"""Follows labels that are joined by "or"; no label is written so."""
_NEXT_WORD = re.compile(r"[^\S\n]+([a-z]+)")
_OTHER_LABEL = re.compile(r"[A-Z](?!\w)")
_CONTINUATIONS: Final = frozenset(
    "is was because since as and or but with for which due given so not from by in on at if where when while".split()
)
"""Words that can follow the label A or I, but not the article or the pronoun."""
_DECLARING: Final = tuple(
    (word, _DECLARATION) for word in ("final", "answer", "option", "choice", "答案", "故选", "应选")
)
"""Words that a declaration starts with, and the pattern that it must match there."""
_AFTER_SMALL: Final = frozenset(").,;]")
"""What shows that a small letter is a label and not a word."""
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
    known, plain = tuple(labels), cleaned(text)
    if not strict:
        corrected = _corrected(plain, known)
        found = (corrected,) if corrected else _last_declared(plain, (*_DECLARING, ("\\boxed", _BOXED)), known)
        return _decided(found)
    found = ()
    for match in _ANSWER_LINE.finditer(plain):
        found = _run_at(plain, match.end(), known) or found
    return _decided(found)


def labels_at(text: str, position: int, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that stand at a place of a text, wrappers before them skipped."""
    return _decided(_run_at(cleaned(text), position, tuple(labels)))


def _decided(found: tuple[str, ...]) -> tuple[str, ...]:
    """Return the labels, or none where they are offered and not chosen: "A or B"."""
    return () if _UNDECIDED in found else found


def declared_label(text: str, labels: Sequence[str], *, strict: bool = False) -> str | None:
    """Return the one label that the last declaration gives, or None when it gives none or several."""
    found = declared_labels(text, labels, strict=strict)
    return found[0] if len(found) == 1 else None


def given_labels(text: str, labels: Sequence[str], choices: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the labels a response gives in any form; empty when it gives none or contradicts itself.

    In this order: the last declaration (``\\boxed{C}`` is one); a response or last line that is a label alone, or a
    response that opens with one (``B) Paris``); the text of a choice, declared or alone; the end of a sentence ("I
    would go with C."); the only label in parentheses or behind "option".

    >>> given_labels("I think it is C", "ABCD"), given_labels("Paris", "AB", ["London", "Paris"])
    (('C',), ('B',))
    >>> given_labels("Both (A) and (B) are tempting", "ABCD")
    ()
    """
    known, plain = tuple(labels), cleaned(text)
    by_text = _label_of_text(plain, known, choices) if choices else None
    if by_text:
        return (by_text,)
    corrected = _corrected(plain, known)
    declared = (corrected,) if corrected else _last_declared(plain, (*_DECLARING, ("\\boxed", _BOXED)), known)
    if declared:
        return _decided(declared)
    for find in (_alone, _affirmed, _opening_label, _sentence_label, _only_mention):
        label = find(plain, known)
        if label:
            return (label,)
    return ()


def _last_declared(
    text: str, declaring: Sequence[tuple[str, re.Pattern[str]]], labels: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the labels of the last declaration that has any.

    Searches from the end with `str.rfind`, and matches the pattern only where one of the declaring words stands: a
    long response costs little more than its last declaration.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters, such as İ, grow when lowered, and places must stay comparable
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
    """Return the labels that stand at a position, several when they are joined (``A, C``, ``[A][C]``, ``AC``).

    Labels joined by "or" are followed by `_UNDECIDED`, since the response decides for neither.
    """
    found: set[str] = set()
    start, separated, hedged, undecided = position, False, False, False
    while True:
        at = _label_at(text, start, labels)
        if at is None or (found and ("\n" in text[start : at[1]] or _CONTINUES.match(text, at[1]))):
            break
        if not found and (is_denied(text, at[1] - len(at[0]), at[1]) or _QUESTIONED.match(text, at[1])):
            return ()
        if not found and is_supposed(text, position):
            return ()
        undecided = undecided or (bool(found) and hedged)  # an "or" counts once a second label follows it
        found.add(at[0])
        joined = _JOINED.match(text, at[1]) or _CLOSED.match(text, at[1])
        separated = joined is not None and any(mark in joined[0] for mark in ",;/&")
        hedged = joined is not None and _OR.search(joined[0]) is not None
        start = joined.end() if joined else at[1]
    if found and separated and _OTHER_LABEL.match(text, start):
        return ()  # a list goes on with a letter that is no option, so it is no list of answers
    if not found:
        found = set(_compact_at(text, start, labels))
    return tuple(label for label in labels if label in found) + ((_UNDECIDED,) if undecided else ())


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
        if not (
            bracketed or _LINE_ENDS.match(text, match.end()) or text[match.end() : match.end() + 1] in _AFTER_SMALL
        ):
            return None
        label = label.upper()
    return label, match.end()


def _is_word(text: str, end: int, label: str) -> bool:
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
    return tuple(match[0]) if _LINE_ENDS.match(text, match.end()) else ()


@lru_cache(maxsize=64)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    known = sorted({*labels, *(label.lower() for label in labels)}, key=lambda label: (-len(label), label))
    return re.compile(rf"(?:{'|'.join(map(re.escape, known))})(?![A-Za-z0-9À-ɏ\u0300-\u036f+#])(?!['’-]\w)")


def _corrected(text: str, labels: tuple[str, ...]) -> str | None:
    """Return the label that a response corrects itself to: "B. Wait, actually, it is C"."""
    tail = after_correction(text)
    if not tail or _last_declared(tail, (*_DECLARING, ("\\boxed", _BOXED)), labels):
        return None
    return _sentence_label(tail, labels)


def _alone(text: str, labels: tuple[str, ...]) -> str | None:
    """Return the label that is the whole response, or the whole of its last or first line."""
    stripped = text.strip("`* \t\r\n")
    for part in (stripped, stripped.rpartition("\n")[2], stripped.partition("\n")[0]):
        at = _label_at(part, 0, labels)
        if at and _LINE_ENDS.fullmatch(part, at[1]):
            return at[0]
    return None


def _affirmed(text: str, labels: tuple[str, ...]) -> str | None:
    """Return the one label of which the response says that it is right: "B is correct"."""
    said = set()
    for match in _pattern(labels).finditer(text):
        before = text[match.start() - 1 : match.start()]
        if match[0] in labels and not before.isalnum() and _IS_RIGHT.match(text, match.end()):
            said.add(match[0])
    return said.pop() if len(said) == 1 else None


def _opening_label(text: str, labels: tuple[str, ...]) -> str | None:
    """Return the label a response opens with, as in ``B) Paris``, unless it goes on to list others so."""
    start = _LISTED.match(text.lstrip())
    if start is None or start[1].upper() not in labels or (start[1].islower() and start[2] != ")"):
        return None
    listed = {label.upper() for label in (match[1] for match in _LISTED.finditer(text)) if label.upper() in labels}
    label = start[1].upper()
    return label if listed == {label} and not is_denied_after(text.lstrip(), start.end(1)) else None


def _sentence_label(text: str, labels: tuple[str, ...]) -> str | None:
    """Return the last label that ends a sentence and is chosen there: "I would go with C."."""
    label = None
    for match in _CHOOSING.finditer(text):
        at = _label_at(text, match.end(), labels)
        if at is None or not _SENTENCE_ENDS.match(text, at[1]):
            continue
        start = at[1] - len(at[0])
        if not is_denied(text, start, at[1]) and not is_supposed(text, start):
            label = at[0]
    return label


def _only_mention(text: str, labels: tuple[str, ...]) -> str | None:
    """Return the only label that stands in parentheses or behind "option", unless it is denied somewhere."""
    mentioned, denied = set(), set()
    for match in _MENTION.finditer(text):
        at = _label_at(text, match.end(), labels)
        if at and text[at[1] - len(at[0]) : at[1]] in labels and _is_closed(text, match, at[1]):
            mentioned.add(at[0])
            if is_denied(text, at[1] - len(at[0]), at[1]) or _QUESTIONED.match(text, at[1]):
                denied.add(at[0])
    return mentioned.pop() if len(mentioned) == 1 and not denied else None


def _is_closed(text: str, match: re.Match[str], end: int) -> bool:
    return bool(match[0]) or text[end : end + 1] in {")", "）", "】"}


def _label_of_text(text: str, labels: tuple[str, ...], choices: Sequence[str]) -> str | None:
    """Return the label of the choice that a response states word for word: declared, boxed or alone."""
    said = [text[place:].partition("\n")[0] for place in _last_declarations(text)]
    stripped = text.strip()
    said += [last_boxed(text) or "", stripped.rpartition("\n")[2], stripped]
    plain = [normalise(choice, articles=True) for choice in choices]
    for part in said:
        wanted = normalise(part, articles=True)
        if len(wanted) > 1 or wanted not in {label.lower() for label in labels}:
            matching = [label for label, choice in zip(labels, plain, strict=False) if wanted and choice == wanted]
            if len(matching) == 1:
                return matching[0]
    return None


def _last_declarations(text: str) -> list[int]:
    """Return where the last declaration ends, if there is one."""
    last = last_match(_DECLARATION, text)
    return [] if last is None else [last.end()]
