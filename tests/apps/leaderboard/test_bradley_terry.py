"""Strengths by maximum likelihood against choix, statsmodels and scipy, and where there are none."""

from __future__ import annotations

import math
import re
from itertools import combinations

import numpy as np
import pytest
import scipy

from nel.apps.leaderboard.bradley_terry import fit, standardised_lengths
from nel.apps.leaderboard.pairwise import Comparisons, comparisons
from nel.apps.leaderboard.ranking import rank_models
from nel.errors import UndefinedMetric

Rows = list[tuple[int, int, float, int]]


def decided(wins: list[list[int]]) -> Rows:
    """Return one comparison a question from a matrix of wins."""
    pairs = [(i, j) for i, row in enumerate(wins) for j, n in enumerate(row) for _ in range(n)]
    return [(i, j, 1.0, question) for question, (i, j) in enumerate(pairs)]


def tournament(rng: np.random.Generator, *, ties: bool = True) -> Comparisons:
    """Return a random tournament that has strengths: each pair has won something of each other."""
    size = int(rng.integers(2, 7))
    strengths = rng.normal(0, 1, size)
    rows: Rows = []
    length: list[float] = []
    for question in range(int(rng.integers(8, 40))):
        for i, j in combinations(range(size), 2):
            x = float(rng.uniform(-0.8, 0.8))
            chance = 1 / (1 + math.exp(-(strengths[i] - strengths[j] + x)))
            score = float(rng.random() < chance)
            if ties and rng.random() < 0.2:
                score = 0.5
            turned = rng.random() < 0.5
            rows.append((j, i, 1 - score, question) if turned else (i, j, score, question))
            length.append(-x if turned else x)
    n = len(rows)
    rows += [(i, (i + 1) % size, 1.0, n + i) for i in range(size)]
    rows += [((i + 1) % size, i, 1.0, n + i) for i in range(size)]
    return comparisons([f"m{i}" for i in range(size)], rows, [*length, *rng.uniform(-0.8, 0.8, 2 * size).tolist()])


def by_scipy(found: Comparisons, *, length_control: bool) -> np.ndarray:
    """Return strengths (and the coefficient last) from the log likelihood written once more, row by row."""
    size, x = len(found.models), standardised_lengths(found)

    def lost(values: np.ndarray) -> float:
        odds = values[found.left] - values[found.right] + (values[size] * x if length_control else 0)
        return float((np.logaddexp(0, odds) - found.score * odds).sum() + values[:size].sum() ** 2)

    best = scipy.optimize.minimize(lost, np.zeros(size + length_control), method="BFGS", options={"gtol": 1e-8})
    return np.asarray(best.x)


def test_four_models_as_choix_and_statsmodels_have_them() -> None:
    """choix 0.4.1 (I-LSR and MM) and statsmodels 0.15.0 (binomial GLM) agree on these to ten digits."""
    found = comparisons("abcd", decided([[0, 7, 8, 9], [3, 0, 6, 7], [2, 4, 0, 6], [1, 3, 4, 0]]))
    golden = [1.0712937944258, 0.0993505662204, -0.3494356247057, -0.8212087359405]
    assert fit(found).strengths.tolist() == pytest.approx(golden, abs=1e-10)


def test_a_length_effect_as_statsmodels_has_it() -> None:
    """A binomial GLM with ties as halves and the length difference over its root mean square."""
    rng = np.random.default_rng(12)
    left = rng.integers(0, 3, 60)
    right = (left + 1 + rng.integers(0, 2, 60)) % 3
    x = np.round(rng.uniform(-0.6, 0.6, 60), 3)
    score = rng.choice([0, 0.5, 1], 60)
    rows = [(int(i), int(j), float(s), q) for q, (i, j, s) in enumerate(zip(left, right, score, strict=True))]
    fitted = fit(comparisons("abc", rows, x.tolist()), length_control=True)
    golden = [0.065806731618801, 0.039880545213668, -0.105687276832469]
    assert fitted.strengths.tolist() == pytest.approx(golden, abs=1e-10)
    assert float(fitted.length) == pytest.approx(-0.388535660846624, abs=1e-10)


