"""The ways to read one answer, by its kind: letter, number, yes or no, text, mathematics.

``lenient`` is the reader in full. ``strict`` takes only what the response declares as its answer
("Answer: B", a box, a tag), or an answer that is the whole response. A benchmark may add an
``official`` one. Depends on `nel.reading`, and on `nel.scoring` for which answers are equal; the
kind follows from the gold answer and the choices.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from nel.errors import DatasetError, MissingExtra, ScorerError
from nel.reading.decisions import decision_words, read_decision
from nel.reading.formulas import has_words, read_formula
from nel.reading.letters import labels_for, read_labels
from nel.reading.numbers import read_number
from nel.reading.numerals import numbers_equal, parse_number
from nel.reading.own import own_answer
from nel.reading.response import Answer
from nel.reading.texts import read_text
from nel.reading.types import DECLARING, LENIENT, OFFICIAL, STRICT, Reading, Reason
from nel.scoring.gold_choices import ChoiceSetting
from nel.scoring.mathematics.comparison import expressions_equal
from nel.scoring.words import same_text
from nel.types import ScorerInput

KindName: TypeAlias = Literal["letter", "number", "yes_no", "text", "mathematics"]
Read: TypeAlias = Callable[[ScorerInput], Reading]

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
"""Finds mathematics in gold answers: LaTeX, power, calculation with variable, tuple, interval."""
_TEXT_WORDS_MAX: Final = 12
"""A gold answer of more words is not a short text: a translation, a summary."""
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
    """Where the strict and lenient reading stop, as an invented next question follows."""

    def is_right(self, value: str | None) -> bool:
        """Return whether a value equals a gold answer."""
        return value is not None and any(
            same_answer(self.gold.kind, value, gold) for gold in self.gold.accepted
        )


def read_in_every_way(sample: ScorerInput, official: Read | None = None) -> Readings | None:
    """Return the readings of a response, or None where its gold answer is of no kind that is read.

    Args:
        sample: The response with its gold answer and choices.
        official: The rule that the benchmark's authors published, where it applies to this prompt.

    >>> sample = ScorerInput(response="I pick option B.", target="B", metadata={"choices": ["x", "y"]})
    >>> ways = read_in_every_way(sample)
    >>> {name: one.value for name, one in ways.read.items()}
    {'strict': None, 'lenient': 'B'}
    """
    gold = gold_answer(sample)
    if gold is None:
        return None
    response, _ = own_answer(sample)
    lenient = _READERS[gold.kind](response, gold)
    readings = {STRICT: strictly(lenient, response), LENIENT: lenient}
    if official is not None:
        readings[OFFICIAL] = official(sample)
    length = len((sample.response or "").rstrip())
    is_cut = len(response.text.rstrip()) < length
    return Readings(gold, readings, len(response.text) if is_cut else None)


def strictly(reading: Reading, response: Answer) -> Reading:
    """Return a reading without its answer where the response neither declares it nor is only it."""
    if reading.value is None or reading.form in DECLARING or _is_whole(reading, response.text):
        return reading
    without = Reading(rejected=list(reading.rejected))
    without.reject(reading.start, reading.end, Reason.UNDECLARED)
    return without


def _is_whole(reading: Reading, text: str) -> bool:
    around = text[: reading.start] + text[reading.end :]
    return reading.end > reading.start and not any(character.isalnum() for character in around)


def gold_answer(sample: ScorerInput) -> GoldAnswer | None:
    """Return what a sample's gold answer asks for, or None for no kind, such as a translation.

    >>> targets = ("(B)", 12, "No", ["Paris", "Lutetia"], "\\\\sqrt{2}", "x^2 + 1", "3-2")
    >>> [gold_answer(ScorerInput(response="", target=one)).kind for one in targets]
    ['letter', 'number', 'yes_no', 'text', 'mathematics', 'mathematics', 'text']
    >>> gold_answer(ScorerInput(response="", target=None)) is None
    True
    """
    setting = ChoiceSetting.of(sample)
    if setting.choices:
        return _gold_choice(sample.target, setting)
    if isinstance(sample.target, bool):
        return GoldAnswer("yes_no", ["yes" if sample.target else "no"])
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    if not targets or any(item is None or isinstance(item, (dict, list)) for item in targets):
        return None
    accepted = [str(item).strip() for item in targets]
    if len(accepted) > 1:
        return _gold_texts(accepted)
    (text,) = accepted
    letter = _LETTER.fullmatch(text)
    if letter is not None:
        return GoldAnswer("letter", [letter[1]], labels_for(_LETTERS_MAX))
    decision = decision_words().get(text.lower())
    if decision is not None:
        return GoldAnswer("yes_no", [decision])
    number = _GOLD_NUMBER.search(text)
    numeral = number[1] if number else text
    if parse_number(numeral) is not None:
        return GoldAnswer("number", [numeral])
    return GoldAnswer("mathematics", accepted) if _is_mathematics(text) else _gold_texts(accepted)


def _is_mathematics(gold: str) -> bool:
    return _EXPRESSION.search(gold) is not None and not has_words(gold)


def _gold_choice(target: object, setting: ChoiceSetting) -> GoldAnswer | None:
    try:
        return GoldAnswer("letter", [setting.gold(target)], setting.labels, setting.choices)
    except DatasetError:  # several right choices, or a row whose options are not choices
        return None


def _gold_texts(accepted: Sequence[str]) -> GoldAnswer | None:
    short = [
        text
        for text in accepted
        if text and "\n" not in text and len(text.split()) <= _TEXT_WORDS_MAX
    ]
    return GoldAnswer("text", short) if len(short) == len(accepted) else None


def same_answer(kind: KindName, answer: str, gold: str) -> bool:
    """Return whether two answers of a kind are one.

    >>> same_answer("number", "$1,200", "1200.0"), same_answer("letter", "A", "a")
    (True, False)
    """
    if answer == gold:
        return True
    if kind == "number":
        return numbers_equal(answer, gold)
    if kind == "letter":
        return _letter_of(answer) == _letter_of(gold)
    if kind == "mathematics":
        return _same_expression(answer, gold)
    if kind == "yes_no":
        return _decision_of(answer) == _decision_of(gold)
    return same_text(answer, gold)


def _same_expression(answer: str, gold: str) -> bool:
    """Return whether two expressions are equal; those not comparable must be written alike."""
    if answer.strip("$ ") == gold.strip("$ "):
        return True
    try:
        return expressions_equal(gold, answer)
    except (DatasetError, MissingExtra, ScorerError):
        return False


def _letter_of(answer: str) -> str:
    """Return the letter of an answer as a scorer may return it: ``(B)``, ``(B) Paris``, ``B.``."""
    match = _OPENING_LETTER.match(answer)
    return match[1] if match else answer


def _decision_of(answer: str) -> str:
    word = answer.strip(" .").lower()
    return decision_words().get(word, word)


_READERS: Final[Mapping[KindName, Callable[[Answer, GoldAnswer], Reading]]] = {
    "letter": lambda response, gold: read_labels(response, gold.labels, gold.choices),
    "number": lambda response, _: read_number(response),
    "yes_no": lambda response, _: read_decision(response),
    "text": lambda response, _: read_text(response),
    "mathematics": lambda response, _: read_formula(response),
}
