"""The ways in which one answer can be read, by its kind: letter, number, yes or no, text, mathematics.

``lenient`` is the reader in full. ``strict`` takes only what the response declares as its answer ("Answer: B", a box, a
tag), or an answer that is the whole response. A benchmark may add an ``official`` one. Depends on the readers of this
room, and on `nel.scoring` for which answers are equal; the kind follows from the gold answer and the choices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from nel.errors import DatasetError, ScorerError
from nel.scoring.answers import gold_decision
from nel.scoring.choice import choices_of, gold_label
from nel.scoring.equality import same_text
from nel.scoring.mathematics.comparison import expressions_equal
from nel.scoring.numeric.finding import numbers_equal
from nel.scoring.numeric.parsing import parse_number
from nel.scoring.reading.declarations import declarations
from nel.scoring.reading.expressions import read_expression
from nel.scoring.reading.letters import labels_for, read_labels
from nel.scoring.reading.numbers import read_number
from nel.scoring.reading.result import Reading
from nel.scoring.reading.run_on import cut_run_on
from nel.scoring.reading.texts import read_text
from nel.scoring.reading.yes_no import read_decision
from nel.types import ScorerInput

KindName: TypeAlias = Literal["letter", "number", "yes_no", "text", "mathematics"]
Read: TypeAlias = Callable[[ScorerInput], Reading]

STRICT: Final = "strict"
LENIENT: Final = "lenient"
OFFICIAL: Final = "official"
UNDECLARED: Final = "not declared as the answer"
_DECLARED: Final = frozenset(
    "tag|heading|declared|box|hashes|short marker|behind a marker|a field|called the answer".split("|")
)
"""The rules of readings that found an answer where the response declares one."""
_DECISIONS: Final = frozenset({"yes", "no", "true", "false"})
_LETTER: Final = re.compile(r"\(?([A-Z])\)?")
_OPENING_LETTER: Final = re.compile(r"\s*\(?([A-Z])(?:\)|[.:]?\s*\Z)")
_GOLD_NUMBER: Final = re.compile(r"####\s*(\S[^\n]*?)\s*\Z")
_EXPRESSION: Final = re.compile(
    r"""
      \\ [A-Za-z]+ | [\^√]
    | (?<![A-Za-z]) [a-z] \s* [-+*/=<>] \s* [\w(\\]
    | \w \s* [-+*=<>] \s* [A-Za-z] (?![A-Za-z])
    | [(\[{] \s* -?\d [\d.\s/-]* , [^A-Za-z]* [)\]}]
    """,
    re.VERBOSE,
)
"""What shows that a gold answer is mathematics: LaTeX, a power, a calculation with a variable, a tuple or interval."""
_COMMAND: Final = re.compile(r"\\(?:text|mathrm|textbf|mbox)\s*\{[^{}]*\}|\\[A-Za-z]+")
_LONG_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_FUNCTIONS: Final = frozenset(
    "sin cos tan cot sec csc log exp sqrt arcsin arccos arctan sinh cosh tanh det min max mod gcd lcm".split()
)
_NEXT_SENTENCE: Final = re.compile(r"\.\s+(?=[A-Z])")
_WRAPPING: Final = frozenset(" \t\n*_`$\"'“”:")
_WRAPPING_BEHIND: Final = _WRAPPING | {"."}
_SHORT_WORDS_MAX: Final = 6
"""Words of a gold answer up to which it is a name or a phrase; one of more is a list or a sentence."""
_TEXT_WORDS_MAX: Final = 12
"""A gold answer of more words is no short text: a translation, a summary."""
_LETTERS_MAX: Final = 26


class GoldAnswer(NamedTuple):
    """What a sample's gold answer asks a reader for."""

    kind: KindName
    accepted: Sequence[str]
    """Any of them is right."""
    labels: Sequence[str] = ()
    choices: Sequence[str] | None = None


@dataclass(frozen=True, slots=True)
class Readings:
    """How one response is read in every way that applies to it."""

    gold: GoldAnswer
    read: Mapping[str, Reading]
    """By the name of the way."""
    cut_at: int | None
    """Where the strict and the lenient reading stop, since the response goes on with an invented next question."""

    def is_right(self, value: str | None) -> bool:
        """Return whether a value equals a gold answer."""
        return value is not None and any(same_answer(self.gold.kind, value, gold) for gold in self.gold.accepted)


def read_in_every_way(sample: ScorerInput, official: Read | None = None) -> Readings | None:
    """Return the readings of a response, or None where its gold answer is of no kind that is read.

    Args:
        sample: The response with its gold answer and choices.
        official: The rule that the benchmark's authors published, where it applies to this prompt.

    >>> sample = ScorerInput(response="I would go with B.", target="B", metadata={"choices": ["x", "y"]})
    >>> ways = read_in_every_way(sample)
    >>> {name: one.value for name, one in ways.read.items()}
    {'strict': None, 'lenient': 'B'}
    """
    gold = gold_answer(sample)
    if gold is None:
        return None
    whole = sample.response or ""
    prompt = sample.sample.input if sample.sample is not None else ""
    cut = cut_run_on(whole, prompt) if isinstance(prompt, str) else whole
    lenient = _READERS[gold.kind](cut, gold)
    read = {STRICT: strictly(lenient, cut), LENIENT: lenient}
    if official is not None:
        read[OFFICIAL] = official(sample)
    return Readings(gold, read, None if cut == whole else len(cut))


def strictly(reading: Reading, text: str) -> Reading:
    """Return a reading without its answer where the response does not declare it and says other things, too."""
    if reading.value is None or reading.rule in _DECLARED or _is_whole(reading, text):
        return reading
    without = Reading(rejected=list(reading.rejected))
    without.reject(reading.start, reading.end, UNDECLARED)
    return without


def _is_whole(reading: Reading, text: str) -> bool:
    around = text[: reading.start] + text[reading.end :]
    return reading.end > reading.start and not any(character.isalnum() for character in around)


def gold_answer(sample: ScorerInput) -> GoldAnswer | None:
    """Return what a sample's gold answer asks for, or None where it is of no kind, such as a translation.

    >>> targets = ("(B)", 12, "No", ["Paris", "Lutetia"], "\\\\sqrt{2}", "x^2 + 1", "3-2")
    >>> [gold_answer(ScorerInput(response="", target=one)).kind for one in targets]
    ['letter', 'number', 'yes_no', 'text', 'mathematics', 'mathematics', 'text']
    >>> gold_answer(ScorerInput(response="", target=None)) is None
    True
    """
    choices = choices_of(sample)
    if choices:
        return _gold_choice(sample.target, choices)
    if isinstance(sample.target, bool):
        return GoldAnswer("yes_no", ["yes" if sample.target else "no"])
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    if not targets or any(one is None or isinstance(one, (dict, list)) for one in targets):
        return None
    accepted = [str(one).strip() for one in targets]
    if len(accepted) > 1:
        return _gold_texts(accepted)
    (only,) = accepted
    letter = _LETTER.fullmatch(only)
    if letter is not None:
        return GoldAnswer("letter", [letter[1]], labels_for(_LETTERS_MAX))
    if only.lower() in _DECISIONS:
        return GoldAnswer("yes_no", [gold_decision(only)])
    number = _GOLD_NUMBER.search(only)
    written = number[1] if number else only
    if parse_number(written) is not None:
        return GoldAnswer("number", [written])
    return GoldAnswer("mathematics", accepted) if _is_mathematics(only) else _gold_texts(accepted)


def _is_mathematics(gold: str) -> bool:
    words = {word.lower() for word in _LONG_WORD.findall(_COMMAND.sub(" ", gold))}
    return _EXPRESSION.search(gold) is not None and words <= _FUNCTIONS


def _gold_choice(target: object, choices: Sequence[str]) -> GoldAnswer | None:
    labels = labels_for(len(choices))
    try:
        return GoldAnswer("letter", [gold_label(target, labels, choices)], labels, choices)
    except DatasetError:  # several right choices, or a row whose options are no choices
        return None


def _gold_texts(accepted: Sequence[str]) -> GoldAnswer | None:
    short = [one for one in accepted if one and "\n" not in one and len(one.split()) <= _TEXT_WORDS_MAX]
    return GoldAnswer("text", short) if len(short) == len(accepted) else None


def same_answer(kind: KindName, left: str, right: str) -> bool:
    """Return whether two answers of a kind are one.

    >>> same_answer("number", "$1,200", "1200.0"), same_answer("letter", "A", "a")
    (True, False)
    """
    if left == right:
        return True
    if kind == "number":
        return numbers_equal(left, right)
    if kind == "letter":
        return _letter_of(left) == _letter_of(right)
    if kind == "mathematics":
        return _same_expression(left, right)
    return _decision_of(left) == _decision_of(right) if kind == "yes_no" else same_text(left, right)


def _same_expression(left: str, right: str) -> bool:
    """Return whether two expressions are equal; where they cannot be compared, only if they are written alike."""
    if left.strip("$ ") == right.strip("$ "):
        return True
    try:
        return expressions_equal(right, left)
    except (DatasetError, ScorerError):
        return False


def _letter_of(answer: str) -> str:
    """Return the letter of an answer as a scorer may return it: ``(B)``, ``(B) Paris``, ``B.``."""
    found = _OPENING_LETTER.match(answer)
    return found[1] if found else answer


def _decision_of(answer: str) -> str:
    word = answer.strip(" .").lower()
    return gold_decision(word) if word in _DECISIONS else word


def _read_letter(text: str, gold: GoldAnswer) -> Reading:
    return read_labels(text, gold.labels, gold.choices)


def _read_number(text: str, gold: GoldAnswer) -> Reading:
    return read_number(text)


def _read_decision(text: str, gold: GoldAnswer) -> Reading:
    return read_decision(text)


def _read_expression(text: str, gold: GoldAnswer) -> Reading:
    return read_expression(text)


def _read_text(text: str, gold: GoldAnswer) -> Reading:
    """Read a short answer in words; brackets to close, or words to put in order, as they stand after a declaration."""
    is_short = all(len(one.split()) <= _SHORT_WORDS_MAX for one in gold.accepted)
    has_words = any(character.isalnum() for one in gold.accepted for character in one)
    return read_text(text) if is_short and has_words else _read_as_declared(text)


def _read_as_declared(text: str) -> Reading:
    """Read what the response declares last, to the end of its sentence, or the response where it is one line."""
    for one in declarations(text):
        ends = _NEXT_SENTENCE.search(text, one.end, one.stop)
        reading = _unwrapped(text, one.end, ends.start() if ends else one.stop, one.form)
        if reading.value is not None:
            return reading
    start, stop = len(text) - len(text.lstrip()), len(text.rstrip())
    return Reading() if "\n" in text[start:stop] else _unwrapped(text, start, stop, "the only line")


def _unwrapped(text: str, start: int, stop: int, rule: str) -> Reading:
    """Return a stretch of a text without quotation marks, emphasis and a full stop around it as its answer."""
    while start < stop and text[start] in _WRAPPING:
        start += 1
    while start < stop and text[stop - 1] in _WRAPPING_BEHIND:
        stop -= 1
    return Reading().take(text[start:stop], start, stop, rule) if start < stop else Reading()


_READERS: Final[Mapping[KindName, Callable[[str, GoldAnswer], Reading]]] = {
    "letter": _read_letter,
    "number": _read_number,
    "yes_no": _read_decision,
    "text": _read_text,
    "mathematics": _read_expression,
}
