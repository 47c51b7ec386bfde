"""Counts a run's judged answers and people's labels, and divides them into strata by score.

Answers are added one at a time, and counted by score. A label belongs to an answer, not to a
verdict: a label whose answer has changed is stale and left out.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from nel.core.scaling import mean_of

STRATA_MAX: Final = 8
"""Scores with more distinct values are grouped into this many ranges."""
LABELS_MIN: Final = 2
"""Labels that a stratum needs; with fewer it is merged with its neighbour."""


@dataclass(slots=True)
class Tally:
    """The components of a run's headline: judged answers, their labels, and other answers."""

    judged: Counter[float] = field(default_factory=Counter)
    """How many answers' score is a judge's, by score to three digits."""
    labels: dict[float, Counter[tuple[float, float]]] = field(default_factory=dict)
    """``(label, score)`` of the labelled answers, under the same keys."""
    templates: set[str] = field(default_factory=set)
    """Names of the templates that the judge used."""
    grades: dict[float, str] = field(default_factory=dict)
    """Names of the judge's grades, by score to three digits."""
    opinions: dict[str, dict[float, list[int]]] = field(default_factory=dict)
    """By judge and the panel's score: labelled answers that it graded, and graded as labelled."""
    n_stale: int = 0
    """Labels of answers that this run does not have, has not judged, or has replaced."""
    answers: array[float] = field(default_factory=lambda: array("d"))
    """Four numbers of every answer: its question, or below 0 the group that this is in; its score to
    three digits, NaN without a judge; its score; its label, NaN where there is none.
    """
    _groups: dict[str, int] = field(default_factory=dict)

    def add(
        self,
        question: int,
        score: float,
        *,
        is_judged: bool,
        label: float | None = None,
        group: str | None = None,
    ) -> None:
        """Add an answer that counts in the headline.

        Args:
            question: Its number in the dataset.
            score: Its score in the headline.
            is_judged: Whether a judge gave that score.
            label: The score that a person gave.
            group: What the question belongs to, where questions are in groups.
        """
        key = key_of(score) if is_judged else math.nan
        cluster = question
        if group is not None:
            # Below 0, so that no group has the number of a question.
            cluster = -1 - self._groups.setdefault(group, len(self._groups))
        self.answers.extend((cluster, key, score, math.nan if label is None else label))
        if not is_judged:
            return
        self.judged[key] += 1
        if label is not None:
            self.labels.setdefault(key, Counter())[label, score] += 1

    def add_opinion(self, judge: str, score: float, *, agrees: bool) -> None:
        """Count what one judge of a panel said of a labelled answer.

        Args:
            judge: Its name.
            score: The panel's score of the answer, by which labels were drawn.
            agrees: Whether its own grade is the label.
        """
        counts = self.opinions.setdefault(judge, {}).setdefault(key_of(score), [0, 0])
        counts[0] += 1
        counts[1] += agrees

    @property
    def n_judged(self) -> int:
        """Return how many answers a judge scored."""
        return self.judged.total()

    @property
    def mean_judged(self) -> float | None:
        """Return the mean of the judge's scores; None where it scored nothing."""
        pairs = zip(self.answers[1::4], self.scores, strict=True)
        scores = [score for key, score in pairs if not math.isnan(key)]
        return mean_of(scores) if scores else None

    @property
    def scores(self) -> array[float]:
        """Return the score of every answer."""
        return self.answers[2::4]

    @property
    def n_labelled(self) -> int:
        """Return how many judged answers have a label."""
        return sum(counts.total() for counts in self.labels.values())


def key_of(score: float) -> float:
    """Return the score to three digits, by which answers are counted."""
    # Scores that are means differ in their last digits; the counts need one key for each.
    return float(f"{score:.3g}")


@dataclass(frozen=True, slots=True)
class GradeStratum:
    """Answers of one score or a range of scores."""

    low: float
    high: float
    n: int
    pairs: Mapping[tuple[float, float], int]
    """How often each ``(label, score)`` occurs."""

    @property
    def n_labelled(self) -> int:
        """Return how many answers have a label."""
        return sum(self.pairs.values())

    def join(self, neighbour: GradeStratum) -> GradeStratum:
        """Return the union of both."""
        return GradeStratum(
            min(self.low, neighbour.low),
            max(self.high, neighbour.high),
            self.n + neighbour.n,
            dict(Counter(dict(self.pairs)) + Counter(dict(neighbour.pairs))),
        )


def stratum_keys(sizes: Mapping[float, int]) -> dict[float, float]:
    """Return the stratum of each score: itself, or with many scores the lowest of its range.

    Args:
        sizes: Answers by score.

    >>> stratum_keys({0.0: 5, 1.0: 7})
    {0.0: 0.0, 1.0: 1.0}
    """
    if len(sizes) <= STRATA_MAX:
        return {key: key for key in sorted(sizes)}
    total = sum(sizes.values())
    keys: dict[float, float] = {}
    start = min(sizes)
    n_below = n_ranges_below = 0
    for key in sorted(sizes):
        # A range ends with the score by which its share of all answers, an eighth, is reached.
        if n_below * STRATA_MAX >= (n_ranges_below + 1) * total:
            start = key
            n_ranges_below = n_below * STRATA_MAX // total
        keys[key] = start
        n_below += sizes[key]
    return keys


def strata_of(tally: Tally) -> list[GradeStratum]:
    """Return the strata by score, the lowest first; one with too few labels joins its neighbour."""
    keys = stratum_keys(tally.judged)
    parts: dict[float, GradeStratum] = {}
    for key, start in keys.items():
        stratum = GradeStratum(key, key, tally.judged[key], dict(tally.labels.get(key, {})))
        parts[start] = parts[start].join(stratum) if start in parts else stratum
    strata: list[GradeStratum] = []
    for group in parts.values():
        if strata and min(strata[-1].n_labelled, group.n_labelled) < LABELS_MIN:
            strata[-1] = strata[-1].join(group)
        else:
            strata.append(group)
    return strata
