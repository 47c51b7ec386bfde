"""Groups lines into questions: repeats of a sample are one question, rows of equal content several.

A question is named by a digest of its content and its occurrence, and all arrays are sorted by that
name, so the order of lines in a file does not matter. Does no I/O.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from nel.comparison.lines import FAILED, MIX, Columns, Digests, Floats, Ints
from nel.core.texts import count_text
from nel.errors import UsageError

Key = Literal["sample", "row", "question", "position"]
"""What names a question: its id, the dataset's row, the prompt with its gold answer, or only the
position."""
_MIX: Final = np.uint64(MIX)
_SPREAD: Final = np.uint64(0xBF58476D1CE4E5B9)
"""The first factor of splitmix64."""
_DISTINCT_MIN: Final = 0.5
"""The least share of distinct names; with fewer, as with one prompt for all, they name nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """One metric of each question, over its scored repeats."""

    mean: Floats
    """NaN where nothing was scored."""
    scored_sum: Floats
    n_scored: Ints
    squares: Floats
    """Sum of squares over the scored repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """The lines of one side by question, sorted by name."""

    columns: Columns
    order: Ints
    """The lines, sorted by question and repeat."""
    starts: Ints
    """Where each question begins in ``order``."""
    names: Digests
    """Of content and occurrence; sorted, each once."""

    def __len__(self) -> int:
        return len(self.names)

    @property
    def are_single(self) -> bool:
        """Whether each question has one line."""
        return len(self.names) == len(self.order)

    @property
    def n_repeats(self) -> Ints:
        """The number of lines of each question, scored or not."""
        return np.diff(np.append(self.starts, len(self.order)))

    def sums(self, sorted_values: npt.NDArray[np.generic]) -> npt.NDArray[Any]:
        """Return the sum over each question's lines; the values are in the sequence of `order`."""
        return sorted_values if self.are_single else np.add.reduceat(sorted_values, self.starts)

    @property
    def first(self) -> Ints:
        """The line of each question's first repeat."""
        return self.order[self.starts]

    def values(self, per_line: Floats) -> Values:
        """Return a metric of each question from its values in lines; NaN is unscored."""
        sorted_values = per_line[self.order]
        is_scored = ~np.isnan(sorted_values)
        filled = np.where(is_scored, sorted_values, 0.0)  # adds nothing where nothing was scored
        n_scored = self.sums(is_scored.astype(np.int64))
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            total = self.sums(filled)
            squares = self.sums(filled * filled)
            mean = sorted_values if self.are_single else total / n_scored
            # A sum of scores near the largest float overflows; a sum of scores / n does not.
            if not np.isfinite(mean[n_scored > 0]).all():
                shares = filled / np.repeat(n_scored, self.n_repeats)
                mean = np.add.reduceat(shares, self.starts)
        mean = np.where(n_scored > 0, mean, np.nan)
        return Values(mean=mean, scored_sum=total, n_scored=n_scored, squares=squares)

    def mean_of(self, per_line: Floats) -> Floats:
        """Return the mean of each question over the lines that have a value, NaN where none has."""
        return per_line[self.order] if self.are_single else self.values(per_line).mean

    def digest_of(self, name: str) -> Digests:
        """Return a column of digests of each question's first repeat."""
        return self.columns.digests(name)[self.first]

    def codes_of(self, name: str) -> Ints:
        """Return ``category`` or ``group`` of each question, as codes of its columns."""
        return self.columns.integers(name)[self.first]


def cluster_ids(codes: Ints) -> Ints:
    """Return clusters by the codes of groups; a question without a group is one alone, below 0."""
    return np.where(codes >= 0, codes, -1 - np.arange(len(codes)))


def metric_values(columns: Columns, name: str) -> Floats:
    """Return a metric of each line; where every scored line has it, a failure counts 0."""
    values = columns.metric(name)
    if not is_universal(columns, name):
        return values
    is_failure_without = (columns.states == FAILED) & np.isnan(values)
    return np.where(is_failure_without, 0.0, values)


def is_universal(columns: Columns, name: str) -> bool:
    """Return whether every scored line has a metric."""
    return not np.isnan(columns.metric(name)[columns.states < FAILED]).any()


