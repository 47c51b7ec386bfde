"""Reads the number that a response gives as its answer, or says that it gives none.

The last declaration that stands counts; where nothing is declared, the last sentence that states a number. Depends on
`nel.scoring.reading.declarations` for the places, on `nel.scoring.reading.remarks` and `nel.scoring.reading.status` for
what speaks against a candidate, and on `nel.scoring.numeric` for the values. A declaration of what is no single number
(a range, a root, two numbers) is no answer, and its parts are never taken for one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.finding import Number, found_numbers, stated_number
from nel.scoring.numeric.languages import Mark
from nel.scoring.reading import remarks
from nel.scoring.reading.box_remarks import box_objection, is_example
from nel.scoring.reading.declarations import Declaration
from nel.scoring.reading.number_endings import (
    DIGITS_MAX,
    SENTENCE_STOP,
    TAIL_MAX,
    asks,
    cut_objection,
    ending_objection,
    set_off_at_end,
)
from nel.scoring.reading.number_places import SEGMENT_MAX, is_record, places, stop_of
from nel.scoring.reading.plain_endings import plain_number
from nel.scoring.reading.prepare import prepared
from nel.scoring.reading.result import Reading
from nel.scoring.reading.run_on import before_next_question
from nel.scoring.reading.stated import computed_in, makes, stated_in, states_at_once
from nel.scoring.reading.status import MARKED_WRONG, TAKEN_BACK, behind_cross, is_plain, objection
from nel.scoring.wording import last_match

LAST_NUMBER: Final = "last number"
FIRST_STATEMENT: Final = "first statement"
CORRECTED: Final = "corrected"
SET_OFF: Final = "set off at the end"
SEVERAL: Final = "no single number"

_DECLARATIONS_MAX: Final = 40
_REVISED_MAX: Final = 120
_DOUBT_MAX: Final = 12
"""Characters of "Wait, actually"."""
_SENTENCES_MAX: Final = 30
_UNIT_MAX: Final = 8
"""Characters of a unit after a number that stands alone."""
_HASHES = lazy_pattern(r"####[^\S\n]*(?P<answer>[^\n]*)")
_LIST_ITEM = lazy_pattern(r"[^\w\n]*1[.)]\s")
_DENIAL = lazy_pattern(
    r"\b(?:not|never|neither|nor|cannot|rather\s+than|instead\s+of)\b(?!\s+only)|n['’]t\b", re.IGNORECASE
)
_PRELIMINARY = lazy_pattern(
    r"\b(?:first|initial|preliminary|tentative|provisional|draft|old|previous|naive|rough)\s+\Z", re.IGNORECASE
)
"""Before an answer that gives way to a later one: "First answer: 26. After checking: 18."."""
_ASIDE_MAX: Final = 24
_BINDING: Final = frozenset(("tag", "hashes", "short marker"))
"""Forms whose sentence says nothing about them."""
_FENCE = lazy_pattern(r"\s*(?:```\w*\s*\n\s*)?")
_MARKS_ONLY = lazy_pattern(r"[\W_]*(?:\\[a-z]+[\W_]*)*")
_CLAUSE_STARTS = lazy_pattern(r"[;:,]|\b(?:but|so|therefore|thus|hence)\b")
_WITHIN_STARTS = lazy_pattern(r"[,;]|\b(?:but|rather|so|sino|bensì|sim|sondern|а)\b|而是|ではなく|بل")
_CLAUSE = lazy_pattern(
    r";|—|\b(?:wrong|incorrect|mistaken|not\s+(?:right|correct))[*_]*\s*[:,–-]|,\s+(?:but|however)\b|\b(?:but|so)\s",
    re.IGNORECASE,
)
_OR_ELSE = lazy_pattern(r"[^\S\n]*[^\W\d]{0,12}[^\S\n]*[(（]\s*(?:or|oder|ou|o|или)\b", re.IGNORECASE)
_BESIDE = lazy_pattern(
    r"[(（\[]|,\s+(?:and\s+)?not\b|\s(?=(?:Had|In\s+an?|If|Note|Without|Under|Some|Anyone|Students|Many)\s)"
)
"""What begins a remark after an answer in the same sentence."""


class _Sentence(NamedTuple):
    start: int
    end: int


def first_hashed_number(text: str) -> Reading | None:
    """Read the first of several lines ``#### N``, the form of GSM8K's own solutions; None where there are not several.

    A model that runs on writes further ones for problems of its own. A heading such as ``#### Calculation`` is none.

    >>> first_hashed_number("#### Sum\\n#### 5\\n\\nNext: 3 + 4\\n#### 7").value
    '5'
    """
    if text.count("####") < 2:  # noqa: PLR2004 - one is a declaration like others
        return None
    lines = [line for line in _HASHES.finditer(text) if states_at_once(text, line.start("answer"), line.end())]
    if len(lines) < 2:  # noqa: PLR2004 - one is a declaration like others
        return None
    kept = next(
        (line for line, following in pairwise(lines) if not _is_revised(text, line.end(), following.start())), lines[-1]
    )
    reading = Reading()
    _take(reading, stated_in(text, kept.start("answer"), kept.end()), "hashes")
    return reading


def _is_revised(text: str, start: int, stop: int) -> bool:
    """Return whether what stands between two answers opens with words that take the first one back."""
    opening = text[start : min(stop, start + _REVISED_MAX)].lstrip(" \n*_")
    opens_with_doubt = remarks.corrected_at(opening, 0, _DOUBT_MAX) is not None
    return opens_with_doubt or remarks.said_wrong_at(opening, 0, len(opening)) is not None


def read_number(text: str, language: Mark | None = None, *, declared_only: bool = False) -> Reading:
    """Read the number that a response gives as its answer.

    Rule: the last declaration that nothing speaks against, in any form, its value the number that it states: the result
    of a sum, else the only number, else the one that it opens with. Where the response takes that back after it, the
    number that it goes on to, or none. Without a declaration the last sentence that states a number, unless the text
    is cut off there, refuses, asks or stays undecided.

    Args:
        language: The decimal mark where the words of the response do not tell.
        declared_only: A number that is neither declared nor set off as the whole last line is none.

    >>> read_number("The answer is 2 times 9, which is 18").value, read_number("\\\\boxed{73, 74}").value
    ('18', None)
    >>> read_number("<answer>204</answer>").value, read_number("It can't be $\\\\boxed{5}$.").value
    ('204', None)
    """
    own = before_next_question(text)
    return plain_number(own, language, declared_only=declared_only) or read_any_number(
        own, language, declared_only=declared_only
    )


def read_any_number(text: str, language: Mark | None = None, *, declared_only: bool = False) -> Reading:
    """Read the number of a response that does not end plainly; `read_number` has the rule."""
    plain = prepared(text)
    reading = Reading()
    struck_to = text.rfind("~~") if "~~" in text and "~~" not in plain else 0
    is_settled = _read_declared(plain, reading, language)
    if not is_settled and declared_only:
        _take(reading, set_off_at_end(plain), SET_OFF)
    elif not is_settled:
        _read_undeclared(plain, reading, language, struck_to)
    if reading.value is not None and plain is not text and reading.value == plain[reading.start : reading.end]:
        reading.value = text[reading.start : reading.end]  # full-width digits as they were written
    return reading


def _read_declared(text: str, reading: Reading, language: Mark | None) -> bool:
    """Read the last declaration that counts; return whether that settles the reading, be it that there is no answer."""
    denied_at = None
    for count, place in enumerate(places(text)):
        if count == _DECLARATIONS_MAX:
            break
        stop = stop_of(text, place)
        if place.form == "hashes" and not _states_a_number(text, place.end, stop):
            if text[stop:].strip():
                continue  # a heading such as "#### Part 2"
            reading.reject(place.end, stop, SEVERAL)
            return True
        number = _stated_at(text, place, stop, language)
        if number is None:
            if _is_open(text, place, stop):
                reading.reject(place.end, stop, remarks.UNDECIDED)
                return True
            continue
        why = _declared_objection(text, place, number)
        if why is None:
            number = _in_place_of(text, place, number, stop, language)
            _take(reading, _after_corrections(text, number, stop, reading, language), place.form)
            return True
        reading.reject(number.start, number.end, why)
        if why in (remarks.UNDECIDED, remarks.CUT_OFF):
            return True
        if why in (TAKEN_BACK, MARKED_WRONG):
            _take(reading, _later(text, behind_cross(text, number.end), language), CORRECTED)
            return True
        if why == remarks.DENIED:
            denied_at = number.end if denied_at is None else denied_at
    if denied_at is not None:  # "The answer is not 5" leaves none, unless the response goes on to it
        _take(reading, _later(text, denied_at, language), LAST_NUMBER)
    return denied_at is not None


def _stated_at(text: str, place: Declaration, stop: int, language: Mark | None) -> Number | None:
    """Return the number that a declaration states, or what the formula of its box comes to; or None."""
    number = _stated_below(text, place, stop, language) or stated_in(text, place.end, stop, language)
    computed = computed_in(text, place.end, stop) if place.form == "box" else None
    return number if computed is None or (number and number.value == computed.value) else computed


def _in_place_of(text: str, place: Declaration, number: Number, stop: int, language: Mark | None) -> Number:
    """Return the number that comes in the place of one that is only a first answer, or that one."""
    if _PRELIMINARY.search(text, max(0, place.start - _ASIDE_MAX), place.start) is None:
        return number
    return _later(text, stop, language) or number


def _states_a_number(text: str, start: int, stop: int) -> bool:
    """Return whether what stands after hashes states a number, on the last line also one in words."""
    if states_at_once(text, start, stop):
        return True
    return not text[stop:].strip() and stated_number(text[start:stop]) is not None


def _take(reading: Reading, number: Number | None, rule: str) -> None:
    if number is None:
        return
    if number.value is None:
        reading.reject(number.start, number.end, SEVERAL)
        return
    reading.take(number.text, number.start, number.end, rule)


def _stated_below(text: str, place: Declaration, stop: int, language: Mark | None) -> Number | None:
    """Return the number that a calculation below "the answer is" comes to, or None where none stands below it."""
    if place.form in ("box", "tag", "hashes"):
        return None
    said = text[place.end : stop]
    is_blank = not said.strip(" .") and text[place.end - 1 : place.end] != "_"
    is_sum = "\n" in text[place.start : place.end] and ("=" in said or _LIST_ITEM.match(said) is not None)
    if not (is_blank or is_sum) or not text[stop:].strip():
        return None
    found = list(_stated_backwards(text, place.end, language))
    return next((number for number, why in found if why is None), None)


def _is_open(text: str, place: Declaration, stop: int) -> bool:
    """Return whether a declaration without a number leaves the answer open, or says that there is none."""
    said = text[place.end : stop]
    if place.form in ("hashes", "heading") and not remarks.is_placeholder(said):
        return remarks.refuses(said)
    return remarks.is_placeholder(said) or remarks.refuses(said)


def _sentence_around(text: str, start: int, end: int) -> _Sentence:
    """Return the sentence, or the line, around a place."""
    begin = max(0, start - SEGMENT_MAX)
    first = begin
    for stop in SENTENCE_STOP.finditer(text, begin, start):
        first = stop.end()
    last = SENTENCE_STOP.search(text, end, min(len(text), end + SEGMENT_MAX))
    return _Sentence(first, last.end() if last else min(len(text), end + SEGMENT_MAX))


def _declared_objection(text: str, place: Declaration, number: Number) -> str | None:
    """Return why a declared number does not count, or None."""
    if number.end == len(text) and number.end - number.start > DIGITS_MAX:
        return remarks.CUT_OFF
    if place.form == "box" and (why := box_objection(text, place)) is not None:
        return why
    if is_example(text, number.start):
        return remarks.SUPPOSED
    if is_plain(text, number.start, number.end):
        return None
    start = place.start if place.form == "box" else place.end
    is_binding = place.form in _BINDING or is_record(text, place)
    lead = text[start : number.start]
    if (
        place.form == "heading"
        and text[place.start : place.start + 8].lower() == "solution"
        and text[place.stop :].strip()
    ):
        return remarks.SUPPOSED  # the working, not the answer
    if is_binding and not any(mark.isalpha() for mark in lead):
        return None
    sentence = _sentence_around(text, place.start, number.end)
    if not is_binding:
        if _OR_ELSE.match(text, number.end):
            return remarks.UNDECIDED
        behind = _BESIDE.search(text, number.end, sentence.end)
        before = last_match(_CLAUSE, text[sentence.start : place.start])
        start_said = sentence.start + before.end() if before else sentence.start
        why = remarks.remark(text[start_said : behind.start() if behind else sentence.end])
        if why is not None:
            return why
    clause = _CLAUSE_STARTS.split(text[max(sentence.start, place.start - 40) : place.start])[-1]
    within = _WITHIN_STARTS.split(text[place.start : number.start])[-1]
    if (
        _DENIAL.search(clause)
        or remarks.is_denied_in(within)
        or remarks.is_denied_behind(text[number.end : sentence.end])
    ):
        return remarks.DENIED
    if is_binding or remarks.is_own_choice(text[sentence.start : sentence.end]):
        return None
    why = objection(text, number.start, number.end, place.start)
    return None if why == remarks.DENIED else why


def _after_corrections(text: str, number: Number, stop: int, reading: Reading, language: Mark | None) -> Number | None:
    """Return a declared number, or what the response goes on to where it takes it back, or None."""
    end = min(len(text), stop + TAIL_MAX)
    if not text[number.end : end].strip(" .\n"):
        return number
    wrong = _taken_back_at(text, number, end)
    corrected = wrong if wrong is not None else remarks.corrected_at(text, number.end, end)
    if corrected is None:
        return number
    later = _later(text, corrected, language)
    if later is None and wrong is None:
        return number
    reading.reject(number.start, number.end, remarks.WRONG)
    return later


def _taken_back_at(text: str, number: Number, end: int) -> int | None:
    """Return where the words end that take a number back; a sentence with a number of its own speaks of that one."""
    start = number.end
    while (found := remarks.said_wrong_at(text, start, end)) is not None:
        sentence = _sentence_around(text, found, found)
        own = any(other.value != number.value for other in found_numbers(text, max(sentence.start, number.end), found))
        if not own:
            return found
        start = found
    return None


def _later(text: str, start: int, language: Mark | None) -> Number | None:
    """Return the number that the last sentence after a place states, or None."""
    return next((found for found, why in _stated_backwards(text, start, language) if why is None), None)


def _stated_backwards(text: str, start: int, language: Mark | None) -> Iterator[tuple[Number, str | None]]:
    """Yield the numbers that sentences state from the last one backwards, with what speaks against each."""
    for count, sentence in enumerate(_sentences_backwards(text, start)):
        if count == _SENTENCES_MAX:
            return
        number = stated_in(text, sentence.start, sentence.end, language)
        if number is not None:
            yield number, _stated_objection(text, sentence, number)


def _stated_objection(text: str, sentence: _Sentence, number: Number) -> str | None:
    """Return what speaks against the number that an undeclared sentence states, or None."""
    said = text[sentence.start : sentence.end]
    beside = _BESIDE.search(text, number.end, sentence.end)
    own = text[sentence.start : beside.start() if beside else sentence.end]
    why = remarks.SUPPOSED if remarks.checks(said) else remarks.remark(own)
    if why is not None:
        return why
    if asks(said):
        return remarks.QUOTED
    clause = re.split(r"[;—–]|,\s|\bbut\b", text[sentence.start : number.end])[-1]
    if remarks.is_denied_in(clause) or remarks.is_denied_behind(text[number.end : sentence.end]):
        return remarks.DENIED
    why = None if remarks.is_own_choice(said) else objection(text, number.start, number.end, sentence.start)
    return None if why == remarks.DENIED else why


def _sentences_backwards(text: str, start: int) -> Iterator[_Sentence]:
    begin = max(start, len(text) - 40 * SEGMENT_MAX)
    stops = [begin, *(stop.end() for stop in SENTENCE_STOP.finditer(text, begin)), len(text)]
    for first, last in zip(reversed(stops[:-1]), reversed(stops[1:]), strict=True):
        if text[first:last].strip():
            yield _Sentence(max(first, last - 2 * SEGMENT_MAX), last)


def _read_undeclared(text: str, reading: Reading, language: Mark | None, struck_to: int) -> None:
    """Read the last sentence that states a number, or a first one that concludes, with the reasons after it."""
    why = ending_objection(text)
    if why is not None:
        reading.reject(len(text), len(text), why)
        if why == remarks.CUT_OFF and not reading.rejected[:-1]:
            _take(reading, _first_statement(text, language), FIRST_STATEMENT)
        return
    declared = {rejected.start for rejected in reading.rejected}
    refused: set[Fraction | None] = set()
    checked: set[Fraction | None] = set()
    denied, seen = False, False
    for number, remark in _stated_backwards(text, struck_to, language):
        if remark is None and number.start not in declared and number.value not in refused:
            is_confirmed = checked == {number.value}
            _take(reading, *_undeclared(text, number, language, seen=seen and not is_confirmed, denied=denied))
            return
        reading.reject(number.start, number.end, remark or remarks.DENIED)
        if remark not in remarks.SKIPPED and remark not in (remarks.DENIED, None):
            return
        if remark == remarks.SUPPOSED and remarks.checks(
            text[slice(*_sentence_around(text, number.start, number.end))]
        ):
            checked.add(number.value)
            seen = True
            continue
        refused.add(number.value)
        denied = denied or remark == remarks.DENIED
        seen = seen or remark != remarks.CONFIDENCE


def _undeclared(
    text: str, number: Number, language: Mark | None, *, seen: bool, denied: bool
) -> tuple[Number | None, str]:
    """Return the number that a text states without a declaration, given the last one that nothing speaks against.

    Args:
        seen: Another one stood after it that did not count; then it must conclude.
        denied: That one was denied; then a mere result of a sum is no conclusion.
    """
    sentence = _sentence_around(text, number.start, number.end)
    if not seen and cut_objection(text, number) is not None:
        return None, LAST_NUMBER
    if _is_conclusion(text, sentence, number, sums=not denied):
        return number, LAST_NUMBER
    if seen:
        return None, LAST_NUMBER
    first = _first_statement(text, language)
    return (first, FIRST_STATEMENT) if first else (_only_statement(text, number, language), LAST_NUMBER)


def _is_conclusion(text: str, sentence: _Sentence, number: Number, *, sums: bool = True) -> bool:
    """Return whether a sentence concludes, sets its number off, or gives the result of a sum."""
    said = text[sentence.start : sentence.end]
    if remarks.intends(said):
        return False
    before = text[sentence.start : number.start].rstrip(" *_$`")
    return (
        (remarks.concludes(said) if sums else remarks.concludes_strongly(said))
        or text[max(0, number.start - 1) : number.start] in ("*", "_", "`", '"', "“", ">", "«", "„")
        or text[max(0, number.start - 2) : number.start] in ("\\(", "f{")
        or (text[max(0, number.start - 1) : number.end + 1].count("$") == 2)  # noqa: PLR2004 - in dollars of LaTeX
        or before.endswith((":", "：", "✅", "✓", "✔", "☑", "=>", "->", "→", "⇒", "∴"))
        or (sums and before.endswith("=") and not _goes_on(text, sentence.end))
        or (not before.strip() and _is_unit(text[number.end : sentence.end].strip(" .\n*_`$。")))
        or (sums and _is_computed_before(text, number))
    )


def _is_unit(text: str) -> bool:
    """Return whether what stands after a number is so short that it is its unit."""
    return len(text) <= (_UNIT_MAX if text.isascii() else 2)


def _goes_on(text: str, start: int) -> bool:
    """Return whether a text goes on with what is to be done next."""
    return any(remarks.intends(text[sentence.start : sentence.end]) for sentence in _sentences_backwards(text, start))


def _is_computed_before(text: str, number: Number) -> bool:
    """Return whether the last result of a sum, or the last number in bold, before a number is that number."""
    places = (text.rfind(mark, max(0, number.start - TAIL_MAX), number.start) for mark in ("=", "| **"))
    results = (next(found_numbers(text, place, min(number.start, place + 80)), None) for place in places if place >= 0)
    return any(result is not None and result.value is not None and result.value == number.value for result in results)


def _only_statement(text: str, number: Number, language: Mark | None) -> Number | None:
    """Return a number where no other sentence before it states one, so that it is no step on a way."""
    before = found_numbers(text, max(0, number.start - 40 * SEGMENT_MAX), number.start, language)
    begin = _sentence_around(text, number.start, number.end).start
    is_made = makes(text, begin, number.start)
    own = [other for other in before if (other.value is not None and not is_made) or other.start < begin]
    return number if all(other.value == number.value for other in own) else None


def _first_statement(text: str, language: Mark | None) -> Number | None:
    """Return the number that the first of several lines or sentences states as the answer, the reasons after it."""
    bare = _bare_first_line(text, language)
    if bare is not None:
        return bare
    start = len(text) - len(text.lstrip())
    stop = SENTENCE_STOP.search(text, start)
    if stop is None or not text[stop.end() :].strip():
        return None
    number = stated_in(text, start, stop.end(), language)
    if number is None or number.value is None or _stated_objection(text, _Sentence(start, stop.end()), number):
        return None
    set_off, said = text[max(0, number.start - 2) : number.start] in ("**", "__"), text[start : stop.end()]
    return number if "=" not in said[:-1] and (set_off or remarks.concludes_strongly(said)) else None


def _bare_first_line(text: str, language: Mark | None) -> Number | None:
    """Return the number that the first of several lines is, with nothing but its unit, or None."""
    fence = _FENCE.match(text)
    start = fence.end() if fence else 0
    end = text.find("\n", start)
    if end < 0 or "=" in text[end:] or not text[end:].strip(" \n`"):
        return None
    numbers = list(found_numbers(text, start, end, language))
    if len(numbers) != 1 or _stated_objection(text, _Sentence(start, end), numbers[0]):
        return None
    number = numbers[0]
    is_alone = _MARKS_ONLY.fullmatch(text, start, number.start) and len(text[number.end : end].split()) <= 2  # noqa: PLR2004
    return number if is_alone else None
