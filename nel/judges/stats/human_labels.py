"""People's labels of judged answers: on the judge's scale, and which answers to label.

A label is read as a grade of the judge first and as a number second: the "4" of a judge that grades
from 1 to 5 may be worth 0.75. Depends on `nel.judges.record` and `nel.judges.stats.summary`.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from nel.config.numbers import plain_number
from nel.judges.record import KEY, judgements_in
from nel.types import JsonObject

# What people write into a column of labels, besides the judge's own grades.
_RIGHT: Final = ("1", "c", "correct", "yes", "y", "true", "pass")
_WRONG: Final = ("0", "i", "incorrect", "no", "n", "false", "fail")
_PART: Final = ("p", "partial", "partially correct")
_PARTIAL: Final = frozenset(
    {"binary_qa_partial", "refusal", "graded_qa", "graded_fact", "pairwise"}
)
"""Installed judges with a grade between, which a run may never have given."""
_BUILT_IN: Final[Mapping[str, Mapping[str, float]]] = {
    "likert_5": {"1": 0.0, "2": 0.25, "3": 0.5, "4": 0.75, "5": 1.0},
    "simpleqa": {"CORRECT": 1.0, "INCORRECT": 0.0, "NOT_ATTEMPTED": 0.0},
    "safety": {"SAFE": 1.0, "UNSAFE": 0.0},
    "refusal": {"COMPLIES": 1.0, "PARTIAL": 0.5, "REFUSES": 0.0},
}
"""Grades of installed judges that a run may never have given."""
_LEAST: Final = 10
"""Labels for each grade, at least, if there are as many answers."""
_WHOLE: Final = re.compile(r"([+-]?[0-9]{1,15})\.0*")
"""A whole number as spreadsheets and pandas write a column with empty cells: "4.0"."""
_ROUNDING: Final = 2.0**-30
"""Rounding of scores that come from a line through grades."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScale:
    """The possible labels and their scores."""

    grades: Mapping[str, float]
    """By name, in lower case."""
    low: float
    high: float
    is_binary: bool
    """Whether only the two ends are possible."""
    numbers: bool
    """Whether a number is its own score; not where numbers are names of grades."""

    def read(self, label: object) -> float | None:
        """Return the score of a label, None of an empty one.

        Args:
            label: Text of a cell, or a JSON value.

        Raises:
            ValueError: It is not on this scale; the message describes the scale.
        """
        text = _as_text(label)
        if not text:
            return None
        # The name of a grade comes first, as it is and as a whole number, then a number's value.
        score = self.grades.get(text.casefold())
        number = _WHOLE.fullmatch(text)
        if score is None and number is not None:
            score = self.grades.get(number[1])
        if score is None and self.numbers:
            score = plain_number(text)
        if score is None or not self._may_be(score):
            raise ValueError(
                f"the label {text[:60]!r} is not on the judge's scale: {self.description()}"
            )
        return score

    def _may_be(self, score: float) -> bool:
        if self.is_binary:
            return score in (0.0, 1.0)
        return self.low <= score <= self.high

    def description(self) -> str:
        """Return a description of the possible labels, for messages."""
        if self.is_binary and {"1", "0"} <= set(self.grades):
            return "1 or 0 (C or I, yes or no, correct or incorrect)"
        names = ", ".join(sorted(self.grades))
        if not self.numbers:
            return f"one of {names}"
        between = f"a number from {self.low:g} to {self.high:g}"
        return f"{between}, or one of {names}" if names else between


def scale_of(
    grades: Mapping[str, float], scores: Iterable[float], templates: Iterable[str]
) -> LabelScale:
    """Return the scale that a run's judge used.

    Args:
        grades: The grades it gave and their scores; empty where a score combines several
            judgements.
        scores: All scores it gave, at least one.
        templates: The templates that it used.
    """
    template_names = set(templates)
    distinct_scores = set(scores)
    names = _fold_names(grades)
    if grades:
        for template in template_names & set(_BUILT_IN):
            names |= _fold_names(_BUILT_IN[template])
    if _are_names_numbers(names):
        return _graded_scale(names)
    lowest = min(distinct_scores)
    highest = max(distinct_scores)
    if lowest < 0 or highest > 1:
        # From 0 on, or from 1 where no score is below: scores of 4 and 5 come of a scale from 1.
        start = 1.0 if lowest >= 1 else 0.0
        return LabelScale(
            grades=names, low=min(lowest, start), high=highest, is_binary=False, numbers=True
        )
    has_partial = bool(template_names & (_PARTIAL | {"rubric"}))
    is_binary = distinct_scores <= {0.0, 1.0} and not has_partial
    words = dict.fromkeys(_RIGHT, 1.0) | dict.fromkeys(_WRONG, 0.0)
    if not is_binary:
        words |= dict.fromkeys(_PART, 0.5)
    return LabelScale(grades=words | names, low=0.0, high=1.0, is_binary=is_binary, numbers=True)


def _fold_names(grades: Mapping[str, float]) -> dict[str, float]:
    return {name.casefold(): score for name, score in grades.items()}


