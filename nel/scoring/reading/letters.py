"""Labels of multiple-choice answers: finds the one, or the several, that a response gives.

A label is declared (see `nel.scoring.reading.declarations`), bare or in brackets, emphasis, dollar signs or a box; the
last declaration that counts is read. ``A`` and ``I`` are also words, so "Answer: A dog barks" declares nothing, and
"Answer: A or B" declares two, which is no single answer. Depends on `nel.scoring.reading.status` for what speaks
against a label, and on `nel.scoring.text` to compare the texts of choices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import phrases, status
from nel.scoring.reading.alphabets import with_latin_labels
from nel.scoring.reading.contrasted_labels import (
    called_correct,
    is_of_another_case,
    is_of_one_case,
    is_same_paragraph,
    lesser_only,
    likelier_of_run,
    likelier_only,
    only_exception,
)
from nel.scoring.reading.declarations import OF_OPTIONS, Declaration, declarations
from nel.scoring.reading.declared_labels import run_declared
from nel.scoring.reading.indirect_labels import (
    chosen_later,
    concluded_behind,
    numbered_declaration,
    numbered_option,
    ticked_box,
    verdicts,
)
from nel.scoring.reading.label_boxes import with_box_beside
from nel.scoring.reading.label_runs import (
    LINE_ENDS,
    UNDECIDED,
    Found,
    Run,
    decided,
    is_word,
    label_at,
    label_pattern,
    run_at,
)
from nel.scoring.reading.label_runs import labels_for as labels_for  # noqa: PLC0414 - its users import it from here
from nel.scoring.reading.listed_options import is_listed, marked_option, numbered_answers, verdict_lines
from nel.scoring.reading.option_texts import OptionTexts, with_others
from nel.scoring.reading.plain_endings import plain_label
from nel.scoring.reading.plain_options import one_of_two, stated_number
from nel.scoring.reading.prepare import prepared
from nel.scoring.reading.result import NOTHING, Reading
from nel.scoring.reading.run_on import before_next_question
from nel.scoring.reading.sentences import (
    concluded_label,
    is_cut_off,
    is_examined,
    labels_named,
    mentions_in,
    sentences_of,
)
from nel.scoring.wording import is_denied_after, is_supposed

_OPENING_MARKS = lazy_pattern(r"[`*#\s✅✓✔☑]*+(?i:(?:option|choice|letter)[^\S\n]+(?=[(*]*[a-z][.)*]*\s*\Z))?")
_OVER_OTHERS = lazy_pattern(
    r"""
    [\s*_]*+ [(\[]? (?P<label>[A-Z]) [)\]]? [*_]*+ (?:
        ,? \s+ (?: (?:(?:and|but)\s+)?not | rather\s+than | instead\s+of | over | because | since ) \b [^\n?]{1,200}
      | \s* > [^\n?]{1,60}
      | \s+ is \s+ (?:(?:much|far|clearly|a)\s+)? (?:better|likelier|closer|stronger|more\s+[a-z]+) \b
        [^\n?.;]{1,80} [.!]?
      | \s+ is \s+ the \s+ (?!wrong|incorrect|worst|least|false|only\s+(?:wrong|incorrect|false)) [^\n?.;]{1,60} [.!]?
      | \s+ \( (?! [^()\n]* \b (?: or | maybe | perhaps | possibly | not\s+sure | if ) \b) [^()\n?]{1,200} \) [.]?
      | ,? \s+ (?: for\s+sure | I\s+(?:think|guess|believe|suppose) ) [.!]?
      | ,? \s+ \d{1,3} \s? % (?: \s+ (?: sure | certain | confident | confidence ) )? [.]?
    ) \s* \Z
    """,
    re.VERBOSE,
)
"""A response that is a label and why it is not another: "C rather than A.", "C (A and B are wrong)"."""
_ANSWER_LINE = lazy_pattern(r"(?im)^[^\S\n]*+[*_#>|-]*+[^\S\n]*+(?:answers?[\s*_]*+[:：]|答案[:：])[\s*_]*+")
_IS_RIGHT = lazy_pattern(
    r"\s*[)\]*_]*\s+is\s+(?:clearly\s+|also\s+)?(?:the\s+)?(?:right|correct|best(?!\s+known)|true)\b", re.IGNORECASE
)
_MENTION = lazy_pattern(r"\b(?:[Oo]ption|[Cc]hoice|[Ll]etter|[Aa]nswer)s?\s++|(?<!\w)(?=[(（【])")
_SENTENCE_ENDS = lazy_pattern(r"\s?(?:\\[)\]])?[*_$`\"'”’)\]）】}>]*+(?:[.!;,:。]|\s*(?:\n|\Z))")
_LISTED = lazy_pattern(r"(?m)^[\s*_(\[（]*+(\w{1,2})[*_]*+([).\]）:：])[*_\s]")
_SMALL_NEXT = lazy_pattern(r"[^\S\n]+[a-z]")
_NAMES = lazy_pattern(r"\s*(?:denotes?|represents?|stands?\s+for|refers?\s+to|means?|labels?|marks?)\b")
_CALLED_WRONG = lazy_pattern(r"[*_\s]*(?:no|wrong|incorrect|false)\b", re.IGNORECASE)
_SMALL_OPENING = lazy_pattern(r"[a-z]\)[^\S\n]+[^\n]{1,80}\s*")
"""``b) Paris`` as a whole response; "(a) …" begins a list of the response's own."""
_LESSER_MAX: Final = 40
_LESSER = lazy_pattern(
    r"\b(?:least\s+\w+|less\s+likely|worst|(?:second|2nd|third|3rd|next)(?:[\s-]+(?:best|most\s+likely))?|runner-up|backup)"
    r"[*_]*\s+[*_]*(?:possible\s+)?\Z",
    re.IGNORECASE,
)
"""Before "answer" or "choice", which then names another one than the best: "the second best answer is A"."""
_SHORT_MARKER = lazy_pattern(r"(?m)^[^\S\n]*+[*_]*+A[*_]*:[*_]*[^\S\n]*")
_ASKS = lazy_pattern(r"[^.!?\n]{0,60}\?")
_NONE_OF = lazy_pattern(
    r"\b(?:neither|nor|not|except|but|besides|if|whether|think|thought|says?|said)\b[^.!?\n]*\Z", re.IGNORECASE
)
_MENTIONS_MAX: Final = 400
"""Mentions of labels that are looked at where nothing is declared."""
_CHOOSES_OF_TWO = lazy_pattern(
    r"[)\]*_]*[,.;]?\s+(?:but\s+)?(?:(?:i(?:['’](?:d|ll|m)|\s+(?:would|will|am))?\s+)?(?:go(?:ing)?\s+(?:with|for)|pick|choose|say"
    r"|lean(?:ing)?\s+(?:towards?|to)|guess)|(?:more|most)\s+likely|probably|my\s+(?:guess|pick|choice)\s+is)\s+"
    r"(?:(?:the\s+)?(?:option|choice|answer)\s+)?",
    re.IGNORECASE,
)
"""What chooses one of two labels after them: "A or B, but I'd go with B"."""
_CORRECTION_CHARACTERS_MIN: Final = 6
_CORRECTED_CHARACTERS: Final = 1_000
"""Characters at the end of a response in which a correction is looked for."""
_BINDING: Final = frozenset({"tag"})
"""Forms of which nothing around takes back what they hold."""