def questions_of(columns: Columns, key: Key, what: str) -> Questions:
    """Return the questions of a side.

    Args:
        columns: Its lines.
        key: What names a question.
        what: The file, for errors.

    Raises:
        UsageError: A (sample, repeat) is there twice, or repeats of one sample differ in content.
    """
    _check_positions(columns, what)
    positions, repeats = columns.integers("position"), columns.integers("repeat")
    content = positions.astype(np.uint64) if key == "position" else columns.digests(key)
    # An id says which occurrence of its row it is; for other names, that is counted.
    if key == "sample":
        occurrences = columns.integers("occurrence")
    else:
        occurrences = _ranks(content, repeats, positions)
    names = _mix(content, occurrences)
    order = _sorted_by(names, repeats)
    ordered = names[order]
    # Where a name differs from the one before it, a question begins.
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    questions = Questions(columns=columns, order=order, starts=starts, names=ordered[starts])
    if not questions.are_single:
        if key == "sample":
            _check_ids(columns, order, ordered, what)
        _check_repeats(questions, what)
    return questions


def is_distinct(columns: Columns, key: Key) -> bool:
    """Return whether a kind of name tells most samples apart."""
    repeats = columns.integers("repeat")
    n_samples = int((repeats == repeats.min()).sum())  # each has one line of the first repeat
    return len(np.unique(columns.digests(key))) >= _DISTINCT_MIN * n_samples


def _sorted_by(names: Digests, repeats: Ints) -> Ints:
    order = np.argsort(names)
    ordered = names[order]
    # Sorting by two keys is slower, and needed only for repeats, which have equal names.
    if _equal_neighbours(ordered).any():
        order = np.lexsort((repeats, names))
    return order


def _ranks(content: Digests, repeats: Ints, positions: Ints) -> Ints:
    """Return the rank of each line, by position, among those with the same content and repeat."""
    n = len(content)
    # Once sorted, equal lines are adjacent, and a rank is the distance to the first of them.
    order = np.lexsort((positions, repeats, content))
    changes = np.append(True, ~_equal_neighbours(content[order], repeats[order]))
    starts = np.flatnonzero(changes)
    lengths = np.diff(np.append(starts, n))
    ranks = np.empty(n, dtype=np.int64)
    ranks[order] = np.arange(n) - np.repeat(starts, lengths)
    return ranks


def _mix(content: Digests, occurrence: Ints) -> Digests:
    # Both factors are odd, so each maps 64 bits one to one: two occurrences have two names.
    mixed: Digests = (content ^ (occurrence.astype(np.uint64) * _MIX)) * _SPREAD
    return mixed


def _check_positions(columns: Columns, what: str) -> None:
    """Raise UsageError where one position has two lines for one repeat."""
    repeats, positions = columns.integers("repeat"), columns.integers("position")
    if (np.diff(positions) > 0).all():  # the order in which a run without repeats is written
        return
    order = np.lexsort((positions, repeats))
    twice = _equal_neighbours(repeats[order], positions[order])
    if twice.any():
        line = order[np.flatnonzero(twice)[0]]
        raise UsageError(
            f"{what}: position {positions[line]} repeat {repeats[line]} stands there twice"
            f" ({count_text(int(twice.sum()), 'line')} too many); a result counts once: remove the"
            " copies or write the results again"
        )


def _check_ids(columns: Columns, order: Ints, names: Digests, what: str) -> None:
    """Raise UsageError where one id has two lines for one repeat; lines are sorted by both."""
    repeats = columns.integers("repeat")
    twice = _equal_neighbours(names, repeats[order])
    if twice.any():
        line = order[np.flatnonzero(twice)[0]]
        raise UsageError(
            f"{what}: two samples have one id, that of position"
            f" {columns.integers('position')[line]} repeat {repeats[line]} ({int(twice.sum()):,}"
            " lines too many); make ids unique and run again"
        )


def _equal_neighbours(*columns: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    equal = np.ones(max(len(columns[0]) - 1, 0), dtype=bool)
    for column in columns:
        equal &= np.asarray(column[1:] == column[:-1])
    return equal


def _check_repeats(questions: Questions, what: str) -> None:
    """Raise UsageError where repeats of a question have different gold answers."""
    expected = questions.columns.digests("expected")[questions.order]
    of_first_repeat = np.repeat(expected[questions.starts], questions.n_repeats)
    differ = np.flatnonzero(expected != of_first_repeat)
    if len(differ):
        position = questions.columns.integers("position")[questions.order[differ[0]]]
        raise UsageError(
            f"{what}: the repeats of position {position} have different gold answers; nothing is"
            " compared"
        )
