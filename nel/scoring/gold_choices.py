"""The gold answer of a multiple-choice problem: which choice it names, if it names one at all.

A gold answer is a label, an index from 0 or the text of a choice. One that is none of them is a bad
row, and so is one that reads two ways (``B`` is a label and a blood group), unless all gold answers
of the dataset say which it is. Depends on `nel.reading.letters`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nel.errors import DatasetError
from nel.reading.letters import labels_for, read_letter
from nel.reading.response import Answer
from nel.scoring.golds import text_gold
from nel.types import GoldKind, ScorerInput

_TEN: Final = 10
_LETTERS: Final = 26
_CHOICE_FIELDS: Final = ("choices", "options")
FIELDS_OF_CHOICES: Final = {*_CHOICE_FIELDS, "a", "A"}
"""A row with none of these has no choices."""
_LABEL_CHARACTERS_MAX: Final = 2
"""Of a row's own label; a longer one is a text."""
_INDEX_CHARACTERS_MAX: Final = 4


def choices_of(sample: ScorerInput) -> list[str] | None:
    """Return a sample's choices: its own, or of ``choices``, ``options`` or ``a``, ``b``, …."""
    if sample.sample is not None and sample.sample.choices:
        return list(sample.sample.choices)
    for name in _CHOICE_FIELDS:
        field = sample.metadata.get(name)
        if isinstance(field, Mapping):
            field = field.get("text")
        if isinstance(field, (list, tuple)) and field:
            return [str(choice) for choice in field]
    for letters in ("abcdefghij", "ABCDEFGHIJ"):
        if letters[0] in sample.metadata and letters[1] in sample.metadata:
            return [
                str(sample.metadata[letter])
                for letter in letters
                if sample.metadata.get(letter) is not None
            ]
    return None


def own_labels(field: object, n_choices: int) -> tuple[str, ...] | None:
    """Return the labels beside a row's choices (``label``, as ARC has it); None if they are none.

    >>> own_labels(["1", "2"], 2), own_labels(["entailment", "neutral"], 2)
    (('1', '2'), None)
    """
    if not isinstance(field, (list, tuple)) or len(field) != n_choices:
        return None
    labels = tuple(label.strip().upper() for label in field if isinstance(label, str))
    is_short = all(label.isalnum() and len(label) <= _LABEL_CHARACTERS_MAX for label in labels)
    return labels if is_short and len(set(labels)) == n_choices else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceSetting:
    """What a choice scorer has to know of a sample beside its response."""

    labels: tuple[str, ...]
    choices: list[str] | None
    kind: GoldKind | None
    """What a gold answer that reads two ways is."""

    @classmethod
    def of(cls, sample: ScorerInput) -> ChoiceSetting:
        """Return the setting of a sample; without choices there are ten labels."""
        choices = choices_of(sample)
        dataset_sample = sample.sample
        labels = None if dataset_sample is None else dataset_sample.labels
        for name in _CHOICE_FIELDS:
            field = sample.metadata.get(name)
            if labels is None and choices and isinstance(field, Mapping):
                labels = own_labels(field.get("label"), len(choices))
        kind = None if dataset_sample is None else dataset_sample.gold_kind
        return cls(
            labels=labels or labels_for(len(choices) if choices else _TEN),
            choices=choices,
            kind=kind,
        )

    def gold(self, target: object) -> str:
        """Return the label of a gold answer."""
        return gold_label(target, self.labels, self.choices, kind=self.kind)

    def read(self, response: Answer) -> str | None:
        """Return the label that a response gives, by itself or by the letter of its place."""
        # Where labels are numbers, as some rows of ARC have them, a letter names the option's
        # place.
        label = read_letter(response, self.labels, self.choices).value
        letters = labels_for(len(self.labels))
        if label is None and not set(letters) & set(self.labels):
            letter = read_letter(response, letters, self.choices).value
            label = None if letter is None else self.labels[letters.index(letter)]
        return label


