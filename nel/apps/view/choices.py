"""The options of a multiple-choice question with their labels, and which of them an answer names.

Depends on how `nel.scoring` reads the choices of a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nel.errors import DatasetError
from nel.scoring.gold_choices import ChoiceSetting
from nel.types import Sample, ScorerInput

OTHER = "other"
"""What was read where it is not a label."""


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

    def choice(self, answer: str | None) -> tuple[str, str] | None:
        """Return the expected label and the one that was read, empty where none was; None where no
        label is expected.
        """
        if not self.expected:
            return None
        label = (answer or "").strip()
        return self.expected, label if not label or label in self.texts else OTHER


def options_of(sample: Sample | None) -> Options | None:
    """Return the options of a question, None where it has none."""
    if sample is None:
        return None
    row = ScorerInput(
        response="", target=sample.target, metadata=dict(sample.metadata), sample=sample
    )
    setting = ChoiceSetting.of(row)
    if not setting.choices:
        return None
    try:
        expected = setting.gold(sample.target)
    except DatasetError:
        expected = ""
    return Options(dict(zip(setting.labels, setting.choices, strict=False)), expected)
