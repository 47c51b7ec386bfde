"""One label that a response sets apart from others: as the likelier one, or as the only exception to what it denies.

"Most likely B, possibly A" gives B, and "All options except B are wrong" does. Depends on
`nel.scoring.reading.sentences` for which labels a sentence names.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading.label_runs import Found, Run
from nel.scoring.reading.option_texts import OptionTexts
from nel.scoring.reading.result import Reading
from nel.scoring.reading.sentences import labels_named, sentences_of
from nel.scoring.reading.status import sentence_before, sentence_behind
from nel.scoring.wording import last_match

_BETWEEN_MAX: Final = 160
_LABEL: Final = r"(?:(?:the\s+)?(?:option|choice|answer|letter)\s+)?[(\[*_]*(?P<label>(?-i:[A-Z]))(?![\w'’+])[)\]*_.]*"
_IS: Final = r"(?:it(?:['’]s|\s+is)\s+|is\s+|that\s+it(?:['’]s|\s+is)\s+)?"
_LIKELY_BEFORE = lazy_pattern(
    rf"""
    (?<!\bless\s)(?<!\bnot\s)(?<!\bun)(?<!\bequally\s)(?<!\bleast\s)(?<!\bmost\s)(?<!\bmore\s)(?<!\bvery\s)
    \b (?: (?:most|very|more)\s+(?:likely|probabl[ey]) | probably | likely | (?:almost|most)\s+certainly
      | (?:my\s+)?(?:best|main|first|primary|top)\s+(?:guess|choice|pick|answer) )
    \s* [,:]? \s* {_IS} {_LABEL}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LIKELY_BEHIND = lazy_pattern(
    rf"{_LABEL}[,]?\s*(?:\(?\s*(?:is|seems|looks|being)?\s*(?:the\s+)?(?:most|more)\s+(?:likely|probable|plausible)\b(?!\s+than\b|[\s,:]*[(*]*(?-i:[A-Z])\b))",
    re.IGNORECASE,
)
_POSSIBLE_BEFORE = lazy_pattern(
    rf"""
    \b (?: (?:or\s+)?(?:possibly|maybe|perhaps|conceivably) | (?:less|not\s+as)\s+likely
      | (?:could|might|may)\s+(?:also\s+)?(?:be|even\s+be)
      | (?:second|backup|alternative|other)\s+(?:guess|choice|pick|candidate)(?:\s+is|:)? )
    \s* [,:]? \s* (?:even\s+|also\s+)? {_LABEL}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_POSSIBLE_BEHIND = lazy_pattern(
    rf"""
    {_LABEL} \s* \(? (?:
        (?:is|are|remains|being)\s+(?:also\s+|still\s+)?(?:a\s+|an\s+)?
        (?: possib\w+ | conceivable | less\s+likely | (?:(?:close|distant)\s+)?second | alternative )
      | (?:could|might|may|can)\s+(?:also\s+)?(?:be|work|fit) | (?:less\s+likely|possible|second)\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_EXCEPT: Final = r"(?:except(?:\s+for)?|but|other\s+than|besides|apart\s+from|save(?:\s+for)?|aside\s+from)"
_ONLY_EXCEPTION = lazy_pattern(
    rf"""
    (?: \b (?P<all> all | every\w* | each | any ) \b [^.!?,;\n]{{0,40}}? \b {_EXCEPT} \s+ {_LABEL}
        \s+ (?: is | are | can\s+be | must\s+be | were | was ) \s+ (?:(?:clearly|all|therefore)\s+)?
        (?: wrong | incorrect | false | eliminated | ruled\s+out | excluded | impossible | invalid ) \b
      | \b (?: none | no | nothing | neither ) \b [^.!?,;\n]{{0,40}}? \b {_EXCEPT} \s+
        {_LABEL.replace("label", "second")}
        \s+ (?: is | are | fits? | works? | match(?:es)? | makes? | can\s+be | satisf\w+ | applies | apply )
        \b (?! \s+ (?:wrong|incorrect|false|not|impossible|invalid) )
      | \b (?: can(?:not|['’]t|\s+not) | could\s*n['’]t ) \s+ be \s+
        any(?:thing)? (?:\s+other)? (?:\s+option|\s+answer)? \s+ (?: but | other\s+than | except | than ) \s+
        {_LABEL.replace("label", "third")} )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_IN_QUESTION = lazy_pattern(r"[^.!?\n]{0,60}\?")
_LEAST = lazy_pattern(
    rf"\bleast\s+(?!likely\b|probabl|plausibl|possibl)\w+[*_]*\s+(?:choice|option|one)\s+(?:here\s+)?(?:is|would\s+be):?"
    rf"\s*{_LABEL}",
    re.IGNORECASE,
)
"""The least effective option, say, but not the least likely answer."""
_BEST = lazy_pattern(r"\b(?:best|correct|right|true|better|most\s+(?:likely|probable|plausible))\b", re.IGNORECASE)
_CORRECT_ONE = lazy_pattern(
    r"(?m)(?:^|(?<=[.;]\s))[*_]{0,3}(?i:correct|right|true)(?:\s+(?i:options?|one|choice))?[*_]*\s*[:：][\s*_(\[]*(?P<label>[A-Z])[)\]*_]*"
    r"(?=\s*(?:[.;\n]|\Z))"
)
_OF_CASE = lazy_pattern(
    r"""
    [\s*_(]* (?: (?:and|but|while|whereas|however),?\s+ )? (?:
        (?: for | in\s+(?:the\s+)?case(?:s)?\s+of | in\s+the\s+(?:presence|absence)\s+of | under | with | without
          | when | if | where | as\s+for )
        \s+ (?! (?: this | that | these | those | all | reference | now | me | clarity | completeness | example
          | instance | simplicity | us | which | we | you | it
          | (?:the|a)\s+(?: given | above | following | present | question | problem | reason | same | sake | most
            | first\s+time | moment | purpose ) ) \b )
        [^.,!?;:\n]{2,60}?
    ) ,? \s+ (?:the\s+(?:correct\s+|right\s+|best\s+)?|it\s+is\s+)? \Z
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What a declaration begins with that answers one of several cases: "For inhibitors the answer is B"."""
_WOULD = lazy_pattern(r"\s*answer\s+(?:would|could|might)\b", re.IGNORECASE)
_OPPOSITE = lazy_pattern(
    r"\b(?:converse|inverse|opposite|reverse|contrapositive|other|different|another|similar|related)\b", re.IGNORECASE
)


def likelier_label(text: str, start: int, end: int, labels: tuple[str, ...]) -> Found | None:
    """Return the one label that a sentence calls likely, where it calls every other one only possible.

    >>> likelier_label("Most likely B, possibly A", 0, 25, ("A", "B"))
    ('B', 12, 13)
    >>> likelier_label("Maybe A or B", 0, 12, ("A", "B")) is None
    True
    """
    likely = {
        match["label"]: (match["label"], *match.span("label"))
        for pattern in (_LIKELY_BEFORE, _LIKELY_BEHIND)
        for match in pattern.finditer(text, start, end)
        if match["label"] in labels
    }
    possible = {
        match["label"]
        for pattern in (_POSSIBLE_BEFORE, _POSSIBLE_BEHIND)
        for match in pattern.finditer(text, start, end)
    } - set(likely)
    if len(likely) != 1 or not possible or labels_named(text, start, end, labels) - possible - set(likely):
        return None
    return likely.popitem()[1]


def likelier_of_run(text: str, run: Run, labels: tuple[str, ...]) -> Found | None:
    """Return the likelier one of several labels that a declaration gives: "The answer is most likely B, possibly A"."""
    begin = run.start - len(sentence_before(text, run.start))
    return likelier_label(text, begin, run.end + len(sentence_behind(text, run.end)), labels)


def likelier_only(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the likelier label of the last sentence that names one, in a response that declares none."""
    places = [place for place in sentences_of(text, 0) if labels_named(text, *place, labels)]
    return likelier_label(text, *places[-1], labels) if places else None


def only_exception(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the label that is the only exception where all others are denied: "None of them but B is right"."""
    found: dict[str, Found] = {}
    stop = 0
    for match in _ONLY_EXCEPTION.finditer(text):
        group = next(name for name in ("label", "second", "third") if match[name])
        if match[group] in labels and not _IN_QUESTION.match(text, match.end()):
            found[match[group]] = match[group], *match.span(group)
            stop = match.end()
    if len(found) != 1 or labels_named(text, stop, len(text), labels) - set(found):
        return None
    return found.popitem()[1]


def lesser_only(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the label that a response ends with as the least of all: "The least effective option is D".

    That is what some questions ask for; where another one is called the best or right, it is not the answer.
    """
    last = last_match(_LEAST, text)
    if last is None or last["label"] not in labels or _BEST.search(text):
        return None
    others = labels_named(text, last.end(), len(text), labels) - {last["label"]}
    return None if others else (last["label"], *last.span("label"))


def called_correct(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the one label that a response lists as the correct one: "Correct: B. Incorrect: A, C"."""
    found = {match["label"]: (match["label"], *match.span("label")) for match in _CORRECT_ONE.finditer(text)}
    return found.popitem()[1] if len(found) == 1 and set(found) <= set(labels) else None


def is_of_one_case(text: str, start: int) -> bool:
    """Return whether a declaration that begins there answers one of several cases: "For inhibitors the answer is B"."""
    return _OF_CASE.match(sentence_before(text, start)) is not None


def is_of_another_case(text: str, start: int) -> bool:
    """Return whether a declaration of one case is none of the question: "For the converse, the answer would be B"."""
    return _WOULD.match(text, start) is not None or _OPPOSITE.search(sentence_before(text, start)) is not None


def is_same_paragraph(text: str, start: int, end: int) -> bool:
    """Return whether nothing but a few words of the same paragraph stand between two places."""
    return end - start <= _BETWEEN_MAX and "\n\n" not in text[start:end]