def choice_gold(sample: ScorerInput, *, multiple: bool = False, **_: object) -> tuple[str, ...]:
    """Return the labels of a sample's gold answer.

    Raises:
        DatasetError: It names no choice, or reads two ways.
    """
    setting = ChoiceSetting.of(sample)
    if multiple:
        return gold_labels(sample.target, setting.labels, setting.choices, kind=setting.kind)
    return (setting.gold(sample.target),)


def letter_gold(sample: ScorerInput, *, pattern: str | None = None, **_: object) -> str:
    """Return the letter of a sample's gold answer, any text where a pattern finds it.

    Raises:
        DatasetError: It is empty, or is not a letter from A to D and there is no pattern.
    """
    if pattern is None:
        return gold_label(sample.target, "ABCD")
    return text_gold(sample)[0].strip().upper()


def gold_label(
    target: object,
    labels: Sequence[str],
    choices: Sequence[str] | None = None,
    *,
    kind: GoldKind | None = None,
) -> str:
    """Return the label of a gold answer: a label, an index from 0, or the text of one choice.

    Args:
        target: The gold answer.
        labels: Of the choices.
        choices: Their texts, where a gold answer may be one.
        kind: What it is where it reads two ways.

    Raises:
        DatasetError: It is none of them, or reads two ways and no kind says which it is.

    >>> gold_label(1, "ABCD"), gold_label("c", "ABCD"), gold_label("Paris", "AB", ["London", "Paris"])
    ('B', 'C', 'B')
    >>> gold_label("A", "AB", ["B", "A"], kind="label")
    'A'
    """
    ways = gold_ways(target, labels, choices)
    if kind in ways:
        return ways[kind]
    if len(set(ways.values())) == 1:
        return next(iter(ways.values()))
    if ways:
        raise _reads_two_ways(target, ways)
    if isinstance(target, int) and not isinstance(target, bool):
        raise DatasetError(
            f"the gold index {target} is not among {len(labels)} choices; indices start at 0"
        )
    raise DatasetError(
        f"the gold answer {str(target).strip()[:80]!r} is not a label ({labels[0]} to"
        f" {labels[-1]}), index or text of a choice"
    )


def gold_ways(
    target: object, labels: Sequence[str], choices: Sequence[str] | None = None
) -> dict[GoldKind, str]:
    """Return the label of the choice that a gold answer names, for each way to read it.

    >>> gold_ways("B", "ABCD", ["AB", "O", "B", "A"]), gold_ways(2, "ABCD")
    ({'label': 'B', 'text': 'C'}, {'index': 'C'})
    >>> gold_ways(1, "ABCD", ["3", "4", "1", "2"])
    {'text': 'C', 'index': 'B'}
    """
    names = tuple(labels)
    number = gold_number(target)
    if number is None and not isinstance(target, str):
        return {}
    text = str(target).strip()
    bare = text.strip("().").strip()
    ways: dict[GoldKind, str] = {}
    if bare and (bare in names or bare.upper() in names):
        ways["label"] = bare if bare in names else bare.upper()
    texts = [choice.strip() for choice in choices or ()]
    if text and texts.count(text) == 1:
        ways["text"] = names[texts.index(text)]
    # A text that is a label of the row ("1", as ARC has it) is that one; a number may be either.
    is_label_alone = "label" in ways and isinstance(target, str)
    if number is not None and number < len(names) and not is_label_alone:
        ways["index"] = names[number]
    return ways


def gold_number(target: object) -> int | None:
    """Return the number that a gold answer is, by itself or as a short text; None if it is none.

    >>> gold_number(2), gold_number(" 2 "), gold_number(True), gold_number("B")
    (2, 2, None, None)
    """
    if isinstance(target, bool) or not isinstance(target, (int, str)):
        return None
    text = str(target).strip()
    return int(text) if text.isdecimal() and len(text) <= _INDEX_CHARACTERS_MAX else None


