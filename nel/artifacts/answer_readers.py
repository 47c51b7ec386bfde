"""What a model is asked that reads an answer no rule could read, and which readings count.

The model sees the question, the options and the response, never the gold answer. A letter, number
or text that it names but that the response does not contain is its own solution of the question,
not a reading, and is not taken. Depends on `nel.judges.quoting`, which keeps the response from
passing for an instruction.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from nel.judges.quoting import quote
from nel.reading.numbers import numbers_in
from nel.reading.numerals import numbers_equal, parse_number
from nel.reading.types import Form, Reading, Reason, Value
from nel.scoring.readings import KindName

_DIGEST_BYTES: Final = 16
_ANSWER_MAX: Final = 500
"""Characters of a reading; more is a part of the response, not its answer."""
_REPLY: Final = re.compile(r"^[ \t>*_`#-]*answer[ \t*_`]*:(.*)$", re.IGNORECASE | re.MULTILINE)
"""``ANSWER: 18``, ``**Answer:** 18``."""
_WRAPPING: Final = " \t*_`\"'“”$"
_NONE: Final = "none"
_DECISIONS: Final = frozenset({"yes", "no", "true", "false"})
_LETTER: Final = re.compile(r"\(?([A-Za-z])\)?(?:[.:)].*)?")
"""``B``, ``(b)``, ``B) Paris``."""
_FORMS: Final[Mapping[KindName, str]] = {
    "letter": (
        "The answer is the letter of one option. Where the response states an option's text, give"
        " its letter."
    ),
    "number": "The answer is one number, in digits as the response writes it.",
    "yes_no": "The answer is yes or no.",
    "text": (
        "The answer is a name or a short phrase. Copy it from the response, without the sentence"
        " around it."
    ),
    "mathematics": (
        "The answer is a mathematical expression. Copy it as the response writes it, LaTeX as it"
        " stands."
    ),
}
_PROMPT: Final = """Find the final answer that a response gives to a question. Do not answer the question yourself and \
do not correct the response: report the answer that the response settles on, right or wrong.

The question:
{question}

The response:
{response}

{form}
If the response settles on no single answer (it refuses, stays undecided, names several, or breaks off), the answer is \
NONE.
Reply with one line in the form "ANSWER: X"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadAnswer:
    """A response that no rule could read."""

    question: str
    """The prompt that the response answers."""
    response: str
    kind: KindName
    labels: tuple[str, ...] = ()
    """Letters of the options, for the kind ``letter``."""
    choices: tuple[str, ...] = ()
    """Texts of the options, in the order of the labels; empty where the prompt has them alone."""

    @property
    def digest(self) -> str:
        """Return a digest of all fields: the id under which a reading is kept."""
        fields = [self.question, self.response, self.kind, self.labels, self.choices]
        return hashlib.sha256(json.dumps(fields).encode()).digest()[:_DIGEST_BYTES].hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerReader:
    """One way of having a model read answers: a plugin of the group ``nel.readers``."""

    name: str
    description: str
    """One line, shown by ``nel list``."""
    ask: Callable[[UnreadAnswer], str]
    """Returns the prompt about an answer."""
    read: Callable[[UnreadAnswer, str], str | None]
    """Returns the answer that a reply names, or None where it names none or cannot be read."""


def prompt_about(unread: UnreadAnswer) -> str:
    """Return the prompt of the built-in reader."""
    options = "".join(
        f"\n{label}) {text}" for label, text in zip(unread.labels, unread.choices, strict=False)
    )
    pieces = {"question": unread.question + options, "response": unread.response}
    return quote(_PROMPT, pieces, trusted={"form": _FORMS[unread.kind]}).prompt


def answer_in_reply(unread: UnreadAnswer, reply: str) -> str | None:
    """Return the answer on the line ``ANSWER: X`` of a reply; None for ``NONE``, for two answers
    and without the line.

    >>> asked = UnreadAnswer(question="9 + 9?", response="It makes 18 apples", kind="number")
    >>> [answer_in_reply(asked, reply) for reply in ("ANSWER: 18", "**Answer:** NONE", "18", "ANSWER: 1\\nANSWER: 2")]
    ['18', None, None, None]
    """
    candidates = {
        line[1].strip(_WRAPPING).removesuffix(".").strip(_WRAPPING)
        for line in _REPLY.finditer(reply)
    }
    if len(candidates) != 1:
        return None
    (answer,) = candidates
    if not answer or answer.lower() == _NONE or len(answer) > _ANSWER_MAX:
        return None
    return answer


def model_reading(unread: UnreadAnswer, answer: str | None) -> Reading:
    """Return the reading of a model's answer; it has no value where the response lacks that answer.

    Args:
        unread: What the model was asked about.
        answer: What it named.

    >>> asked = UnreadAnswer(question="9 + 9?", response="It makes 18 apples", kind="number")
    >>> model_reading(asked, "18").value, model_reading(asked, "20").value
    ('18', None)
    """
    reading = Reading()
    if answer is None:
        return reading
    value, span = _stated_form(unread, answer)
    if span is None:
        reading.reject(0, 0, Reason.NOT_STATED)
        return reading
    return reading.take(Value(value, *span), Form.MODEL)


def _stated_form(unread: UnreadAnswer, answer: str) -> tuple[str, tuple[int, int] | None]:
    text = unread.response
    if unread.kind == "letter":
        return _stated_letter(unread, answer)
    if unread.kind == "number":
        equal_readings = [
            number
            for number in numbers_in(text)
            if number.value is not None and numbers_equal(number.text, answer)
        ]
        if parse_number(answer) is None or not equal_readings:
            return answer, None
        return answer, (equal_readings[-1].start, equal_readings[-1].end)
    if unread.kind == "yes_no":  # may be said without the word: the whole response is its place
        word = answer.lower()
        return word, (0, len(text)) if word in _DECISIONS and text else None
    return answer, _last_place(text, answer)


def _stated_letter(unread: UnreadAnswer, answer: str) -> tuple[str, tuple[int, int] | None]:
    match = _LETTER.fullmatch(answer)
    letter = match[1].upper() if match else answer
    if letter not in unread.labels:
        return letter, None
    places = list(re.finditer(rf"(?<!\w){re.escape(letter)}(?!\w)", unread.response))
    if places:
        return letter, places[-1].span()
    choice = dict(zip(unread.labels, unread.choices, strict=False)).get(letter)
    return letter, _last_place(unread.response, choice) if choice else None


def _last_place(text: str, sought: str) -> tuple[int, int] | None:
    words = r"\s+".join(map(re.escape, sought.split()))
    places = list(re.finditer(rf"(?<!\w){words}(?!\w)", text, re.IGNORECASE)) if words else []
    return places[-1].span() if places else None


extract = AnswerReader(
    name="extract",
    description="Asks for the final answer that a response states, or NONE",
    ask=prompt_about,
    read=answer_in_reply,
)
