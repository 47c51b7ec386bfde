"""The search for the answer of a response, from its end to its start, whatever the kind of answer.

The last declaration that counts is taken: in a box, a tag, a JSON field, a table, below a heading or in a sentence. One
that is denied, supposed, asked or quoted does not count; where a response takes its answer back, offers several or
refuses, it gives none. What a sentence or a line of its own says is left to the subclasses of `Search`.
Depends on `nel.scoring.reading.clauses`, `phrases` and `wrappers`.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from typing import Final, NamedTuple

from nel.core.lazy_regex import lazy_pattern
from nel.scoring.reading import clauses, declaring, status
from nel.scoring.reading.result import Reading
from nel.scoring.reading.wrappers import SEVERAL, is_placeholder, untex
from nel.scoring.wording import last_match

_FIELD: Final = lazy_pattern(
    r"""
    ["'] (?: final[_ ]? | correct[_ ]? | my[_ ]? )? (?: answer | result | solution | output | response | label
      | prediction | category | class | classification | sentiment | verdict | choice )
    ["'] \s*: \s*
    (?P<value> "(?:[^"\\]|\\.)*" | '[^'\n]*' | [^,{}\s"]+ )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DOLLARS: Final = lazy_pattern(r"\A\$(.+)\$\Z")
_IS_WRONG: Final = lazy_pattern(r"\b(?:is|was)\s(?:wrong|incorrect)\b")
_OF_OTHERS: Final = frozenset({status.QUOTED, status.ASKED, status.SUPPOSED})
_BOX: Final = lazy_pattern(r"\\(?:boxed|fbox)\s*\{")
_OR_BOX: Final = lazy_pattern(
    r"\}[\s$*)\]\\]*(?:[,;]|[,;]?\s*\b(?:or|and|oder|und|ou|et|o|y|e|или|и)\b|或者?|和|または|أو|/)[\s$*(\[\\]*\Z",
    re.IGNORECASE,
)
"""Another box, and a word or a comma that makes it and the next one candidates, or two parts of an answer."""
_TAG: Final = lazy_pattern(
    r"""
    (?: < | \[ ) (?: (?:final|my|correct) [_\s-]? )? (?: answer | result | solution | output | response | final
      | label | category | sentiment | class | verdict ) s?
    (?: > | \] ) \s* (?P<value> [^\n]*? ) \s* (?: </ | \[/ | $ )
    """,
    re.IGNORECASE | re.VERBOSE,
)
CROSSED: Final = lazy_pattern(
    r"^.*\S.*(?:❌|[✗✘✖]\s*(?=[→➡⇒]))[\s*_]*(?:[→➡⇒]+\s*)?(?:after\schecking,?\s*)?(?=[^\s❌✗✘✖])"
)
"""What a cross marks as wrong, up to what stands behind it."""
_STRUCTURE: Final = lazy_pattern(r"(?:[$\s|:*_=`#-]|\\[\[\]()]|```\w*|</\w+>|\[/\w+\]|<\|end_of_solution\|>|^[{}]+$)+")
"""Lines that hold no words: rules, fences, closing tags, the rule of a table."""


DECLARED: Final = 3
SAID: Final = 2
"""Said without being declared an answer: "It is Paris"."""
ALONE: Final = 1
"""A line of its own, or a sentence about the subject."""


class Found(NamedTuple):
    """A candidate answer."""

    value: str
    start: int
    end: int
    rule: str
    rank: int
    """How binding it is: `DECLARED`, `SAID` or `ALONE`."""


class NoAnswerError(Exception):
    """The response gives no answer: it is refused, left open, taken back or cut off."""


