"""Plans of a comparison: questions, tokens, money and hours for each number of repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from nel.decide.exact_power import EXACT_MAX, exact_power
from nel.decide.power import (
    Test,
    Variances,
    added_power,
    check_effect,
    least_effect,
    mcnemar_power,
    power_of,
    questions_needed,
)
from nel.decide.repeats import MarginalGain, marginal_gain

_MILLION: Final = 1_000_000
CURVE_POINTS: Final = 12
_STEPS: Final = (1, 2, 5)
"""The round numbers of a decade, as on an axis: 100, 200, 500, 1000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """What earlier runs, or assumptions, say of the comparison to plan."""

    variances: Variances
    discordant: float | None = None
    """The share of questions that only one of the two has right, where each is asked once and
    scored 0 or 1.
    """
    questions: int | None = None
    """How many there are; None for no limit."""
    is_within_known: bool = True
    """Whether the variance within questions is known: 0 can mean that there are no repeats."""
    largest: float | None = None
    """The largest possible difference, 1 for scores from 0 to 1; None where it is not known."""

    def questions_needed(self, effect: float, repeats: int, test: Test) -> int:
        """Return how many questions find an effect with so many answers to each on either side.

        Raises:
            ValueError: The effect is none, too small to be found, or larger than any difference.
        """
        self._check(effect)
        return questions_needed(
            lambda questions: self.power(effect, questions, repeats, test), test
        )

    def detectable(self, questions: int, repeats: int, test: Test) -> float:
        """Return the least effect that so many questions find; the largest difference that there
        can be where they find none.
        """
        largest = self.largest if self.discordant is None else 1.0
        if largest is None:
            # `power_of` solved for the effect, without its tail of the other sign.
            n_effective = _of_normal(questions, test)
            error = math.sqrt(self.variances.per_question(repeats) / n_effective)
            return (test.z_alpha + test.z_power) * error
        return least_effect(
            lambda effect: self.power(effect, questions, repeats, test), test, largest=largest
        )

    def power(self, effect: float, questions: int, repeats: int, test: Test) -> float:
        """Return how likely so many questions find an effect."""
        self._check(effect)
        share = self._share(effect, repeats)
        counted_share = None if share is None else self._counted_share(share, questions, test)
        if counted_share is not None:
            return exact_power(effect, counted_share, questions, test)
        if share is not None:
            return mcnemar_power(effect, share, questions, test)
        scale, variances = self.variances.design_effect, self._variances(effect, test)
        if self.largest == 1:
            # In clusters n questions count as n / scale, so the spread is that of one by itself.
            spread = variances.per_question(repeats) / scale
            return added_power(effect, max(1.0, questions / scale), spread, test)
        return power_of(effect, _of_normal(questions, test), variances, repeats=repeats, test=test)

    def _share(self, effect: float, repeats: int) -> float | None:
        """Return the discordant share to plan with, None where Tango's interval is not what decides:
        with repeats, and in clusters.

        No difference comes with fewer discordant questions than itself, so a larger one than was
        seen raises the share.
        """
        is_single = repeats == 1 and self.variances.design_effect == 1
        if self.discordant is None or not is_single:
            return None
        return max(self.discordant, effect)

    def _counted_share(self, share: float, questions: int, test: Test) -> float | None:
        """Return the discordant share of an enumeration, None where the power is approximated.

        A gate's candidate is taken to be equally good, so that its share is not raised to the
        margin.
        """
        if questions * share > EXACT_MAX:
            return None
        return share if test.two_sided else self.discordant

    def _variances(self, effect: float, test: Test) -> Variances:
        """Return the variances to plan with, raised as the discordant share is where the candidate
        is better by an effect that is larger than it.
        """
        if self.discordant is None or effect <= self.discordant or not test.two_sided:
            return self.variances
        within = self.variances.within_baseline + self.variances.within_candidate
        return replace(self.variances, between=max(self.variances.between, effect - within))

    def _check(self, effect: float) -> None:
        check_effect(effect)
        if self.largest is not None and effect > self.largest:
            raise ValueError(
                f"scores from 0 to {self.largest:g} cannot differ by {effect:g}; {effect / 100:g}"
                f" is {effect:g} points"
            )


