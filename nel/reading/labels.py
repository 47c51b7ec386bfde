"""The label that a response gives, of a few permitted ones. Depends on `nel.reading.reader`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from nel.reading.forms import Declaration
from nel.reading.reader import read, sentences
from nel.reading.response import Answer, fold, lower_case
from nel.reading.types import Form, Reading, Reason, Value

_WRAPPING: Final = " \t\r\n*_`\"'“”‘’.,:;()[]{}<>。，：；【】"
_OPENS: Final = re.compile(r"[\s*_`\"'“(\[{<【:.>-]*")
_ALSO: Final = re.compile(r"[\s*_`\"'”)\]】]*(?:,|/|;|、|\bor\b|\band\b|和|或)\s*[\s*_`\"'“(\[【]*")
_DENIED: Final = re.compile(
    r"\b(?:not|isn't|neither|nor|rather than|instead of)\s(?:\w+\s)?[\"'*(]*\Z"
)
_DENIAL_MAX: Final = 30


class LabelReader:
    """Reads one of a few permitted labels; an underscore is a space.

    Capitals do not count, unless two labels differ by them alone.
    """

    def __init__(self, labels: Sequence[str]) -> None:
        """Take the labels."""
        self.is_exact = len({_bare(label) for label in labels}) < len(set(labels))
        self.by_text = {self.bare(label): label for label in labels}
        self.pattern = _pattern(tuple(sorted(self.by_text, key=len, reverse=True)))

    def bare(self, text: str) -> str:
        """Return a text as labels are compared."""
        return _bare(text, is_exact=self.is_exact)

    def _normal_form(self, response: Answer) -> str:
        return response.plain if self.is_exact else response.low

    def read_declared(self, response: Answer, declaration: Declaration) -> Value | None:
        """Return the label that a declaration introduces."""
        form, start, stop = declaration[:3]
        if form is Form.HASHES:
            return self.line(response, start, stop)
        opens = _OPENS.match(response.low, start, stop)
        match = self.pattern.match(
            self._normal_form(response), opens.end() if opens else start, stop
        )
        if match is not None:
            also = _ALSO.match(response.low, match.end(), stop)
            if also is not None and self.pattern.match(
                self._normal_form(response), also.end(), stop
            ):
                return Value(None, match.start(), stop, Reason.SEVERAL)
            return self._of(match)
        first = next(sentences(response.text, start, stop), None)
        return None if first is None else self.sentence(response, *first)

    def line(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of a line that is nothing but a label."""
        label = self.by_text.get(self.bare(response.text[start:stop]))
        return None if label is None else Value(label, start, stop)

    def sentence(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the only label that a stretch names and does not deny."""
        named = {}
        for match in self.pattern.finditer(self._normal_form(response), start, stop):
            if not _DENIED.search(
                response.low, max(start, match.start() - _DENIAL_MAX), match.start()
            ):
                named[self.bare(match[0])] = match
        return self._of(next(iter(named.values()))) if len(named) == 1 else None

    def _of(self, match: re.Match[str]) -> Value:
        return Value(self.by_text[self.bare(match[0])], *match.span())


@lru_cache(maxsize=64)
def _pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of labels, the longest first; letters of a label are not letters of a longer
    word.
    """
    texts = (re.escape(label).replace(r"\ ", r"[\s_-]+") for label in labels)
    return re.compile(r"(?<![a-zA-Z0-9])(?:" + "|".join(texts) + r")(?![a-zA-Z0-9])")


def _bare(text: str, *, is_exact: bool = False) -> str:
    plain = fold(text) if is_exact else lower_case(fold(text))
    return " ".join(plain.replace("_", " ").replace("-", " ").split()).strip(_WRAPPING)


def permitted_label(text: str, labels: Sequence[str]) -> str | None:
    """Return the label that a text is, as it is permitted, or None."""
    reader = LabelReader(labels)
    return reader.by_text.get(reader.bare(text))


def read_label(response: Answer, labels: Sequence[str]) -> Reading:
    """Return the permitted label that a response gives, as it is permitted."""
    return read(response, LabelReader(labels))
