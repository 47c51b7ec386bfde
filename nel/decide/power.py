"""How many questions and repeats a comparison needs, and what a given number can detect. Pure
functions.

A plan rests on variances: of the difference of two runs between questions, and of the answers to
one question. They come from earlier runs (`nel.decide.repeats.variance_parts_of_sums`) or from
assumptions; a plan is no better than they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from nel.metrics.added_question import lower_ends_of_sums
from nel.metrics.late_numpy import np

POWER: Final = 0.8
ALPHA: Final = 0.05
_HALVINGS: Final = 200
_BISECTIONS: Final = 30
"""Of an interval from 0 to 1: far below what is printed of an effect."""
_QUESTIONS_MAX: Final = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class Test:
    """The test that a plan is made for."""

    __test__ = False  # not a class of tests

    alpha: float = ALPHA
    power: float = POWER
    two_sided: bool = True
    """False for non-inferiority, where the effect is the distance to the margin."""

    def __post_init__(self) -> None:
        """Refuse levels that are none.

        Raises:
            ValueError: One is not strictly between 0 and 1, or the power is not above alpha.
        """
        if not (0 < self.alpha < 1 and self.alpha < self.power < 1):
            raise ValueError(
                f"power {self.power} at alpha {self.alpha}: both are shares, and the power is the"
                " larger"
            )

    @property
    def z_alpha(self) -> float:
        """Return the normal quantile that the statistic must exceed."""
        return NormalDist().inv_cdf(1 - (self.alpha / 2 if self.two_sided else self.alpha))

    @property
    def z_power(self) -> float:
        """Return by how much its mean must exceed that, in standard errors."""
        return NormalDist().inv_cdf(self.power)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variances:
    """The variances of a paired comparison, per question."""

    between: float
    """Of the difference of the two runs' true means of a question: ``Var(xA) + Var(xB) - 2 Cov(xA,
    xB)``.
    """
    within_baseline: float
    """Of the answers of the baseline to one question."""
    within_candidate: float
    design_effect: float = 1.0
    """``1 + (m - 1) ICC`` for m questions in a cluster; 1 without clusters."""

    def __post_init__(self) -> None:
        """Refuse what is no variance.

        Raises:
            ValueError: A variance is negative or not finite, all are 0, or the design effect is
                below 0 or not finite.
        """
        parts = (self.between, self.within_baseline, self.within_candidate)
        if not (
            all(0 <= component < math.inf for component in parts)
            and sum(parts) > 0
            and 0 < self.design_effect < math.inf
        ):
            raise ValueError(
                f"variances {parts} with design effect {self.design_effect} plan no comparison"
            )

    def per_question(self, repeats: float) -> float:
        """Return the variance of one question's difference with so many answers of each run;
        infinitely many leave `between`.
        """
        within = self.within_baseline / repeats + self.within_candidate / repeats
        return (self.between + within) * self.design_effect


def questions_needed(
    effect: float,
    variances: Variances,
    *,
    repeats: float = 1,
    test: Test | None = None,
) -> int:
    """Return how many questions find an effect: ``(z_a + z_b)² (w² + sA²/KA + sB²/KB) / d²``
    (Miller 2024, section 5).

    Args:
        effect: The least difference worth finding, in the unit of the scores; above 0.
        variances: Of the comparison.
        repeats: Answers of each run to a question; `math.inf` for its true mean.
        test: By default two-sided at 5 % with a power of 80 %.

    Raises:
        ValueError: A number is out of range.

    >>> [questions_needed(0.03, Variances(between=1 / 9, within_baseline=1 / 6, within_candidate=1 / 6),
    ...                   repeats=k) for k in (1, 10, math.inf)]
    [3876, 1260, 969]
    """
    test = test or Test()
    _check_effect(effect)
    spread = variances.per_question(repeats)
    return _whole((test.z_alpha + test.z_power) ** 2 * spread / effect**2)


def minimum_detectable_effect(
    questions: float,
    variances: Variances,
    *,
    repeats: float = 1,
    test: Test | None = None,
) -> float:
    """Return the least difference that so many questions find.

    Raises:
        ValueError: A number is out of range.

    >>> variances = Variances(between=1 / 9, within_baseline=1 / 6, within_candidate=1 / 6)
    >>> round(minimum_detectable_effect(164, variances), 3)
    0.146
    """
    test = test or Test()
    _check_questions(questions)
    spread = variances.per_question(repeats)
    return (test.z_alpha + test.z_power) * math.sqrt(spread / questions)


def power_of(
    effect: float,
    questions: float,
    variances: Variances,
    *,
    repeats: float = 1,
    test: Test | None = None,
) -> float:
    """Return how likely so many questions find an effect.

    Raises:
        ValueError: A number is out of range.

    >>> variances = Variances(between=1 / 9, within_baseline=1 / 6, within_candidate=1 / 6)
    >>> round(power_of(0.03, 3876, variances), 3)
    0.8
    """
    test = test or Test()
    _check_effect(effect)
    _check_questions(questions)
    error = math.sqrt(variances.per_question(repeats) / questions)
    return _power(effect / error, test)


def added_power(effect: float, questions: float, variance: float, test: Test) -> float:
    """Return how likely the interval from the differences and one more at each bound, -1 and 1,
    finds an effect.

    Two-sided: that the lower end is above 0 for a candidate that is better by the effect.
    One-sided: that it excludes a drop by the effect, the margin, of a candidate that is equally
    good. The differences are taken to lie symmetrically about their mean.

    Args:
        effect: Above 0, at most 1.
        questions: At least one; of clusters as many as they count.
        variance: Of the difference of one question, between questions.
        test: The level and the kind of the test.

    Raises:
        ValueError: A number is out of range.

    >>> round(added_power(0.2, 60, 0.16, Test()), 3), added_power(0.05, 10, 0.0, Test())
    (0.928, 0.0)
    """
    _check_effect(effect)
    _check_questions(questions)
    truth, target = (effect, 0.0) if test.two_sided else (0.0, -effect)
    low, high = target, 1.0
    if not _added_lower_end(high, questions, variance, test) > target:
        return 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_enough = _added_lower_end(middle, questions, variance, test) > target
        low, high = (low, middle) if is_enough else (middle, high)
    error = math.sqrt(variance / questions)
    if error == 0:
        return float(truth >= high)
    return NormalDist().cdf((truth - high) / error)


def added_questions_needed(effect: float, variance: float, test: Test) -> int:
    """Return the fewest questions that find an effect by `added_power`.

    Raises:
        ValueError: A number is out of range, or there would be too many.

    >>> added_questions_needed(0.2, 0.16, Test())
    46
    """
    low, high = 0, 8
    while added_power(effect, high, variance, test) < test.power:
        low, high = high, _whole(2 * high)
    while high - low > 1:
        middle = (low + high) // 2
        is_enough = added_power(effect, middle, variance, test) >= test.power
        low, high = (low, middle) if is_enough else (middle, high)
    return high


def added_detectable(questions: float, variance_of: Callable[[float], float], test: Test) -> float:
    """Return the least difference that so many questions find by `added_power`, 1 where they find
    none.

    Args:
        questions: As above.
        variance_of: The variance of the difference of one question, by the effect.
        test: As above.

    >>> round(added_detectable(30, lambda effect: effect * (1 - effect), Test()), 3)
    0.282
    """
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        is_found = added_power(middle, questions, variance_of(middle), test) >= test.power
        low, high = (low, middle) if is_found else (middle, high)
    return high


def _added_lower_end(mean: float, questions: float, variance: float, test: Test) -> float:
    """Return the lower end of differences with a mean and a variance."""
    height, spread = (mean + 1) / 2, variance / 4
    powers = questions * np.array([height, height**2 + spread, height**3 + 3 * height * spread])
    return 2 * float(lower_ends_of_sums(powers, questions + 1, test.z_alpha)) - 1


def mcnemar_questions_needed(effect: float, discordant: float, *, test: Test | None = None) -> int:
    """Return how many questions scored 0 or 1 find an effect: ``((z_a sqrt(psi) + z_b sqrt(psi -
    d²)) / d)²``.

    The form of Connor 1987 (Biometrics 43) and of Miettinen 1968, for questions asked once.

    Args:
        effect: The least difference worth finding, above 0.
        discordant: The share of questions that only one of the two has right, psi; at least the
            effect, at most 1.
        test: As above.

    Raises:
        ValueError: A number is out of range.

    >>> mcnemar_questions_needed(0.03, 0.2)
    1742
    """
    test = test or Test()
    _check_discordant(effect, discordant)
    root = (
        test.z_alpha * math.sqrt(discordant) + test.z_power * math.sqrt(discordant - effect**2)
    ) / effect
    return _whole(root * root)


def mcnemar_power(
    effect: float,
    discordant: float,
    questions: float,
    *,
    test: Test | None = None,
) -> float:
    """Return how likely so many questions scored 0 or 1 find an effect, by the same approximation.

    Raises:
        ValueError: A number is out of range.

    >>> round(mcnemar_power(0.03, 0.2, 1742), 3)
    0.8
    """
    test = test or Test()
    _check_discordant(effect, discordant)
    _check_questions(questions)
    size = math.sqrt(questions)
    spread, null = math.sqrt(discordant - effect**2), test.z_alpha * math.sqrt(discordant)
    normal = NormalDist()
    if spread == 0:
        return 1.0 if effect * size > null else 0.0
    power = normal.cdf((effect * size - null) / spread)
    return power + (normal.cdf((-effect * size - null) / spread) if test.two_sided else 0.0)


def mcnemar_minimum_detectable_effect(
    questions: float, discordant: float, *, test: Test | None = None
) -> float:
    """Return the least difference that so many questions scored 0 or 1 find.

    Where not even a difference as large as the discordant share is found, the share is taken to be
    as large as the
    difference: no difference comes with fewer discordant questions.

    Raises:
        ValueError: A number is out of range, or not even a difference of 1 is found.

    >>> round(mcnemar_minimum_detectable_effect(1742, 0.2), 4), round(mcnemar_minimum_detectable_effect(50, 0.02), 4)
    (0.03, 0.1497)
    """
    test = test or Test()
    _check_discordant(discordant, discordant)

    def finds(effect: float) -> bool:
        share = max(effect, discordant)
        return mcnemar_power(effect, share, questions, test=test) >= test.power

    low, high = (0.0, discordant) if finds(discordant) else (discordant, 1.0)
    if not finds(high):
        raise ValueError(f"{questions:g} questions find no difference, however large")
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if finds(middle) else (middle, high)
    return high


def _power(distance: float, test: Test) -> float:
    normal = NormalDist()
    power = normal.cdf(distance - test.z_alpha)
    return power + (normal.cdf(-distance - test.z_alpha) if test.two_sided else 0.0)


def _whole(number: float) -> int:
    if not number <= _QUESTIONS_MAX:
        raise ValueError(
            "more than a million million would be needed: the effect is too small to be found"
        )
    # A number that is whole but for rounding is not raised to the next.
    return max(1, math.ceil(number - 1e-9 * number))


def _check_effect(effect: float) -> None:
    if not 0 < effect < math.inf:
        raise ValueError(f"the effect must be above 0, not {effect}")


def _check_questions(questions: float) -> None:
    if not 1 <= questions < math.inf:
        raise ValueError(f"there must be at least one question, not {questions}")


def _check_discordant(effect: float, discordant: float) -> None:
    _check_effect(effect)
    if not effect <= discordant <= 1:
        raise ValueError(
            f"a difference of {effect} needs at least so many discordant questions, not"
            f" {discordant}"
        )