@pytest.mark.parametrize("seed", range(20))
def test_random_tournaments_as_scipy_has_them(seed: int) -> None:
    """With and without length control, with ties: the same maximum found by another method."""
    found = tournament(np.random.default_rng(seed))
    size = len(found.models)
    for control in (False, True):
        fitted = fit(found, length_control=control)
        ours = np.append(fitted.strengths, fitted.length)[: size + control]
        assert ours == pytest.approx(by_scipy(found, length_control=control), abs=2e-5)


def test_a_model_that_never_loses_has_no_strength_and_the_others_have_theirs() -> None:
    """a beats all others each time: the others are ranked by what they played among themselves."""
    wins = [[0, 5, 5, 5], [0, 0, 3, 2], [0, 2, 0, 3], [0, 3, 2, 0]]
    ranking = rank_models(comparisons("abcd", decided(wins)), n_resamples=0)
    assert ranking.reasons == {"a": "it lost to none of b, c, d, and did not tie either"}
    alone = fit(comparisons("bcd", decided([row[1:] for row in wins[1:]]))).strengths
    assert [ranking.standings[name].strength.value for name in "bcd"] == pytest.approx(alone.tolist())
    with pytest.raises(UndefinedMetric, match="a: it lost to none of b, c, d"):
        fit(comparisons("abcd", decided(wins)))


def test_groups_that_never_met_are_not_ranked_together() -> None:
    """a and b played each other, c, d and e did, f no other: the largest group is ranked, the others say why not."""
    wins = [[0, 2, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 2, 1, 0], [0, 0, 1, 0, 2, 0], [0, 0, 1, 1, 0, 0], [0] * 6]
    ranking = rank_models(comparisons("abcdef", decided(wins)), n_resamples=0)
    assert set(ranking.standings) == set("cde")
    assert ranking.reasons["a"] == ranking.reasons["f"] == "no wins and ties connect it with c, d, e"


def test_too_few_upsets_give_no_interval_and_say_why() -> None:
    """One loss in twenty: many resamples hold none, and their strengths are beyond all bounds."""
    ranking = rank_models(comparisons("ab", decided([[0, 19], [1, 0]])), n_resamples=400)
    standing = ranking.standings["a"]
    assert standing.strength.value == pytest.approx(math.log(19) / 2)
    assert (standing.strength.ci_lower, standing.strength.ci_upper, standing.rank_lower) == (None, None, None)
    found = re.match(r"(\d+) of 400 resamples have no finite strengths: there are too few upsets", ranking.reason or "")
    assert found is not None
    assert int(found[1]) / 400 == pytest.approx((19 / 20) ** 20, abs=0.08)


def test_length_that_decides_everything_has_no_finite_effect() -> None:
    """The longer answer wins each time, whichever model gave it: there is a ranking without length control, none with it."""
    rng = np.random.default_rng(3)
    rows, length = [], []
    for question in range(60):
        x = float(rng.uniform(0.1, 0.9)) * (1 if question % 2 else -1)
        rows.append((0, 1, float(x > 0), question))
        length.append(x)
    found = comparisons("ab", rows, length)
    assert set(rank_models(found, n_resamples=0).standings) == set("ab")
    ranking = rank_models(found, length_control=True, n_resamples=0)
    assert ranking.standings == {}
    assert "effect of length has no finite estimate" in (ranking.reason or "")


@pytest.mark.parametrize("control", [False, True])
def test_what_is_resampled_is_the_question(*, control: bool) -> None:
    """Each verdict told four times over on its question makes no interval narrower."""
    rng = np.random.default_rng(6)
    rows = [(0, 1, float(rng.random() < 0.6), question) for question in range(50)]
    length = rng.uniform(-0.5, 0.5, 50).tolist()
    once = rank_models(comparisons("ab", rows, length), n_resamples=100, length_control=control).standings["a"]
    often = rank_models(comparisons("ab", rows * 4, length * 4), n_resamples=100, length_control=control).standings["a"]
    for name in ("value", "ci_lower", "ci_upper"):
        assert getattr(often.strength, name) == pytest.approx(getattr(once.strength, name), abs=1e-8)
