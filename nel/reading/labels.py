"""The label that a response gives, of a few permitted ones; yes and no are labels with synonyms.

Depends on `nel.reading.reader` and, for what is denied, on `nel.reading.clauses`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

from nel.reading.clauses import (
    UNSPACED,
    is_denied,
    is_supposed,
    whole_places,
    words_pattern,
)
from nel.reading.forms import Declaration, named_in
from nel.reading.reader import read, sentences
from nel.reading.response import Answer, fold, lower_case
from nel.reading.table import words_of
from nel.reading.types import Form, Reading, Reason, Value

_WORD: Final = re.compile(r"\w")
_WRAPPING: Final = " \t\r\n*_`\"'“”‘’.,:;()[]{}<>。，：；【】"
_OPENS: Final = r"[\s*_`\"'“(\[{<【:.$>\\-]*(?:(?:text|mathrm|mathbf|textbf|boxed)\s*\{[\s\"'*(]*)*"
_JOINT: Final = rf"[\s*_`\"'”)\]】]*(?:[,/;、]|{words_pattern('or', 'and')})[\s*_`\"'“(\[【]*"
# What sets a label off from what follows it on its line: "No, …", "neutral. It has …", "Yes
# because".
_ENDS: Final = re.compile(
    r"[\s*_`\"')\]}>$】]*(?:[.,;:!—–\n。、-]|\Z|because\b|since\b|it\b|there\b|that\b)"
)
_DENIED: Final = re.compile(r"(?:non|not)\s")
_GRADES_MIN: Final = 3
"""Labels that are numbers and grades; of "0" and "1" a stroke joins two."""
_ALONE: Final = frozenset(words_of("yes_alone", "no_alone"))
"""Words that decide nothing before another word: "no evidence"."""
# After "no" or "yes": a word that it belongs to ("no evidence", "no_op"), also without a space
# where a script has none, but not one that opens a clause of its own ("no because", "no it").
_ANOTHER_WORD: Final = re.compile(
    r"[\"')\]*]*(?:\s+(?!(?:it|there|that|because|since)\b)[^\W\d_]|_\w"
    rf"|(?!{words_pattern('copula')})[{UNSPACED}\d])"
)


class LabelReader:
    """Reads one of a few permitted labels; an underscore is a space.

    Capitals do not count, unless two labels differ by them alone.
    """

    def __init__(
        self,
        labels: Sequence[str],
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        """Take the labels.

        Args:
            labels: As they are given back.
            synonyms: Other words, and the label that each stands for.
        """
        self.is_exact = len({_bare(label) for label in labels}) < len(set(labels))
        self.by_text = {self.bare(label): label for label in labels} | dict(synonyms or {})
        # Of the label "non-toxic" the words "not toxic" and "isn't toxic" say the same.
        self.by_text |= {
            f"{negation} {_DENIED.sub('', text)}": label
            for text, label in self.by_text.items()
            if _DENIED.match(text)
            for negation in ("not", "isn't")
        }
        # Of the grades 1 to 5 the words "4 out of 5" and "4/5" name one.
        if len(labels) >= _GRADES_MIN and all(map(str.isdecimal, labels)):
            top = max(labels, key=int)
            self.by_text |= {
                f"{label}{of}{top}": label for label in labels for of in ("/", " / ", " out of ")
            }
        self.patterns = _patterns(tuple(sorted(self.by_text, key=len, reverse=True)))

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
        value = self._opening(response, start, stop)
        if value is not None:
            return value
        sentence = next(sentences(response.text, start, stop), None)
        return None if sentence is None else self.sentence(response, *sentence)

    def whole(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of a stretch that is nothing but a label."""
        label = self.by_text.get(self.bare(response.text[start:stop]))
        return None if label is None else Value(label, start, stop)

    def line(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label of a line that is a label, or opens with one that a stop sets off."""
        value = self._opening(response, start, stop)
        if value is None or value.answer is None or not _ENDS.match(response.low, value.end, stop):
            return None
        return None if is_denied(response.low, value.start, value.end, begin=start) else value

    def _opening(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the label that opens a stretch; two labels joined are none."""
        text = self._normal_form(response)
        match = self.patterns.opening.match(text, start, stop)
        if match is None or not self._is_whole(text, *match.span("label"), start, stop):
            return None
        label = self._of(text, *match.span("label"))
        also = self.patterns.joined.match(text, match.end(), stop)
        if also is None or not self._is_whole(text, *also.span("label"), start, stop):
            return label
        if self._of(text, *also.span("label")).answer == label.answer:
            return label
        return Value(None, label.start, stop, Reason.SEVERAL)

    def sentence(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the only label that a stretch names, or that ends it after a contrast ("but") or
        in words of the table: "the result of True and False is False".
        """
        text, low = self._normal_form(response), response.low
        for span in named_in(response, "label", start, stop):
            value = self.whole(response, *span)
            is_open = is_denied(low, *span, words=1) or is_supposed(low, span[0], begin=start)
            if value is not None and not is_open:
                return value
        # Else every label that the stretch mentions, but for those that it denies or only supposes.
        named: list[Value] = []
        denied = None
        for match in self.patterns.any.finditer(text, start, stop):
            span = match.span()
            if not self._is_whole(text, *span, start, stop):
                continue
            if self.patterns.either.match(text, span[1], stop):
                return Value(None, span[0], stop, Reason.SEVERAL)
            if is_denied(low, *span, begin=start) or is_supposed(low, span[0], begin=start):
                denied = Value(None, *span, Reason.NONE_OF_THESE)
                continue
            named.append(self._of(text, *span))
        if not named:
            return denied
        last = named[-1]
        if len({value.answer for value in named}) == 1:
            return last
        # Of several the last one counts, if a contrast leads to it and it ends the stretch: "it
        # seems negative, but it is positive".
        is_contrasted = self.patterns.contrast.search(low, named[-2].end, last.start)
        return last if is_contrasted and not _WORD.search(text, last.end, stop) else None

    def _is_whole(self, text: str, start: int, end: int, begin: int, stop: int) -> bool:
        """Return whether a label is a word of its own in a stretch; "no" before a word is none."""
        label = text[start:end]
        if next(whole_places(text, label, start), (None,))[0] != start:
            return False
        if label.lower() not in _ALONE:
            return True
        is_joined = text[max(begin, start - 1) : start].isalpha()
        return not is_joined and _ANOTHER_WORD.match(text, end, stop) is None

    def _of(self, text: str, start: int, end: int) -> Value:
        return Value(self.by_text[self.bare(text[start:end])], start, end)


class _Patterns:
    """The patterns of one set of labels, the longest first."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        texts = (re.escape(label).replace(r"\ ", r"[\s_-]+") for label in labels)
        label = f"(?P<label>{'|'.join(texts)})"
        self.any = re.compile(label)
        self.scored = re.compile(
            rf"(?<![\w.]){label}(?<!\d)[^\S\n]?[*_`\"')]{{0,3}}[^\S\n]?[:=|][^\S\n]*\d",
            re.IGNORECASE,
        )
        self.opening = re.compile(f"{_OPENS}{label}")
        self.joined = re.compile(f"{_JOINT}{label}")
        self.contrast = re.compile(words_pattern("contrast"))
        self.either = re.compile(rf"[\s*_`\"']*{words_pattern('or')}[\s*_`\"']*{label}")


@lru_cache(maxsize=64)
def _patterns(labels: tuple[str, ...]) -> _Patterns:
    return _Patterns(labels)


def _bare(text: str, *, is_exact: bool = False) -> str:
    folded = fold(text) if is_exact else lower_case(fold(text))
    return " ".join(folded.replace("_", " ").replace("-", " ").split()).strip(_WRAPPING)


def permitted_label(text: str, labels: Sequence[str]) -> str | None:
    """Return the label that a text is, as it is permitted, or None."""
    reader = LabelReader(labels)
    return reader.by_text.get(reader.bare(text))


def read_label(response: Answer, labels: Sequence[str]) -> Reading:
    """Return the permitted label that a response gives, as it is permitted.

    Scores of several labels give none: "positive: 0.1, negative: 0.9".
    """
    reader = LabelReader(labels)
    scored = reader.patterns.scored
    if len({reader.bare(match["label"]) for match in scored.finditer(response.plain)}) > 1:
        text = scored.sub(lambda match: " " * len(match[0]), response.plain)
        response = Answer(text, response.asked, response.prompt)
    return read(response, reader)
