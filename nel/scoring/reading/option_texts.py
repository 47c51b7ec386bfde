"""The texts of the options: which option a response states word for word, and where its text ends.

Depends on `nel.scoring.text` to compare texts, and on `nel.scoring.marks` for what LaTeX puts around words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from nel.scoring.marks import without_latex
from nel.scoring.reading.label_runs import JOINED, UNDECIDED, Found, Run, label_at
from nel.scoring.reading.near_texts import NearTexts
from nel.scoring.reading.result import Reading
from nel.scoring.text import normalise

_MENTIONED_CHARACTERS_MIN: Final = 3
_FORMULA_CHARACTERS_MAX: Final = 200
_TO_TEXT = re.compile(r"[\s*_)\].:,;–—(=\"'“‘`$|-]{0,12}")
_OVER_ANOTHER = re.compile(
    r"[*_\"”]*,?\s*(?:(?:and|but)\s+)?(?:not|rather\s+than|instead\s+of)\s+(?=\S)", re.IGNORECASE
)
_CALLED_RIGHT = re.compile(r"\s+(?:is|are)\s+(?:both\s+|all\s+)?(?:correct|right|true)[.!\s*_]*\Z", re.IGNORECASE)
_AROUND_RESPONSE: Final = " \t\r\n*_`\"'“”.!"
_LINE_MAX: Final = 300
_AROUND_TEXT: Final = " \t*_`\"'“”().$}"
_NEXT_LISTED = re.compile(r"[\s,;.]*[(\[]?(?P<label>[A-Z]\b)")
_TYPESET = re.compile(r"[\\\d]")
"""What is in a choice or a part of a response that may be a formula."""
_FRACTION = re.compile(r"\\[dt]?frac\s?\{([^{}]{1,40})\}\s?\{([^{}]{1,40})\}")
_SPACING = re.compile(r"\\[,;:! ]|~")
_SIGNS: Final = dict(
    zip(
        (
            "times cdot pi mu Omega omega lambda alpha beta gamma delta Delta theta sigma circ degree pm sqrt infty to "
            "rightarrow"
        ).split(),
        "×·πμΩωλαβγδΔθσ°°±√∞→→",
        strict=True,
    )
)
_SIGN = re.compile(rf"\\({'|'.join(_SIGNS)})(?![A-Za-z])")
_POWER_OF_TEN = re.compile(r"(?<=\d)\s*[x×*·]\s*(?=10\^)")
_UNIT = re.compile(r"(?<=\d)\s+(?=[^\W\d_])")
_REASON = re.compile(r"[,;.]\s|\s(?:because|since|as|which|due\s+to|[-–—(])|\n")


def with_others(text: str, run: Run, end: int, labels: tuple[str, ...]) -> Run:
    """Return a run with the label that an "or" joins to it after the text of its option: "B. Rome or C. Oslo"."""
    if end == run.end or len(run.labels) != 1:
        return run
    joined = JOINED.match(text, end)
    other = label_at(text, joined.end(), labels) if joined else None
    return run if other is None else Run((*run.labels, other[0], UNDECIDED), run.start, other[1])


def _goes_on(rest: str) -> bool:
    """Return whether a word goes on in what stands beside it, also after a hyphen: the "non-" of "non-competitive"."""
    return rest[:1].isalnum() or (rest[:1] in {"-", "‐", "‑"} and rest[1:2].isalnum())


def _formula(text: str) -> str:
    """Return a text in the form in which formulas are compared: ``1.5\\,\\text{A}`` and ``1.5 A`` are the same."""
    plain = _SIGN.sub(lambda match: _SIGNS[match[1]], _SPACING.sub(" ", _FRACTION.sub(r"\1/\2", text)))
    plain = _POWER_OF_TEN.sub("×", without_latex(plain, "").replace("{", "").replace("}", ""))
    return _UNIT.sub("", normalise(plain, articles=True))


class OptionTexts:
    """The texts of the choices, normalised, to find the choice that a response states word for word."""

    def __init__(self, labels: tuple[str, ...], choices: Sequence[str]) -> None:
        self._small = {label.lower() for label in labels}
        plain = [normalise(choice, articles=True) for choice in choices]
        self._choices = [
            (label, choice.strip().casefold())
            for label, choice in zip(labels, choices, strict=False)
            if len(choice.strip()) >= _MENTIONED_CHARACTERS_MIN
        ]
        self._by_label = {label: choice.strip().casefold() for label, choice in zip(labels, choices, strict=False)}
        self._labels: dict[str, str | None] = {}
        for label, choice in zip(labels, plain, strict=False):
            self._labels[choice] = None if choice in self._labels else label
        self._formulas: dict[str, str | None] = {}
        for label, choice in zip(labels, choices, strict=False):
            if _TYPESET.search(choice):
                formula = _formula(choice)
                self._formulas[formula] = None if formula in self._formulas else label
        self.near = NearTexts(labels, choices)
        """To find an option that is named in other words than its own."""
        self.have_numbers = any(re.search(r"\d", choice) for choice in choices)
        """Whether a number may be the text of an option."""

    def exactly(self, part: str) -> str | None:
        """Return the label of the choice that a part of a response is."""
        wanted = normalise(part, articles=True)
        if not wanted or wanted in self._small:
            return None
        return self._labels[wanted] if wanted in self._labels else self._of_formula(part)

    def whole(self, response: str) -> str | None:
        """Return the label of the choice that a whole response states, word for word or in other words."""
        plain = response if len(response) > _LINE_MAX else _CALLED_RIGHT.sub("", response)
        return self.exactly(plain) or self.near.named(response.strip(_AROUND_RESPONSE))

    def _of_formula(self, part: str) -> str | None:
        """Return the label of the choice that a part of a response is but for LaTeX, spaces and signs of units."""
        if not self._formulas or len(part) > _FORMULA_CHARACTERS_MAX or not _TYPESET.search(part):
            return None
        return self._formulas.get(_formula(part))

    def opening(self, part: str) -> tuple[str, int] | None:
        """Return the label and the length of the choice that a response opens with, before a comma or a reason."""
        first = _REASON.split(part, maxsplit=1)[0]
        wanted = normalise(first, articles=True)
        label = self._labels.get(wanted) or self._of_formula(first) if len(wanted) > 1 else None
        return None if label is None else (label, len(first))

    def behind(self, text: str, end: int, label: str) -> int:
        """Return where the text of a label's option ends, if it stands after the label, else `end`."""
        choice = self._by_label.get(label)
        gap = _TO_TEXT.match(text, end)
        if not choice or gap is None or ")." in gap[0]:
            return end
        start = gap.end() - (choice[0] == "-" and gap[0].endswith("-"))
        return start + len(choice) if text[start : start + len(choice)].casefold() == choice else end

    def is_contradicted(self, text: str, end: int, label: str) -> bool:
        """Return whether the text of another option, and nothing else, stands after a label: "B) Rome"."""
        gap = _TO_TEXT.match(text, end)
        if gap is None or not gap[0] or self.behind(text, end, label) > end:
            return False
        line = text[gap.end() : gap.end() + _LINE_MAX].partition("\n")[0]
        if "\n" in gap[0] or not line or (gap[0].endswith("-") and line[:1].strip()):  # a sign, maybe
            return False
        other = self.exactly(line.strip(_AROUND_TEXT))
        return other is not None and other != label

    def lists_others(self, text: str, end: int, label: str) -> bool:
        """Return whether all other options follow the text of the first one on its line: "(A) London (B) Paris"."""
        place = self.behind(text, end, label)
        others = [one for one in self._by_label if one != label]
        if place == end or not others or label != next(iter(self._by_label)):
            return False
        for other in others:
            found = _NEXT_LISTED.match(text, place)
            if found is None or found["label"] != other:
                return False
            place = self.behind(text, found.end(), other)
            if place == found.end():
                return False
        return True

    def words_of_two(self) -> dict[str, str]:
        """Return the texts of the choices by their labels, in small letters and without a full stop."""
        return {label: choice.rstrip(".") for label, choice in self._by_label.items()}

    def ends_with(self, before: str, label: str) -> bool:
        """Return whether a text ends with the text of a label's option."""
        return before.strip(" (*_").casefold().endswith(self._by_label.get(label) or "\0")

    def mentioned(self, text: str, start: int, end: int) -> list[Found]:
        """Return the choices whose texts stand in a part of a response, as whole words."""
        part = text[start:end].casefold()
        found = []
        for label, choice in self._choices:
            place = part.find(choice)
            if place >= 0 and not _goes_on(part[:place][::-1]) and not _goes_on(part[place + len(choice) :]):
                found.append((label, start + place, start + place + len(choice)))
        return found

    def is_over_another(self, text: str, end: int, label: str) -> bool:
        """Return whether a "not" there denies the text of another option: "Canberra, not Sydney"."""
        denied = _OVER_ANOTHER.match(text, end)
        if denied is None:
            return False
        rest = text[denied.end() : denied.end() + 200].casefold().lstrip('*_"“')
        return any(other != label and rest.startswith(choice) for other, choice in self._choices)

    @staticmethod
    def is_mention(found: Found) -> bool:
        """Return whether what was found is the text of an option, and not a label."""
        return found[2] - found[1] >= _MENTIONED_CHARACTERS_MIN

    def alone(self, text: str, reading: Reading) -> Reading:
        """Read a response, or its last line, that is the text of a choice."""
        stripped = text.strip()
        for part in (stripped.rpartition("\n")[2], stripped):
            label = self.exactly(part)
            if label:
                start = text.rfind(part)
                return reading.take(label, start, start + len(part), "the text of a choice")
        return reading
