"""The yes or no that a response gives: labels with synonyms. Depends on `nel.reading.labels`."""

from __future__ import annotations

from functools import cache
from typing import Final

from nel.reading.labels import LabelReader
from nel.reading.reader import read
from nel.reading.response import Answer
from nel.reading.types import Reading

DECISIONS: Final = {
    "yes": "yes",
    "yeah": "yes",
    "yep": "yes",
    "true": "yes",
    "correct": "yes",
    "not false": "yes",
    "not incorrect": "yes",
    "no": "no",
    "nope": "no",
    "false": "no",
    "incorrect": "no",
    "not true": "no",
    "not correct": "no",
}
"""What each word decides for."""
_CLAIMS: Final = frozenset(("correct", "incorrect", "not correct", "not incorrect"))


@cache
def _reader() -> LabelReader:
    return LabelReader(("yes", "no"), DECISIONS, _CLAIMS)


def read_decision(response: Answer) -> Reading:
    """Return the yes or no that a response gives; true and false count as such."""
    return read(response, _reader())
