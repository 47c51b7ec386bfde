"""Where a response declares a number: the declarations of every kind of answer, and the forms that only numbers have.

Depends on `nel.scoring.reading.declarations`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading.declarations import Declaration, declarations

SEGMENT_MAX: Final = 600
"""Characters of a declared answer, and of a sentence on either side of a place, that are looked at."""
_SENTENCE_END = lazy_pattern(
    r"[.!?。！？\n](?:(?<![.!?])|(?<!\bRs\.)(?<!\bapprox\.)(?<!\bvs\.)(?<!\bca\.)(?<!\bi\.e\.)(?<!\be\.g\.)(?:(?<!!)|(?!\s*=))"
    r"(?=[\s*_\"”’)\]]|\Z))"
)
_FURTHER_CHARACTERS: Final = 20_000
"""Characters at the end of a response in which the forms below are looked for."""
_SHORT_MARKER = lazy_pattern(r"[^\S\n]*A:[^\S\n]*(?P<answer>[^\n]*)")
_FORWARD: Final = tuple(
    (words, form, re.compile(pattern, re.IGNORECASE | re.VERBOSE | re.MULTILINE))
    for words, form, pattern in (
        (("ans:", "ans.", "ans*"), "declared", r"^ [^\w\n]*+ ans [.:*]*+ [:.]++ [*_\s]*+ (?P<answer>[^\n]+)"),
        (
            ("answer]",),
            "declared",
            r"\[ [\s*_]* (?:the\s+)? (?:final\s+)? answer [\s*_]* \] [:*_\s]*+ (?P<answer>(?!\s*\[/)[^\n\[]+)",
        ),
        (
            ("<|begin_of_",),
            "tag",
            r"<\|begin_of_(?:solution|answer)\|> \s* (?P<answer>[^<]{1,200}?) \s* <\|end_of_(?:solution|answer)\|>",
        ),
        (("】",), "declared", r"【(?:答案|答え|最终答案|解答|回答)】 [:：\s]* (?P<answer>[^\n]+)"),
        (
            ("final",),
            "declared",
            (
                r"^ (?: [^\w\n] | (?:so|thus|hence|therefore),?\s )*+ (?:(?:my|the|our)\s)? final "
                r"(?:\s(?:value|sum|total|number|count|amount|figure|result|answer))? [*_]*+ [^\S\n]*"
                r" (?: [:=→⇒—–] | -(?=\s) | ->|=> ) [*_\s]*+"
                r" (?! [^\n]{0,60} \b (?:decimals?|digits?|places?|figures?|steps?|checks?) \b )"
                r" (?P<answer>[^\n]+) (?= [^\d]{0,300} \Z )"
            ),
        ),
        (
            ("antwort",),
            "declared",
            (
                r"\b(?:ist|lautet|wäre|beträgt) \s+ (?:also\s+|somit\s+)? (?:die|meine) \s+"
                r" (?:\w+\s+){0,2} antwort [\s:*_]*+ (?P<answer>[^\n]+)"
            ),
        ),
    )
)
"""Forms whose answer follows; each is looked for where one of its words occurs."""
_ANSWER_WORDS: Final = ("answer", "antwort", "réponse", "respuesta", "risposta", "resposta", "ответ")
_BACKWARD = lazy_pattern(
    r"""
    \s (?:
        (?:is|be) \s+ (?:the|my|our) \s+ (?:\w+\s+)? answer | the \s+ (?:final\s+)? answer (?=[\s.]*$)
      | (?:die|meine) \s+ (?:(?:richtige|korrekte|endgültige|gesuchte)\s+)? antwort (?!\s*(?:ist|lautet|:))
      | est \s+ (?:la|ma) \s+ (?:bonne\s+)? réponse | es \s+ (?:la|mi) \s+ respuesta | è \s+ la \s+ (?:mia\s+)? risposta
      | é \s+ a \s+ (?:minha\s+)? resposta | [—–-] \s+ (?:это\s+)? (?:правильный\s+)? ответ
    ) \b (?!\s*[:：])
    """,
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
"""Forms whose answer stands before: "64 is the answer"."""
_LEADS: Final = tuple(f"{verb} {whose}" for verb in ("is", "be") for whose in ("the", "my", "our"))
_ENDS_WITH_ANSWER = lazy_pattern(r"answer[\s.]*$", re.MULTILINE)
"""One of these is in each of those forms in English."""
_BEFORE_MAX: Final = 80
_LEAD = lazy_pattern(
    r".*(?:[.!?。](?=\s)|\n|\b(?:so|thus|that\s+makes|makes|somit\s+ist|also\s+ist|that)\s)", re.IGNORECASE | re.DOTALL
)
_COMMON: Final = ("ans", "final", "antw", "sposta", "spuesta", "<|b")
"""One of these occurs in any text in ASCII that has one of the forms."""
_JSON_STOP = lazy_pattern(r"(?P<quote>[\"'])?[^\"',}\n]*")
_NEXT_LINE = lazy_pattern(r"\s*[^\n]+")


def places(text: str) -> Iterator[Declaration]:
    """Yield the declarations of a text from the last to the first, the forms that only numbers have among them.

    >>> text = "Answer: 5\\nSo 64 is the answer."
    >>> [text[place.end : place.stop] for place in places(text)]
    ['64', '5']
    """
    further = _further(text, max(0, len(text) - _FURTHER_CHARACTERS))
    for place in declarations(text):
        while further and further[-1].start > place.start:
            yield further.pop()
        yield place
    yield from reversed(further)


def _further(text: str, begin: int) -> list[Declaration]:
    """Return the declarations that only numbers have after a place of a text, in order."""
    found = []
    short = text.rfind("A:", begin)
    if short >= 0:
        line = text.rfind("\n", 0, short) + 1
        match = _SHORT_MARKER.match(text, line)
        if match is not None and match.start("answer") > short:
            found.append(Declaration(line, match.start("answer"), match.end(), "short marker"))
    lowered = text[begin:].lower()
    if not lowered.isascii() or any(word in lowered for word in _COMMON):
        for words, form, pattern in _FORWARD:
            if any(word in lowered for word in words):
                found += [
                    Declaration(match.start(), match.start("answer"), match.end("answer"), form)
                    for match in pattern.finditer(text, begin)
                ]
        if _may_be_named_behind(lowered):
            found += [_declared_before(text, begin, match.start()) for match in _BACKWARD.finditer(text, begin)]
    return sorted(found)


def _may_be_named_behind(lowered: str) -> bool:
    """Return whether an answer may be named after it: "64 is the answer"."""
    words = [word for word in _ANSWER_WORDS if word in lowered]
    if words != ["answer"] or not lowered.isascii():
        return bool(words)
    spaced = " ".join(lowered.split())
    return any(lead in spaced for lead in _LEADS) or _ENDS_WITH_ANSWER.search(lowered) is not None


def _declared_before(text: str, begin: int, end: int) -> Declaration:
    """Return the declaration whose answer ends at a place and begins with its sentence: "So 64 is the answer"."""
    start = max(begin, end - _BEFORE_MAX)
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    return Declaration(start, start, end, "declared")


def stop_of(text: str, place: Declaration) -> int:
    """Return where the answer that is declared at a place ends: with its sentence, its tag, its box or its value."""
    stop = min(place.stop, place.end + SEGMENT_MAX)
    if place.form in ("box", "tag"):
        return stop
    if not text[place.end : stop].strip(" \t$*_`[\\"):  # display mathematics begins below
        below = _NEXT_LINE.match(text, stop)
        return stop if below is None else below.end()
    if is_record(text, place):
        value = _JSON_STOP.match(text, place.end)
        return value.end() if value else stop
    for end in _SENTENCE_END.finditer(text, place.end, stop):
        if text[place.end : end.start()].strip(" *_`\"'“”"):
            return end.start()
    return stop


def is_record(text: str, place: Declaration) -> bool:
    """Return whether a declaration is a key of JSON or YAML: ``"answer": 5``."""
    if '"' not in text[place.start : place.end] and "'" not in text[place.start : place.end]:
        return False
    return text[place.start - 1 : place.start] in ('"', "'") or "{" in text[max(0, place.start - 3) : place.start]
