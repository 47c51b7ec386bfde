"""Plans against golden values, and against how often simulated comparisons find what was planned for."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nel.decide import (
    Pilot,
    Test,
    Variances,
    exact_power,
    least_effect,
    mcnemar_exact,
    mcnemar_power,
    power_of,
    questions_needed,
    tango_interval,
)

MILLER = Variances(between=1 / 9, within_baseline=1 / 6, within_candidate=1 / 6)
MILLER_PILOT = Pilot(variances=MILLER)


def _mcnemar_questions(effect: float, discordant: float) -> int:
    """Return the questions by the formula alone, without the outcomes being counted."""
    return questions_needed(lambda n: mcnemar_power(effect, discordant, n), Test())


def _least_of_miller(questions: int, repeats: int, test: Test) -> float:
    return least_effect(lambda effect: power_of(effect, questions, MILLER, repeats=repeats, test=test), test)


def _mcnemar_effect(questions: float, discordant: float) -> float:
    return least_effect(lambda effect: mcnemar_power(effect, max(effect, discordant), questions), Test())


@pytest.mark.parametrize(("repeats", "expected"), [(1, 3876), (10, 1260), (math.inf, 969)])
def test_questions_golden_values(repeats: float, expected: int) -> None:
    """Published numbers of questions for three points."""
    found = questions_needed(lambda n: power_of(0.03, n, MILLER, repeats=repeats), Test())
    assert found == expected


@pytest.mark.parametrize(
    ("questions", "once", "ten_times"), [(164, 0.146, 0.083), (198, 0.133, 0.076), (1319, 0.051, 0.029)]
)
def test_detectable_effect_golden_values(questions: int, once: float, ten_times: float) -> None:
    """Published least effects of HumanEval, GPQA diamond and GSM8K."""
    found = [_least_of_miller(questions, k, Test()) for k in (1, 10)]
    assert found == pytest.approx([once, ten_times], abs=6e-4)


def test_clusters_multiply_the_questions() -> None:
    """The design effect is a factor of the questions."""
    clustered = Variances(between=1 / 9, within_baseline=1 / 6, within_candidate=1 / 6, design_effect=5.5)
    assert Pilot(variances=clustered).questions_needed(0.03, 1, Test()) == pytest.approx(5.5 * 3876, abs=6)


def test_plan_power_and_effect_are_inverse_to_each_other() -> None:
    """The planned number has the planned power, one question fewer has not, one-sided too."""
    for test in (Test(), Test(alpha=0.01, power=0.9), Test(two_sided=False)):
        n = questions_needed(lambda count, test=test: power_of(0.04, count, MILLER, test=test), test)
        assert power_of(0.04, n, MILLER, test=test) >= test.power - 1e-9
        one_sided = power_of(0.04, n - 1, MILLER, test=test)
        assert one_sided < test.power + 1e-6
        assert _least_of_miller(n, 1, test) == pytest.approx(0.04, rel=1e-3)
        few = MILLER_PILOT.questions_needed(0.04, 1, test)  # Student's t costs two questions
        assert 0 < few - n <= 4


def _exactly(effect: float, difference: float, discordant: float, n: int, test: Test) -> float:
    """Return the power by going through every outcome with the interval and the test of a comparison or a gate."""
    shares = [(discordant + difference) / 2, (discordant - difference) / 2, 1 - discordant]
    found = 0.0
    for wins in range(n + 1):
        for losses in range(n + 1 - wins):
            counts = (wins, losses, n - wins - losses)
            if any(count and not share for count, share in zip(counts, shares, strict=True)):
                continue
            margin = 0.0 if test.two_sided else effect
            lower, _ = tango_interval(wins, losses, n, level=1 - test.alpha * (1 if test.two_sided else 2))
            if lower > -margin and (not test.two_sided or mcnemar_exact(wins, losses) <= test.alpha):
                ways = math.factorial(n) // math.prod(map(math.factorial, counts))
                found += ways * math.prod(share**count for count, share in zip(counts, shares, strict=True))
    return found


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize(("effect", "discordant"), [(0.2, 0.4), (0.3, 0.3), (0.1, 0.15), (0.6, 0.8), (1.0, 1.0)])
def test_the_power_of_few_pairs_is_that_of_every_outcome(effect: float, discordant: float, *, two_sided: bool) -> None:
    """What is planned is what the verdict of a comparison, or a gate's GO of an equal model, turns out to be."""
    test = Test(alpha=0.05 if two_sided else 0.025, two_sided=two_sided)
    for n in (5, 6, 20, 45):
        expected = _exactly(effect, effect if two_sided else 0.0, discordant, n, test)
        assert exact_power(effect, discordant, n, test) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize(
    ("effect", "discordant"), [(0.02, 0.08), (0.01, 0.02), (0.05, 0.06), (0.3, 0.5), (0.8, 0.9), (0.05, 0.05)]
)
def test_a_plan_of_few_discordant_pairs_keeps_its_promise(effect: float, discordant: float, *, two_sided: bool) -> None:
    """The planned number finds the effect in four of five cases, one fewer does not; the formula promised more."""
    test = Test(alpha=0.05 if two_sided else 0.025, two_sided=two_sided)
    pilot = Pilot(variances=Variances(between=discordant, within_baseline=0, within_candidate=0), discordant=discordant)
    n = pilot.questions_needed(effect, 1, test)
    assert exact_power(effect, discordant, n, test) >= 0.8
    assert exact_power(effect, discordant, n - 1, test) < 0.8
    assert exact_power(effect, discordant, _mcnemar_questions(effect, discordant), Test()) < 0.8
    if two_sided:
        assert pilot.detectable(n, 1, test) <= effect + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize(("effect", "discordant"), [(0.03, 0.2), (0.05, 0.3), (0.1, 0.25), (0.02, 0.08)])
