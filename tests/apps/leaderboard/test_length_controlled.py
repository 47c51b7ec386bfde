"""The length-controlled win rate of AlpacaEval 2: its own regression, against scikit-learn and a known truth."""

from __future__ import annotations

import numpy as np
import pytest

from nel.apps.leaderboard.length_controlled import length_controlled_rate
from nel.errors import UndefinedMetric


def _world(n: int, *, theta: float, phi: float, seed: int = 3) -> tuple[list[float], list[float]]:
    """Return preferences and length differences of a model that writes longer answers."""
    rng = np.random.default_rng(seed)
    apart = rng.normal(400, 600, n)
    odds = theta + phi * np.tanh(apart / apart.std(ddof=1))
    wins = rng.random(n) < 1 / (1 + np.exp(-odds))
    return wins.astype(float).tolist(), apart.tolist()


def test_what_length_wins_is_taken_away() -> None:
    """A model that wins by length alone is at one half; its raw win rate is far above."""
    wins, apart = _world(4_000, theta=0.0, phi=1.5)
    found = length_controlled_rate(wins, apart, n_resamples=100)
    assert sum(wins) / len(wins) > 0.6
    assert found.ci_lower is not None
    assert found.ci_upper is not None
    assert found.ci_lower < 0.5 < found.ci_upper
    assert found.length == pytest.approx(1.5, abs=0.25)


@pytest.mark.slow
def test_the_fit_is_that_of_scikit_learn() -> None:
    """Without a penalty, preferences that are probabilities included, which count as both outcomes by their shares."""
    linear = pytest.importorskip("sklearn.linear_model")
    wins, apart = _world(500, theta=-0.4, phi=0.8)
    shares = [0.9 * win + 0.05 for win in wins]
    found = length_controlled_rate(shares, apart, n_resamples=0)
    rows = np.column_stack([np.ones(500), np.tanh(np.array(apart) / np.std(apart, ddof=1))])
    model = linear.LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-12, max_iter=10_000)
    outcome, weight = [1] * 500 + [0] * 500, [*shares, *(1 - share for share in shares)]
    model.fit(np.vstack([rows, rows]), outcome, sample_weight=weight)
    assert [found.strength, found.length] == pytest.approx(model.coef_[0], abs=1e-6)
    rows[:, 1] = 0
    assert found.value == pytest.approx(model.predict_proba(rows)[:, 1].mean(), abs=1e-7)


def test_what_has_no_largest_likelihood_has_no_rate() -> None:
    """A model that always wins, and one whose wins are exactly its longer answers."""
    with pytest.raises(UndefinedMetric, match="no maximum"):
        length_controlled_rate([1.0] * 20, list(range(20)))
    with pytest.raises(UndefinedMetric, match="no maximum"):
        length_controlled_rate([0.0] * 10 + [1.0] * 10, [-5.0 - place for place in range(10)] + [5.0] * 10)
    with pytest.raises(UndefinedMetric, match="fewer than"):
        length_controlled_rate([1.0, 0.0], [1.0, 2.0])
