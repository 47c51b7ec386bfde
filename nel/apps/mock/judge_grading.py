"""What the demo judge makes of an answer: compares numbers and words, and finds the grades.

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
_CLAIM: Final = re.compile(r"(?im)^.*\banswer(?: is)?:? +(.+)$")
_WORD: Final = re.compile(r"(?P<number>(?<!\w)[-+\u2212]?\d[\d,]*(?:\.\d+)?(?!\w))|\w+")
_QUOTED: Final = re.compile(r"[\"“”]([^\"“”]{1,200})[\"“”]")
_FORM: Final = re.compile(
    r'form "(?P<keyword>\w+): X"(?:, where X is (?P<labels>[\w, -]+?)(?:, and with|[.\n]|$))?'
)
_WORTH: Final[Mapping[Standing, int]] = {"right": 3, "partly": 2, "wrong": 1, "nothing": 0}
_GRADES: Final[Mapping[Standing, Sequence[str]]] = {
    "right": ("C", "CORRECT"),
    "partly": ("P", "I", "INCORRECT"),
    "wrong": ("I", "INCORRECT"),
    "nothing": ("NOT_ATTEMPTED", "I"),
}
"""The first of them that a prompt lists is the grade."""
PAIR: Final = ("A", "B", "TIE")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyForm:
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


def form_of(instructions: str) -> ReplyForm | None:
    """Return what a prompt asks for, None where it lists no grades.

    Args:
        instructions: The prompt without what it quotes.
    """
    if f'"{CRITERIA_MET}"' in instructions:
        return ReplyForm(labels=("true", "false"), is_json=True)
    form = _FORM.search(instructions)
    keyword = form["keyword"] if form else "GRADE"
    if form and form["labels"]:
        labels = re.split(r", | or ", form["labels"])
    else:
        labels = re.findall(r"(?m)^- (\w+) if ", instructions)
    if not labels:  # then the examples of replies have to show them
        examples = re.findall(rf"\b{keyword}: ?(\w+)", instructions)
        labels = [label for label in examples if label not in ("X", "LETTER")]
    labels = list(dict.fromkeys(map(str.strip, labels)))
    return ReplyForm(labels=tuple(labels), keyword=keyword) if len(labels) > 1 else None


def honest_label(form: ReplyForm, prompt: Unquoted) -> str | None:
    """Return the grade that a comparison leads to, None where there is nothing to compare with."""
    pieces = prompt.pieces
    if form.is_json:
        return str(meets(pieces.get("criterion", ""), pieces.get("response", ""))).lower()
    reference = next(
        (pieces[name] for name in ("reference", "criterion", "target") if name in pieces), None
    )
    if reference is None:
        return None
    if form.is_pair:
        worth_a = _WORTH[standing(pieces.get("answer_a", ""), reference)]
        worth_b = _WORTH[standing(pieces.get("answer_b", ""), reference)]
        if worth_a == worth_b:
            return "TIE"
        return "A" if worth_a > worth_b else "B"
    return _grade_reply(form, standing(pieces.get("response", pieces.get("answer", "")), reference))


def standing(response: str, reference: str) -> Standing:
    """Return how an answer stands to a reference.

    Args:
        response: What follows its last ``Answer:`` is what it claims.
        reference: One right answer a line.

    >>> standing("Let me see.\\nAnswer: 1,000.0", "1000")
    'right'
    >>> standing("It might be Paris.\\nAnswer: Lyon", "Paris")
    'partly'
    """
    claims = _CLAIM.findall(response)
    if not claims:
        return "nothing"
    expected = reference.splitlines()
    if any(_is_in(line, claims[-1]) for line in expected):
        return "right"
    return "partly" if any(_is_in(line, response) for line in expected) else "wrong"


def meets(criterion: str, response: str) -> bool:
    """Return whether an answer holds a criterion's quotations, else its names and numbers.

    >>> meets("Names Paris as the capital", "It is Paris.")
    True
    """
    terms = _QUOTED.findall(criterion) or re.findall(r"(?<=\s)(?:[A-Z]\w+|\d\S*)", criterion)
    return bool(terms) and all(_is_in(term, response) for term in terms)


def _grade_reply(form: ReplyForm, how: Standing) -> str | None:
    if form.is_scale:
        grades = sorted(form.labels, key=int)
        return {"right": grades[-1], "partly": grades[len(grades) // 2]}.get(how, grades[0])
    return next((label for label in _GRADES[how] if label in form.labels), None)


def _is_in(expected: str, text: str) -> bool:
    """Return whether the words and numbers of a text stand in another one, together."""
    return f"\0{_words(expected)}\0" in f"\0{_words(text)}\0"


def _words(text: str) -> str:
    """Return words in one case and numbers in one form, with a mark between them."""
    text = unicodedata.normalize("NFKC", text).casefold().replace("\u2212", "-")
    words = []
    for match in _WORD.finditer(text):
        word = match[0]
        if match["number"]:
            word = str(Decimal(word.replace(",", "")).normalize())
        words.append(word)
    return "\0".join(words)
