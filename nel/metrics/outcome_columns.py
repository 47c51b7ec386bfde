"""Outcomes of many results as columns: the question of each, and a code for what counts of its
outcome.

Most runs have a handful of distinct outcomes, so that a million results are counted in a few
operations on arrays. Depends on numpy.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from nel.metrics.late_numpy import np
from nel.types import ModelFailure, Outcome, Scored, Unscored

if TYPE_CHECKING:
    from numpy.typing import NDArray

Counted: TypeAlias = Outcome | str
"""An outcome without answer, detail and details, or why a pair was not to be asked."""
_CODE: Final = "q"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeColumns:
    """Results in the order of the dataset, as columns of equal length."""

    questions: NDArray[np.int64]
    codes: NDArray[np.int64]
    """Places in `outcomes`."""
    outcomes: Sequence[Counted]
    groups: Mapping[int, str] = field(default_factory=dict)
    """By question, the cluster that it belongs to."""

    def __len__(self) -> int:
        """Return the number of results."""
        return len(self.codes)

    def __iter__(self) -> Iterator[tuple[int, Counted]]:
        """Yield the question of each result, and what counts of its outcome."""
        for question, code in zip(self.questions.tolist(), self.codes.tolist(), strict=True):
            yield question, self.outcomes[code]

    def rows_of(self, holds: Callable[[Counted], bool]) -> NDArray[np.bool_]:
        """Return for each result whether something holds of its outcome."""
        return np.array([holds(outcome) for outcome in self.outcomes], dtype=bool)[self.codes]

    def values(self, value_of: Callable[[Counted], float]) -> NDArray[np.float64]:
        """Return a number of each result's outcome."""
        return np.array([value_of(outcome) for outcome in self.outcomes], dtype=np.float64)[
            self.codes
        ]

    def metric(self, name: str) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return for each result whether it has the number of a scorer, and the number, 0 where it
        has none.
        """
        values_of = [
            {} if isinstance(outcome, (str, Unscored)) else outcome.metrics
            for outcome in self.outcomes
        ]
        has = np.array([name in outcome for outcome in values_of], dtype=bool)
        values = np.array([outcome.get(name, 0.0) for outcome in values_of], dtype=np.float64)
        return has[self.codes], values[self.codes]

    def selected(self, rows: NDArray[np.int64]) -> OutcomeColumns:
        """Return some of the results, in the order of the rows, which are in that of the
        dataset.
        """
        groups = self.groups
        if groups:
            groups = {
                question: groups[question]
                for question in self.questions[rows].tolist()
                if question in groups
            }
        return OutcomeColumns(
            questions=self.questions[rows],
            codes=self.codes[rows],
            outcomes=self.outcomes,
            groups=groups,
        )


@dataclass(slots=True)
class OutcomeColumnsBuilder:
    """Takes results one at a time, or those of another builder, and makes columns of them."""

    questions: array[int] = field(default_factory=lambda: array(_CODE))
    codes: array[int] = field(default_factory=lambda: array(_CODE))
    outcomes: list[Counted] = field(default_factory=list)
    """Distinct ones, in the order in which they first came."""
    label_codes: array[int] = field(default_factory=lambda: array(_CODE))
    labels: dict[Hashable, int] = field(default_factory=dict)
    """What the caller told of a result, to the code of it."""
    groups: dict[int, str] = field(default_factory=dict)
    _codes_of: dict[Hashable, int] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of results."""
        return len(self.codes)

    def add(
        self, question: int, outcome: Counted, *, label: Hashable = None, group: str | None = None
    ) -> None:
        """Add one result; questions come in order.

        Args:
            question: Its number.
            outcome: What counts of it is kept.
            label: Whatever else of it is wanted back in `label_codes`.
            group: The cluster that the question belongs to.
        """
        key = _key_of(outcome)
        code = self._codes_of.get(key)
        if code is None:
            code = self._codes_of[key] = len(self.outcomes)
            self.outcomes.append(_bare(outcome))
        self.questions.append(question)
        self.codes.append(code)
        self.label_codes.append(self.labels.setdefault(label, len(self.labels)))
        if group is not None:
            self.groups[question] = group

    def extend(self, other: OutcomeColumnsBuilder) -> None:
        """Add the results of another builder, which come after those that are there."""
        for key, outcome in zip(other._codes_of, other.outcomes, strict=True):
            if key not in self._codes_of:
                self._codes_of[key] = len(self.outcomes)
                self.outcomes.append(outcome)
        codes = np.array([self._codes_of[key] for key in other._codes_of], dtype=np.int64)
        labels = np.array(
            [self.labels.setdefault(label, len(self.labels)) for label in other.labels],
            dtype=np.int64,
        )
        self.questions += other.questions
        self.codes.frombytes(codes[np.frombuffer(other.codes, dtype=np.int64)].tobytes())
        self.label_codes.frombytes(
            labels[np.frombuffer(other.label_codes, dtype=np.int64)].tobytes()
        )
        self.groups.update(other.groups)

    def columns(self) -> OutcomeColumns:
        """Return the results as columns."""
        return OutcomeColumns(
            questions=np.array(self.questions, dtype=np.int64),
            codes=np.array(self.codes, dtype=np.int64),
            outcomes=self.outcomes,
            groups=self.groups,
        )


def _key_of(outcome: Counted) -> Hashable:
    """Return what tells what counts of an outcome from that of another; the order of its numbers
    counts too.
    """
    if isinstance(outcome, Scored):
        return outcome.reward, *outcome.metrics.items()
    if isinstance(outcome, str):
        return outcome
    if isinstance(outcome, ModelFailure):
        return outcome.kind, None, *outcome.metrics.items()
    return outcome.kind, outcome.cause


def _bare(outcome: Counted) -> Counted:
    if isinstance(outcome, Scored):
        return Scored(reward=outcome.reward, metrics=outcome.metrics)
    if isinstance(outcome, str):
        return outcome
    if isinstance(outcome, ModelFailure):
        return ModelFailure(kind=outcome.kind, metrics=outcome.metrics)
    return Unscored(cause=outcome.cause, kind=outcome.kind)
