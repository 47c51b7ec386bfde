"""Win rates of a leaderboard, corrected by people's labels of some pairs."""

from __future__ import annotations

import random
from collections import defaultdict
from statistics import mean

import pytest

from nel.apps.leaderboard.label_correction import corrected_rate
from nel.apps.leaderboard.pair_results import PairResult, PairResults
from nel.judges.stats.human_labels import allocate
from tests.support.boards import board_of, judged_by
from tests.support.schemas import check_schema


def _pairs(seed: int, *, n: int = 800, n_labels: int = 200) -> list[PairResult]:
    """Return pairs of a model that people prefer in 40 % of them, with a judge that favours it."""
    chance = random.Random(seed)  # noqa: S311 - a test, not a secret
    found = []
    for place in range(n):
        is_left = chance.random() < 0.5
        wins = float(chance.random() < 0.4)
        judged = wins if chance.random() < 0.8 else 1.0
        found.append((is_left, judged if is_left else 1 - judged, wins if is_left else 1 - wins, f"q{place}"))
    wanted = allocate({score: sum(one[1] == score for one in found) for score in (0.0, 1.0)}, n_labels)
    pairs = []
    for is_left, score, label, question in found:
        wanted[score] -= 1
        sides = ("m", "b") if is_left else ("b", "m")
        known = label if wanted[score] >= 0 else None
        pairs.append(PairResult(question=question, left=sides[0], right=sides[1], score=score, label=known))
    return pairs


def test_the_corrected_win_rate_holds_what_people_prefer() -> None:
    """It weighs the labels of each seat and verdict by how often there was such a pair; the judge's rate is far off."""
    pairs = _pairs(0, n=4_000, n_labels=1_000)
    judged: dict[tuple[str, float], list[float | None]] = defaultdict(list)
    for one in pairs:
        label = one.label if one.label is None or one.left == "m" else 1 - one.label
        judged[one.left, one.score].append(label)
    means = {key: mean(label for label in labels if label is not None) for key, labels in judged.items()}
    found = corrected_rate("m", pairs, [])
    assert found is not None
    assert found["value"] == pytest.approx(sum(len(judged[key]) * means[key] for key in judged) / len(pairs))
    assert found["ci_lower"] < 0.4 < found["ci_upper"] < 0.45
    assert sum(one.score if one.left == "m" else 1 - one.score for one in pairs) / len(pairs) > 0.48


def test_both_models_of_a_pair_are_corrected_alike() -> None:
    """What one gains the other loses, and pairs without a judge count as they are."""
    pairs = _pairs(1)
    settled = [PairResult(question=f"s{place}", left="m", right="b", score=1.0) for place in range(50)]
    ours, theirs = corrected_rate("m", pairs, settled), corrected_rate("b", pairs, settled)
    assert ours is not None
    assert theirs is not None
    assert ours["value"] == pytest.approx(1 - theirs["value"])
    assert ours["ci_lower"] == pytest.approx(1 - theirs["ci_upper"])


def test_few_labels_have_a_reason_and_none_have_no_key() -> None:
    """One label of all says nothing; a board without labels is what it was."""
    pairs = [PairResult(question=f"q{place}", left="m", right="b", score=1.0) for place in range(10)]
    assert corrected_rate("m", pairs, []) is None
    board = board_of(PairResults(judged=pairs, plan=judged_by("solomon")), "m", "b", n_resamples=10)
    assert all("label_corrected" not in one for one in board["models"])
    labelled = [*pairs, PairResult(question="q10", left="m", right="b", score=1.0, label=0.0)]
    found = corrected_rate("m", labelled, [])
    assert found is not None
    assert (found["value"], found["n_labelled"], found["reason"]) == (None, 1, "a stratum has fewer than two labels")
    board = board_of(PairResults(judged=labelled, plan=judged_by("solomon")), "m", "b", n_resamples=10)
    check_schema(board, "leaderboard")