def test_planned_power_of_pairs_is_the_simulated_one(effect: float, discordant: float) -> None:
    """Of 20,000 simulated comparisons the interval leaves out 0 as often as planned, within two points."""
    n = _mcnemar_questions(effect, discordant)
    shares = [(discordant + effect) / 2, (discordant - effect) / 2, 1 - discordant]
    drawn = np.random.default_rng(1).multinomial(n, shares, size=20_000)
    known: dict[tuple[int, int], bool] = {}
    found = 0
    for wins, losses, _ in drawn.tolist():
        if (wins, losses) not in known:
            lower, upper = tango_interval(wins, losses, n)
            known[wins, losses] = lower > 0 or upper < 0
        found += known[wins, losses]
    assert found / len(drawn) == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize(("effect", "discordant"), [(0.1, 0.02), (0.3, 0.195), (0.05, 0.05)])
def test_no_effect_is_planned_with_fewer_discordant_questions_than_itself(effect: float, discordant: float) -> None:
    """Two runs that hardly differ do not make a large difference cheaper than one-sided flips alone can be found."""
    pilot = Pilot(variances=Variances(between=discordant, within_baseline=0, within_candidate=0), discordant=discordant)
    found = pilot.questions_needed(effect, 1, Test())
    assert found == questions_needed(lambda n: exact_power(effect, effect, n, Test()), Test())
    assert 0.8 <= pilot.power(effect, found, 1, Test()) < 0.85
    six = sum(math.comb(found, wins) * effect**wins * (1 - effect) ** (found - wins) for wins in range(6))
    assert mcnemar_exact(6, 0) <= 0.05 < mcnemar_exact(5, 0)
    assert 1 - six == pytest.approx(pilot.power(effect, found, 1, Test()), abs=0.01)


def test_what_cannot_be_planned_is_an_error() -> None:
    """Effects, shares, variances and levels that are none are refused with their numbers."""
    with pytest.raises(ValueError, match="effect must be above 0"):
        MILLER_PILOT.questions_needed(0.0, 1, Test())
    with pytest.raises(ValueError, match="needs at least so many discordant"):
        mcnemar_power(0.3, 0.2, 100)
    with pytest.raises(ValueError, match="do not differ on any question"):
        Variances(between=0, within_baseline=0, within_candidate=0)
    with pytest.raises(ValueError, match="plan no comparison"):
        Variances(between=math.nan, within_baseline=0, within_candidate=0)
    with pytest.raises(ValueError, match="the power is the larger"):
        Test(alpha=0.05, power=0.01)
    with pytest.raises(ValueError, match="too small to be found"):
        MILLER_PILOT.questions_needed(1e-9, 1, Test())
    assert _mcnemar_effect(3, 0.05) == 1.0
