"""The yes or no that a response gives: labels with synonyms. Depends on `nel.reading.labels`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from nel.reading.labels import LabelReader
from nel.reading.reader import read
from nel.reading.response import Answer
from nel.reading.table import words_of
from nel.reading.types import Reading


@cache
def decision_words() -> Mapping[str, str]:
    """Return what each word decides for: yes or no."""
    return {
        word: decision
        for decision in ("yes", "no")
        for role in (decision, f"{decision}_alone")
        for word in words_of(role)
    }


@cache
def _reader() -> LabelReader:
    return LabelReader(("yes", "no"), decision_words())


def read_decision(response: Answer) -> Reading:
    """Return the yes or no that a response gives; true and false count as such."""
    return read(response, _reader())