def declared_labels(text: str, labels: Sequence[str], *, strict: bool = False) -> tuple[str, ...]:
    """Return the labels of the last declaration that has any, in the order of ``labels``.

    Args:
        strict: Only a line that starts with ``Answer:`` declares.

    >>> declared_labels("Answer: A is tempting. Answer: (B)", "ABCD"), declared_labels("ANSWER: C and A", "ABCD")
    (('B',), ('A', 'C'))
    """
    known = tuple(labels)
    if not strict and (at_once := plain_label(text, known)) is not None:
        return _labels_of(at_once)
    plain = with_latin_labels(prepared(text))
    if not strict:
        return _labels_of(_declared(plain, known, None, Reading()))
    found: tuple[str, ...] = ()
    for match in _ANSWER_LINE.finditer(plain):
        found = run_at(plain, match.end(), known).labels or found
    return decided(found)


def labels_at(text: str, position: int, labels: Sequence[str]) -> tuple[str, ...]:
    """Return the labels that stand at a place of a text, wrappers before them skipped."""
    return decided(run_at(prepared(text), position, tuple(labels)).labels)


def declared_label(text: str, labels: Sequence[str], *, strict: bool = False) -> str | None:
    """Return the one label that the last declaration gives, or None when it gives none or several."""
    found = declared_labels(text, labels, strict=strict)
    return found[0] if len(found) == 1 else None


