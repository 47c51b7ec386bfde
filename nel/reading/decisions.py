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
    "not false": "yes",
    "no": "no",
    "nope": "no",
    "false": "no",
    "not true": "no",
}
"""What each word decides for."""


@cache
def _reader() -> LabelReader:
    return LabelReader(("yes", "no"), DECISIONS)


def read_decision(response: Answer) -> Reading:
    """Return the yes or no that a response gives; true and false count as such."""
    return read(response, _reader())