def gold_labels(
    target: object,
    labels: Sequence[str],
    choices: Sequence[str] | None = None,
    *,
    kind: GoldKind | None = None,
) -> tuple[str, ...]:
    """Return a gold answer's labels in the order of ``labels``: a list, ``"A,C"`` or ``"AC"``.

    Raises:
        DatasetError: A part is not a label, index or text of a choice, or the answer reads two
            ways.
    """
    parts: Sequence[object] = _letters_of(target, labels) if isinstance(target, str) else [target]
    if isinstance(target, (list, tuple)):
        parts = target
    if isinstance(target, str) and "text" in (ways := gold_ways(target, labels, choices)):
        is_run = len(parts) > 1 and {*parts} <= {*labels}
        if is_run and kind is None:
            raise _reads_two_ways(
                target, {"label": " and ".join(map(str, parts)), "text": ways["text"]}
            )
        parts = parts if is_run and kind == "label" else [target]
    golds = {gold_label(name, labels, choices, kind=kind) for name in parts}
    if not golds:
        raise DatasetError(
            "the gold answer names no choice; give labels, indices or texts of choices"
        )
    return tuple(label for label in labels if label in golds)


def letters_gold(sample: ScorerInput, **_: object) -> tuple[str, ...]:
    """Return the letters that a sample's target is, for a scorer of letters and never texts.

    Raises:
        DatasetError: It is none, or a part of it is none.
    """
    choices = () if sample.sample is None else sample.sample.choices or ()
    return letters_in(sample.target, labels_of(sample, choices))


def letters_in(target: object, labels: Sequence[str]) -> tuple[str, ...]:
    """Return a target's letters in the order of the labels: ``A``, ``A,C``, ``AC`` or a list.

    Raises:
        DatasetError: It is none, or a part of it is none.
    """
    several: Sequence[object] = target if isinstance(target, (list, tuple)) else [target]
    texts = [str(item) for item in several if item is not None]
    parts = _letters_of(texts[0], labels) if len(texts) == 1 else texts
    letters = [gold_ways(letter, labels).get("label") for letter in parts]
    if not letters or None in letters:
        raise DatasetError(
            f"the gold answer {str(target)[:80]!r} is not a letter ({labels[0]} to {labels[-1]})"
        )
    return tuple(label for label in labels if label in letters)


def labels_of(sample: ScorerInput | None, choices: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a sample's choices; A to Z where there are none."""
    dataset_sample = None if sample is None else sample.sample
    labels = None if dataset_sample is None else dataset_sample.labels
    return labels or labels_for(len(choices) or _LETTERS)


def gold_kinds(sample: ScorerInput) -> tuple[set[GoldKind], bool]:
    """Return the ways to read a sample's gold answer, and whether they name different choices."""
    setting = ChoiceSetting.of(sample)
    if not setting.choices:
        return set(), False
    several = sample.target if isinstance(sample.target, (list, tuple)) else [sample.target]
    each = [gold_ways(target, setting.labels, setting.choices) for target in several]
    for position, target in enumerate(several):
        letters = _letters_of(target, setting.labels) if isinstance(target, str) else []
        if len(letters) > 1 and {*letters} <= {*setting.labels}:
            each[position]["label"] = ",".join(letters)
    kinds = set(each[0]).intersection(*each[1:]) if each else set()
    return kinds, any(len(set(ways.values())) > 1 for ways in each)


def _letters_of(text: str, labels: Sequence[str]) -> list[str]:
    """Return the parts of a gold answer that may be several: ``A,C``, ``A C`` or ``AC``."""
    words = text.replace(",", " ").split()
    if len(words) == 1 and words[0] not in labels and set(words[0].upper()) <= set(labels):
        return list(words[0].upper())
    return words


def _reads_two_ways(target: object, ways: Mapping[GoldKind, str]) -> DatasetError:
    readings = " and as ".join(
        f"the {'text' if kind == 'text' else kind} of {label}" for kind, label in ways.items()
    )
    return DatasetError(
        f"the gold answer {str(target)[:80]!r} reads two ways: as {readings}; give every row the label"
        " of its choice"
    )