def given_labels(text: str, labels: Sequence[str], choices: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return the labels a response gives in any form; empty when it gives none or contradicts itself.

    `read_labels` has the rule.

    >>> given_labels("I think it is C", "ABCD"), given_labels("Paris", "AB", ["London", "Paris"])
    (('C',), ('B',))
    >>> given_labels("Both (A) and (B) are tempting", "ABCD")
    ()
    """
    return _labels_of(read_labels(text, labels, choices))


def _labels_of(reading: Reading) -> tuple[str, ...]:
    return tuple(reading.value.split(",")) if reading.value else ()


def read_labels(text: str, labels: Sequence[str], choices: Sequence[str] | None = None) -> Reading:
    """Return how the labels of a response were read; `Reading.value` has them joined by commas.

    In this order: the last declaration that counts, its label or the text of a choice; a response or last line that is
    a label alone; a label that is ticked or called right; a response that opens with one (``B) Paris``); the end of a
    sentence ("I would go with C."); the only label in parentheses or after "option"; the text of a choice alone.

    >>> read_labels("The answer is A? No. <answer>B</answer>", "ABCD").rule
    'tag'
    """
    known = tuple(labels)
    text = before_next_question(text, in_words=True)
    return plain_label(text, known, choices or None) or read_any_labels(text, known, choices)


def read_any_labels(text: str, known: tuple[str, ...], choices: Sequence[str] | None = None) -> Reading:
    """Read the labels of a response that does not end plainly; `read_labels` has the rule."""
    plain, reading = with_latin_labels(prepared(text)), Reading()
    texts = OptionTexts(known, choices) if choices else None
    if texts and (whole := texts.whole(plain)):
        return reading.take(whole, 0, len(plain), "the text of a choice")
    if _declared(plain, known, texts, reading).rule != NOTHING:
        return reading
    for rule, find in _WEAKER:
        found = find(plain, known, texts, reading)
        if found is not None:
            return reading.take(found[0] or None, *found[1:], rule)
    if is_cut_off(plain, known):
        return reading.take(None, len(plain), len(plain), "cut off before an answer")
    concluded = concluded_label(plain, known, texts, reading)
    if concluded is not None:
        return reading.take(
            concluded[0] or None, *concluded[1:], "chosen in a sentence" if concluded[0] else "undecided"
        )
    for rule, find in _WEAKEST:
        found = find(plain, known, texts, reading)
        if found is not None:
            return reading.take(*found, rule)
    return texts.alone(plain, reading) if texts else reading


def _declared(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Reading:
    """Read the last declaration that counts, or what the response corrects it to."""
    taken, form = _taken(text, labels, texts, reading)
    if form == status.UNDECIDED and taken is not None:
        return reading.take(None, taken.start, taken.end, status.UNDECIDED)
    corrected = _corrected(text, labels, texts, reading, taken.end if taken else 0)
    if corrected is not None:
        return reading.take(*corrected, "corrected")
    if taken is None and (unread := _empty_tag(text, labels, texts)):
        return reading.take(None, unread, unread, "a tag without a label")
    if taken is None:
        return reading
    return _settled(text, labels, texts, reading, taken, form)


def _taken(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> tuple[Run | None, str]:
    """Return the labels of the last declaration that counts, and its form; `status.UNDECIDED` where cases differ.

    One that answers one case, "For inhibitors the answer is B", counts where no other stands right before it.
    """
    of_case: tuple[Run, str] | None = None
    for one in declarations(text, OF_OPTIONS):
        run = _run_of(text, one, labels, texts)
        if not run.labels:
            continue
        end = texts.behind(text, run.end, run.labels[-1]) if texts else run.end
        why = _objection(text, one, run, end, labels, texts)
        if why == status.UNDECIDED:
            reading.reject(run.start, run.end, why)
            return run, why
        is_of_case = why is None and of_case is None and is_of_one_case(text, one.start)
        if is_of_case and is_of_another_case(text, one.start):
            why = status.SUPPOSED
        if why is not None:
            reading.reject(run.start, run.end, why)
        elif is_of_case:
            of_case = with_others(text, run, end, labels), one.form
        elif of_case is None:
            return with_others(text, run, end, labels), one.form
        elif run.labels != of_case[0].labels and is_same_paragraph(text, run.end, of_case[0].start):
            return Run(run.labels, run.start, of_case[0].end), status.UNDECIDED
        else:
            break
    return of_case or (None, "")


def _run_of(text: str, one: Declaration, labels: tuple[str, ...], texts: OptionTexts | None) -> Run:
    run = with_box_beside(text, one, run_declared(text, one, labels, texts), labels)
    is_heading = one.form == "hashes" and not LINE_ENDS.match(text, run.end)
    return Run((), run.start, run.end) if is_heading else run


def _objection(
    text: str, one: Declaration, run: Run, end: int, labels: tuple[str, ...], texts: OptionTexts | None
) -> str | None:
    """Return why a declared label does not count, `status.UNDECIDED` where its sentence leaves open which does."""
    if one.form in _BINDING or status.is_plain(text, run.start, run.end):
        return None
    if _LESSER.search(text, max(0, one.start - _LESSER_MAX), one.start):
        return status.DENIED
    why = status.objection(text, run.start, end, one.start, whole=texts is not None)
    begin = run.start - len(status.sentence_before(text, run.start))
    close = end + len(status.sentence_behind(text, end))
    if why is None and phrases.DEPENDS.search(text, begin, close) and len(labels_named(text, begin, close, labels)) > 1:
        return status.UNDECIDED
    return why


def _empty_tag(text: str, labels: tuple[str, ...], texts: OptionTexts | None) -> int:
    """Return where the last tag ends that is there for the answer and holds no label; 0 where there is none."""
    tags = (one for one in declarations(text, OF_OPTIONS) if one.form in _BINDING)
    return max((one.stop for one in tags if not _run_of(text, one, labels, texts).labels), default=0)


def _settled(
    text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading, taken: Run, form: str
) -> Reading:
    """Read a declaration that counts, unless the response concludes something else after it, or takes it back."""
    if UNDECIDED in taken.labels and (later := chosen_later(text, taken)) is not None:
        return reading.take(*later, "chosen of two")
    if UNDECIDED in taken.labels and (likelier := likelier_of_run(text, taken, labels)) is not None:
        return reading.take(*likelier, "the likelier of two")
    if form not in _BINDING and (concluded := concluded_behind(text, labels, texts, taken)) is not None:
        return reading.take(*concluded, "corrected")
    if form not in _BINDING and _is_given_up(text, taken.end, labels, texts):
        reading.reject(taken.start, taken.end, status.TAKEN_BACK)
        return reading.take(None, taken.start, taken.end, status.TAKEN_BACK)
    if UNDECIDED in taken.labels and (chooses := _CHOOSES_OF_TWO.match(text, taken.end)):
        chosen = label_at(text, chooses.end(), labels)
        if chosen is not None and chosen[0] in taken.labels:
            return reading.take(chosen[0], chosen[1] - len(chosen[0]), chosen[1], "chosen of two")
    return reading.take(",".join(decided(taken.labels)) or None, taken.start, taken.end, form)


def _is_given_up(text: str, begin: int, labels: tuple[str, ...], texts: OptionTexts | None) -> bool:
    """Return whether a sentence after an answer says that it is wrong, or that there is none."""
    if phrases.GIVEN_UP.search(text, begin) is None:
        return False
    for start, end in sentences_of(text, begin):
        given_up = phrases.GIVEN_UP.search(text, start, end) and not phrases.REPORTED.search(text, start, end)
        if given_up and not mentions_in(text, start, end, labels, texts):
            return True
    return False


def _corrected(
    text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading, declared_at: int
) -> Found | None:
    """Return the label that a response corrects itself to after its last declaration: "B. Wait, actually, it is C"."""
    declared_at = max(declared_at, len(text) - _CORRECTED_CHARACTERS)
    tail = text[declared_at:]
    if len(tail) < _CORRECTION_CHARACTERS_MIN or not phrases.may_correct(tail):
        return None
    last = None
    for last in phrases.CORRECTION.finditer(text, declared_at):  # noqa: B007 - the last one is wanted
        pass
    if last is None or (not declared_at and is_cut_off(text, labels)):
        return None
    found = concluded_label(text, labels, texts, reading, last.end()) or _behind_marker(
        text, labels, texts, reading, last.end()
    )
    return found if found and found[0] else None


def _behind_marker(
    text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading, begin: int = 0
) -> Found | None:
    """Return the label after the last ``A:`` at the start of a line, which there is the answer's marker."""
    found = None
    for match in _SHORT_MARKER.finditer(text, begin):
        at = label_at(text, match.end(), labels)
        line = text[match.end() : match.end() + 200].partition("\n")[0]
        if at is None or (texts is not None and texts.exactly(line) == "A"):
            continue  # the option A of a list, whose text begins with a letter
        if status.objection(text, at[1] - len(at[0]), at[1]) is None:
            found = at[0], at[1] - len(at[0]), at[1]
    return found


