"""What the demo judge makes of an answer: compares numbers, letters and words, and finds which
grades it is asked for.

Pure and simple-minded on purpose: an honest verdict is one that a reader can check by eye. Where
there is nothing to compare with, there is no honest verdict, and none is made up here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from nel.judges.quoting import Unquoted

Standing: TypeAlias = Literal["right", "partly", "wrong", "nothing"]
"""How an answer stands to what is expected; ``nothing`` claims nothing."""

CRITERIA_MET: Final = "criteria_met"
_MARKER: Final = re.compile(r"(?im)^(?:a:|.*\banswer\s*(?:is\b\s*:?|[:=]))\s*(.+)$")
_FINAL: Final = re.compile(r"(?im)^(?:a|answer):[ \t]*(.+?)[ \t]*$")
_NUMBER: Final = re.compile(r"(?<![\w.])[-+\u2212]?\d[\d,]*(?:\.\d+)?(?!\w)")
_DECLINES: Final = re.compile(
    r"\b(?:i (?:do not|don't) know|i cannot|i can't|i can not|i won't|i will not|i have to pass|i"
    r" know nothing|"
    r"nothing useful to say|not able to|unable to|refuse)\b",
    re.IGNORECASE,
)
_ARTICLES: Final = frozenset({"a", "an", "the"})
_QUOTED: Final = re.compile(r"[\"“”'‘’]([^\"“”'‘’]{1,200})[\"“”'‘’]")
_WORTH: Final[Mapping[Standing, int]] = {"right": 3, "partly": 2, "wrong": 1, "nothing": 0}
_GRADES: Final[Mapping[frozenset[str], Mapping[Standing, str]]] = {
    frozenset("CI"): {"right": "C", "partly": "I", "wrong": "I", "nothing": "I"},
    frozenset("CPI"): {"right": "C", "partly": "P", "wrong": "I", "nothing": "I"},
    frozenset({"CORRECT", "INCORRECT", "NOT_ATTEMPTED"}): {
        "right": "CORRECT",
        "partly": "INCORRECT",
        "wrong": "INCORRECT",
        "nothing": "NOT_ATTEMPTED",
    },
}
PAIR: Final = ("A", "B", "TIE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """What a prompt asks the judge to reply with."""

    labels: tuple[str, ...]
    """The grades, best first where the prompt lists them so."""
    keyword: str = "GRADE"
    is_json: bool = False

    @property
    def is_pair(self) -> bool:
        """Return whether two answers are compared."""
        return set(self.labels) == set(PAIR)

    @property
    def is_scale(self) -> bool:
        """Return whether the grades are numbers."""
        return all(label.isdigit() for label in self.labels)

    @property
    def best(self) -> str:
        """Return the grade for full marks."""
        return max(self.labels, key=int) if self.is_scale else self.labels[0]

    def line(self, label: str) -> str:
        """Return a verdict in the form asked for."""
        return f"{self.keyword}: {label}"


def form_of(rest: str) -> Form | None:
    """Return what a prompt asks for, None where it lists no grades.

    Args:
        rest: The prompt without what it quotes.
    """
    if f'"{CRITERIA_MET}"' in rest:
        return Form(labels=("true", "false"), is_json=True)
    asked = re.search(r'form "(\w+): X"(?:, where X is ([\w, -]+?)(?:, and with|[.\n]|$))?', rest)
    keyword = asked[1] if asked else "GRADE"
    listed = (
        re.split(r", | or ", asked[2])
        if asked and asked[2]
        else re.findall(r"(?m)^- (\w+) if ", rest)
    )
    examples = [
        label for label in re.findall(rf"\b{keyword}: ?(\w+)", rest) if label not in ("X", "LETTER")
    ]
    labels = tuple(dict.fromkeys(label.strip() for label in listed or examples))
    return Form(labels=labels, keyword=keyword) if len(labels) > 1 else None


def honest_label(form: Form, prompt: Unquoted, known: str | None = None) -> str | None:
    """Return the grade that a comparison leads to, None where there is nothing to compare with.

    Args:
        form: What is asked for.
        prompt: What is quoted.
        known: The right answer, where the prompt gives none.
    """
    pieces = prompt.pieces
    question = pieces.get("question", "")
    if form.is_json:
        return str(meets(pieces.get("criterion", ""), pieces.get("response", ""))).lower()
    reference = next(
        (pieces[name] for name in ("reference", "criterion", "target") if name in pieces), known
    )
    if reference is None:
        return None
    if form.is_pair:
        return _better(
            *(standing(pieces.get(f"answer_{seat}", ""), reference, question) for seat in "ab")
        )
    response = pieces.get("response", pieces.get("answer", ""))
    return _graded(form, standing(response, reference, question))


def standing(response: str, reference: str, question: str = "") -> Standing:
    """Return how an answer stands to a reference.

    Args:
        response: Whole; what follows its last ``Answer:`` is what it claims.
        reference: One right answer a line; of a worked solution, what follows ``####`` or a last
            ``A:``.
        question: Shows the options where the answer is the letter of one.

    >>> standing("Let me see.\\nAnswer: 1,000.0", "1000")
    'right'
    >>> standing("It might be Paris.\\nAnswer: Lyon", "Paris")
    'partly'
    """
    if not response.strip():
        return "nothing"
    marked = _MARKER.findall(response)
    claim = marked[-1] if marked else response
    if not marked and _DECLINES.search(response):
        return "nothing"
    standings: set[Standing] = {
        _against(claim, response, line, question) for line in _references(reference)
    }
    return max(standings, key=_WORTH.__getitem__, default="wrong")


def meets(criterion: str, response: str) -> bool:
    """Return whether an answer holds all that a criterion names.

    That is what stands in quotation marks, else its numbers and names, else its longer words.

    >>> meets("Names Paris as the capital", "It is Paris.")
    True
    """
    wanted = _QUOTED.findall(criterion)
    if not wanted:
        names = re.findall(r"(?<=\s)[A-Z]\w+", criterion)
        wanted = [*_NUMBER.findall(criterion), *names] or re.findall(r"\w{5,}", criterion)
    numbers = {value for text in _NUMBER.findall(response) if (value := _value(text)) is not None}
    words = _words(response)
    return bool(wanted) and all(
        _value(word) in numbers or _within(_words(word), words) for word in wanted
    )


def _better(first: Standing, second: Standing) -> str:
    if _WORTH[first] == _WORTH[second]:
        return "TIE"
    return "A" if _WORTH[first] > _WORTH[second] else "B"


def _graded(form: Form, how: Standing) -> str | None:
    if form.is_scale:
        ordered = sorted(form.labels, key=int)
        return {"right": ordered[-1], "partly": ordered[len(ordered) // 2]}.get(how, ordered[0])
    grades = _GRADES.get(frozenset(form.labels))
    return grades[how] if grades else None


def _references(reference: str) -> list[str]:
    final = reference.rpartition("####")[2].strip()
    solved = _FINAL.findall(final)
    return solved[-1:] or [line.strip() for line in final.splitlines() if line.strip()]


def _against(claim: str, response: str, reference: str, question: str) -> Standing:
    value = _value(reference)
    if value is not None:
        claimed = [_value(text) for text in _NUMBER.findall(claim)]
        if claimed and claimed[-1] == value:
            return "right"
        return "partly" if value in map(_value, _NUMBER.findall(response)) else "wrong"
    if re.fullmatch(r"[A-Z]", reference):
        return "right" if _letter(claim, question) == reference else "wrong"
    words = _words(reference)
    if _within(words, _words(claim)):
        return "right"
    shared = len(set(words) & set(_words(claim))) / max(len(set(words)), 1)
    return "partly" if 2 * shared >= 1 or _within(words, _words(response)) else "wrong"


def _letter(claim: str, question: str) -> str | None:
    """Return the letter of the option that a claim names, by itself or by its text."""
    alone = re.match(r"\W*([A-Z])(?:\W|$)", claim.strip())
    if alone:
        return alone[1]
    options = re.findall(r"(?m)^\s*\(?([A-Z])[).:]\s*(.+?)\s*$", question)
    named = [letter for letter, text in options if _within(_words(text), _words(claim))]
    return named[0] if len(named) == 1 else None


def _value(text: str) -> Decimal | None:
    text = text.strip().rstrip(".").replace("\u2212", "-")
    return Decimal(text.replace(",", "")) if _NUMBER.fullmatch(text) else None


def _words(text: str) -> list[str]:
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    return [word for word in words if word not in _ARTICLES] or words


def _within(words: Sequence[str], text: Sequence[str]) -> bool:
    size = len(words)
    return size > 0 and any(
        list(text[at : at + size]) == list(words) for at in range(len(text) - size + 1)
    )
