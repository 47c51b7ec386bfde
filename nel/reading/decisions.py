"""The yes or no that a response gives. Depends on `nel.reading.reader`."""

from __future__ import annotations

import re
from typing import Final

from nel.reading.forms import Declaration
from nel.reading.reader import read, sentences
from nel.reading.response import Answer
from nel.reading.types import Form, Reading, Reason, Value

DECISIONS: Final = {
    "yes": "yes",
    "yeah": "yes",
    "yep": "yes",
    "true": "yes",
    "correct": "yes",
    "no": "no",
    "nope": "no",
    "false": "no",
    "incorrect": "no",
}
"""What each word decides for."""
_CLAIMS: Final = frozenset(("correct", "incorrect"))
"""Words that decide only where an answer is declared; elsewhere they judge something on the way."""
_OPENS: Final = (
    r"[\s*_`:\"'$>.(\[{\\-]*+(?:(?:(?:text|mathrm|mathbf|textbf|boxed)\s*\{|"
    r"definitely\s|indeed\s|most\slikely\s|probably\s)[\s\"'*(]*+)*+"
)
_WORDS: Final = "|".join(DECISIONS)
_OPENING: Final = re.compile(
    rf"{_OPENS}(?P<not>not\s(?:necessarily\s)?)?(?P<word>{_WORDS})(?![\w'’-])"
)
_ALSO: Final = re.compile(rf"[\s*_\"'.)]*(?:/|,?\s?\bor\b|\band\b)\s*[\"'*]*(?P<word>{_WORDS})\b")
_ENDS: Final = re.compile(
    r"[\s*_`\"')\]}$]*(?:[.,;:!—–\n-]|\Z|because\b|since\b|it\b|there\b|that\b)"
)
_NAMED: Final = re.compile(
    r"(?<![\w-])(?P<not>not\s)?[\"'(\[*]*(?P<word>yes|no|true|false)(?![\w'’-]|\s(?:\w+\s)?(?:or|and)\s)"
)
_HEDGE: Final = re.compile(
    r"\b(?:not|cannot|can't|never|hardly|doubt|unable|if|whether|\w+n't)\b[^.,;:\n]{0,60}\Z"
)
"""Before a decision in the same clause: it is denied, or only supposed."""
_HEDGE_MAX: Final = 80
_NO_WORD: Final = re.compile(r"[\"')\]*]*\s+[a-z]")
"""After "no": another word, so that it denies that and decides nothing: "no evidence"."""


class DecisionReader:
    """Reads a yes or a no."""

    def read_declared(self, response: Answer, declaration: Declaration) -> Value | None:
        """Return the decision that a declaration introduces."""
        form, start, stop = declaration[:3]
        if form is Form.HASHES:
            return self.line(response, start, stop)
        match = _OPENING.match(response.low, start, stop)
        if match is not None and not (
            match["word"] == "no" and _is_denial(response, match.end(), stop)
        ):
            return self._settle(response, match, stop)
        first = next(sentences(response.text, start, stop), None)
        return None if first is None else self.sentence(response, *first)

    def line(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the decision that opens a line and is set off from what follows."""
        match = _OPENING.match(response.low, start, stop)
        if match is None or match["not"] or match["word"] in _CLAIMS:
            return None
        value = self._settle(response, match, stop)
        if value.answer is None:
            return value
        return value if _ENDS.match(response.low, match.end(), stop) else None

    def sentence(self, response: Answer, start: int, stop: int) -> Value | None:
        """Return the only decision that a stretch names; "no" before another word is none."""
        named = {}
        for match in _NAMED.finditer(response.low, start, stop):
            if match["word"] == "no" and _is_denial(response, match.end(), stop):
                continue
            before = response.low[max(start, match.start() - _HEDGE_MAX) : match.start()]
            is_hedged = _HEDGE.search(before) is not None
            value = Value(None, *match.span()) if is_hedged else self._settle(response, match, stop)
            named[value.answer] = value
        return next(iter(named.values())) if len(named) == 1 else None

    def _settle(self, response: Answer, match: re.Match[str], stop: int) -> Value:
        decision = DECISIONS[match["word"]]
        other = _ALSO.match(response.low, match.end(), stop)
        if other is not None and DECISIONS[other["word"]] != decision:
            return Value(None, match.start("word"), other.end(), Reason.SEVERAL)
        if match["not"]:
            if match["word"] in ("yes", "no") or "necessarily" in match["not"]:
                return Value(None, match.start(), match.end(), Reason.NONE_OF_THESE)
            decision = "no" if decision == "yes" else "yes"
        return Value(decision, *match.span("word"))


def _is_denial(response: Answer, end: int, stop: int) -> bool:
    return _NO_WORD.match(response.low, end, stop) is not None


def read_decision(response: Answer) -> Reading:
    """Return the yes or no that a response gives; true and false count as such."""
    return read(response, DecisionReader())
