"""Aggregations of scores have the numbers of EvalScope's own, over repeats with empty answers and scores of other weights."""

from __future__ import annotations

import random
from typing import Any

import pytest

from nel.compat.evalscope import samples
from nel.compat.evalscope.aggregation import METRIC_WEIGHTS_KEY, aggregate_subset

ANSWERS = ("7", "8", "", " ")
NAMES = (
    "mean",
    "clipped_mean",
    "weighted_mean",
    "mean_and_pass_at_k",
    "mean_and_pass_hat_k",
    "mean_and_vote_at_k",
)


def _made(seed: int) -> list[dict[str, Any]]:
    """Return the scores of four problems with three answers each; some seeds leave a weight out."""
    chance = random.Random(seed)  # noqa: S311 - reproducible on purpose
    made: list[dict[str, Any]] = []
    for number in range(12):
        weights = {"one": chance.choice([1, 2, 3])} if seed % 3 or number else {}
        answer = chance.choice(ANSWERS)
        made.append(
            {
                "value": {"one": float(answer == "7"), "other": chance.choice([0.0, 1.0])},
                "extracted_prediction": answer,
                "metadata": {METRIC_WEIGHTS_KEY: weights},
                "group": number // 3,
                "position": number % 3,
            }
        )
    return made


@pytest.mark.parametrize("name", NAMES)
def test_an_aggregation_gives_what_it_gives_evalscope(name: str) -> None:
    """The same numbers of the same kinds, for 200 made sets of scores."""
    theirs = pytest.importorskip("evalscope.api.metric", reason="evalscope is not installed")
    from evalscope.api.registry import get_aggregation  # noqa: PLC0415 - skipped where it is not there

    for seed in range(200):
        own, other = [], []
        for number, made in enumerate(_made(seed)):
            group, position = made.pop("group"), made.pop("position")
            places = {"sample_id": number, "group_id": group}
            own.append(samples.SampleScore(score=samples.Score(**made), **places))
            score = theirs.Score(**made)
            other.append(theirs.SampleScore(score=score, generation_index=position, **places))
        expected = {
            (one.metric_name, _label(one.aggregation, one.dimensions)): one.score
            for one in get_aggregation(name)()(other)
        }
        found = {
            (one.metric_name, one.aggregation): one.score for one in aggregate_subset(name, own)
        }
        assert found == pytest.approx(expected), seed


def _label(aggregation: str, dimensions: dict[str, Any]) -> str:
    """Return EvalScope's name and k as nel writes them."""
    k = dimensions.get("k")
    return aggregation if k is None else aggregation.removesuffix("k") + str(k)
