"""The rule by which answers of every kind are read, as docs/reference/reading.md states it.

The answer is what the last declaration introduces, forms before phrases; without one it is a line
that is nothing but an answer, or the only answer that the last sentence names. What answers of a
kind look like is the part of a `KindReader`. Depends on `nel.reading.forms` and
`nel.reading.response`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol, runtime_checkable

from nel.reading.clauses import is_denied, is_retracted
from nel.reading.forms import Declaration, declarations
from nel.reading.response import Answer, invented_turn
from nel.reading.types import Form, Reading, Reason, Value

_OPEN: Final = (Form.PHRASE, Form.MARKER, Form.LINE, Form.OPENING, Form.SENTENCE)
"""Forms of answers that the words after them may take back; a tag or a box is final."""
_OPEN_BOX: Final = re.compile(r"\\boxed\s*\{[^{}]*\Z")
# Up to eight marks ("- **"), a name of 2 to 40 characters with two letters in it, a colon with what
# surrounds it ("**Verdict**:"), and something behind it on the same line.
_KEY: Final = re.compile(
    r"[\W_]{0,8}(?=(?:[^\n:]{0,40}?[^\W\d_]){2})[^\n:]{2,40}?[\s*_`\"']*:[\s*_`]*(?=\S)"
)
"""A key at the beginning of a line; "A:" has one letter and introduces an option."""
_LINES_MAX: Final = 500
"""Lines at the end of a response of which one is the only answer."""
_BOX_MAX: Final = 200
# A Chinese, Japanese or Hindi stop, or the end of a line, ends a sentence wherever it stands. A
# Latin stop does before white space, but not after an initial ("J. Smith"), a title or "U.S.".
_SENTENCE_END: Final = re.compile(
    r"[.!?。！？।\n](?:(?<=[。！？।\n])|(?<!["
    r" (][A-Z][.])(?<!\bSt[.])(?<!\bMr[.])(?<!\bMrs[.])(?<!\bDr[.])(?<![A-Z][.][A-Z][.])"
    r"[)\]\"'*_]*\s)"
)
"""It begins with its mark, since the search then skips to one."""
_CLOSES: Final = frozenset(".!?)]}>*_`\"'”’$。！？।|%,;:")
"""A response that ends with one of them is not cut off."""
_TAIL_MAX: Final = 2_000
"""Characters at the end of a response in which its last sentence is searched."""
_SHORT_MAX: Final = 200
"""Characters of a response that may end without a full stop."""
_WHOLE_MAX: Final = 4_000
"""Characters of a response that is searched as a whole for the only answer that it names."""
_LOOP: Final = 40
"""Characters at the end of a response that stand in it several times where it repeats itself."""
_LOOPS_MIN: Final = 4
BOLD: Final = re.compile(r"\*\*([^*\n]{1,80})\*\*")
_LINE: Final = re.compile(r"(?m)^[^\w\n]*+\w[^\n]*")
"""A line that holds a word."""
_WORD: Final = re.compile(r"\w")
_MARK: Final = re.compile(r"[^\s.!?\"'*_`]")
"""What a stretch holds that is a sentence, and not only the stops and quotes between two of them."""


class KindReader(Protocol):
    """What answers of one kind look like."""

    def read_declared(self, response: Answer, declaration: Declaration) -> Value | None:
        """Return the answer in the stretch that a declaration opens, or None."""

    def line(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the answer of a line that is nothing but an answer, or None."""

    def sentence(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the only answer that a stretch of sentences names, or None."""


@runtime_checkable
class ClosedReader(KindReader, Protocol):
    """What answers of a kind look like of which there are a few."""

    def whole(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the answer of a stretch that holds nothing else, or None."""


def read(response: Answer, reader: KindReader, *, declared_only: bool = False) -> Reading:
    """Return how a response states its answer.

    Args:
        response: The part of the response that answers its own prompt.
        reader: What answers of the wanted kind look like.
        declared_only: An answer that nothing introduces does not count.
    """
    reading = Reading()
    # A response that runs on into a question of its own declares that answer last, so what stands
    # before the question is read first. It may also be no invented question: then all is read.
    turn = invented_turn(response.text)
    if turn is not None:
        before_turn = Answer(response.text[:turn], response.asked)
        declared_reading = _read_declared(before_turn, reader, Reading())
        if declared_reading is not None:
            return declared_reading
    declared_reading = _read_declared(response, reader, reading)
    if declared_reading is not None:
        return declared_reading
    is_strict = response.asked is not None and response.asked.is_strict
    return reading if declared_only or is_strict else _read_alone(response, reader, reading)


def _read_declared(response: Answer, reader: KindReader, reading: Reading) -> Reading | None:
    """Return the reading of the last declaration that holds an answer or denies one, or None."""
    for declaration in declarations(response):
        value = reader.read_declared(response, declaration)
        if value is None:
            if declaration.form is not Form.HASHES:  # which open a heading too
                reading.reject(declaration.start, declaration.stop, Reason.UNREADABLE)
            continue
        return _settle(response, reading, value, declaration.form, is_asked=declaration.is_asked)
    return None


def _read_alone(response: Answer, reader: KindReader, reading: Reading) -> Reading:
    """Return the reading of a response in which no declaration holds an answer."""
    # From the surest place to the least sure one: the last line or the first, if it is nothing but
    # an answer; the only such line; the last sentence; and, of a short response, all of it.
    if _OPEN_BOX.search(response.text[-_BOX_MAX:]):
        reading.reject(len(response.text) - 1, len(response.text), Reason.CUT_OFF)
        return reading
    lines = [line.span() for line in _LINE.finditer(response.text)] or [(0, len(response.text))]
    value = reader.line(response, *lines[-1])
    if value is not None:
        return _settle(response, reading, value, Form.LINE)
    value = reader.line(response, *lines[0])
    if value is not None:
        return _settle(response, reading, value, Form.OPENING)
    if _repeats_itself(response.text):
        reading.reject(*lines[-1], Reason.LOOPING)
        return reading
    value = _only_line(response, reader, lines) if isinstance(reader, ClosedReader) else None
    if value is not None:
        return _settle(response, reading, value, Form.LINE)
    if reading.rejected:  # what is declared is no answer, so that the reasoning has none either
        return reading
    # What is bold in the last sentence, then what the sentence names, then what is bold anywhere.
    sentence = last_sentence(response.text)
    value = (
        _bold(response, reader, *sentence)
        or reader.sentence(response, *sentence)
        or _bold(response, reader, 0, len(response.text))
    )
    if value is None and len(response.text) <= _WHOLE_MAX:
        value = reader.sentence(response, 0, len(response.text))
    if value is None:
        return reading
    if value.answer is not None and _is_cut_off(response.text, value):
        value = Value(None, value.start, value.end, Reason.CUT_OFF)
    return _settle(response, reading, value, Form.SENTENCE)


def _only_line(
    response: Answer, reader: ClosedReader, lines: Sequence[tuple[int, int]]
) -> Value | None:
    """Return the only answer of all lines, whole or after a key: "Verdict: No"."""
    lines = lines[-_LINES_MAX:]
    keys = (_KEY.match(response.plain, *line) for line in lines)
    keyed = [(key.end(), stop) for key, (_, stop) in zip(keys, lines, strict=True) if key]
    # "Verdict: No" holds nothing else. Only where no line does, "Label: neutral. It has …" counts.
    for read_stretch in (reader.whole, reader.line):
        answers = _answers(response, read_stretch, (*lines, *keyed))
        if answers:
            return answers[0] if len(answers) == 1 else None
    return None


def _bold(response: Answer, reader: KindReader, start: int, stop: int) -> Value | None:
    """Return the only answer that a sentence sets in bold: "Weng earned **$10** for the hour"."""
    stretches = [bold.span(1) for bold in BOLD.finditer(response.text, start, stop)]
    answers = [
        value
        for value in _answers(response, reader.line, stretches)
        if not is_denied(response.low, value.start, value.end, begin=start)
    ]
    return answers[0] if len(answers) == 1 else None


def _answers(
    response: Answer,
    read_stretch: Callable[[Answer, int, int], Value | None],
    stretches: Sequence[tuple[int, int]],
) -> list[Value]:
    """Return the different answers that stretches hold, of equal ones the last."""
    values = (read_stretch(response, *stretch) for stretch in stretches)
    by_answer = {value.answer: value for value in values if value and value.answer}
    return list(by_answer.values())


def _settle(
    response: Answer, reading: Reading, value: Value, form: Form, *, is_asked: bool = False
) -> Reading:
    if value.answer is not None and form in _OPEN and is_retracted(response.low, value.end):
        value = Value(None, value.start, value.end, Reason.RETRACTED)
    if value.answer is None:
        reading.reject(value.start, value.end, value.why)
        return reading
    return reading.take(value, Form.ASKED if is_asked else form)


def last_sentence(text: str, begin: int = 0) -> tuple[int, int]:
    """Return where the last sentence of a text stands that holds a word."""
    stop = len(text)
    begin = max(begin, stop - _TAIL_MAX)
    places = [place for place in sentences(text, begin, stop) if _WORD.search(text, *place)]
    return places[-1] if places else (begin, stop)


def sentences(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a stretch stand."""
    for match in _SENTENCE_END.finditer(text, start, stop):
        if _MARK.search(text, start, match.start()):
            yield start, match.end()
            start = match.end()
    if _MARK.search(text, start, stop):
        yield start, stop


def _is_cut_off(text: str, value: Value) -> bool:
    """Return whether a text ends within a sentence that goes on after a value, or in an amount."""
    end = text.strip()
    if len(end) <= _SHORT_MAX or end[-1] in _CLOSES:
        return False
    is_amount = end[-1].isdigit() and text[value.start] in "$€£¥"
    return is_amount or _WORD.search(text, value.end) is not None


def _repeats_itself(text: str) -> bool:
    end = text.rstrip()[-_LOOP:]
    return len(end) == _LOOP and text.count(end) >= _LOOPS_MIN