def _alone(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the label that is the whole response, or its last or first line, maybe with the text of its option."""
    marks = _OPENING_MARKS.match(text)
    left = marks.end() if marks else 0
    stripped = text[left:].rstrip("`* \t\r\n✅✓✔☑")
    first_end = stripped.find("\n")
    parts = ((0, len(stripped)), (stripped.rfind("\n") + 1, len(stripped)), (0, max(first_end, 0)))
    for start, end in parts:
        at = label_at(stripped[start:end], 0, labels)
        if at is None:
            continue
        stop = start + at[1]
        if texts and texts.is_contradicted(stripped[:end], stop, at[0]):
            return "", left + stop - len(at[0]), left + stop
        behind = texts.behind(stripped, stop, at[0]) if texts and not is_listed(stripped, at[0], labels) else stop
        if LINE_ENDS.fullmatch(stripped, stop, end) or (behind > stop and LINE_ENDS.fullmatch(stripped, behind, end)):
            return at[0], left + stop - len(at[0]), left + stop
    return None


def _affirmed(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the one label of which the response says that it is right: "B is correct", "B ✅", "No. D is."."""
    said: dict[str, Found] = {}
    for match in islice(label_pattern(labels).finditer(text), _MENTIONS_MAX):
        before = text[match.start() - 1 : match.start()]
        if match[0] not in labels or before.isalnum():
            continue
        right = _IS_RIGHT.match(text, match.end())
        if right is None and not status.is_marked_right(text, match.end()):
            continue
        if right is not None and (
            _ASKS.match(text, right.end())
            or is_supposed(text, match.start())
            or _NONE_OF.search(text, max(0, match.start() - 40), match.start())
        ):
            reading.reject(match.start(), match.end(), status.ASKED)
            continue
        said[match[0]] = match[0], match.start(), match.end()
    return said.popitem()[1] if len(said) == 1 else None


def _over_others(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the label that a response of one sentence sets against the others."""
    found = _OVER_OTHERS.match(text)
    if found is None or found["label"] not in labels or is_word(text, found.end("label"), found["label"]):
        return None
    why = status.objection(text, *found.span("label"))
    return None if why else (found["label"], *found.span("label"))


def _opening_label(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the label a response opens with, as in ``B) Paris``, unless it goes on to list others so."""
    stripped = text.lstrip()
    offset = len(text) - len(stripped)
    start = _LISTED.match(stripped)
    if start is None or (start[1] not in labels and not _SMALL_OPENING.fullmatch(stripped)):
        return None
    listed = [label.upper() for label in (match[1] for match in _LISTED.finditer(text)) if label.upper() in labels]
    others = listed[1:] if listed else []
    # "B) Paris … A) … C) … D) …" opens with its answer and goes through the others; "A … B … C …" is the list itself.
    is_out_of_order = bool(others) and others == sorted(set(others) - {listed[0]}) and others[0] < listed[0]
    if set(listed) != {start[1].upper()} and not is_out_of_order:
        return None
    behind = texts.behind(stripped, start.end(1), start[1]) if texts else start.end(1) + 1
    if texts and texts.is_contradicted(stripped, start.end(1), start[1].upper()):
        return "", offset + start.start(1), offset + start.end(1)
    if start[1] + start[2] == "A:" and behind <= start.end(1) + 1:  # the marker of an answer: "A: I think it's H"
        own = concluded_label(text, labels, texts, reading, offset + start.end(2))
        if own is not None:
            return own
    if behind <= start.end(1) + 1 and start[2] == "." and _SMALL_NEXT.match(stripped, start.end(2)):
        return None  # "E. coli"
    if behind <= start.end(1) + 1 and _NAMES.match(stripped, start.end(2)):
        return None  # "(A) denotes the first sample"
    why = status.objection(stripped, start.start(1), behind, whole=texts is not None)
    if why is None and (is_denied_after(stripped, start.end(1)) or _CALLED_WRONG.match(stripped, start.end(2))):
        why = status.DENIED
    first = status.sentence_behind(stripped, behind)
    if labels_named(first, 0, len(first), labels) - {start[1].upper()} and phrases.UNDECIDED.search(first):
        return "", offset + start.start(1), offset + start.end(1)
    beside = with_others(stripped, Run((start[1],), start.start(1), start.end(1)), behind, labels)
    if len(beside.labels) > 1 or UNDECIDED in run_at(stripped, 0, labels).labels:
        return "", offset + beside.start, offset + beside.end
    if why is not None:
        reading.reject(offset + start.start(1), offset + start.end(1), why)
        return None
    return start[1].upper(), offset + start.start(1), offset + start.end(1)


def _only_mention(text: str, labels: tuple[str, ...], texts: OptionTexts | None, reading: Reading) -> Found | None:
    """Return the only label that stands in parentheses or after "option", unless it is denied somewhere."""
    mentioned: dict[str, Found] = {}
    for match in islice(_MENTION.finditer(text), _MENTIONS_MAX):
        at = label_at(text, match.end(), labels)
        if at is None or text[at[1] - len(at[0]) : at[1]] not in labels or not _is_closed(text, match, at[1]):
            continue
        start = at[1] - len(at[0])
        behind = texts.behind(text, at[1], at[0]) if texts else at[1]
        why = status.objection(text, start, behind, whole=texts is not None)
        why = status.WEIGHED if why is None and is_examined(text, start) else why
        if why is not None:
            reading.reject(start, at[1], why)
            return None
        if UNDECIDED in run_at(text, start, labels).labels:
            return None
        mentioned[at[0]] = at[0], start, at[1]
    return mentioned.popitem()[1] if len(mentioned) == 1 else None


def _is_closed(text: str, match: re.Match[str], end: int) -> bool:
    return bool(match[0]) or text[end : end + 1] in {")", "）", "】"}


_WEAKER: Final[tuple[tuple[str, Callable[[str, tuple[str, ...], OptionTexts | None, Reading], Found | None]], ...]] = (
    ("behind a marker", _behind_marker),
    ("declared by its place", numbered_declaration),
    ("answers to several questions", numbered_answers),
    ("ticked in a list", ticked_box),
    ("alone on a line", _alone),
    ("ticked in a list", verdict_lines),
    ("marked in a list", marked_option),
    ("called right among others", verdicts),
    ("opens the response", _opening_label),
    ("set against others", _over_others),
    ("the likelier of two", likelier_only),
    ("the only exception", only_exception),
    ("called right", called_correct),
    ("said of one of two", one_of_two),
)
"""What is tried where nothing is declared, most binding first."""
_WEAKEST: Final = (
    ("the least of all", lesser_only),
    ("called right", _affirmed),
    ("the only one mentioned", _only_mention),
    ("named by its place", numbered_option),
    ("the number of an option", stated_number),
)
"""What is tried where no sentence chooses a label either."""
