"""Draws of a judged run of which people labelled a few answers: corrected by PPI++ or by Rogan and Gladen, and the labels
alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import numpy as np

from nel.judges.stats.corrected_mean import Estimate, LabelledAnswers, labels_mean, ppi_mean, rogan_gladen_mean
from nel.judges.stats.human_labels import allocate

Draw = Callable[[np.random.Generator], tuple[tuple[float, float] | None, float]]
ANSWERS = 1000
RANGES = {"verdicts": 2, "ratings in 8 ranges": 8, "ratings in 1 range": 1}
"""What the judge gives, to its strata. Ratings within one range have a tuning parameter above 0."""


def labelled_run(judge: str, labels: int, group: int, mu: float, rng: np.random.Generator) -> LabelledAnswers:
    """Return a run of 1,000 answers, drawn for labelling as nel draws them.

    Args:
        judge: A key of `RANGES`. Verdicts find 95 % of what is right and call a fifth of what is wrong right.
        labels: How many answers people labelled.
        group: Answers in a group, which share a chance from a beta law; 1: none.
        mu: The share of right answers.
    """
    chance = np.full(ANSWERS, mu) if group == 1 else np.repeat(rng.beta(mu, 1 - mu, ANSWERS // group), group)
    right = (rng.random(ANSWERS) < chance).astype(np.float64)
    if judge == "verdicts":
        scores = np.where(right > 0, rng.random(ANSWERS) < 0.95, rng.random(ANSWERS) < 0.2).astype(np.float64)
        strata = scores.astype(np.int64)
    else:
        scores = np.clip(0.35 + 0.4 * right + rng.normal(0, 0.2, ANSWERS), 0, 1)
        strata = scores.argsort().argsort() * RANGES[judge] // ANSWERS
    people = np.full(ANSWERS, np.nan)
    codes, sizes = np.unique(strata, return_counts=True)
    wanted = allocate({float(code): int(size) for code, size in zip(codes, sizes, strict=True)}, labels)
    for code, count in wanted.items():
        asked = rng.permutation(np.flatnonzero(strata == code))[:count]
        people[asked] = right[asked]
    return LabelledAnswers(
        scores=scores,
        labels=people,
        strata=strata,
        clusters=(np.arange(ANSWERS) // group).astype(np.float64),
        bounds=(0.0, 1.0),
    )


def corrected_points() -> Iterator[tuple[str, str, Draw]]:
    """Yield kind, name and draw."""
    methods = {"corrected": ppi_mean, "labels": labels_mean, "rogan-gladen": by_errors_of_judge}
    for kind, method in methods.items():
        for judge in RANGES if kind != "rogan-gladen" else ("verdicts",):
            for group in (1, 10):
                for labels in (30, 60, 200):
                    for mu in (0.6, 0.9, 0.97):
                        name = f"{labels} of 1,000, {judge}, groups of {group}, truth {mu:g}"
                        yield kind, name, _draw(method, judge, labels, group, mu)


def by_errors_of_judge(answers: LabelledAnswers) -> Estimate:
    """Return Rogan and Gladen's estimate, by as many labels of right and of wrong answers as were drawn of both: of another
    run, as the docstring of `rogan_gladen` has it, so that the judge's grade did not decide what was labelled.
    """
    rng = np.random.default_rng(zlib.crc32(answers.scores.tobytes()))
    half = int((~np.isnan(answers.labels)).sum()) // 2
    found = rng.binomial(half, 0.95) / half, rng.binomial(half, 0.8) / half
    return rogan_gladen_mean(answers, sensitivity=(found[0], half), specificity=(found[1], half))


def _draw(method: Callable[[LabelledAnswers], Estimate], judge: str, labels: int, group: int, mu: float) -> Draw:
    def draw(rng: np.random.Generator) -> tuple[tuple[float, float], float]:
        found = method(labelled_run(judge, labels, group, mu, rng))
        return (found.lower, found.upper), mu

    return draw