class Search(ABC):
    """One response and what was found in it so far."""

    def __init__(self, response: str) -> None:
        """Prepare a response."""
        self.text = clauses.plain(response)
        self.reading = Reading()
        self.weaker: Found | None = None
        """The best of what is only said, in case nothing is declared."""
        self.rank = 0
        """How binding what was read is, once it is: `DECLARED`, `SAID`, `ALONE`."""
        self.is_refused = False
        """Whether a sentence refuses to answer; what is declared before it counts all the same."""
        self.objected: str | None = None
        """Why the last candidate was rejected."""

    @abstractmethod
    def candidate(self, sentence: str, offset: int) -> Found | None:
        """Return what a sentence states, if nothing speaks against it.

        Raises:
            NoAnswerError: The sentence shows that there is no answer.
        """

    @abstractmethod
    def value(self, text: str, offset: int, rule: str) -> Found | None:
        """Return the answer that a text at the place of one holds.

        Raises:
            NoAnswerError: The place is left open, or several answers stand there.
        """

    @abstractmethod
    def alone(self, line: clauses.Line) -> Found | None:
        """Return the answer that a line of its own is."""

    @abstractmethod
    def is_bare(self, text: str, *, loosely: bool = False) -> bool:
        """Return whether a text is nothing but an answer; `loosely` where its place says that it is one."""

    @abstractmethod
    def accepted(self, value: str) -> str | None:
        """Return the answer that a field or a box holds, or None where it holds no answer of this kind."""

    def is_step(self, before: str, after: str) -> bool:
        """Return whether what stands before and after a declared answer says that it is one on the way."""
        return False

    def is_open(self, value: str) -> bool:
        """Return whether a field or a box is left open, or holds several answers."""
        return is_placeholder(value) or SEVERAL.search(value) is not None

    def read(self) -> Reading:
        """Return how the response was read."""
        try:
            found = self._search()
        except NoAnswerError:
            found = self.weaker if self.weaker and self.weaker.rank > ALONE else None
        if found is None:
            return self.reading
        self.rank = found.rank
        return self.reading.take(found.value, found.start, found.end, found.rule)

    def _search(self) -> Found | None:
        lines = clauses.lines_backwards(self.text)
        line = next(lines, None)
        first: clauses.Line | None = None
        is_last = True
        while line is not None:
            above = next(lines, None)
            while above is not None and _STRUCTURE.fullmatch(above.text):
                if declaring.HEADING.fullmatch(above.text):
                    break
                above = next(lines, None)
            if not _STRUCTURE.fullmatch(line.text):
                if is_last and self._is_cut(line):
                    raise NoAnswerError
                found = self._in_line(line, above)
                if found is not None:
                    return found
                is_last = False
            elif is_last and _BOX.search(line.text):
                raise NoAnswerError
            first, line = line, above
        is_first = first is not None and not first.text.startswith("#") and not declaring.MEDIUM.match(first.text)
        if (
            first is not None
            and is_first
            and not self.is_refused
            and self.weaker is not None
            and self.weaker.rank == SAID
        ):
            found = self.alone(first)  # "Paris.\nIt is in France."
            return found if found is not None and found.end < self.weaker.start else self.weaker
        return None if self.is_refused else self.weaker

    def _is_cut(self, line: clauses.Line) -> bool:
        """Return whether the response ends before the answer that it announces."""
        text = line.text[-clauses.SENTENCE_CHARACTERS_MAX :]
        if declaring.HEADING.fullmatch(text) and not text.endswith("."):
            return True
        last = clauses.sentences(text)[-1][1]
        found = declaring.STRONG.search(last)
        is_open = found is not None and found.end() == len(last.rstrip())
        return is_open or text.endswith(('{"answer": "', '{"answer":', "\\boxed{"))

    def _in_line(self, line: clauses.Line, above: clauses.Line | None) -> Found | None:
        text = line.text
        found = self._marked(line)
        if found is not None:
            return found
        if above is not None and declaring.HEADING.fullmatch(above.text):
            found = self._below_heading(line)
            if found is not None:
                return found
        following: tuple[int, str] | None = None
        for place, sentence in reversed(clauses.sentences(text)):
            found = self._in_sentence(sentence, line.start + place, following)
            if found is not None:
                return found
            following = (line.start + place, sentence)
        if self.weaker is None and not self.is_refused:
            found = self.alone(line)
            if found is not None:
                self.weaker = found
        return None

    def _marked(self, line: clauses.Line) -> Found | None:
        """Return what a line holds in a JSON field, a box, a tag or a table."""
        text = line.text
        if '":' in text or "':" in text or '" :' in text:
            last = last_match(_FIELD, text)
            if last is not None:
                return self._field(last, line.start)
        if "\\boxed" in text or "\\fbox" in text:
            return self._boxed(line)
        if text[0] == "|" and text.count("|") > 2:  # noqa: PLR2004 - two cells
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if declaring.HEADING.fullmatch(cells[0]) and cells[1]:
                place = text.find(cells[1], len(cells[0]))
                return self.value(cells[1], line.start + place, "a table")
        if text[0] in "✅✓✔👉🎯➡→⇒∴" and declaring.STRONG.search(text) is None:
            bare = text.lstrip("✅✓✔👉🎯➡→⇒∴️ ")
            if bare and self.is_bare(bare, loosely=True):
                return self.value(bare, line.start + len(text) - len(bare), "ticked")
        if ("<" in text or "[" in text) and (match := _TAG.search(text)) is not None and match["value"]:
            return self.value(match["value"], line.start + match.start("value"), "tag")
        return None

    def _field(self, match: re.Match[str], offset: int) -> Found | None:
        raw = match["value"]
        try:
            value = json.loads(raw) if raw[0] == '"' else raw.strip("'")
        except ValueError:
            value = raw.strip('"')
        value = value.strip()
        if not value or self.is_open(value):
            raise NoAnswerError
        start = offset + match.start("value")
        answer = self.accepted(value)
        return None if answer is None else Found(answer, start, start + len(raw), "a field", DECLARED)

    def _boxed(self, line: clauses.Line) -> Found | None:
        last = last_match(_BOX, line.text)
        if last is None:
            return None
        start = line.start + last.end()
        end = _closing(self.text, start)
        if end is None:
            if not self.text[start:].strip():
                raise NoAnswerError
            return None
        value = _DOLLARS.sub(r"\1", untex(self.text[start:end]))
        before = line.text[: last.start()].rpartition(". ")[2]
        after = self.text[end + 1 : line.start + len(line.text)]
        behind = clauses.sentences(after) if after.strip() else []
        for place, sentence in reversed(behind[1:]):
            found = self._in_sentence(sentence, end + 1 + place)
            if found is not None:
                return found
        if (_BOX.search(before) and clauses.OPEN.search(before)) or _OR_BOX.search(before):
            raise NoAnswerError
        why = clauses.objection(before, behind[0][1] if behind else "")
        if self.is_step(before, behind[0][1] if behind else ""):
            return None
        if why is None and behind and clauses.RETRACTION.search(behind[0][1]):
            rest = self._after_retraction(after, end + 1)
            if rest is not None:
                return rest
            raise NoAnswerError
        if not value or self.is_open(value):
            raise NoAnswerError
        if why is not None or clauses.DENIAL.search(clauses.last_clause(before)):
            self.reading.reject(start, end, why or status.DENIED)
            return None
        answer = self.accepted(value)
        return None if answer is None else Found(answer, start, end, "box", DECLARED)

    def _after_retraction(self, after: str, offset: int) -> Found | None:
        for place, sentence in reversed(clauses.sentences(after)):
            found = self.candidate(sentence, offset + place)
            if found is not None:
                return found
        return None

    def _below_heading(self, line: clauses.Line) -> Found | None:
        parts = clauses.sentences(line.text)
        for place, sentence in reversed(parts):
            found = self._in_sentence(sentence, line.start + place)
            if found is not None:
                return found
        if self.weaker is not None and self.weaker.start >= line.start:
            return self.weaker
        bare = line.text.lstrip("| ")
        place = len(line.text) - len(bare)
        found = self.value(clauses.sentences(bare.rstrip("| "))[0][1], line.start + place, "heading")
        if found is not None and not self.is_bare(found.value, loosely=True):
            return None
        return found

    def _in_sentence(self, sentence: str, offset: int, following: tuple[int, str] | None = None) -> Found | None:
        """Return what a sentence declares; keep what it only says in `weaker`."""
        if len(sentence) > clauses.SENTENCE_CHARACTERS_MAX:
            return None
        taken_back = clauses.RETRACTION.last(sentence)
        if taken_back is not None and clauses.QUOTING.search(sentence[: taken_back.start()]):
            taken_back = None
        self.objected = None
        found = self.candidate(sentence, offset)
        if taken_back is not None and (found is None or found.start < offset + taken_back.start()):
            found = self._corrected(sentence, taken_back.end(), offset, following)
        if found is None:
            if self._refuses(sentence):
                if self.weaker is not None and self.weaker.rank > ALONE:
                    raise NoAnswerError
                self.is_refused = True
            return None
        if found.rank == DECLARED:
            return found
        if not self.is_refused and (self.weaker is None or self.weaker.rank < found.rank):
            self.weaker = found
        return None

    def _corrected(self, sentence: str, place: int, offset: int, following: tuple[int, str] | None) -> Found:
        """Return what a response says after the words that take back what stood before them.

        Raises:
            NoAnswerError: It says nothing there.
        """
        after = sentence[place:].lstrip(" ,:.—–-")
        place = len(sentence) - len(after)
        found = self.candidate(after, offset + place) if after else None
        if found is None and self.weaker is not None and self.weaker.rank > ALONE:
            found = self.weaker
        if found is None and after and self.is_bare(after):
            found = self.value(after, offset + place, "corrected")
        if found is None and following is not None and self.is_bare(following[1]):
            found = self.value(following[1], following[0], "corrected")
        found = found or self.weaker
        if found is None:
            raise NoAnswerError
        return found._replace(rank=DECLARED)

    def _refuses(self, sentence: str) -> bool:
        """Return whether a sentence refuses to answer, or offers several answers and chooses none."""
        if clauses.REFUSAL.search(sentence):
            return True
        if self.objected == status.SUPPOSED or not clauses.ALTERNATIVE.search(sentence):
            return False
        is_asked = clauses.ASKING.match(sentence) is not None
        return not (is_asked or clauses.is_supposed(sentence) or clauses.QUOTING.search(sentence))

    def stands(self, sentence: str, start: int, end: int, offset: int) -> bool:
        """Return whether nothing in a sentence speaks against the answer at ``sentence[start:end]``; note what does.

        Raises:
            NoAnswerError: The sentence makes the answer depend on something, or refuses to decide.
        """
        before, after = sentence[:start], sentence[end:]
        why = clauses.objection(before, after)
        if why is None and sentence.rstrip(' *_)"”').endswith(("?", "？", "؟")):
            why = status.ASKED
        if why is None and _IS_WRONG.search(sentence, start, end):
            why = status.DENIED
        if why is None:
            is_open = clauses.OPEN.search(before) or clauses.REFUSAL.search(before.rpartition(", ")[2])
            if is_open or clauses.ALTERNATIVE.search(after) or clauses.REFUSAL.search(after):
                raise NoAnswerError
            return True
        self.objected = why
        self.reading.reject(offset + start, offset + end, why)
        if why in _OF_OTHERS and clauses.REFUSAL.search(after):
            raise NoAnswerError
        return False


def _closing(text: str, start: int) -> int | None:
    depth = 1
    for position in range(start, min(len(text), start + 4_000)):
        depth += (text[position] == "{") - (text[position] == "}")
        if depth == 0:
            return position
    return None