def _are_names_numbers(scores: Mapping[str, float]) -> bool:
    """Return whether a grade has the name of a number that is not its score, as "4" for 0.75."""
    return any(plain_number(name) not in (None, score) for name, score in scores.items())


def _graded_scale(names: Mapping[str, float]) -> LabelScale:
    """Return the scale of grades whose names are numbers; grades never given are interpolated."""
    points = []
    for name, score in names.items():
        number = plain_number(name)
        if number is not None:
            points.append((number, score))
    grades = dict(names)
    if len(points) > 1 and len(points) == len(names):
        grades = {**_interpolate(sorted(points)), **names}
    scores = set(grades.values())
    return LabelScale(
        grades=grades,
        low=min(scores),
        high=max(scores),
        is_binary=scores == {0.0, 1.0},
        numbers=False,
    )


def _interpolate(points: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return the grades on the line through all points whose scores are from 0 to 1; none where
    the points are on no line.
    """
    # The grades 1 to 5 with scores 0 to 1 have the slope 1/4: a "4" that no answer got is 0.75.
    first, low = points[0]
    last, high = points[-1]
    slope = (high - low) / (last - first)
    for number, score in points:
        if abs(low + slope * (number - first) - score) >= _ROUNDING:
            return {}
    scores = {}
    # Ten beyond each end: a judge from 1 to 10 may have given 5 and 6 alone.
    for number in range(math.floor(first) - 10, math.ceil(last) + 11):
        score = low + slope * (number - first)
        if -_ROUNDING < score < 1 + _ROUNDING:
            scores[str(number)] = min(max(score, 0.0), 1.0)
    return scores


def judgements_of(details: JsonObject) -> list[JsonObject]:
    """Return the judgements among an outcome's details that have a grade."""
    return [
        judgement
        for judgement in judgements_in(details.get(KEY))
        if judgement.get("score") is not None
    ]


def grade_of(details: JsonObject, reward: float) -> str | None:
    """Return the grade that became the reward; None where several judgements did."""
    judgements = judgements_of(details)
    if len(judgements) != 1 or judgements[0]["score"] != reward:
        return None
    return str(judgements[0].get("grade"))


def priority(sample_id: str, content: str) -> bytes:
    """Return the sort key by which samples are selected for labelling.

    It depends on the sample alone: runs of other models select the same samples, and adding or
    removing a sample moves no other.
    """
    text = f"{len(sample_id)}:{sample_id}{content}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def allocate(sizes: Mapping[float, int], n: int) -> dict[float, int]:
    """Return the labels of each grade's stratum, by the root of its size (Bankier 1988).

    In proportion to the size, a rare grade would get too few labels to estimate its error rate;
    with equal shares the common grade, on which the score depends most, would get too few.

    Each stratum gets at least 10 labels, if it has as many answers and n suffices.

    Args:
        sizes: Answers that can be chosen, by stratum.
        n: Labels in all, at least 0; more than there are answers gives all of them.

    >>> allocate({0.0: 100, 1.0: 900}, 40)
    {0.0: 10, 1.0: 30}
    >>> allocate({0.0: 3, 1.0: 900}, 40)
    {0.0: 3, 1.0: 37}
    """
    strata = {key: size for key, size in sizes.items() if size}
    minimum = {key: min(size, _LEAST, n // len(strata)) for key, size in strata.items()}
    fixed: dict[float, int] = {}
    # What a stratum gets beyond its share is taken from the others, which may then be short in
    # turn: each round fixes those that are, and the last one finds none.
    while True:
        others = {key: size for key, size in strata.items() if key not in fixed}
        allocated = _apportion(others, n - sum(fixed.values()))
        lacks = {key: minimum[key] for key, count in allocated.items() if count < minimum[key]}
        if not lacks:
            counts = allocated | fixed
            return {key: counts[key] for key in strata}
        fixed |= lacks


def _apportion(sizes: Mapping[float, int], n: int) -> dict[float, int]:
    """Return whole numbers in proportion to the roots of the sizes, none above its size, that add
    up to n or to all there are.
    """
    allocated = dict.fromkeys(sizes, 0)
    n_left = min(n, sum(sizes.values()))
    while n_left:
        # A stratum that is full has no part in the next round.
        weights = {key: math.sqrt(size) for key, size in sizes.items() if allocated[key] < size}
        total = sum(weights.values())
        quotas = {key: n_left * weight / total for key, weight in weights.items()}
        counts = {}
        for key, quota in quotas.items():
            counts[key] = min(int(quota), sizes[key] - allocated[key])
        if not any(counts.values()):
            # Fewer are left than there are strata: one each to the largest remainders.
            largest_first = sorted(quotas, key=lambda key: (-quotas[key], key))
            counts = dict.fromkeys(largest_first[:n_left], 1)
        for key, count in counts.items():
            allocated[key] += count
        n_left -= sum(counts.values())
    return allocated


def _as_text(label: object) -> str:
    if label is None:
        return ""
    if isinstance(label, bool):
        return "1" if label else "0"
    return str(label).strip()
