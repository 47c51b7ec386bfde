"""Labels that a response gives without naming them as one: a ticked box, a verdict on each option, "the second option".

A bare number is no label: "2" may be the second option, an index from 0, or a result. Depends on
`nel.scoring.reading.sentences` for what speaks against a mention.
"""

from __future__ import annotations

import re
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import phrases, status
from nel.scoring.reading.declarations import OF_OPTIONS, declarations
from nel.scoring.reading.label_runs import Found, Run
from nel.scoring.reading.option_texts import OptionTexts
from nel.scoring.reading.result import Reading
from nel.scoring.reading.sentences import asserted, sentences_of

_BOX = lazy_pattern(
    r"(?m)^[^\S\n]*+[-*•]?[^\S\n]*+(?P<box>[☑✅✓✔]|\[[^\S\n]?[xX✓✔]?[^\S\n]?\]|\([^\S\n]?[xX✓✔]?[^\S\n]?\))?[^\S\n]*+"
    r"[*_]*[(\[]?(?P<label>[A-Z])(?:[)\].:*_]+[^\S\n]|[)\].:*_]*[^\S\n]*$)"
)
_VERDICT = lazy_pattern(
    r"""
    (?: ^ | [.;,!|] \s{1,3} ) [*_>|-]*+ [^\S\n]*+ (?: (?i:is|could) \s+ it \s+ (?:be\s+)? )?
    (?: (?i:option|choice) \s )? [*_]* [(\[]? (?P<label>[A-Z]) [)\].:?*_]*
    (?: [^\S\n]* [:=–—-] )? [^\S\n]* (?i: is \s+ )? [*_(]*
    (?: (?P<right> (?i: yes | correct | true | right ) | ✅ | ✓ | ✔ )
      | (?i: no | incorrect | false | wrong | not \s+ correct ) | ❌ | ✗ | ✘ ) [*_)]*
    (?= [^\S\n]* (?: [.;,!|] | $ ) )
    """,
    re.VERBOSE | re.MULTILINE,
)
_ORDINALS: Final = {
    word: place
    for place, words in enumerate(
        (
            *("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"),
            *("sixth 6th", "seventh 7th", "eighth 8th", "ninth 9th", "tenth 10th"),
        )
    )
    for word in words.split()
}
_NUMBERED = lazy_pattern(
    rf"""
    \b (?: (?:option|choice|alternative) \s* (?:no\.?|number|\#)? \s* [(\[*_]* (?P<number>\d{{1,2}}) (?![\d.,]*\d|\s*%)
      | (?P<ordinal> {"|".join(_ORDINALS)} | last ) \s+ (?: answer \s+ )?
        (?: option | choice | alternative | one \b ) (?!s) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CHOOSES = lazy_pattern(
    r"\b(?:answer|correct|right|best|choose|chose|pick|select|go(?:ing)?\s+with|would\s+be|must\s+be|it(?:['’]s|\s+is))\b",
    re.IGNORECASE,
)
_NUMBERED_LIST = lazy_pattern(r"(?m)^[ \t*_#-]{0,12}+(?:option|choice)[ \t]\d", re.IGNORECASE)
_THEREFORE = lazy_pattern(
    r"\b(?i:therefore|thus|hence|so),?\s+(?:(?i:option|choice|answer)\s+)?[(\[*_]*(?P<label>[A-Z])[)\].:*_]*(?:\s[^.!?\n]{1,80}?)??\s+is\s+"
    r"(?:the\s+|my\s+)?(?:final\s+|correct\s+|right\s+|best\s+)+(?:answer|option|choice)"
)
_CHOSEN = lazy_pattern(
    r"\bI(?:['’](?:d|ll|m)|\s+(?:would|will|am|have\s+to|must))?\s+(?:therefore\s+)?(?:choose|chose|go(?:ing)?\s+with|pick|select|say|guess|settle\s+on"
    r"|lean(?:ing)?\s+(?:towards?|to))\s+(?:(?:the\s+)?(?:option|choice|answer)\s+)?[(\[*_]*(?P<label>[A-Z])(?![\w'’])"
)
_WRAPPING: Final = " \t\r\n*_`\"'“”()[].:#"


def concluded_behind(text: str, labels: tuple[str, ...], texts: OptionTexts | None, taken: Run) -> Found | None:
    """Return another label that the reasons after an answer come to: "Answer: A\\n\\n… Therefore, B is the answer"."""
    found = None
    for found in _THEREFORE.finditer(text, taken.end):  # noqa: B007 - the last one is wanted
        pass
    if found is None or found["label"] not in labels or found["label"] in taken.labels:
        return None
    behind = texts.behind(text, found.end("label"), found["label"]) if texts else found.end("label")
    if status.objection(text, found.start("label"), behind, whole=texts is not None):
        return None
    return found["label"], *found.span("label")


def chosen_later(text: str, taken: Run) -> Found | None:
    """Return which of several labels the response chooses after them: "C or B … I would choose B"."""
    found = None
    for found in _CHOSEN.finditer(text, taken.end):  # noqa: B007 - the last one is wanted
        pass
    if found is None or found["label"] not in taken.labels:
        return None
    why = status.objection(text, *found.span("label"))
    is_conditional = phrases.CONDITION.search(status.sentence_before(text, found.start("label"))) is not None
    if why is not None and (is_conditional or why != status.SUPPOSED):  # "would" alone supposes nothing here
        return None
    return found["label"], *found.span("label")


def ticked_box(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the one option of a list whose box is ticked, ``[ ] A``, ``[x] B``; no label where several are."""
    ticked: dict[str, Found] = {}
    listed: set[str] = set()
    boxes: list[int] = []
    for match in _BOX.finditer(text):
        if match["label"] in labels:
            listed.add(match["label"])
            boxes += [match.start("box")] if match["box"] else []
            if match["box"] and match["box"].strip("()[] "):
                ticked[match["label"]] = match["label"], match.start("label"), match.end("label")
    if not boxes or len(listed) < 2:  # noqa: PLR2004 - one box is no choice
        return None
    return ticked.popitem()[1] if len(ticked) == 1 else ("", boxes[0], boxes[-1])


def verdicts(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the one option that is called right among others called wrong, in sentences: "A: no. B: yes."."""
    right: dict[str, Found] = {}
    named: list[str] = []
    for match in _VERDICT.finditer(text):
        named.append(match["label"])
        if match["right"]:
            right[match["label"]] = match["label"], match.start("label"), match.end("label")
    is_list = len(set(named)) == len(named) and set(named) <= set(labels)
    if not is_list or len(named) < 2 or not right:  # noqa: PLR2004 - one verdict is no choice
        return None
    return right.popitem()[1] if len(right) == 1 else ("", *right.popitem()[1][1:])


def numbered_declaration(
    text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading
) -> Found | None:
    """Return the option that is declared by its place: "Answer: option 2".

    Where the texts of the options have numbers, "option 2" may name the one that says 2; an ordinal names a place.
    """
    if texts is None or _NUMBERED.search(text) is None:
        return None
    for one in declarations(text, OF_OPTIONS):
        found = asserted(text, _mentions(text, one.end, one.stop, labels, texts), None, reading)
        if found:
            return found.popitem()[1] if len(found) == 1 else None
    return None


def numbered_option(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the option that the last or the first sentence chooses by its place: "The second option is right"."""
    if texts is None or len(_NUMBERED_LIST.findall(text)) > 1:
        return None
    sentences = [place for place in sentences_of(text, 0) if text[slice(*place)].strip(_WRAPPING)]
    for start, end in sentences[-1:] + sentences[:1]:
        mentions = _mentions(text, start, end, labels, texts)
        found = asserted(text, mentions, None, reading)
        if len(found) > 1 or (found and phrases.UNDECIDED.search(text, start, end) and len(mentions) > 1):
            return None
        if found:
            only = next(iter(found.values()))
            rest = text[start : only[1]] + text[only[2] : end]
            is_alone = not rest.replace("The", "").replace("the", "").strip(_WRAPPING)
            return only if is_alone or _CHOOSES.search(text, start, end) else None
    return None


def _mentions(text: str, start: int, end: int, labels: tuple[str, ...], texts: OptionTexts) -> list[Found]:
    found = []
    for match in _NUMBERED.finditer(text, start, end):
        if match["number"]:
            place = int(match["number"]) - 1
            if texts.have_numbers:
                continue
        else:
            word = match["ordinal"].lower()
            place = len(labels) - 1 if word == "last" else _ORDINALS[word]
        if 0 <= place < len(labels):
            found.append((labels[place], match.start(), match.end()))
    return found
