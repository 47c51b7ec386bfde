"""Rankings are measured as scikit-learn does, repeated ids gain nothing, and unusable rows are named."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from nel.errors import DatasetError
from nel.scoring.retrieval import retrieval_metrics
from nel.types import ScorerInput

ids = st.integers(min_value=0, max_value=12)


def _measured(**row: Any) -> dict[str, float]:
    return retrieval_metrics(ScorerInput(response="", target=None, metadata=row))


def _ndcg_of_sklearn(retrieved: list[int], relevant: set[int], k: int) -> float:
    """Rank what was not retrieved last, after fillers that are not relevant, so that k may exceed the ranking."""
    fillers = [-1 - n for n in range(k + 1)]
    universe = [*retrieved, *fillers, *sorted(relevant - set(retrieved))]
    truth = np.array([[float(each in relevant) for each in universe]])
    from sklearn.metrics import ndcg_score  # takes seconds to import

    return float(ndcg_score(truth, np.arange(len(universe), 0, -1, dtype=float)[None, :], k=k))


def test_ndcg_equals_sklearn() -> None:
    """Rankings of different ids have the NDCG of scikit-learn, k beyond the ranking included."""
    rng = random.Random(2)  # noqa: S311 - a seeded test
    for _ in range(500):
        retrieved = rng.sample(range(40), rng.randint(1, 30))
        relevant = set(rng.sample(range(40), rng.randint(1, 12)))
        k = rng.randint(1, 40)
        found = _measured(retrieved=retrieved, relevant=list(relevant), k=k)
        assert found["ndcg"] == pytest.approx(_ndcg_of_sklearn(retrieved, relevant, k), abs=1e-12)
        hits = len(relevant.intersection(retrieved[:k]))
        assert found["precision_at_k"] == hits / k
        assert found["recall_at_k"] == hits / len(relevant)


@pytest.mark.parametrize(
    ("row", "precision", "recall", "mrr", "ndcg"),
    [
        ({"retrieved": ["a", "b"], "relevant": ["a", "b"]}, 1, 1, 1, 1),
        ({"retrieved": ["x", "a"], "relevant": ["a"]}, 1 / 2, 1, 1 / 2, 1 / math.log2(3)),
        ({"retrieved": ["x", "y", "a"], "relevant": ["a"], "k": 2}, 0, 0, 1 / 3, 0),
        ({"retrieved": ["a"], "relevant": ["a"], "k": 5}, 1 / 5, 1, 1, 1),
        ({"retrieved": ["a"], "relevant": ["a", "b", "c"], "k": 1}, 1, 1 / 3, 1, 1),
        ({"retrieved": [], "relevant": ["a"], "k": 3}, 0, 0, 0, 0),
        ({"retrieved": ["a", "a", "b"], "relevant": ["a", "b"], "k": 2}, 1 / 2, 1 / 2, 1, 1 / (1 + 1 / math.log2(3))),
        ({"retrieved": ["a", "b"], "relevant": ["a", "a"]}, 1 / 2, 1, 1, 1),
        ({"retrieved": [1.0], "relevant": [1]}, 0, 0, 0, 0),
    ],
)
def test_rankings_with_known_values(
    row: dict[str, Any], precision: float, recall: float, mrr: float, ndcg: float
) -> None:
    """Depth, repeated ids, types of ids and empty rankings have stated values."""
    expected = {"precision_at_k": precision, "recall_at_k": recall, "mrr": mrr, "ndcg": ndcg}
    assert _measured(**row) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"relevant": ["a"], "question": "?"}, r'"retrieved" is missing; give .* it has "relevant", "question"'),
        ({}, r'"retrieved" is missing; .* it has no fields'),
        ({"retrieved": ["a"], "relevant": None}, '"relevant" is null'),
        ({"retrieved": "abc", "relevant": ["a"]}, '"retrieved" is a str; give a list of ids'),
        ({"retrieved": ["a"], "relevant": ["a"], "k": 0}, '"k" is 0; give an integer of 1 or more'),
        ({"retrieved": ["a"], "relevant": ["a"], "k": "5"}, "\"k\" is '5'"),
    ],
)
def test_unusable_rows_are_named(row: dict[str, Any], message: str) -> None:
    """The error says which field is wrong, what the row has and what to give."""
    with pytest.raises(DatasetError, match=message):
        _measured(**row)