def _of_normal(questions: int, test: Test) -> float:
    """Return how many questions of a known variance tell as much as these (Guenther 1981)."""
    return max(questions - test.z_alpha**2 / 2, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What one answer takes; None where it is not known."""

    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    cost: float | None = None
    """In the currency of the prices."""
    answers_per_hour: float | None = None

    def with_prices(self, price_input: float, price_output: float) -> Resources:
        """Return the same with the cost of an answer at prices for a million tokens.

        >>> Resources(prompt_tokens=1000, completion_tokens=500).with_prices(2.0, 10.0).cost
        0.007
        """
        cost = None
        if self.prompt_tokens is not None and self.completion_tokens is not None:
            cost = (
                self.prompt_tokens * price_input + self.completion_tokens * price_output
            ) / _MILLION
        return replace(self, cost=cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """One way to find the effect; the resources are those of one of the two runs."""

    repeats: int
    questions: int
    answers: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    hours: float | None
    is_available: bool
    """Whether there are so many questions."""
    detectable: float | None
    """The least effect that all questions together find with these repeats; None without a limit.
    """


def plan(
    effect: float, pilot: Pilot, repeats: int, resources: Resources, test: Test
) -> ComparisonPlan:
    """Return what it takes to find an effect with a number of repeats.

    Raises:
        ValueError: The effect is none, or too small to be found.
    """
    questions = pilot.questions_needed(effect, repeats, test)
    answers = questions * repeats
    cost = hours = detectable = None
    if resources.cost is not None:
        cost = resources.cost * answers
    if resources.answers_per_hour:
        hours = answers / resources.answers_per_hour
    if pilot.questions is not None:
        detectable = pilot.detectable(pilot.questions, repeats, test)
    return ComparisonPlan(
        repeats=repeats,
        questions=questions,
        answers=answers,
        prompt_tokens=_times(resources.prompt_tokens, answers),
        completion_tokens=_times(resources.completion_tokens, answers),
        cost=cost,
        hours=hours,
        is_available=pilot.questions is None or questions <= pilot.questions,
        detectable=detectable,
    )


def gain_at(pilot: Pilot, questions: int, repeats: int) -> MarginalGain:
    """Return what one more repeat buys, and what as many answers to new questions would."""
    variances = pilot.variances
    scale = variances.design_effect
    return marginal_gain(
        variances.between * scale,
        (variances.within_baseline + variances.within_candidate) * scale,
        questions=questions,
        repeats=repeats,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """One point of a power curve."""

    questions: int
    power: float
    minimum_detectable_effect: float


def power_curve(
    effect: float, pilot: Pilot, repeats: int, questions: Sequence[int], test: Test
) -> list[CurvePoint]:
    """Return power and least detectable effect over numbers of questions."""
    return [
        CurvePoint(
            questions=count,
            power=pilot.power(effect, count, repeats, test),
            minimum_detectable_effect=pilot.detectable(count, repeats, test),
        )
        for count in questions
    ]


def curve_questions(*marks: int) -> list[int]:
    """Return numbers of questions to draw a curve at: round ones around the marks, and the marks.

    >>> curve_questions(1742)
    [20, 50, 100, 200, 500, 1000, 1742, 2000, 5000]
    """
    largest = max(marks)
    n_decades = max(1, math.ceil(math.log10(largest)) + 1)
    round_numbers = [step * 10**decade for decade in range(n_decades + 1) for step in _STEPS]
    upper = min(number for number in round_numbers if number >= 2 * largest)
    candidates = [number for number in round_numbers if number <= upper]
    # The largest ones, and none so small that the curve would be flat there.
    n_candidates = CURVE_POINTS - len(set(marks))
    points = {number for number in candidates[-n_candidates:] if number > upper / 500}
    return sorted(points | set(marks))


def _times(per_answer: float | None, answers: int) -> int | None:
    return None if per_answer is None else round(per_answer * answers)
