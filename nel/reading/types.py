"""What a reader returns: the answer, its place and form, and the candidates it rejected.

Depends on the standard library alone. Verdicts depend on `Form` and `Reason`, never on the text of
a message.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

GENERAL_RULE: Final = "general"
"""The rule of docs/reference/reading.md."""
OFFICIAL_RULE: Final = "official"
"""The rule that a benchmark's authors published."""
SCORED: Final = "scored"
"""The name of what the run's own scorer read, beside the ways of reading an answer:"""
STRICT: Final = "strict"
LENIENT: Final = "lenient"
OFFICIAL: Final = "official"
REJECTED_MAX: Final = 20
"""Rejected candidates that a reading keeps; the last ones of a long response say enough."""


class Form(StrEnum):
    """The form in which a response states its answer, strongest first."""

    ASKED = "the form that the prompt asks for"
    TAG = "tag"
    BOX = "box"
    HASHES = "hashes"
    FIELD = "field"
    MARKER = "marker"
    PHRASE = "phrase"
    LINE = "line of its own"
    OPENING = "opening line"
    SENTENCE = "last sentence"
    OFFICIAL = "official rule"
    MODEL = "read by a model"
    NONE = "nothing found"


DECLARING: Final = frozenset(
    (Form.ASKED, Form.TAG, Form.BOX, Form.HASHES, Form.FIELD, Form.MARKER, Form.PHRASE)
)
"""Forms that introduce an answer; the others find one that stands alone."""


class Reason(StrEnum):
    """Why a candidate is not the answer."""

    SEVERAL = "several answers"
    NONE_OF_THESE = "none of these"
    BLANK = "blank"
    RETRACTED = "retracted"
    UNREADABLE = "not readable"
    CUT_OFF = "cut off"
    LOOPING = "repeats itself"
    UNDECLARED = "not declared as the answer"
    NOT_STATED = "read by the model, but not in the response"


class Rejected(NamedTuple):
    """A candidate that the reader did not take."""

    start: int
    end: int
    why: Reason


class Value(NamedTuple):
    """What a reader of one kind makes of a stretch of text."""

    answer: str | None
    """None where the stretch says that there is no single answer."""
    start: int
    end: int
    why: Reason = Reason.UNREADABLE
    """Why there is none."""


@dataclass(slots=True)
class Reading:
    """How a response was read; positions are in characters of the whole response."""

    value: str | None = None
    start: int = 0
    end: int = 0
    form: Form = Form.NONE
    rejected: list[Rejected] = field(default_factory=list)

    def reject(self, start: int, end: int, why: Reason) -> None:
        """Note a candidate that was not taken."""
        if len(self.rejected) < REJECTED_MAX:
            self.rejected.append(Rejected(start, end, why))

    def take(self, value: Value, form: Form) -> Reading:
        """Settle on a value and return this reading."""
        self.value, self.start, self.end, self.form = value.answer, value.start, value.end, form
        return self
