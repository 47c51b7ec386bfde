"""How many questions and repeats a comparison needs, and what a given number detects.

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

from nel.decide.pairs import Floats
from nel.metrics.added_question import lower_ends_of_sums
from nel.metrics.late_numpy import np
from nel.metrics.question_intervals import fewest_questions

POWER: Final = 0.8
ALPHA: Final = 0.05
_BISECTIONS: Final = 30
"""Of an interval from 0 to 1: far below what is printed of an effect."""
_PASSES: Final = 3
_GRID: Final = 1 << 10
"""Steps of an interval in each pass: as exact as the bisections, in fewer calls of numpy."""


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
    """Of the difference of true means of a question: ``Var(xA) + Var(xB) - 2 Cov(xA, xB)``."""
    within_baseline: float
    """Of the answers of the baseline to one question."""
    within_candidate: float
    design_effect: float = 1.0
    """``1 + (m - 1) ICC`` for m questions in a cluster; 1 without clusters."""

    def __post_init__(self) -> None:
        """Refuse what is not a variance.

        Raises:
            ValueError: A variance is negative or not finite, all are 0, or the design effect is
                below 0 or not finite.
        """
        parts = (self.between, self.within_baseline, self.within_candidate)
        if not any(parts):
            raise ValueError(
                "the scores of the two do not differ on any question (variance 0), as two that are"
                " all right or all wrong, or correlate fully; plan from scores that vary"
            )
        if not (
            all(0 <= component < math.inf for component in parts)
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


def power_of(
    effect: float,
    questions: float,
    variances: Variances,
    *,
    repeats: float = 1,
    test: Test | None = None,
) -> float:
    """Return how likely so many questions find an effect.

    The statistic is normal (Miller 2024, section 5).

    Args:
        effect: The least difference worth finding, in the unit of the scores; above 0.
        questions: At least one.
        variances: Of the comparison.
        repeats: Answers of each run to a question; `math.inf` for its true mean.
        test: By default two-sided at 5 % with a power of 80 %.

    Raises:
        ValueError: A number is out of range.

    >>> variances = Variances(between=1 / 9, within_baseline=1 / 6, within_candidate=1 / 6)
    >>> round(power_of(0.03, 3876, variances), 3)
    0.8
    """
    test = test or Test()
    check_effect(effect)
    _check_questions(questions)
    distance = effect / math.sqrt(variances.per_question(repeats) / questions)
    normal = NormalDist()
    power = normal.cdf(distance - test.z_alpha)
    if test.two_sided:  # a significant result of the other sign counts as found
        power += normal.cdf(-distance - test.z_alpha)
    return power


def added_power(effect: float, questions: float, variance: float, test: Test) -> float:
    """Return how likely the interval of the differences and one more at each bound finds an effect.

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
    check_effect(effect)
    _check_questions(questions)
    truth, target = (effect, 0.0) if test.two_sided else (0.0, -effect)
    # Find the least observed mean whose lower end exceeds the target, each pass within the one grid
    # step of the pass before; then the power is how likely the observed mean is at least that.
    low, high = target, 1.0
    for _ in range(_PASSES):
        means = np.linspace(low, high, _GRID + 1)
        is_enough = _added_lower_ends(means, questions, variance, test) > target
        if not is_enough[-1]:
            return 0.0
        index = int(is_enough.argmax())
        low, high = float(means[max(index - 1, 0)]), float(means[index])
    error = math.sqrt(variance / questions)
    if error == 0:
        return float(truth >= high)
    return NormalDist().cdf((truth - high) / error)


def _added_lower_ends(means: Floats, questions: float, variance: float, test: Test) -> Floats:
    """Return the lower ends of differences with these means and one variance."""
    # Differences from -1 to 1 as heights from 0 to 1, for which the ends are made; half the scale
    # has a quarter of the variance.
    heights = (means + 1) / 2
    spread = variance / 4
    # E X, E X² and E X³ of values that lie evenly on both sides of their mean.
    powers = np.array([heights, heights**2 + spread, heights**3 + 3 * heights * spread])
    ends = lower_ends_of_sums(questions * powers, questions + 1, test.z_alpha)
    return 2 * ends - 1


def mcnemar_power(
    effect: float,
    discordant: float,
    questions: float,
    test: Test | None = None,
) -> float:
    """Return how likely so many questions scored 0 or 1 find an effect: the power of which ``((z_a
    sqrt(psi) + z_b sqrt(psi - d²)) / d)²`` are the questions.

    The form of Connor 1987 (Biometrics 43) and of Miettinen 1968, for questions asked once.

    Args:
        effect: The least difference worth finding, above 0.
        discordant: The share of questions that only one of the two has right, psi; at least the
            effect, at most 1.
        questions: At least one.
        test: As above.

    Raises:
        ValueError: A number is out of range.

    >>> round(mcnemar_power(0.03, 0.2, 1742), 3)
    0.8
    """
    test = test or Test()
    _check_discordant(effect, discordant)
    _check_questions(questions)
    expected = effect * math.sqrt(questions)
    # What the statistic must exceed, by its spread without an effect; and its spread with one.
    critical = test.z_alpha * math.sqrt(discordant)
    spread = math.sqrt(discordant - effect**2)
    if spread == 0:
        return 1.0 if expected > critical else 0.0
    normal = NormalDist()
    power = normal.cdf((expected - critical) / spread)
    if test.two_sided:  # a significant result of the other sign counts as found
        power += normal.cdf((-expected - critical) / spread)
    return power


def questions_needed(power: Callable[[int], float], test: Test) -> int:
    """Return the fewest questions that have the power of a test; with one fewer they have not.

    Args:
        power: By the number of questions, as one of the functions above gives it.
        test: Whose power is wanted.

    Raises:
        ValueError: There would be too many.

    >>> questions_needed(lambda n: mcnemar_power(0.03, 0.2, n), Test())
    1742
    """
    questions = fewest_questions(lambda n: power(n) >= test.power)
    if questions is None:
        raise ValueError(
            "more than a thousand million would be needed: the effect is too small to be found"
        )
    return questions


def least_effect(power: Callable[[float], float], test: Test, *, largest: float = 1.0) -> float:
    """Return the least difference that is found with the power of a test, the largest where none is.

    Args:
        power: By the difference. No difference comes with fewer discordant questions than itself, so
            a share of them has to rise with it.
        test: Whose power is wanted.
        largest: Above which none is looked for.

    >>> round(least_effect(lambda effect: mcnemar_power(effect, max(effect, 0.02), 50), Test()), 4)
    0.1497
    """
    low, high = 0.0, largest
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if power(middle) >= test.power:
            high = middle
        else:
            low = middle
    return high


def check_effect(effect: float) -> None:
    """Raise ValueError unless an effect can be looked for."""
    if not 0 < effect < math.inf:
        raise ValueError(f"the effect must be above 0, not {effect}")


def _check_questions(questions: float) -> None:
    if not 1 <= questions < math.inf:
        raise ValueError(f"there must be at least one question, not {questions}")


def _check_discordant(effect: float, discordant: float) -> None:
    check_effect(effect)
    if not effect <= discordant <= 1:
        raise ValueError(
            f"a difference of {effect} needs at least so many discordant questions, not"
            f" {discordant}"
        )
