"""The number that a response gives as its answer.

Depends on `nel.reading.reader` for where answers stand and on `nel.reading.numerals` for what a
number is worth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple

from nel.reading.clauses import is_denied, words_pattern
from nel.reading.forms import Declaration, named_in
from nel.reading.numerals import (
    CURRENCIES,
    CURRENCY_CODES,
    IN_WORDS,
    SCALE_WORD,
    Mark,
    parse_number,
    words_value,
)
from nel.reading.reader import last_sentence, read, sentences
from nel.reading.response import Answer, fold, last_question
from nel.reading.table import verb_last_characters
from nel.reading.types import Form, Reading, Reason, Value

_POWER: Final = r"(?:\^\s?\{?[+-]?\d{1,4}\}?|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4})"
_VULGAR: Final = "[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]"
_LATEX: Final = r"\\[dt]?frac\s?(?:\{\s?-?\d+\s?\}\s?\{\s?\d+\s?\}|\d\s?\d)"
_NUMBER: Final = re.compile(
    rf"""
    (?:  # a sign, and not the operator between two numbers
        \b(?i:minus|negative)\s
      | (?<![A-Za-z0-9_.)\]}}]) (?:[+-]\s?|(?<!\S)–) (?=[\d.$€£¥\\{_VULGAR[1:-1]}])
    )?
    (?: \\?[{CURRENCIES}] \s? -? )?
    (?:
        {_LATEX}
        # Digits, with marks that group thousands or part decimals.
      | (?: (?<![\w.]) \.\d+ | (?: (?<![A-Za-z_\d]) | (?<=\dx) | (?<=\b(?:{CURRENCY_CODES})) ) \d+ (?: (?: [.,'’_]| [ ](?=\d{{3}}(?!\d)) | \{{,\}} | \\[,!] ) \d+ )* )
        # What makes another number of them: 2½, 2 1/2, 10^3, 1e3, 1/2.
        (?: {_VULGAR} | [ ]?{_LATEX} | [ ](?:and[ ])?\d{{1,3}}/\d{{1,3}}(?![\d/]) | {_POWER}
          | [eE][+-]?\d{{1,4}}(?!\w|\.\d) | (?<!/\d)/\d+(?!\d|/\d|[.,]\d) )?
      | {_VULGAR}
    )
    (?: \s?(?: [×·*x] | \\times | \\cdot )\s?10{_POWER} )?
    (?: (?:k|K|M|bn|B)(?!\w) | \s?(?i:{SCALE_WORD})(?![a-zA-Z]) )?
    """,
    re.VERBOSE,
)
_PART_OF_ANOTHER: Final = re.compile(
    r":\d\d|!(?!=)|\s?(?:-|–|to)\s?\d|[A-Za-z]?_\d|\s?(?:\\(?:pi|sqrt)|[π√])|\(?[xyzn]\b|°\s?[NSEW]\b"
    r"|\s(?:years?|weeks?|days?|hours?|minutes?|feet),?\s(?:and\s)?\d+\s"
    r"(?:months?|days?|hours?|minutes?|seconds?|inches)\b"
    r"|年零?\d+个?月(?!\d)"
)
"""After a number that is a time, a factorial, a range, an ordinal or of the larger of two units."""
_CALCULATED: Final = re.compile(
    r"\s?(?:[+*/×÷·]|\\times|\\cdot|x(?=\s?\d)|[-−–](?=\s|[$€£]?\d)|(?:times|plus|minus|divided)\s|\\?%\sof\s[$€£]?\d)",
    re.IGNORECASE,
)
"""After the first number of a calculation, whose result is its last number."""
_BARE_STRETCH: Final = re.compile(r"\s*(?<=[\s:{>])(\$?[0-9]{1,15})[ .]*")
"""A stretch that is one number, as many that are declared: it is read in a fifth of the time. What
stands before it shows that it is not the end of a longer number or word."""
# Before the last number of a calculation without a result: in "12 * 7" it is an operand.
_OPERATOR_BEFORE: Final = re.compile(r"\d\s?(?:[+*/×÷x·−–-]|\\times|\\cdot|\\?%\sof\s)\s?\Z")
# "2. Then add …": the number of an item.
_LIST_MARK: Final = re.compile(r"\s*\d{1,3}[.)]\s+(?=[^\W\d])")
_ROOT_BEFORE: Final = re.compile(
    r"\\sqrt\s?\{?\Z|√\Z|\\(?:log|sin|cos|tan)\w*\s?\{?\Z|\^\{?\Z|_\{?\Z|\b\d*[xyzn]\s?[-+*/]?\s?\Z|\b[A-Za-z](?:\w*[\d_]\w*)?\(\Z"
    r"|(?:(?<![A-Za-z]{2})<=?|[≤≥]|\\[gl]eq?|(?<=[\w:)]\s)>=?)\s?\$?\Z"
)
"""Before a number under a root, a limit, an exponent, an index, operand of an unknown or argument."""
_ROOT_ENDS: Final = frozenset("√^_{(<=>≤≥$xyzn+-*/")
"""One of them ends what it matches, or that has a backslash."""
_ROOT_MAX: Final = 12
_OPENS: Final = re.compile(r"[\s*_`:\"'(\[{<=\\$~≈-]*")
# Between two numbers that are two answers: "5 or 6", "5, 6", "x = 5, y = 6"; not "5, since 6", "42,
# which is 6 * 7" or "5 or not 6".
_VALUE_MARKS: Final = r"[\s*_`(\[{$\"']*"
_ALSO: Final = re.compile(
    rf"[\s*_`)\]}}$\"'.]*,?\s*(?:[/,]\s*(?:\w+\s?=)?"
    rf"|{words_pattern('or', 'and')}\s*(?!{words_pattern('before')}|(?:since|because|as)\b)(?:\w+(?:\s=?|=)){{0,2}}?)"
    rf"{_VALUE_MARKS}\Z",
    re.IGNORECASE,
)
_SECOND_VALUE: Final = re.compile(rf"\d\s?(?:,|{words_pattern('or', 'and')})\s?[a-z]\s?\Z")
"""Before the last "=" of two values of an unknown: "x = 8 or x = -8"."""
_UNIT_NAME: Final = r"[^\W\d_]+(?:[²³]|\^\{?[23]\}?)?"
# What may stand after a number that is all of a line: at most three words, such as "square feet".
_UNIT: Final = re.compile(
    rf"[\s.,!)\]}}*_`\"'$%\\°€£¥]*(?:{_UNIT_NAME}(?:/{_UNIT_NAME})?[\s.)%\]}}*_`\"'$]*){{0,3}}"
)
_VERB_LAST: Final = re.compile(f"[{verb_last_characters()}]")
# What parts a number from words that explain it.
_PARTS: Final = re.compile(r"[.,;:()\[\]]|\b(?:because|since)\b", re.IGNORECASE)
_LABEL_MAX: Final = 12
_LABELLED: Final = re.compile(
    r"\b(?:step|figure|table|option|equation|eq\.?|question|problem|part|case|chapter|no\.|(?<!the )number|example|row|line)\s*\Z",
    re.IGNORECASE,
)


class Number(NamedTuple):
    """A number in a text."""

    start: int
    end: int
    text: str
    value: Fraction | None
    """None where it looks like a number and is none: a range, a time, a root."""


def numbers_in(
    text: str, start: int = 0, stop: int | None = None, mark: Mark | None = None
) -> Iterator[Number]:
    """Yield the numbers of a stretch of a text.

    Args:
        text: The whole text.
        start: Where the stretch begins.
        stop: Where it ends.
        mark: What parts decimals in the text's language, where that is known.

    >>> [number.text for number in numbers_in("Half of 1,000 is 5e2, not 1/2 or 10^3.")]
    ['1,000', '5e2', '1/2', '10^3']
    """
    stop = len(text) if stop is None else stop
    for match in _NUMBER.finditer(text, start, stop):
        numeral = match[0]
        is_other = _is_of_another(text, *match.span())
        value = None if is_other else parse_number(numeral, decimal_mark=mark)
        yield Number(*match.span(), numeral, value)


def _is_of_another(text: str, start: int, end: int) -> bool:
    """Return whether what looks like a number is only part of one, or of something else."""
    return _PART_OF_ANOTHER.match(text, end) is not None or _follows_root(text, start)


def _follows_root(text: str, start: int) -> bool:
    """Return whether `_ROOT_BEFORE` stands before a number; what stands before most can be no end
    of it, and to look there takes a fifth of the time of searching.
    """
    begin = max(0, start - _ROOT_MAX)
    before = text[begin:start]
    is_possible = "\\" in before or before.rstrip()[-1:] in _ROOT_ENDS
    return is_possible and _ROOT_BEFORE.search(text, begin, start) is not None


class NumberReader:
    """Reads numbers."""

    def __init__(self, mark: Mark | None = None) -> None:
        """Take the decimal mark of the language, where it is known."""
        self.mark: Mark | None = mark

    def read_declared(self, response: Answer, declaration: Declaration) -> Value | None:
        """Return the number that a declaration introduces."""
        form, start, stop = declaration[:3]
        row = declaration.row
        if row is not None and row.decimal == "," and self.mark is None:
            return NumberReader(",").read_declared(response, declaration)
        if form is Form.HASHES:
            return self.line(response, start, stop)
        bare = _BARE_STRETCH.fullmatch(response.plain, start, stop)
        if bare is not None and not _is_of_another(response.plain, *bare.span(1)):
            return Value(bare[1], *bare.span(1))
        first_sentence = next(sentences(response.text, start, stop), None)
        if first_sentence is None:
            return None
        # "Answer:" over a whole solution: the number is in its last sentence.
        if declaration.is_below and self.line(response, start, stop) is None:
            value = self.sentence(response, *last_sentence(response.text, start))
            if value is not None:
                return value
        if form is Form.PHRASE:
            start, stop = first_sentence
        return self._choose(response, start, stop, form)

    def line(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the number of a line that is a number and at most its unit."""
        line = response.plain[start:stop]
        if _LIST_MARK.match(line):
            return None
        number = self._alone(line)
        return None if number is None else self._value_of(number, offset=start)

    def sentence(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return what the last "=" of a sentence leads to, or the only number that it names."""
        return self._choose(response, start, stop)

    def _choose(
        self, response: Answer, start: int, stop: int, declared_as: Form | None = None
    ) -> Value | None:
        """Return which of the numbers of a stretch is its answer.

        That is the result of the last "=", unless the stretch opens with a number that the rest
        only explains. Without one it is what `_first_declared` says of a stretch that is declared
        as the answer, or the only number that another names.
        """
        text = response.plain
        numbers = list(numbers_in(text, start, stop, self.mark))
        if not numbers:
            return _in_words(response, start, stop)
        opening = numbers[0] if _opens(text, start, numbers[0]) else None
        # What follows the last "=" is the result, unless the stretch opens with its answer and the
        # "=" stands in an explanation: "250 grams (since 1 kg = 1000 g)".
        results = _results(text, numbers, start, stop)
        if results and opening and _is_settled(text, opening, text.rfind("=", start, stop)):
            results = []
        if results:
            result = _outcome(text, start, results)
            if declared_as is not None:
                return self._single(text, result or opening, results)
            if result is results[0]:
                return self._single(text, result, results)
        if declared_as is not None:
            if declared_as is not Form.PHRASE or opening is None:  # "the answer is 8 …" is clear
                numbers = _new_numbers(response, numbers, opening)
            return self._first_declared(response, numbers, opening, start, stop)
        return self._only_named(response, results or numbers, start, stop)

    def _first_declared(
        self,
        response: Answer,
        numbers: list[Number],
        opening: Number | None,
        start: int,
        stop: int,
    ) -> Value | None:
        """Return the number that a declared stretch without a "=" opens with, or the first of its
        last sentence; the last in Japanese, whose verb follows.
        """
        text, first_number = response.plain, numbers[0]
        is_opening = first_number is opening
        if not is_opening and is_denied(
            response.low, first_number.start, first_number.end, begin=start, words=0
        ):
            return Value(None, first_number.start, first_number.end, Reason.NONE_OF_THESE)
        is_last = _VERB_LAST.search(text, start, stop) is not None
        if is_last or not is_opening:
            numbers = _of_last_sentence(text, numbers, start, stop)
        answer = numbers[-1] if is_last else _outcome(text, start, numbers)
        return self._single(text, answer, numbers)

    def _single(self, text: str, answer: Number | None, numbers: list[Number]) -> Value:
        """Return a number as the answer, or that there are several: "5 or 6"."""
        is_joined = answer is numbers[0] and len(numbers) > 1 and _are_joined(text, *numbers[:2])
        if answer is None or answer.value is None or is_joined:
            return Value(None, numbers[0].start, numbers[-1].end, Reason.SEVERAL)
        return self._value_of(answer)

    def _only_named(
        self, response: Answer, numbers: list[Number], start: int, stop: int
    ) -> Value | None:
        """Return the only number that a stretch names, or the one that words of the table name."""
        numbers = [
            number
            for number in numbers
            if not _is_label(response.plain, number)
            and not is_denied(response.low, number.start, number.end, words=0)
        ]
        if not numbers:
            return _in_words(response, start, stop)
        if _is_statement(response, numbers, start, stop):
            numbers = _new_numbers(response, numbers, None)
        last_number = numbers[-1]
        is_named = any(
            last_number.start <= position < last_number.end
            for position, _ in named_in(response, "number", start, stop)
        )
        is_only = len({number.value for number in numbers}) == 1
        if last_number.value is None or not (is_only or is_named):
            return None
        return self._value_of(last_number)

    def _alone(self, text: str) -> Number | None:
        """Return the number that is all of a text, but for its unit."""
        number = next(numbers_in(text, mark=self.mark), None)
        if number is None or number.value is None or not _opens(text, 0, number):
            return None
        return number if _UNIT.fullmatch(text, number.end) else None

    def _value_of(self, number: Number, offset: int = 0) -> Value:
        text = number.text if self.mark != "," else _plain_decimal(number)
        return Value(text, offset + number.start, offset + number.end)


def _is_label(text: str, number: Number) -> bool:
    """Return whether a number only numbers something: "Step 3"."""
    return _LABELLED.search(text, max(0, number.start - _LABEL_MAX), number.start) is not None


def _opens(text: str, start: int, number: Number) -> bool:
    """Return whether a stretch opens with a number."""
    opens = _OPENS.match(text, start)
    return opens is not None and number.start <= opens.end()


def _results(text: str, numbers: list[Number], start: int, stop: int) -> list[Number]:
    """Return the numbers after the last "=" of a stretch."""
    equals = text.rfind("=", start, stop)
    if _SECOND_VALUE.search(text, start, max(start, equals)):
        return []
    return [number for number in numbers if number.start > equals >= start]


def _of_last_sentence(text: str, numbers: list[Number], start: int, stop: int) -> list[Number]:
    """Return the numbers of the last sentence of a stretch, or all where it has none."""
    *_, (begin, _) = sentences(text, start, stop)
    return [number for number in numbers if number.start >= begin] or numbers


def _new_numbers(response: Answer, numbers: list[Number], opening: Number | None) -> list[Number]:
    """Return the numbers of a stretch that its question does not name, or all where it names all.

    "8 pens cost $12" answers what 8 pens cost. Two answers joined by "or" stay, and so does an
    opening number that a mark or a reason parts from the rest: "8 (12 less 4)".
    """
    if not response.prompt or len(numbers) == 1 or _are_joined(response.plain, *numbers[:2]):
        return numbers
    question = fold(last_question(response.prompt))
    named = {number.value for number in numbers_in(question)} - {None}
    new = [number for number in numbers if number.value not in named]
    is_parted = opening and new and _PARTS.search(response.plain, opening.end, new[0].start)
    return numbers if is_parted else new or numbers


def _is_statement(response: Answer, numbers: list[Number], start: int, stop: int) -> bool:
    """Return whether a stretch is one sentence and calculates nothing."""
    text = response.plain
    calculates = "=" in text[start:stop] or any(
        _CALCULATED.match(text, number.end) for number in numbers
    )
    return not calculates and len(list(sentences(response.text, start, stop))) == 1


def _outcome(text: str, start: int, numbers: list[Number]) -> Number | None:
    """Return the first of some numbers, or the last where they are a calculation, which has no
    result if the last one is an operand.
    """
    operand = numbers[-1]
    if not _CALCULATED.match(text, numbers[0].end):
        return numbers[0]
    is_operand = operand.text[0] in "+-" or _OPERATOR_BEFORE.search(text, start, operand.start)
    return None if is_operand else operand


def _is_settled(text: str, opening: Number, equals: int) -> bool:
    """Return whether a stretch that opens with a number only explains it up to its last "=": "250
    grams (since 1 kg = 1000 g)".
    """
    between = text[opening.end : equals]
    return between.count("(") > between.count(")")


def _are_joined(text: str, number: Number, following: Number) -> bool:
    """Return whether two numbers are two answers: "5 or 6"."""
    is_other = following.value != number.value
    return is_other and _ALSO.match(text, number.end, following.start) is not None


def _plain_decimal(number: Number) -> str:
    """Return a number as written, or a decimal with a point where only its language tells it."""
    if number.value is None or parse_number(number.text) == number.value:
        return number.text
    value = number.value
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


def _in_words(response: Answer, start: int, stop: int) -> Value | None:
    """Return the only number in words of a stretch, "one" aside, or None."""
    mentions = [
        mention
        for mention in IN_WORDS.finditer(response.plain, start, stop)
        if mention[0].lower() != "one"
    ]
    if len({words_value(mention[0]) for mention in mentions}) != 1:
        return None
    return Value(mentions[-1][0], *mentions[-1].span())


def read_number(
    response: Answer,
    mark: Mark | None = None,
    *,
    declared_only: bool = False,
) -> Reading:
    """Return the number that a response gives as its answer, as written.

    Args:
        response: The response.
        mark: What parts decimals in its language, where that is known.
        declared_only: A number that nothing introduces does not count.
    """
    return read(response, NumberReader(mark), declared_only=declared_only)


def stated_value(text: str) -> Fraction | None:
    """Return the value of the number that a text gives, such as "18kg" or "twelve eggs".

    >>> [str(stated_value(text)) for text in ("42 dollars", "$5k", "(7)", "5!", "40 or 42", "twelve")]
    ['42', '5000', '7', 'None', 'None', '12']
    """
    introduced = Declaration(Form.MARKER, 0, len(text), 0)
    value = NumberReader().read_declared(Answer(text), introduced)
    return None if value is None or value.answer is None else parse_number(value.answer)


def last_number(text: str) -> str | None:
    """Return the last number of a text wherever it stands, or None.

    >>> last_number("48 / 2 = 24, so 72 in all"), last_number("none")
    ('72', None)
    """
    folded = Answer(text).plain
    numbers = [number for number in numbers_in(folded) if number.value is not None]
    return numbers[-1].text if numbers else None
