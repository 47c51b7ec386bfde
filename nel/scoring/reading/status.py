"""Why a candidate answer does not count: it is denied, supposed, asked, reported, weighed, or taken back later.

Each rule looks at the sentence of the candidate and a few words after it, and does not understand a text beyond that.
Depends on `nel.scoring.wording` for denials and suppositions in English, and on `nel.scoring.reading.phrases` for the
words of ten languages.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import phrases
from nel.scoring.wording import is_denied, is_supposed

DENIED: Final = "denied"
SUPPOSED: Final = "supposed"
ASKED: Final = "asked"
QUOTED: Final = "quoted"
REPORTED: Final = "reported of others"
WEIGHED: Final = "weighed, not chosen"
UNDECIDED: Final = "undecided"
TAKEN_BACK: Final = "taken back"
MARKED_WRONG: Final = "marked wrong"

_WINDOW: Final = 240
_DENIAL_WINDOW: Final = 40
_SENTENCE_START = lazy_pattern(
    r"""
      (?<!\b[A-Za-z]) (?<!\b(?:vs|Mr|St|Dr)) [.!?] (?=\s|["”’)*_,]+\s)
    | "\s*,\s*(?=")
    | (?<=\b[A-Z]) [.] (?=\s+(?:So|The|Therefore|Thus|Hence|It|I|But|However|Among|Based|Given|My|We|This|That|If
    |For|Some|Students|When|Where|In|On|With|Otherwise|Now|Call|Consider|Let|Here|As|At|Since|Because|While|No|Yes
    |Then|Next|First|Finally|After|Both|Either|Neither|Option)\b)
    | [。！？؟\n]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_STOP = lazy_pattern(r"[.!?。！？؟\n](?:(?<![.!?])|(?=\s|[\"”’)*_]+\s|\Z))")
_CROSS = lazy_pattern(r"[^\S\n]*\\?[*_)\]}:.\"'”’`$]*[^\S\n]*(?:is[^\S\n]+)?(?P<mark>[❌✗✘✖🚫])")
_CROSS_NEAR = lazy_pattern(r"[^❌✗✘✖🚫\n]{0,20}[❌✗✘✖🚫]")
_TICK = lazy_pattern(r"[^\S\n]*[*_)\]}:.\"'”’`$]*[^\S\n]*(?P<mark>[✅✓✔☑])")
_SAYING = lazy_pattern(
    r"\b(?:hint|misprint|template|prompt|says?|said|saying|writes?|wrote|form|format|claims?|argues?|answers?|answered|with|phrase|like|as"
    r"|line)\b[^\"]*\"[^\"]*\Z",
    re.IGNORECASE,
)
_QUOTED_ALONE = lazy_pattern(r"[“«「„\"][(\[*_$ ]*\Z")
_WRAPPING_MAX: Final = 6
_QUOTE_CLOSES = lazy_pattern(r"[^\n\"]{0,60}\"")


_BOUNDARIES: Final = '.!?\n("'
_REMARK = lazy_pattern(r"[(（](?=\s*(?:if|had|note|wenn|si|se)\b)", re.IGNORECASE)
_BOUNDARIES_MAX: Final = 12
_ALL_BOUNDARIES: Final = _BOUNDARIES + "。！？؟"
_LINE_CLOSES = lazy_pattern(r"[*_)\]}\"'”’`$\\.]{0,12}[^\S\n]*(?:\n|\Z)")
_PLAIN_WORD = lazy_pattern(r"[^\W_]+")
_PLAIN_WORDS: Final = frozenset(
    "the so therefore thus hence final my our correct best right answer option choice is and conclusion in boxed "
    "text arabic numerals".split()
)


_CONCEDED = lazy_pattern(r"[\s*_]*(?:while|although|(?:even\s+)?though|whereas|even\s+if|despite)\b", re.IGNORECASE)
"""Opens what a sentence grants before its own statement: "While A seems right, the answer is B"."""


def sentence_before(text: str, start: int) -> str:
    """Return what stands before a place in its sentence, or in its brackets where a remark is put in brackets."""
    begin = max(0, start - _WINDOW)
    window = text[begin:start]
    marks = _BOUNDARIES if window.isascii() else _ALL_BOUNDARIES
    place, last = len(window), 0
    for _ in range(_BOUNDARIES_MAX):
        place = max(window.rfind(mark, 0, place) for mark in marks)
        if place < 0:
            break
        match = _SENTENCE_START.match(text, begin + place)
        if match is not None and match.end() <= start:
            last = match.end() - begin
            break
    for match in _REMARK.finditer(window, last):
        last = match.end()
    return window[last:]


def sentence_behind(text: str, end: int) -> str:
    """Return what stands after a place in its sentence."""
    match = _SENTENCE_STOP.search(text, end, end + _WINDOW)
    return text[end : match.end() if match else end + _WINDOW]


def is_plain(text: str, start: int, end: int) -> bool:
    """Return whether a candidate ends a line that only declares it: "So the answer is (B).", as most responses end.

    Nothing can speak against such a candidate, and nothing else needs to be looked at.
    """
    if _LINE_CLOSES.match(text, end) is None:
        return False
    line = max(text.rfind("\n", max(0, start - _WINDOW), start), text.rfind(". ", max(0, start - _WINDOW), start))
    if line < 0 and start > _WINDOW:
        return False
    return _PLAIN_WORDS.issuperset(_PLAIN_WORD.findall(text[line + 1 : start].lower()))


def objection(text: str, start: int, end: int, declared_at: int | None = None, *, whole: bool = True) -> str | None:
    """Return why the candidate at ``text[start:end]`` does not count, or None where nothing speaks against it.

    Args:
        declared_at: Where the declaration of it begins, if it has one: what stands before that is looked at too.
        whole: Nothing of the candidate stands after `end`, such as the text of an option after its label.

    >>> text = "B. (If it had asked about Rome, the answer would be C.)"
    >>> objection(text, text.index("C."), text.index("C.") + 1)
    'supposed'
    """
    if is_marked_wrong(text, end):
        return MARKED_WRONG
    declared = start if declared_at is None else declared_at
    before = sentence_before(text, start)
    behind = sentence_behind(text, end)
    if behind.endswith(("?", "？", "؟")):
        return ASKED
    if _is_denied(text, start, end) or (not whole and phrases.REJECTED_LINE.match(text, end)):
        return DENIED
    if is_supposed(text, declared) or is_supposed(text, start) or _is_conditional(text, start, end, before, behind):
        return SUPPOSED
    own = _own_clause(before)
    if phrases.REPORTED.search(own) or phrases.REPORTED_BEHIND.match(text, end):
        return REPORTED
    if is_quoted(text, declared, end, is_alone=declared == start):
        return QUOTED
    if phrases.WEIGHED.search(own) or phrases.WEIGHED_BEHIND.match(text, end):
        return WEIGHED
    return TAKEN_BACK if phrases.TAKEN_BACK.match(text, end) else None


def _is_denied(text: str, start: int, end: int) -> bool:
    window, stop = max(0, start - _WINDOW), _line_end(text, end)
    return (
        is_denied(text[window:stop], start - window, end - window)
        or phrases.DENIED_BEFORE.search(text, max(0, start - _DENIAL_WINDOW), start) is not None
        or phrases.DENIED_AFTER.match(text, end) is not None
        or phrases.REJECTED_BEHIND.match(text, end) is not None
    )


def _is_conditional(text: str, start: int, end: int, before: str, behind: str) -> bool:
    """Return whether a candidate answers another question, or this one in one of several cases."""
    if phrases.SUPPOSED.search(before) or (phrases.CONDITION.search(before) and phrases.WOULD.search(before)):
        return True
    if phrases.OTHERWISE_IN.search(before) or phrases.OTHERWISE_IN.search(behind):
        return True
    if phrases.OTHERWISE.match(text, end) or phrases.OTHER_QUESTION.search(before):
        return True
    return _is_one_case(text, start, end, before, behind)


def _line_end(text: str, end: int) -> int:
    stop = text.find("\n", end, end + _WINDOW)
    return stop if stop >= 0 else end + _WINDOW


def _is_one_case(text: str, start: int, end: int, before: str, behind: str) -> bool:
    """Return whether a candidate holds under a condition, and the clause beside it gives what holds under another."""
    clause = before[max(before.rfind(";"), before.rfind("；")) + 1 :]
    if phrases.CONDITIONAL.match(clause) is None:
        return False
    later = behind.replace("；", ";").partition(";")[2] or text[end + len(behind) : end + len(behind) + 80]
    earlier = before.replace("；", ";").rpartition(";")[0] or sentence_before(text, max(0, start - len(before) - 2))
    return phrases.CONDITIONAL.match(later) is not None or phrases.CONDITIONAL.match(earlier) is not None


def _own_clause(before: str) -> str:
    """Return what stands before a candidate after the last "but" or "so" of its sentence."""
    last = 0
    for match in phrases.CONTRAST.finditer(before):
        last = match.end()
    own = before[last:]
    return own.rpartition(",")[2] if "," in own and _CONCEDED.match(own) else own


def is_marked_wrong(text: str, end: int) -> bool:
    """Return whether a cross follows: "B ❌"."""
    return not text.isascii() and _CROSS.match(text, end) is not None


def behind_cross(text: str, end: int) -> int:
    """Return where a cross ends that marks the candidate before it as wrong, or the candidate's own end."""
    cross = _CROSS_NEAR.match(text, end)
    return end if cross is None else cross.end()


def is_marked_right(text: str, end: int) -> bool:
    """Return whether a tick follows: "B ✅"."""
    return not text.isascii() and _TICK.match(text, end) is not None


def is_quoted(text: str, start: int, end: int, *, is_alone: bool = True) -> bool:
    """Return whether what begins at `start` stands within quotation marks that open before it.

    Args:
        is_alone: It is a candidate without a declaration: quotation marks around nothing else do not count.
    """
    opening = _QUOTED_ALONE.search(text, max(0, start - _WRAPPING_MAX), start) if is_alone else None
    if opening is not None:
        start = opening.start()  # quotation marks around the candidate alone
    line = text.rfind("\n", 0, start) + 1
    before = text[max(line, start - _WINDOW) : start]
    for quote, closing in (("“", "”"), ("«", "»"), ("「", "」"), ("„", "“")):
        if before.count(quote) > before.count(closing) and closing in text[end : end + 60]:
            return True
    if before.count('"') % 2 == 0 or _QUOTE_CLOSES.match(text, end) is None:
        return False
    return _SAYING.search(before) is not None
