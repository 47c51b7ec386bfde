"""What number a passage states: the result of a sum, the only number, or the one that it opens with.

Depends on `nel.scoring.numeric` for the numbers and their values. A passage with several numbers and no sign which of
them is meant states none.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise
from typing import Final

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.numeric.arithmetic import arithmetic_value
from nel.scoring.numeric.finding import Number, found_numbers, number_in_words
from nel.scoring.numeric.languages import Mark
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.reading.restated import is_computed, restated_in
from nel.scoring.wording import last_match

_BUT = lazy_pattern(r"\b(?:sino|bensì|e\s+sim|sondern|mas\s+sim|а)\b|而是|ではなく|بل", re.IGNORECASE)
"""What stands after a denied answer and before the one that is given: "no es 5, sino 7"."""
_EQUALS = lazy_pattern(
    r"(?<![<>!])=|[≈≃→⇒≡]|\\(?:approx|equiv|implies|Rightarrow|to)\b|\b(?:which\s+is|equals?(?:\s+to)?|i\.e\.)",
    re.IGNORECASE,
)
_RESULT = lazy_pattern(
    r"\b(?:so|making|giving|gives|leaving|leaves|makes?|for\s+a\s+total\s+of|totall?ing|total\s+of|is|are|was|were|"
    r"needs?|has|have|gets?|pays?|costs?|earns?|"
    r"resulting\s+in|thus|hence|therefore)\b",
    re.IGNORECASE,
)
_MAKES = lazy_pattern(
    r"\b(?:round(?:ed|s|ing)?(?:\s+(?:up|down|off))?\s+to|mak(?:e|es|ing)(?:\s+a\s+total\s+of)?|earn(?:s|ing)|giv(?:es|ing)|leav(?:es|ing)|for\s+a\s+total\s+of|totall?ing|resulting\s+in)\s+\W*\Z",
    re.IGNORECASE,
)
_PLACES = lazy_pattern(r"\s*(?:decimals?|significant|digits?|places?|figures?|d\.?p)\b", re.IGNORECASE)
"""What "rounded to 2" goes on with where the 2 is no result."""
_SO_CLAUSE = lazy_pattern(
    r"(?:,|;|—)\s*(?:and\s+)?(?:so|thus|therefore|hence|which\s+means|meaning|leaving)\b(?!\s+(?:that|far|much))",
    re.IGNORECASE,
)
"""Goes on from a result to what follows from it: "that leaves 20 - 12 = 8 apples, so each gets 2"."""
_FRONTED = lazy_pattern(
    r"""
    [\s*_]* (?: (?:so|thus|hence|therefore|then|finally),?\s )?
    (?: in | after | over | within | during | for | at | with | by ) \s
    (?: (?:the|those|these|his|her|their|all|only|about) \s )? [$€£]? \d[\d.,]* (?<![.,]) [^.,;:=\d\n]{0,40}?
    (?: ,\s | \s (?=(?:he|she|it|they|there|we)\s) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A condition that opens a sentence, its number no answer: "in 4 hours, the train travels"."""
_DERIVED = lazy_pattern(
    r"[^.,;=\d\n]{0,40}?,?\s(?:(?:from|by)\s\w+ing|because|since|given\s+that|considering)\s", re.IGNORECASE
)
"""Between a result and what it comes from: "makes $18 every day from selling 9 eggs"."""
_IS = lazy_pattern(r"\W*(?:is|equals|makes?|gives|yields)\W*", re.IGNORECASE)
_SHARE_IS = lazy_pattern(
    r"\s?(?:\\?%|percent)\s+of\s+\W*\d[\d.,]*[^\d.!?\n]{0,30}?\b(?:is|are|equals?|gives?|makes?)\s+\W*", re.IGNORECASE
)
"""Between a share and what it is of something: "50% of 36 is 18"."""
_VARIABLE: Final = r"(?:[A-Za-z]|[A-Z]{2}|\\[a-z]{2,7})(?:_\{?\w{1,3}\}?)?"
_SECOND_ASSIGNED = lazy_pattern(
    rf"(?<![A-Za-z\\\d]){_VARIABLE}\s*=\s*[${{\\-]*\d[\d.,]*(?<!,)[$}}\s]*(?:,|;|\band\b)(?:\s*and\b)?"
    rf"(?:[\s$]|\\[,;:! ]|\\q?quad)*{_VARIABLE}\s*=[\s${{\\-]*\Z"
)
"""Two variables with a value each: "a = 1, b = 2"."""
_JOINS_MORE = lazy_pattern(r"[^\S\n]*(?:[^\W\d]+[^\S\n]+)?and\b", re.IGNORECASE)
"""Goes on with another number after a result: "since 16 - 7 = 9 and each costs $2, she earns $18"."""
_ASSIGNMENT_MAX: Final = 12
_OTHERWISE = lazy_pattern(r"\b(?:or|oder|ou|или|either)\b|或|または|أو", re.IGNORECASE)
_OR_IN_BRACKETS = lazy_pattern(
    r"[(（]\W*(?:(?:or|oder|ou|или|either)(?:\s+(?:maybe|perhaps|possibly|even))?\b|或|または|أو)[\s}$]*\Z",
    re.IGNORECASE,
)
"""Before a second answer that brackets offer: "204 (or 205)"."""
_OPENS = lazy_pattern(
    r"""
    (?:[^\w\\]|_|\\(?![a-zA-Z]))*+ (?: \\[a-zA-Z]+ [\W_]*+ )*
    (?: (?: about | approximately | roughly | around | exactly | simply | just | the\s+number
      | a\s+total\s+of ) \s+ [\W_]*+ )*
    (?: [A-Za-z] (?:\([a-z]\))? \s* = [\W_]*+ )?
    (?: (?:US|R|Rs|USD|EUR|INR|minus|negative) \.? \s? [\W_]*+ )?
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BOUND = lazy_pattern(
    r"[\W_]*(?:(?<![=-])(?<!\n)(?<!\A)[<>≤≥]|(?:(?:well|just|slightly|a\s+(?:little|bit))\s+)?(?:over|under|above|below)|"
    r"at\s+(?:least|most)|no\s+(?:more|less|fewer)\s+than|up\s+to|mindestens|höchstens|"
    r"au\s+(?:moins|plus)|"
    r"al\s+(?:menos|meno)|"
    r"como\s+máximo|almeno|al\s+massimo|pelo\s+menos|no\s+máximo|не\s+(?:менее|более)|至少|至多|少なくとも|على\s+الأقل)\W*\d",
    re.IGNORECASE,
)
_EXPLAINS = lazy_pattern(
    r"""
    ^ [^\d,;:(（—–]{0,60}?
    (?: [(（—–\[] | ;(?!\s*[$€£¥]?\d) | : | \s-\s | ,(?!\s*(?:and|or)?\s*\{?[$€£¥]?\d
        |\s*and\s+(?:then\s+)?(?:gets?|has|have|gives?|receives?|keeps?|earns?|pays?)\b)
      | \b(?: because | since | as | after | per | every | each | from | for | at | in | of | by | with
        | within | over | when | using
            | than | before | until | on | if | that | which | who | out )\b )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DENIED_CLOSELY = lazy_pattern(
    r"(?:\b(?:not|never|neither|nor|isn['’]t|cannot\s+be|rather\s+than|instead\s+of|nicht|non|não|no|не|pas)\s+"
    r"(?:(?:be|a|the|just|bei|mit)\s+)?|不是|而非|ليس\s|وليس\s)[\W_]*\Z",
    re.IGNORECASE,
)
_OPERATION = lazy_pattern(
    r"\s(?P<minus>[-−–])\s|\s?(?:(?P<plus>\+)|(?P<times>[×·]|\\times(?![a-z])|\\cdot(?![a-z])|(?<!\*)\*(?!\*)))\s?"
)
"""Between two numbers; a minus without spaces may be the hyphen of a range."""
_COMPOUND = lazy_pattern(r"\W{0,4}\d+\s+[a-z]+\s*,?\s+(?:and\s+)?\d+\s+[a-z]+", re.IGNORECASE)
"""An amount in two units after its amount in one: "72 minutes, i.e. 1 hour and 12 minutes"."""
_SIGNS_ALONE = lazy_pattern(r"[\d\s+/.,−–-]*")
_OPERANDS_MAX: Final = 12
_OPENED = lazy_pattern(r"[\s$*_`\"'“({\[=:]*(?:\\[(\[]\s*)?")
_CLOSED = lazy_pattern(r"[$*_`\"'”)}\].,;]*\s*(?:\\[)\]])?[\s$)}\].,;]*")
_HALF = lazy_pattern(r"[\W_]*((?:a[ ]|one[ -])?half)[\W_]*", re.IGNORECASE)
_EMPHASISED_MAX: Final = 24
"""Characters after a number up to where its emphasis ends, such as its unit."""
BARE: Final = lazy_pattern(r"[\W_]*")


def states_at_once(text: str, start: int, stop: int) -> bool:
    """Return whether a passage opens with a digit, or is a sum with its result."""
    opening = _OPENS.match(text, start)
    return "=" in text[start:stop] or (opening is not None and text[opening.end() : opening.end() + 1].isdigit())


def stated_in(text: str, start: int, stop: int, language: Mark | None = None) -> Number | None:
    """Return the number that a declared passage states, its value None where that is no single one; or None.

    >>> text = "she makes $18 every day"
    >>> stated_in(text, 0, len(text)).written
    '$18'
    """
    start = _with_sign(text, start)
    found = list(found_numbers(text, start, stop, language))
    if not found:
        half = _HALF.fullmatch(text, start, stop) if text[:start].strip() else None  # alone it is half of something
        return Number(*half.span(1), half[1], Fraction(1, 2), False) if half else number_in_words(text, start, stop)
    if len(found) > 1 and (restated := _restated(text, start, stop, found)) is not None:
        return restated
    if 1 < len(found) <= _OPERANDS_MAX and (computed := _computed(text, start, stop, found)) is not None:
        return computed
    numbers = [
        number for number in found if not _DENIED_CLOSELY.search(text[max(start, number.start - 30) : number.start])
    ]
    if not numbers:
        return found[-1]
    but = last_match(_BUT, text[numbers[0].end : numbers[-1].start])
    if but is not None:
        numbers = [number for number in numbers if number.start >= numbers[0].end + but.end()]
    words = number_in_words(text, start, numbers[0].start)
    if words is not None and words.value is not None and BARE.fullmatch(text, start, words.start):
        is_choice = _OTHERWISE.search(text, words.end, numbers[0].start)
        return words if _explained(text, words, numbers[0]) and not is_choice else _none([words, numbers[0]], text)
    if len(numbers) == 1:
        several = _OTHERWISE.search(text, start, stop) and number_in_words(text, start, stop)
        is_bound = _BOUND.match(text, start, numbers[0].start + 1) and text[numbers[0].end : numbers[0].end + 1] != ">"
        return _none(numbers, text) if several or is_bound else numbers[0]
    meant = _of_several(text, start, numbers)
    return _only_emphasised(text, numbers) or meant if meant.value is None else meant


def _restated(text: str, start: int, stop: int, found: list[Number]) -> Number | None:
    """Return the number of an amount in two units that a passage gives, or computes; None where it gives more."""
    restated = restated_in(text, start, stop)
    if restated is None or restated.is_equation or any(number.start >= restated.end for number in found):
        return None
    before = any(number.end <= restated.start for number in found)
    return None if before and not is_computed(text, start, restated.start) else restated.number


def computed_in(text: str, start: int, stop: int) -> Number | None:
    """Return the value of a box that is a formula of whole numbers, such as ``5!``; a range or a product is left.

    >>> computed_in("\\\\boxed{5!}", 7, 9).text, computed_in("\\\\boxed{40-42}", 7, 12)
    ('120', None)
    """
    if _SIGNS_ALONE.fullmatch(text, start, stop):
        return None
    head, _, formula = text[start:stop].rpartition("=")
    value = arithmetic_value(formula) if "," not in head else None
    return None if value is None else Number(start, stop, text[start:stop], value, is_literal=False)


def _only_emphasised(text: str, numbers: list[Number]) -> Number | None:
    """Return the only number of several that is in bold: "She makes **$18** by selling 9 eggs at $2 each"."""
    bold = [
        number
        for number in numbers
        if text[max(0, number.start - 2) : number.start] in ("**", "__")
        and text[number.start - 2 : number.start] in text[number.end : number.end + _EMPHASISED_MAX]
    ]
    is_choice = _OTHERWISE.search(text, numbers[0].end, numbers[-1].start)
    return bold[0] if len(bold) == 1 and bold[0].value is not None and not is_choice else None


def makes(text: str, start: int, place: int) -> bool:
    """Return whether what stands at a place is what others make: "9 eggs at $2 each, making $18"."""
    return _MAKES.search(text, start, place) is not None


def _with_sign(text: str, start: int) -> int:
    """Return where a passage begins whose sign was taken for a dash of the declaration: "答案是−5"."""
    if not start or text[start - 1] not in "-−–" or not text[start : start + 1].isdigit():
        return start
    before = text[start - 2 : start - 1]
    return start if before.isascii() and before.isalnum() else start - 1


def _none(numbers: list[Number], text: str) -> Number:
    """Return what is no single number, from the first to the last of some."""
    start, end = numbers[0].start, numbers[-1].end
    return Number(start, end, text[start:end], None)


def _of_several(text: str, start: int, numbers: list[Number]) -> Number:
    """Return the number that is meant of several in a passage: a result, or the one that others explain."""
    if len({number.value for number in numbers}) == 1:
        return numbers[-1]
    outside = [number for number in numbers if not _in_brackets(text, start, number.start)] or numbers
    last = outside[-1]
    if len({number.value for number in outside}) == 1:
        is_offered = any(_OR_IN_BRACKETS.search(text, start, number.start) for number in numbers)
        return _none(numbers, text) if is_offered else outside[0]
    equals = last_match(_EQUALS, text[start : last.start])
    if equals is not None:
        followed = _following(text, start + equals.end(), outside)
        if followed is not None:
            return followed
        behind = [number for number in outside if number.start >= start + equals.end()]
        if len(behind) == 1 and _SECOND_ASSIGNED.search(text, max(0, outside[0].start - _ASSIGNMENT_MAX), last.start):
            return _none(numbers, text)
        if _is_written_out(outside, start + equals.start()) or _COMPOUND.match(text, start + equals.end()):
            return outside[0] if outside[0].end <= start + equals.start() else _none(numbers, text)
        is_one = len({number.value for number in behind}) == 1 or (
            _explained(text, behind[0], behind[1]) and not _JOINS_MORE.match(text, behind[0].end)
        )
        return behind[0] if is_one and not _OTHERWISE.search(text, outside[0].end, last.start) else _none(numbers, text)
    if (
        last.value is not None
        and _MAKES.search(text, outside[-2].end, last.start)
        and not _PLACES.match(text, last.end)
    ):
        return last
    if last.value is not None and outside[-2].value is None and _IS.fullmatch(text, outside[-2].end, last.start):
        return last  # "6 × 7 is 42"
    if last.value is not None and _SHARE_IS.fullmatch(text, outside[0].end, last.start):
        return last
    opening = _OPENS.match(text, start)
    if opening is not None and opening.end() >= outside[0].start:
        is_explained = outside[0].value is not None and _explained(text, outside[0], outside[1])
        return outside[0] if is_explained else _none(numbers, text)
    meant = _beside_conditions(text, start, outside)
    if meant is not None:
        return meant
    is_result = last.value is not None and _RESULT.search(text, outside[-2].end, last.start)
    return last if is_result else _none(numbers, text)


def _following(text: str, place: int, numbers: list[Number]) -> Number | None:
    """Return the only number of the clause that follows from a result, or None."""
    last = numbers[-1]
    so = last_match(_SO_CLAUSE, text[place : last.start])
    if so is None or last.value is None:
        return None
    own = [number for number in numbers if number.start >= place + so.end()]
    before = [number for number in numbers if place <= number.start < place + so.start()]
    return last if before and len({number.value for number in own}) == 1 else None


def _beside_conditions(text: str, start: int, numbers: list[Number]) -> Number | None:
    """Return the number of a sentence whose others are a condition before it, or what it comes from; or None."""
    first = numbers[0]
    fronted = _FRONTED.match(text, start)
    if fronted is not None and first.end <= fronted.end() and len({number.value for number in numbers[1:]}) == 1:
        return numbers[1]
    is_result = first.value is not None and _RESULT.search(text, start, first.start)
    return first if is_result and _DERIVED.match(text, first.end, numbers[1].start) else None


def _is_written_out(numbers: list[Number], equals: int) -> bool:
    """Return whether a number comes first, and how it is computed after its equals sign: "42 = 6 × 7"."""
    first, *others = numbers
    return first.value is not None and first.end <= equals and all(number.value is None for number in others)


def _computed(text: str, start: int, stop: int, found: list[Number]) -> Number | None:
    """Return the value of a passage that is nothing but sums, differences and products of numbers, or None."""
    first, last = found[0], found[-1]
    if not _OPENED.fullmatch(text, start, first.start) or not _CLOSED.fullmatch(text, last.end, stop):
        return None
    total, product = Fraction(0), parse_number(first.written)
    for left, right in pairwise(found):
        sign, value = _OPERATION.fullmatch(text, left.end, right.start), parse_number(right.written)
        if sign is None or value is None or product is None:
            return None
        if sign["times"]:
            product *= value
            continue
        if sign["minus"] and len(found) == 2 and product < value:  # noqa: PLR2004
            return None  # "40 - 42" may be a range
        total, product = total + product, -value if sign["minus"] else value
    if product is None:
        return None
    return Number(first.start, last.end, text[first.start : last.end], total + product, is_literal=False)


def _explained(text: str, number: Number, following: Number) -> bool:
    """Return whether what stands between two numbers begins an explanation of the first one."""
    return _EXPLAINS.match(text[number.end : following.start + 1]) is not None


def _in_brackets(text: str, start: int, place: int) -> bool:
    before = text[start:place]
    return before.count("(") + before.count("（") > before.count(")") + before.count("）")
