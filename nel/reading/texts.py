"""The short text that a response gives as its answer: a name, a phrase, a Python literal.

Depends on `nel.reading.reader`.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Final

from nel.reading.clauses import without_copula
from nel.reading.forms import Declaration, named_in
from nel.reading.own import own_answer
from nel.reading.reader import BOLD, read, sentences
from nel.reading.response import Answer
from nel.reading.types import Form, Reading, Value
from nel.types import ScorerInput

_WRAPPING: Final = " \t\r\n*`“”「」"
_FULL_STOP: Final = re.compile(r"(?<!\.)[.。]\Z")
_QUOTED: Final = re.compile(r"\A([\"'“])((?:(?!\1)[\s\S])*)[\"'”]\Z")
_FIELD_QUOTES: Final = re.compile(r"\A\\?([\"'])(.*?)\\?\1\Z", re.DOTALL)
_SENTENCE_WORDS_MAX: Final = 6
"""Of a sentence that is not the whole response; a longer one is about the answer."""
_WORDS_MAX: Final = 12
"""Of a line that is an answer in words; a longer one is a sentence about it."""
_COMMAND: Final = re.compile(
    r"(?<!\\)\\(?:frac|tfrac|boxed|begin|beta|bar|binom|rho|right|times|text|theta|tan|neq)(?![a-z])"
)
"""A LaTeX command without an escape, whose first letter JSON takes for a control character."""
_LATEX_WORDS: Final = re.compile(r"\s*\\(?:text|math)[a-z]*\s?\{(?P<words>[^{}]*)\}\s*")
_BOLD_KEY: Final = re.compile(r"\s*\*\*[^*\n]{1,40}(?:\*\*\s*[:：]|[:：]\*\*)\s*(?=\S)")
"""A key before an answer: "**Name:** Jupiter"."""
_COMPOUND: Final = re.compile(r",\s(?:and|but|while)\s")
"""Between two sentences, of which the second names an answer of its own."""


class TextReader:
    """Reads short texts."""

    def read_declared(self, response: Answer, declaration: Declaration) -> Value | None:
        """Return the text that a declaration introduces, of a phrase the first sentence."""
        form, start, stop = declaration[:3]
        if form is Form.FIELD:
            return field_value(response.text, start, stop)
        if form is Form.HASHES:  # a heading, unless nothing follows
            return None if response.text[stop:].strip() else _unwrap(response.text, start, stop)
        if form is Form.BOX and (words := _LATEX_WORDS.fullmatch(response.text, start, stop)):
            start, stop = words.span("words")
        if form is Form.PHRASE:
            sentence = next(sentences(response.text, start, stop), None)
            if sentence is None:
                return None
            start, stop = sentence
        return _unwrap(response.text, start, stop)

    def line(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return a line of a few words that is the whole response or stands apart from it."""
        text = response.text
        is_only = not text[:start].strip() and not text[stop:].strip()
        # An empty line parts it from the rest: the last line from what is above, the first from
        # below.
        if text[:start].strip():
            is_apart = text[:start].rstrip(" \t").endswith("\n\n")
        else:
            is_apart = text.startswith("\n\n", stop)
        line = text[start:stop].rstrip()
        if not (is_only or is_apart) or line.endswith((":", "?")):
            return None
        key = _BOLD_KEY.match(text, start, stop)
        start = start if key is None else key.end()
        bold = list(BOLD.finditer(text, start, stop))
        if len(bold) == 1:
            return _unwrap(text, *bold[0].span(1))
        mention = next(iter(named_in(response, "text", start, stop)), None)
        if mention is not None and not _COMPOUND.search(text, start, mention[0]):
            return _unwrap(text, *mention)
        is_sentence = line.endswith(".")
        words_max = _SENTENCE_WORDS_MAX if is_sentence and not is_only else _WORDS_MAX
        if len(line.split()) > words_max and (is_sentence or not is_only):
            return None
        return _unwrap(text, start, stop)

    def sentence(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return what the last words of a sentence name: "The city is called Zenith."."""
        mentions = list(named_in(response, "text", start, stop))
        return _unwrap(response.text, *mentions[-1]) if mentions else None


def field_value(text: str, start: int, stop: int) -> Value | None:
    """Return the value of a JSON field: the text of a string, anything else as written."""
    content = text[start:stop].strip()
    if not content:
        return None
    start = text.index(content, start)
    value = None
    if not _COMMAND.search(content):
        with suppress(ValueError):
            value = json.loads(content, strict=False)
    if isinstance(value, str):
        return Value(value, start + 1, start + len(content) - 1)
    return Value(_FIELD_QUOTES.sub(r"\2", content), start, start + len(content))


def _unwrap(text: str, start: int, stop: int) -> Value | None:
    """Return a stretch without emphasis, quotation marks around all of it, and a full stop."""
    content = text[start:stop].strip(_WRAPPING)
    content = without_copula(_FULL_STOP.sub("", content).rstrip(_WRAPPING))
    content = _QUOTED.sub(r"\2", content).strip(_WRAPPING)
    if not content:
        return None
    position = text.index(content, start)
    return Value(content, position, position + len(content))


def compared_text(sample: ScorerInput) -> str:
    """Return the text that a sample's scorer compares.

    That is the response as given, or what stands in the form that the benchmark declares.
    """
    if not sample.config or sample.config.get("answer_form") is None:
        return sample.response or ""
    response, _ = own_answer(sample)
    text = "" if sample.config.get("strict_form") else sample.response or ""
    return read_text(response, declared_only=True).value or text


def read_text(response: Answer, *, declared_only: bool = False) -> Reading:
    """Return the short text that a response gives as its answer.

    Args:
        response: The response.
        declared_only: A text that nothing introduces does not count.
    """
    return read(response, TextReader(), declared_only=declared_only)
