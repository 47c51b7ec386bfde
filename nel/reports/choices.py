"""What a scorer read from an answer, the options of a multiple-choice question with their labels,
and the confusion matrix of a benchmark.

Depends on how `nel.scoring` reads the choices of a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nel.errors import DatasetError
from nel.judges.record import is_judged
from nel.scoring.gold_choices import FIELDS_OF_CHOICES, ChoiceSetting
from nel.types import JsonObject, Sample, ScorerInput

OTHER: Final = "other"
"""What was read where it is not a label."""
_LABELS_MAX: Final = 26
"""Labels of a matrix that fits a page."""


def read_answer(answer: Any, details: object) -> Any:
    """Return what a scorer read from an answer; None where a judge decided, who reads the whole."""
    return None if is_judged(details) else answer


def in_place_of_answer(details: object, *, is_scored: bool) -> str:
    """Return what stands where a read answer would, of an answer from which none was read."""
    if is_judged(details):
        return "the whole answer, by a judge"
    return "the scorer names no part of the answer" if is_scored else "nothing"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question."""

    texts: Mapping[str, str]
    """By label, in order."""
    expected: str
    """The label of the right one; empty where the gold answer names none or several."""

    def in_words(self, label: str | None) -> str | None:
        """Return a label with the text of its option; anything else as it is."""
        text = None if label is None else self.texts.get(label.strip())
        return label if text is None else f"{label}: {text}"

    def choice(self, answer: str | None, details: object) -> tuple[str, str] | None:
        """Return the expected label and the one that was read, empty where none was; None where no
        label is expected, or a judge decided.
        """
        if not self.expected or is_judged(details):
            return None
        label = (answer or "").strip()
        if label and label not in self.texts:
            label = OTHER
        return self.expected, label


def options_of(sample: Sample | None) -> Options | None:
    """Return the options of a question, None where it has none."""
    if sample is None:
        return None
    return _options(
        ScorerInput(
            response="", target=sample.target, metadata=dict(sample.metadata), sample=sample
        )
    )


def options_in(result: JsonObject) -> Options | None:
    """Return the options of a line of results.jsonl, None where its row has none."""
    metadata = result.get("metadata")
    if not isinstance(metadata, dict) or FIELDS_OF_CHOICES.isdisjoint(metadata):
        return None
    return _options(
        ScorerInput(response="", target=result.get("expected_answer"), metadata=dict(metadata))
    )


def _options(row: ScorerInput) -> Options | None:
    setting = ChoiceSetting.of(row)
    if not setting.choices:
        return None
    try:
        expected = setting.gold(row.target)
    except DatasetError:  # a gold answer that is none of the options: the row is shown all the same
        expected = ""
    return Options(dict(zip(setting.labels, setting.choices, strict=False)), expected)


@dataclass(frozen=True, slots=True)
class Confusion:
    """Which option was read for each that was expected."""

    answers: Sequence[str]
    """Labels of the columns; empty: no answer was found."""
    rows: Sequence[tuple[str, Sequence[tuple[int, int]]]]
    """Expected label, and in each column the count and the tenths of the row that it is."""


def confusion_of(choices: Sequence[tuple[str, str, int]]) -> Confusion | None:
    """Return the confusion matrix of ``(expected, answer, n)``, None where no label was read."""
    counts = {(expected, answer): n for expected, answer, n in choices}
    expected_labels = sorted({expected for expected, _ in counts})
    read_labels = {answer for _, answer in counts}
    if not read_labels - {OTHER, ""} or len(expected_labels) > _LABELS_MAX:
        return None
    # After the labels that were expected, those that were not, then what is not a label.
    others = read_labels - set(expected_labels)
    answers = [*expected_labels, *sorted(others - {"", OTHER})]
    answers += [name for name in (OTHER, "") if name in others]
    rows = []
    for expected in expected_labels:
        row = [counts.get((expected, answer), 0) for answer in answers]
        n_expected = sum(row)
        rows.append((expected, [(n, round(10 * n / n_expected)) for n in row]))
    return Confusion(answers, rows)
