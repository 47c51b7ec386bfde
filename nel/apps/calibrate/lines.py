"""The lines of labelled files, by annotator, and the scores that their labels give.

Depends on `nel.artifacts.labels.file`, which reads the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nel.artifacts.labels.calibration import Key
from nel.artifacts.labels.file import LabelLine, read_label_file
from nel.errors import UsageError


@dataclass(frozen=True, slots=True)
class LabelLineReader:
    """How labels are read: on the judge's scale, or as the better answer of a pair."""

    read: Callable[[object], float | None]
    """Raises ValueError for what is not a label."""
    described: str
    is_pair: bool

    def score(self, line: LabelLine) -> float | None:
        """Return the score that a line's label gives, None of an empty one.

        Raises:
            UsageError: The label is not on the scale, or of a pair of which the line does not have
                both answers.
        """
        try:
            score = self.read(line.label)
        except ValueError as error:
            raise UsageError(f"{line.where}: {error}") from error
        if self.is_pair and line.pair is None and score is not None:
            raise UsageError(
                f"{line.where}: the judge compared two answers and this file does not have both"
                " (answer_a, answer_b); draw a new file with nel judge calibrate and label that"
            )
        return score


def lines_by_annotator(paths: Sequence[Path]) -> dict[str, dict[Key, LabelLine]]:
    """Return the lines of each annotator.

    Raises:
        UsageError: An annotator has two labels of one answer that differ; or two files have one
            name and no annotators.
    """
    by_annotator: dict[str, list[LabelLine]] = {}
    for path in paths:
        for line in read_label_file(path):
            name = line.annotator or (path.stem if len(paths) > 1 else "")
            by_annotator.setdefault(name, []).append(line)
    if len(by_annotator) > 1:
        by_annotator.pop("", None)  # lines of no annotator, in a file that names others
    return {name: _unique(lines) for name, lines in by_annotator.items()}


def file_names(paths: Sequence[Path]) -> str:
    """Return the names of files, for messages."""
    return ", ".join(str(path) for path in paths)


def _unique(lines: Iterable[LabelLine]) -> dict[Key, LabelLine]:
    """Return the lines by answer; the same label twice is one.

    Raises:
        UsageError: An answer has two labels that differ.
    """
    unique: dict[Key, LabelLine] = {}
    for line in lines:
        key = line.sample_id, line.repeat
        earlier = unique.get(key)
        earlier_label, label = _label_text(earlier), _label_text(line)
        if earlier is not None and earlier_label and label and earlier_label != label:
            raise UsageError(
                f"{line.where}: sample {line.sample_id!r} repeat {line.repeat} is labelled"
                f" {label!r}, at {earlier.where} {earlier_label!r}; keep one of the two"
            )
        if not earlier_label:  # an empty label gives way to one that was filled in
            unique[key] = line
    return unique


def _label_text(line: LabelLine | None) -> str:
    return "" if line is None or line.label is None else str(line.label).strip()
