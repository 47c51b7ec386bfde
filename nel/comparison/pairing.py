"""Pairs the questions of two sides by content and occurrence, and counts what has no partner."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nel.comparison.lines import Columns, Ints
from nel.comparison.questions import Key, Questions, is_distinct, questions_of
from nel.comparison.sides import SideBenchmark
from nel.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """The questions that two sides have in common."""

    key: Key
    baseline: Questions
    candidate: Questions
    left: Ints
    """The baseline's questions that have a partner, in the order of names."""
    right: Ints
    """The candidate's partners, in the same order."""
    n_changed: int
    """Questions with one name and different gold answers or rows; they are not paired."""
    n_prompts_differ: int
    """Pairs that were asked with different prompts."""

    def __len__(self) -> int:
        return len(self.left)

    @property
    def n_only_baseline(self) -> int:
        """Return how many questions only the baseline has."""
        return len(self.baseline) - len(self.left) - self.n_changed

    @property
    def n_only_candidate(self) -> int:
        """Return how many questions only the candidate has."""
        return len(self.candidate) - len(self.right) - self.n_changed


def pair(
    baseline: SideBenchmark,
    columns: Columns,
    candidate: SideBenchmark,
    others: Columns,
    *,
    by_position: bool,
) -> Pairing:
    """Return the pairs of two benchmarks.

    Args:
        baseline: One side, with its columns.
        columns: Of the baseline.
        candidate: The other side.
        others: Of the candidate.
        by_position: Whether results that carry only a position may be paired by it.

    Raises:
        UsageError: A sample is there twice, or the results carry only a position and that is not
            allowed.
    """
    key = _key_of(baseline, columns, candidate, others)
    if key == "position" and not by_position:
        raise UsageError(
            f"{baseline.name}: the results carry only positions, no ids, rows or prompts that tell"
            " samples apart, and a reordered file would be compared wrongly; --despite pairing"
            " pairs by position, and never gives GO"
        )
    left_questions = questions_of(columns, key, str(baseline.path))
    right_questions = questions_of(others, key, str(candidate.path))
    left, right = _in_common(left_questions, right_questions)
    by_row = needs_rows(baseline, candidate)
    is_equal = _same_content(left_questions, left, right_questions, right, by_row=by_row)
    left, right = left[is_equal], right[is_equal]
    prompts = left_questions.digest_of("prompt")[left], right_questions.digest_of("prompt")[right]
    have_prompts = (prompts[0] != 0) & (prompts[1] != 0)  # 0 stands for none
    return Pairing(
        key=key,
        baseline=left_questions,
        candidate=right_questions,
        left=left,
        right=right,
        n_changed=int((~is_equal).sum()),
        n_prompts_differ=int(((prompts[0] != prompts[1]) & have_prompts).sum()),
    )


def needs_rows(baseline: SideBenchmark, candidate: SideBenchmark) -> bool:
    """Return whether pairs are checked by their rows, since the datasets of two runs may differ."""
    datasets = [side.fields.get("dataset.sha256") for side in (baseline, candidate)]
    is_row_known = baseline.kind == candidate.kind and not (baseline.recorded or candidate.recorded)
    return is_row_known and (datasets[0] is None or datasets[0] != datasets[1])


def _key_of(
    baseline: SideBenchmark, columns: Columns, candidate: SideBenchmark, others: Columns
) -> Key:
    """Return the best name that both sides have: an id, a row or a prompt, else the position."""
    # Of recorded answers, an id that is not the row's own and the row itself depend on the answer.
    both = (columns, others)
    if baseline.kind == candidate.kind:
        recorded = baseline.recorded or candidate.recorded
        has_ids = all(side.has_samples for side in both)
        if has_ids and (not recorded or all(side.has_own_ids for side in both)):
            return "sample"
        if not recorded and all(side.has_rows and is_distinct(side, "row") for side in both):
            return "row"
    if all(side.has_questions and is_distinct(side, "question") for side in both):
        return "question"
    return "position"


def _in_common(baseline: Questions, candidate: Questions) -> tuple[Ints, Ints]:
    """Return where each side has the questions that both have, in the order of names."""
    if np.array_equal(baseline.names, candidate.names):
        everywhere = np.arange(len(baseline))
        return everywhere, everywhere
    _, left, right = np.intersect1d(
        baseline.names, candidate.names, assume_unique=True, return_indices=True
    )
    return left, right


def _same_content(
    baseline: Questions, left: Ints, candidate: Questions, right: Ints, *, by_row: bool
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which pairs have equal gold answers, and with `by_row` equal rows."""
    is_equal = np.ones(len(left), dtype=bool)
    for name in ("expected", "row") if by_row else ("expected",):
        is_equal &= np.asarray(baseline.digest_of(name)[left] == candidate.digest_of(name)[right])
    return is_equal
