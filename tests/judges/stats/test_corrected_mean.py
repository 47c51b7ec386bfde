"""Corrected means equal published numbers, cover the truth, and are refused where no correction helps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from nel.errors import UndefinedMetric
from nel.judges.stats.corrected_mean import (
    NO_LABEL_NEEDED,
    LabelledAnswers,
    labels_mean,
    ppi_mean,
    rogan_gladen,
)
from nel.metrics.added_question import added_question_ends

NONE = math.nan


def _answers(
    *rows: tuple[int, float, float, int], repeats: int = 1, known: list[float] | None = None, **more: float
) -> LabelledAnswers:
    """Return answers by rows of stratum, judge's score, label or NaN, and how many there are.

    Args:
        repeats: So many that stand beside each other are to one question.
        known: Scores that need no label.
    """
    rest = known or []
    columns = [[row[part] for row in rows for _ in range(row[3])] for part in range(3)]
    strata, scores, labels = (
        [*column, *extra] for column, extra in zip(columns, ([], rest, [NONE] * len(rest)), strict=True)
    )
    return LabelledAnswers(
        scores=np.array(scores, dtype=float),
        labels=np.array(labels, dtype=float),
        strata=np.array([*strata, *([NO_LABEL_NEEDED] * len(rest))]),
        clusters=np.arange(len(scores), dtype=float) // repeats,
        bounds=(0.0, 1.0),
        **more,
    )


def _published(**more: Any) -> LabelledAnswers:
    """Return n = 200 with 121 right labels, 112 right verdicts and 101 of both; N = 2000 with 1193 right verdicts."""
    return _answers(
        (0, 1, 1, 101), (0, 0, 1, 20), (0, 1, 0, 11), (0, 0, 0, 68), (0, 1, NONE, 1193), (0, 0, NONE, 807), **more
    )


def test_rogan_gladen_is_the_published_number() -> None:
    """p = 0.72 of 1000, q0 = 0.85 and q1 = 0.90 of 100 each."""
    found = rogan_gladen(0.72, 1000, sensitivity=0.9, n_positive=100, specificity=0.85, n_negative=100)
    assert found.value == pytest.approx(0.76, abs=1e-12)


def test_ppi_is_the_published_number() -> None:
    """One stratum is PPI++, and with 200 labels the added question moves its ends little."""
    found = ppi_mean(_published())
    assert found.value == pytest.approx(0.627843, abs=6e-7)
    assert (found.lower, found.upper) == pytest.approx((0.576568, 0.679118), abs=0.006)


def test_strata_of_one_grade_each_are_the_weighted_labels() -> None:
    """Where a stratum is a grade, its mean label counts as often as the judge gave that grade."""
    rows = (1, 1, 1, 45), (1, 1, 0, 5), (1, 1, NONE, 850), (0, 0, 1, 20), (0, 0, 0, 80)
    found = ppi_mean(_answers(*rows))
    assert found.value == pytest.approx(0.9 * 0.9 + 0.1 * 0.2, abs=1e-12)
    within = 0.9**2 * 0.09 / 49 + 0.1**2 * 0.16 / 100
    between = (0.9 * (0.9 - 0.83) ** 2 + 0.1 * (0.2 - 0.83) ** 2) / 1000
    assert found.upper - found.lower == pytest.approx(2 * 1.96 * math.sqrt(within + between), rel=0.15)


def test_where_every_answer_has_its_label_it_is_the_interval_of_the_labels() -> None:
    """Nothing is corrected then: the ends are those of the labels and one question more."""
    labels = [1.0] * 60 + [0.0] * 20 + [0.5] * 20
    answers = _answers((0, 1, 1.0, 60), (0, 1, 0.0, 20), (0, 0, 0.5, 20))
    for found, is_monotone in ((ppi_mean(answers), False), (labels_mean(answers), True)):
        ends = added_question_ends(labels, is_monotone=is_monotone)
        assert found.value == pytest.approx(0.7)
        assert (found.lower, found.upper) == pytest.approx(ends, abs=1e-9)


def test_answers_to_one_question_are_drawn_together() -> None:
    """Copies of one answer say no more than one, for all estimators, and neither do labels of copies."""
    once = [(1, 1, 1, 45), (1, 1, 0, 5), (1, 1, NONE, 200), (0, 0, 1, 10), (0, 0, 0, 40), (0, 0, NONE, 200)]
    copied = [(stratum, score, label, 4 * count) for stratum, score, label, count in once]
    for estimate in (ppi_mean, labels_mean):
        single, four, alone = (
            estimate(answers) for answers in (_answers(*once), _answers(*copied, repeats=4), _answers(*copied))
        )
        assert single.value == pytest.approx(four.value)
        assert four.upper - four.lower > 0.93 * (single.upper - single.lower)
        assert alone.upper - alone.lower < 0.7 * (four.upper - four.lower)


def test_a_sample_of_the_benchmark_is_sure_of_what_it_asked() -> None:
    """Of a whole benchmark only the labels are in doubt; of a small part of it nearly all is."""
    rows = (1, 1, 1, 90), (1, 1, 0, 10), (1, 1, NONE, 400), (0, 0, 1, 10), (0, 0, 0, 90), (0, 0, NONE, 400)
    new, part, whole = (ppi_mean(_answers(*rows, share_asked=share)) for share in (0.0, 0.5, 1.0))
    assert new.value == part.value == whole.value
    assert whole.upper - whole.lower < part.upper - part.lower < new.upper - new.lower


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.5, 0.5), (0.6, 0.5), (0.2, 0.3), (1.0, 0.1)])
def test_a_judge_that_guesses_is_refused(sensitivity: float, specificity: float) -> None:
    """With sensitivity and specificity of 1.1 or less together the correction divides by next to nothing."""
    with pytest.raises(UndefinedMetric, match="hardly tells right from wrong"):
        rogan_gladen(0.6, 100, sensitivity=sensitivity, n_positive=50, specificity=specificity, n_negative=50)


def test_bad_input_is_refused() -> None:
    """A stratum of one label, no stratum, and answers that are all to one question."""
    for answers in (_answers((0, 1, 1, 1), (0, 1, NONE, 5)), _answers(known=[0.0, 1.0])):
        with pytest.raises(UndefinedMetric, match="fewer than two labels"):
            ppi_mean(answers)
    with pytest.raises(UndefinedMetric, match="to one question"):
        ppi_mean(_answers((0, 1, 1, 3), (0, 1, NONE, 5), repeats=8))
